package chain

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// Bounds of a genesis file.
const (
	MaxValidators  = 256
	maxGenesisSize = 8 << 20 // bytes; about 100,000 balances
	maxNameLen     = 64
	maxAddrs       = 16
	maxAddrLen     = 256

	// maxGasPerBlock keeps the leading transactions of a block, which no proposer may leave out, below 2 MiB: an entry's bytes
	// cost 6,000 gas for 32, and its other 100 bytes come with 160,000.
	maxGasPerBlock = 300_000_000
)

// NetworkKey is a validator's ed25519 public key. In JSON it is 64 hexadecimal digits.
type NetworkKey [ed25519.PublicKeySize]byte

// Public returns the key as crypto/ed25519 takes it.
func (k NetworkKey) Public() ed25519.PublicKey { return ed25519.PublicKey(k[:]) }

// String returns 64 hexadecimal digits.
func (k NetworkKey) String() string { return hex.EncodeToString(k[:]) }

// MarshalText returns 64 hexadecimal digits.
func (k NetworkKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes 64 hexadecimal digits.
func (k *NetworkKey) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(string(text))
	if err != nil || len(b) != len(k) {
		return fmt.Errorf("network key %q: want %d hexadecimal digits", clip(string(text)), 2*len(k))
	}
	copy(k[:], b)
	return nil
}

// ParseGenesis reads a genesis file strictly: unknown, repeated or trailing content is refused. It fills in what a file
// may leave out and validates the result.
func ParseGenesis(data []byte) (*Genesis, error) {
	if len(data) > maxGenesisSize {
		return nil, fmt.Errorf("genesis: %w (%d bytes; at most %d)", ErrTooLarge, len(data), maxGenesisSize)
	}
	if err := refuseRepeatedNames(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return nil, fmt.Errorf("genesis: %w: %w", ErrInvalid, err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var g Genesis
	if err := dec.Decode(&g); err != nil {
		return nil, fmt.Errorf("genesis: %w: %w", ErrInvalid, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("genesis: %w: something follows the JSON object", ErrInvalid)
	}
	g.fillDefaults()
	if err := g.Validate(); err != nil {
		return nil, err
	}
	return &g, nil
}

// refuseRepeatedNames walks one JSON value. encoding/json lets the last of two equal names win, and two readers of one
// file must not start different chains.
func refuseRepeatedNames(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		seen := make(map[string]bool)
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			// The decoder also matches names whose case differs.
			folded := strings.ToLower(fmt.Sprint(name))
			if seen[folded] {
				return fmt.Errorf("%q is given twice", clip(folded))
			}
			seen[folded] = true
			if err := refuseRepeatedNames(dec); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	case json.Delim('['):
		for dec.More() {
			if err := refuseRepeatedNames(dec); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

// UnmarshalJSON takes an object from addresses to decimal strings.
func (b *Balances) UnmarshalJSON(data []byte) error {
	var raw map[string]string
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("balances: want an object from addresses to amounts as decimal strings: %w", err)
	}
	out := make(Balances, len(raw))
	for text, amount := range raw {
		if !common.IsHexAddress(text) || !strings.HasPrefix(text, "0x") {
			return fmt.Errorf("balances: address %q: want 0x and 40 hexadecimal digits", clip(text))
		}
		value, err := uint256.FromDecimal(amount)
		if err != nil || value.Dec() != amount {
			return fmt.Errorf("balances: amount %q of %s: want a decimal string below 2^256", clip(amount), text)
		}
		out[common.HexToAddress(text)] = value
	}
	*b = out
	return nil
}

// Validate reports every problem of the genesis at once, each with what to do about it.
func (g *Genesis) Validate() error {
	var p problems
	p.check(g.ChainID != 0, "chain_id is 0: choose a number that no other network uses")
	p.check(g.Time != 0, "genesis_time is 0: give the Unix time in seconds at which the chain may start")
	p.check(g.Time < 1<<40, "genesis_time %d is not in seconds: give the Unix time in seconds", g.Time)
	p.check(g.TurnBlocks != 0, "turn_blocks is 0: give at least 1 (default %d)", DefaultTurnBlocks)
	p.check(g.SkipSeconds != 0, "skip_seconds is 0: give at least 1 (default %d)", DefaultSkipSeconds)
	g.validateMembers(&p)
	if n := len(g.Validators); n > 0 {
		g.Ceremony.check(n, &p)
	}
	if _, err := g.Policy.scheduler().Validate(g.BlockGasLimit); err != nil {
		p.add("policy: %v", err)
	}
	p.check(g.Policy.GasPerBlock <= maxGasPerBlock, "policy: gas_per_block is %d: give at most %d, more runs than that do not fit a block",
		g.Policy.GasPerBlock, maxGasPerBlock)
	g.Balances.validate("balances", &p)
	g.validateTokens(&p)
	g.validateCatalog(&p)
	return p.err()
}

// Warnings lists what is allowed but deserves a second look.
func (g *Genesis) Warnings() []string {
	warnings, _ := g.Policy.scheduler().Validate(g.BlockGasLimit)
	if n := len(g.Validators); n < 4 {
		warnings = append(warnings, fmt.Sprintf("with %d validators no fault is tolerated: use at least 4", n))
	}
	return warnings
}

func (g *Genesis) validateMembers(p *problems) {
	n := len(g.Validators)
	p.check(n > 0, "validators is empty: list at least one")
	p.check(n <= MaxValidators, "%d validators: at most %d are supported", n, MaxValidators)
	keys, voting := make(map[NetworkKey]uint32), make(map[finality.PublicKey]uint32)
	addrs := make(map[string]uint32)
	for i, v := range g.Validators {
		p.check(v.Index == uint32(i+1), "validator at position %d has index %d: number them 1..%d in order", i+1, v.Index, n)
		p.check(v.NetworkKey != NetworkKey{}, "validator %d: network_key is missing: `beacond init` prints it", i+1)
		if other, ok := keys[v.NetworkKey]; ok {
			p.add("validators %d and %d have the same network_key: each needs its own", other, i+1)
		}
		keys[v.NetworkKey] = uint32(i + 1)
		if err := v.VotingKey.Verify(v.VotingProof); err != nil {
			p.add("validator %d: %v: take voting_key and voting_proof from its validator.json", i+1, err)
		}
		if other, ok := voting[v.VotingKey]; ok {
			p.add("validators %d and %d have the same voting_key: each needs its own", other, i+1)
		}
		voting[v.VotingKey] = uint32(i + 1)
		p.check(v.Proposer != Addr{}, "validator %d: proposer is missing: give the address that receives its fees", i+1)
		p.check(!isSystem(v.Proposer), "validator %d: proposer %s is a system address: give another", i+1, v.Proposer)
		p.check(len(v.Name) <= maxNameLen, "validator %d: name is longer than %d bytes", i+1, maxNameLen)
		p.check(len(v.Addrs) <= maxAddrs, "validator %d: more than %d addrs", i+1, maxAddrs)
		for _, addr := range v.Addrs {
			p.check(addr != "" && len(addr) <= maxAddrLen, "validator %d: address %q must have 1..%d bytes", i+1, clip(addr), maxAddrLen)
			if other, ok := addrs[addr]; ok && other != uint32(i+1) {
				p.add("validators %d and %d have the same address %s: each needs its own host or port", other, i+1, clip(addr))
			}
			addrs[addr] = uint32(i + 1)
		}
	}
}

// Check reports what is wrong with the settings for so many validators, at least one. What is left out is fine.
func (c CeremonySettings) Check(validators int) error {
	var p problems
	c.fillDefaults(validators)
	c.check(validators, &p)
	return p.err()
}

func (c CeremonySettings) check(n int, p *problems) {
	p.check(c.Threshold == 2*n/3+1, "ceremony.threshold is %d: for %d validators it is floor(2n/3)+1 = %d; leave it out",
		c.Threshold, n, 2*n/3+1)
	least := min(n, c.Threshold+1)
	if n < 4 {
		least = n
	}
	p.check(c.MinQual >= least && c.MinQual <= n, "ceremony.min_qual is %d: give %d..%d (default %d)", c.MinQual, least, n, n)
	p.check(c.PhaseTimeoutSeconds >= 1 && c.PhaseTimeoutSeconds <= 86_400,
		"ceremony.phase_timeout_seconds is %d: give 1..86400 (default %d)", c.PhaseTimeoutSeconds, DefaultPhaseTimeoutSeconds)
}

// validate checks the balances of a token; what names it.
func (b Balances) validate(what string, p *problems) {
	total := new(uint256.Int)
	for _, holder := range b.Holders() {
		p.check(!isSystem(holder), "%s: %s is a system address and starts with nothing", what, holder)
		amount := b[holder]
		if amount == nil {
			p.add("%s: amount of %s is missing", what, holder)
			continue
		}
		if _, over := total.AddOverflow(total, amount); over {
			p.add("%s: the sum is 2^256 or more: give less", what)
			return
		}
	}
}

// problems collects what is wrong with a file, so that its author mends it in one go.
type problems struct{ list []string }

func (p *problems) add(format string, args ...any) {
	p.list = append(p.list, fmt.Sprintf(format, args...))
}

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		p.add(format, args...)
	}
}

func (p *problems) err() error {
	switch len(p.list) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("genesis: %w: %s", ErrInvalid, p.list[0])
	}
	return fmt.Errorf("genesis: %w: %w", ErrInvalid, errors.New(fmt.Sprintf("%d problems:\n  - ", len(p.list))+strings.Join(p.list, "\n  - ")))
}

// clip bounds foreign text in an error message.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
