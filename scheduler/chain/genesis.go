package chain

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sort"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// genesisDomain separates the genesis hash from every other keccak256 of the project.
const genesisDomain = "daybreak-genesis-v1"

// Defaults of a genesis file that leaves a field out.
const (
	DefaultTurnBlocks          = 4          // heights in a proposer's turn
	DefaultSkipSeconds         = 3          // seconds of silence after which the turn passes on
	DefaultBlockGasLimit       = 60_000_000 // twice the default of the policy's gas_per_block
	DefaultPhaseTimeoutSeconds = 10
)

// Addr is a 20-byte address. In JSON it is 0x and 40 hexadecimal digits.
type Addr = common.Address

// Genesis is all that the validators of a chain agree on before its first block. Two genesis files with the same Hash
// start the same chain.
type Genesis struct {
	ChainID       uint64           `json:"chain_id"`
	Time          uint64           `json:"genesis_time"` // Unix seconds; the first block's timestamp is above it
	Validators    []Validator      `json:"validators"`   // in order of their index, 1..n
	Policy        Policy           `json:"policy"`       // of the scheduler, for ever
	Balances      Balances         `json:"balances"`     // gas token held by each address when the chain starts
	Tokens        Tokens           `json:"tokens,omitempty"`
	Catalog       *Catalog         `json:"catalog,omitempty"` // of the oracle; nil: it is empty, and nobody may write
	BlockGasLimit uint64           `json:"block_gas_limit"`   // gas of one block, leading and user transactions together
	TurnBlocks    uint64           `json:"turn_blocks"`
	SkipSeconds   uint64           `json:"skip_seconds"`
	Ceremony      CeremonySettings `json:"ceremony"`
}

// Validator is one member of the network.
type Validator struct {
	Index       uint32              `json:"index"`        // 1-based; the point at which its share of the group key is evaluated
	Name        string              `json:"name"`         // for people; not part of the genesis hash
	NetworkKey  NetworkKey          `json:"network_key"`  // verifies its blocks and messages
	VotingKey   finality.PublicKey  `json:"voting_key"`   // verifies its votes
	VotingProof finality.Possession `json:"voting_proof"` // that it holds the voting key's secret; not part of the genesis hash
	Proposer    Addr                `json:"proposer"`     // receives the fees of the blocks it proposes
	Addrs       []string            `json:"addrs"`        // where peers dial it; not part of the genesis hash, so that it may move
}

// CeremonySettings are the parameters of the ceremony that makes the group key.
type CeremonySettings struct {
	Threshold           int    `json:"threshold"`             // partials that make a key; floor(2n/3)+1 unless given
	MinQual             int    `json:"min_qual"`              // dealers that must qualify; n unless given
	PhaseTimeoutSeconds uint64 `json:"phase_timeout_seconds"` // how long a member waits before it signs a phase's timeout
}

// Policy is the scheduler's policy as a genesis file states it (document 002 "Policy", S-POL-01).
type Policy struct {
	GasPerBlock          uint64 `json:"gas_per_block"`
	GuaranteedGasPerSlot uint64 `json:"guaranteed_gas_per_slot"`
	MaxHorizonSlots      uint64 `json:"max_horizon_slots"`
	MaxLateSlots         uint64 `json:"max_late_slots"`
	CancelRefundBps      uint16 `json:"cancel_refund_bps"`
	MaxEntriesPerBlock   uint32 `json:"max_entries_per_block"`
	Treasury             Addr   `json:"treasury"`
	MinGasPrice          uint64 `json:"min_gas_price"`
	GasToken             Addr   `json:"gas_token"`
}

// DefaultPolicy is the scheduler's default (S-POL-12) with the two addresses it has no default for.
func DefaultPolicy(gasToken, treasury Addr) Policy {
	d := scheduler.DefaultPolicy()
	return Policy{
		GasPerBlock: d.GasPerBlock, GuaranteedGasPerSlot: d.GuaranteedGasPerSlot, MaxHorizonSlots: d.MaxHorizonSlots,
		MaxLateSlots: d.MaxLateSlots, CancelRefundBps: d.CancelRefundBps, MaxEntriesPerBlock: d.MaxEntriesPerBlock,
		Treasury: treasury, MinGasPrice: d.MinGasPrice, GasToken: gasToken,
	}
}

// scheduler is the policy in the state machine's own type.
func (p Policy) scheduler() scheduler.Policy {
	return scheduler.Policy{
		GasPerBlock: p.GasPerBlock, GuaranteedGasPerSlot: p.GuaranteedGasPerSlot, MaxHorizonSlots: p.MaxHorizonSlots,
		MaxLateSlots: p.MaxLateSlots, CancelRefundBps: p.CancelRefundBps, MaxEntriesPerBlock: p.MaxEntriesPerBlock,
		Treasury: scheduler.Addr(p.Treasury), MinGasPrice: p.MinGasPrice, GasToken: scheduler.Addr(p.GasToken),
	}
}

// Encode returns the genesis file: indented JSON that ParseGenesis reads back.
func (g *Genesis) Encode() []byte {
	b, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		panic("chain: internal error: genesis does not encode: " + err.Error())
	}
	return append(b, '\n')
}

// Hash identifies the chain. It covers the values that bind validators to one another, in one canonical encoding, and
// neither the layout of the JSON nor what may change without making another chain: names and dialling addresses.
func (g *Genesis) Hash() [32]byte {
	type validator struct {
		Index      uint32
		NetworkKey NetworkKey
		VotingKey  finality.PublicKey
		Proposer   Addr
	}
	preimage := struct {
		ChainID, Time           uint64
		Validators              []validator
		Policy                  Policy
		Balances                []balancePreimage
		BlockGasLimit           uint64
		TurnBlocks, SkipSeconds uint64
		Threshold, MinQual      uint64
		PhaseTimeoutSeconds     uint64
		Assets                  *assetsPreimage `rlp:"optional"`
	}{
		ChainID: g.ChainID, Time: g.Time, Policy: g.Policy,
		BlockGasLimit: g.BlockGasLimit, TurnBlocks: g.TurnBlocks, SkipSeconds: g.SkipSeconds,
		Threshold: uint64(g.Ceremony.Threshold), MinQual: uint64(g.Ceremony.MinQual),
		PhaseTimeoutSeconds: g.Ceremony.PhaseTimeoutSeconds,
		Balances:            g.Balances.preimage(), Assets: g.assetsPreimage(),
	}
	for _, v := range g.Validators {
		preimage.Validators = append(preimage.Validators, validator{v.Index, v.NetworkKey, v.VotingKey, v.Proposer})
	}
	b, err := rlp.EncodeToBytes(&preimage)
	if err != nil {
		panic("chain: internal error: genesis preimage does not encode: " + err.Error())
	}
	return crypto.Keccak256Hash([]byte(genesisDomain), binary.BigEndian.AppendUint64(nil, uint64(len(b))), b)
}

// Validator returns the validator with the 1-based index.
func (g *Genesis) Validator(index uint32) (Validator, bool) {
	if index == 0 || uint64(index) > uint64(len(g.Validators)) {
		return Validator{}, false
	}
	return g.Validators[index-1], true
}

// IndexOf returns the index of the validator that owns the network key, or false.
func (g *Genesis) IndexOf(key NetworkKey) (uint32, bool) {
	for _, v := range g.Validators {
		if v.NetworkKey == key {
			return v.Index, true
		}
	}
	return 0, false
}

// Voters are the validators' voting keys. The genesis must be valid.
func (g *Genesis) Voters() *finality.Voters {
	keys := make([]finality.PublicKey, len(g.Validators))
	for i, v := range g.Validators {
		keys[i] = v.VotingKey
	}
	voters, err := finality.NewVoters(finality.NewDomain(g.ChainID, g.Hash()), keys, g.Ceremony.Threshold)
	if err != nil {
		panic("chain: internal error: a valid genesis has bad voting keys: " + err.Error())
	}
	return voters
}

// FaultsTolerated says how many validators may lie or be down while the network keeps its promises: n - threshold.
func (g *Genesis) FaultsTolerated() int { return len(g.Validators) - g.Ceremony.Threshold }

// fillDefaults sets the fields a genesis file may leave out, so that the hash covers what holds, not what was written.
func (g *Genesis) fillDefaults() {
	n := len(g.Validators)
	g.Ceremony.fillDefaults(n)
	setDefault(&g.TurnBlocks, DefaultTurnBlocks)
	setDefault(&g.SkipSeconds, DefaultSkipSeconds)
	setDefault(&g.BlockGasLimit, DefaultBlockGasLimit)
}

func (c *CeremonySettings) fillDefaults(validators int) {
	setDefault(&c.Threshold, 2*validators/3+1)
	setDefault(&c.MinQual, validators)
	setDefault(&c.PhaseTimeoutSeconds, DefaultPhaseTimeoutSeconds)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Balances maps holders to base units of the gas token. In JSON amounts are decimal strings.
type Balances map[Addr]*uint256.Int

// Holders returns the addresses in ascending order.
func (b Balances) Holders() []Addr {
	holders := make([]Addr, 0, len(b))
	for holder := range b {
		holders = append(holders, holder)
	}
	sort.Slice(holders, func(i, j int) bool { return holders[i].Cmp(holders[j]) < 0 })
	return holders
}

// MarshalJSON writes the holders in ascending order.
func (b Balances) MarshalJSON() ([]byte, error) {
	out := make(map[string]string, len(b))
	for holder, amount := range b {
		if amount == nil {
			return nil, fmt.Errorf("balance of %s is missing", holder)
		}
		out[holder.Hex()] = amount.Dec()
	}
	return json.Marshal(out)
}
