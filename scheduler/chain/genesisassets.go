package chain

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// Bounds of what a genesis sets up beside the gas token.
const (
	maxTokens   = 64
	maxWriters  = 64
	maxItems    = 1024
	maxItemName = 64 // bytes
)

// Tokens maps MIP20 tokens, which entries may reserve, to what their holders have when the chain starts. In JSON it is an object
// from addresses to balances.
type Tokens map[Addr]Balances

// Addresses returns the tokens in ascending order.
func (t Tokens) Addresses() []Addr {
	all := make([]Addr, 0, len(t))
	for token := range t {
		all = append(all, token)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Cmp(all[j]) < 0 })
	return all
}

// MarshalJSON writes the tokens in ascending order.
func (t Tokens) MarshalJSON() ([]byte, error) {
	out := make(map[string]Balances, len(t))
	for token, balances := range t {
		if balances == nil {
			balances = Balances{}
		}
		out[token.Hex()] = balances
	}
	return json.Marshal(out)
}

// UnmarshalJSON takes an object from addresses to balances.
func (t *Tokens) UnmarshalJSON(data []byte) error {
	var raw map[string]Balances
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("tokens: want an object from addresses to balances: %w", err)
	}
	var out Tokens
	for text, balances := range raw {
		if !common.IsHexAddress(text) || !strings.HasPrefix(text, "0x") {
			return fmt.Errorf("tokens: address %q: want 0x and 40 hexadecimal digits", clip(text))
		}
		if out == nil {
			out = make(Tokens, len(raw))
		}
		out[common.HexToAddress(text)] = balances
	}
	*t = out
	return nil
}

// Catalog is the oracle catalog that a chain starts with (document 002 "Conditional entries").
type Catalog struct {
	Writers []Addr `json:"writers"` // accounts that may write, for ever
	Items   []Item `json:"items"`
}

// Item is an item that the catalog lists from the start.
type Item struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"` // decimal, written at the genesis; none if empty
}

// ID is what the scheduler knows the item by: keccak256 of its name.
func (i Item) ID() Hash { return crypto.Keccak256Hash([]byte(i.Name)) }

// written is the item's first value, if it has one.
func (i Item) written() (value *uint256.Int, ok bool, err error) {
	if i.Value == "" {
		return nil, false, nil
	}
	value, err = uint256.FromDecimal(i.Value)
	if err == nil && value.Dec() != i.Value {
		err = fmt.Errorf("not canonical")
	}
	return value, true, err
}

// assetsPreimage is what the genesis hash covers of tokens and catalog. Its fields stand last in the preimage and are left out of it
// if the genesis has neither.
type assetsPreimage struct {
	Tokens  []tokenPreimage
	Writers []Addr
	Items   []Item
}

type tokenPreimage struct {
	Token    Addr
	Balances []balancePreimage
}

type balancePreimage struct {
	Holder Addr
	Amount *uint256.Int
}

// preimage lists the balances in ascending order of their holders.
func (b Balances) preimage() (all []balancePreimage) {
	for _, holder := range b.Holders() {
		all = append(all, balancePreimage{holder, b[holder]})
	}
	return all
}

func (g *Genesis) assetsPreimage() *assetsPreimage {
	if len(g.Tokens) == 0 && g.Catalog == nil {
		return nil
	}
	p := &assetsPreimage{}
	for _, token := range g.Tokens.Addresses() {
		p.Tokens = append(p.Tokens, tokenPreimage{token, g.Tokens[token].preimage()})
	}
	if g.Catalog != nil {
		p.Writers, p.Items = g.Catalog.Writers, g.Catalog.Items
	}
	return p
}

func (g *Genesis) validateTokens(p *problems) {
	p.check(len(g.Tokens) <= maxTokens, "tokens: there are %d, at most %d are supported", len(g.Tokens), maxTokens)
	for _, token := range g.Tokens.Addresses() {
		p.check(token != Addr{}, "tokens: the zero address is no token")
		p.check(!isSystem(token), "tokens: %s is a system address: give another", token)
		p.check(token != g.Policy.GasToken, "tokens: %s is the gas token: its balances stand under balances", token)
		g.Tokens[token].validate(fmt.Sprintf("tokens: %s", token), p)
	}
}

func (g *Genesis) validateCatalog(p *problems) {
	if g.Catalog == nil {
		return
	}
	writers, items := g.Catalog.Writers, g.Catalog.Items
	p.check(len(writers) <= maxWriters, "catalog: there are %d writers, at most %d are supported", len(writers), maxWriters)
	p.check(len(items) <= maxItems, "catalog: there are %d items, at most %d are supported", len(items), maxItems)
	p.check(len(writers) > 0, "catalog: writers is empty: name an account that writes, or leave catalog out")
	seen := make(map[Addr]bool)
	for _, w := range writers {
		// The scheduler is one of these: whoever schedules calls in its name.
		p.check(w != Addr{} && !isSystem(w), "catalog: writer %s is a system address or zero: give an account", w)
		p.check(!seen[w], "catalog: writer %s is given twice", w)
		seen[w] = true
	}
	names := make(map[string]bool)
	for _, i := range items {
		p.check(ItemName(i.Name), "catalog: item name %q: want 1 to %d printable ASCII characters, no space around them, not beginning with 0x",
			clip(i.Name), maxItemName)
		p.check(!names[i.Name], "catalog: item %q is given twice", clip(i.Name))
		names[i.Name] = true
		if _, _, err := i.written(); err != nil {
			p.add("catalog: value %q of item %q: want a decimal string below 2^256", clip(i.Value), clip(i.Name))
		}
	}
}

// ItemName says whether a catalog item can have this name. Names that begin with 0x are left to ids.
func ItemName(name string) bool {
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return name != "" && len(name) <= maxItemName && strings.TrimSpace(name) == name && !strings.HasPrefix(name, "0x")
}

// setUpAssets puts balances, tokens and the catalog of a valid genesis into the state before the first block.
func (g *Genesis) setUpAssets(host *memory.Host) error {
	for _, holder := range g.Balances.Holders() {
		if err := host.Mint(scheduler.Addr(holder), *g.Balances[holder]); err != nil {
			return err
		}
	}
	for _, token := range g.Tokens.Addresses() {
		host.RegisterMIP20(scheduler.Addr(token))
		for _, holder := range g.Tokens[token].Holders() {
			if err := host.MintToken(scheduler.Addr(token), scheduler.Addr(holder), *g.Tokens[token][holder]); err != nil {
				return err
			}
		}
	}
	if g.Catalog == nil {
		return nil
	}
	for _, w := range g.Catalog.Writers {
		host.AllowWriter(scheduler.Addr(w))
	}
	for _, i := range g.Catalog.Items {
		host.List(scheduler.Word(i.ID()))
		value, ok, err := i.written()
		if err != nil {
			return err
		}
		if ok {
			host.Write(scheduler.Word(i.ID()), value.Bytes32(), false, false)
		}
	}
	return nil
}
