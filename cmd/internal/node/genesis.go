package node

import (
	"encoding/hex"
	"fmt"

	"github.com/daybreak-beacon/daybreak/scheduler/chain"
)

// Accounts of a genesis that names no others. Nobody has a key of either.
var (
	// DefaultGasToken is where the in-memory host's gas token is called.
	DefaultGasToken = Address{0xda, 0x1b, 0x4e, 0xa4, 19: 0x01}
	// DefaultTreasury keeps what canceled entries leave.
	DefaultTreasury = Address{0xda, 0x1b, 0x4e, 0xa4, 19: 0x02}
)

// GenesisOptions are the choices of whoever starts a network.
type GenesisOptions struct {
	ChainID      uint64
	Time         uint64 // unix seconds
	Balances     chain.Balances
	Tokens       chain.Tokens   // MIP20 tokens; nil for none
	Catalog      *chain.Catalog // of the oracle; nil for none
	GasToken     Address
	Treasury     Address
	MinQual      int    // 0: all must deal
	PhaseTimeout uint64 // seconds; 0: the default
}

// NewGenesis makes the genesis of a network of these validators, in this order.
func NewGenesis(o GenesisOptions, validators []Descriptor) (*chain.Genesis, error) {
	g := &chain.Genesis{
		ChainID: o.ChainID, Time: o.Time, Balances: o.Balances, Tokens: o.Tokens, Catalog: o.Catalog,
		Ceremony: chain.CeremonySettings{MinQual: o.MinQual, PhaseTimeoutSeconds: o.PhaseTimeout},
		Policy:   chain.DefaultPolicy(o.GasToken, o.Treasury),
	}
	names := make(map[string]int)
	for i, d := range validators {
		if other, taken := names[d.Name]; taken {
			return nil, fmt.Errorf("validators %d and %d have the same name %q", other, i+1, d.Name)
		}
		names[d.Name] = i + 1
		key, err := hex.DecodeString(d.NetworkKey)
		if err != nil || len(key) != len(chain.NetworkKey{}) {
			return nil, fmt.Errorf("validator %s: network key is not hex", d.Name)
		}
		g.Validators = append(g.Validators, chain.Validator{
			Index: uint32(i + 1), Name: d.Name, NetworkKey: chain.NetworkKey(key), VotingKey: d.VotingKey, VotingProof: d.VotingProof,
			Proposer: d.Proposer, Addrs: d.Addrs,
		})
	}
	return chain.ParseGenesis(g.Encode()) // fills in what was left out, and validates
}
