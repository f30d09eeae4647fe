package chain_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	ethcrypto "github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/chain"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

var mip20 = chain.Addr{19: 0x70}

// assetGenesis is testGenesis(1) with a token of alice's and a catalog that bob writes to.
func assetGenesis() *chain.Genesis {
	g := testGenesis(1)
	g.Tokens = chain.Tokens{mip20: {alice.addr: uint256.NewInt(500)}}
	g.Catalog = &chain.Catalog{Writers: []chain.Addr{bob.addr}, Items: []chain.Item{{Name: "ETH/USD", Value: "2000"}, {Name: "BTC/USD"}}}
	return g
}

func TestGenesisWithoutTokensAndCatalogKeepsItsHash(t *testing.T) {
	const want = "73dad54f93eb53fcd09a6a688c9f46c46ece2cef112b00b5650686e3089c0a07" // computed before there were any
	if got := fmt.Sprintf("%x", testGenesis(4).Hash()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	g := testGenesis(4)
	g.Tokens = chain.Tokens{}
	if got := fmt.Sprintf("%x", g.Hash()); got != want {
		t.Errorf("with an empty list of tokens: got %s, want %s", got, want)
	}
}

func TestGenesisHashCoversTokensAndCatalog(t *testing.T) {
	seen := map[[32]byte]string{testGenesis(1).Hash(): "neither"}
	for name, edit := range map[string]func(*chain.Genesis){
		"unchanged":      func(*chain.Genesis) {},
		"no tokens":      func(g *chain.Genesis) { g.Tokens = nil },
		"no catalog":     func(g *chain.Genesis) { g.Catalog = nil },
		"amount":         func(g *chain.Genesis) { g.Tokens[mip20][alice.addr] = uint256.NewInt(501) },
		"holder":         func(g *chain.Genesis) { g.Tokens[mip20][bob.addr] = uint256.NewInt(0) },
		"another token":  func(g *chain.Genesis) { g.Tokens[chain.Addr{1}] = nil },
		"writer":         func(g *chain.Genesis) { g.Catalog.Writers[0] = alice.addr },
		"writers":        func(g *chain.Genesis) { g.Catalog.Writers = append(g.Catalog.Writers, alice.addr) },
		"items":          func(g *chain.Genesis) { g.Catalog.Items = g.Catalog.Items[:1] },
		"no items":       func(g *chain.Genesis) { g.Catalog.Items = nil },
		"item's name":    func(g *chain.Genesis) { g.Catalog.Items[1].Name = "X" },
		"item's value":   func(g *chain.Genesis) { g.Catalog.Items[0].Value = "2001" },
		"written with 0": func(g *chain.Genesis) { g.Catalog.Items[1].Value = "0" },
	} {
		g := assetGenesis()
		edit(g)
		if other, ok := seen[g.Hash()]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[g.Hash()] = name
		parsed, err := chain.ParseGenesis(g.Encode())
		if err != nil || parsed.Hash() != g.Hash() {
			t.Errorf("%s does not survive a file: %v", name, err)
		}
	}
}

func TestGenesisRefusesTokensAndCatalogs(t *testing.T) {
	long := strings.Repeat("x", 65)
	for name, c := range map[string]struct {
		edit func(*chain.Genesis)
		want string
	}{
		"zero token":           {func(g *chain.Genesis) { g.Tokens[chain.Addr{}] = nil }, "zero address is no token"},
		"system token":         {func(g *chain.Genesis) { g.Tokens[chain.Addr{19: 0xfd}] = nil }, "is a system address"},
		"gas token":            {func(g *chain.Genesis) { g.Tokens[gasToken] = nil }, "is the gas token"},
		"holder of the system": {func(g *chain.Genesis) { g.Tokens[mip20][chain.Addr{19: 0xfe}] = uint256.NewInt(1) }, "starts with nothing"},
		"amounts over 2^256":   {func(g *chain.Genesis) { g.Tokens[mip20][bob.addr] = new(uint256.Int).SetAllOne() }, "the sum is 2^256 or more"},
		"too many tokens": {func(g *chain.Genesis) {
			for i := range 65 {
				g.Tokens[chain.Addr{0: 1, 1: byte(i)}] = nil
			}
		}, "at most 64"},
		"no writers":           {func(g *chain.Genesis) { g.Catalog.Writers = nil }, "writers is empty"},
		"a writer twice":       {func(g *chain.Genesis) { g.Catalog.Writers = []chain.Addr{bob.addr, bob.addr} }, "given twice"},
		"the scheduler writes": {func(g *chain.Genesis) { g.Catalog.Writers[0] = chain.Addr(scheduler.Address) }, "system address or zero"},
		"nobody writes":        {func(g *chain.Genesis) { g.Catalog.Writers[0] = chain.Addr{} }, "system address or zero"},
		"too many writers": {func(g *chain.Genesis) {
			for i := range 65 {
				g.Catalog.Writers = append(g.Catalog.Writers, chain.Addr{0: 1, 1: byte(i)})
			}
		}, "at most 64"},
		"too many items": {func(g *chain.Genesis) {
			for i := range 1025 {
				g.Catalog.Items = append(g.Catalog.Items, chain.Item{Name: fmt.Sprint(i)})
			}
		}, "at most 1024"},
		"an item twice":      {func(g *chain.Genesis) { g.Catalog.Items[1].Name = "ETH/USD" }, `"ETH/USD" is given twice`},
		"no name":            {func(g *chain.Genesis) { g.Catalog.Items[1].Name = "" }, "item name"},
		"a long name":        {func(g *chain.Genesis) { g.Catalog.Items[1].Name = long }, "1 to 64"},
		"a name like an id":  {func(g *chain.Genesis) { g.Catalog.Items[1].Name = "0x12" }, "not beginning with 0x"},
		"a name with spaces": {func(g *chain.Genesis) { g.Catalog.Items[1].Name = " ETH" }, "no space around"},
		"a name of two lines": {func(g *chain.Genesis) {
			g.Catalog.Items[1].Name = "a\nb"
		}, "printable ASCII"},
		"value of hex":       {func(g *chain.Genesis) { g.Catalog.Items[1].Value = "0x10" }, "decimal string"},
		"value not shortest": {func(g *chain.Genesis) { g.Catalog.Items[1].Value = "007" }, "decimal string"},
		"value of 2^256":     {func(g *chain.Genesis) { g.Catalog.Items[1].Value = "1" + strings.Repeat("0", 78) }, "decimal string"},
	} {
		g := assetGenesis()
		c.edit(g)
		if _, err := chain.ParseGenesis(g.Encode()); !errors.Is(err, chain.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.want)
		}
	}
	valid := string(assetGenesis().Encode())
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown field of an item": {`"name": "ETH/USD"`, `"name": "ETH/USD", "halted": true`, "halted"},
		"short token":              {mip20.Hex(), "0x1234", "40 hexadecimal digits"},
		"a token twice":            {`"tokens": {`, `"tokens": { "` + strings.ToUpper(mip20.Hex()[2:]) + `": {}, "` + mip20.Hex()[2:] + `": {},`, "given twice"},
		"tokens that are a list":   {`"tokens": {`, `"tokens": [], "x": {`, "want an object"},
		"short writer":             {strings.ToLower(bob.addr.Hex()), "0x1234", "hex string has length 4"},
		"a value that is a number": {`"2000"`, `2000`, "cannot unmarshal number"},
	} {
		text := strings.Replace(valid, c.from, c.to, 1)
		if text == valid {
			t.Fatalf("%s: nothing was edited", name)
		}
		if _, err := chain.ParseGenesis([]byte(text)); !errors.Is(err, chain.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that names %q", name, err, c.want)
		}
	}
}

// TestTokensAndCatalogOfTheGenesis: a chain starts with them, and two replicas agree on what a feed's transactions do.
func TestTokensAndCatalogOfTheGenesis(t *testing.T) {
	a, b := newReplica(t, assetGenesis()), newReplica(t, assetGenesis())
	read := func(to chain.Addr, signature string, args ...[]byte) []byte {
		t.Helper()
		input := ethcrypto.Keccak256([]byte(signature))[:4]
		for _, arg := range args {
			input = append(input, common.LeftPadBytes(arg, 32)...)
		}
		ret, err := b.Call(chain.Addr{}, to, input)
		if err != nil {
			t.Fatalf("%s: %v", signature, err)
		}
		return ret
	}
	catalog := chain.Addr(scheduler.OracleAddress)
	latest := func(name string) [7]uint64 {
		id := chain.Item{Name: name}.ID()
		ret := read(catalog, "latest(bytes32)", id[:])
		var out [7]uint64
		for i := range out {
			out[i] = new(uint256.Int).SetBytes(ret[32*i : 32*i+32]).Uint64()
		}
		return out
	}
	if got := new(uint256.Int).SetBytes(read(mip20, "balanceOf(address)", alice.addr[:])); got.Uint64() != 500 {
		t.Errorf("alice has %s tokens", got)
	}
	if got, want := latest("ETH/USD"), [7]uint64{2000, 0, 0, 0, testTime, 1, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := latest("BTC/USD"), [7]uint64{5: 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	item := scheduler.Word(chain.Item{Name: "BTC/USD"}.ID())
	write := memory.WriteInput(item, uint256.NewInt(9).Bytes32())
	raw := [][]byte{bob.tx(txData{to: catalog, data: write}), alice.tx(txData{to: catalog, data: write})}
	applied := a.step(t, nil, raw, b)
	for i, r := range applied.Receipts {
		if ours := r.TxHash == ethcrypto.Keccak256Hash(raw[0]); ours != (r.Status == 1) || !ours && !strings.HasPrefix(r.Reason, "NotWriter: ") {
			t.Errorf("write %d: %+v", i, r)
		}
	}
	if got, want := latest("BTC/USD"), [7]uint64{9, 0, 0, 1, testTime + 1, 1, 1}; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if a.Head() != b.Head() {
		t.Error("two replicas part")
	}
}
