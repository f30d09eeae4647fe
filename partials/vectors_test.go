package partials_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/daybreak-beacon/daybreak/vectors"
)

// hexBytes reads "0x…" from JSON.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(b []byte) error {
	s, _ := strings.CutPrefix(strings.Trim(string(b), `"`), "0x")
	v, err := hex.DecodeString(s)
	*h = v
	return err
}

// vector is a case of beacon.json, as far as this package is concerned. Indices count from 0 there.
type vector struct {
	Name         string
	Type         string
	Valid        bool
	ChainID      string   `json:"chain_id"`
	GenesisHash  hexBytes `json:"genesis_hash"`
	Identity     hexBytes
	Threshold    int
	Participants int
	Coefficients []hexBytes
	Commitments  []hexBytes
	GroupKey     hexBytes `json:"group_key"`
	Key          hexBytes
	Shares       []struct {
		Index     uint32
		Value     hexBytes
		PublicKey hexBytes `json:"public_key"`
	}
	Partials   []vectorPartial
	Recoveries []struct {
		Indices []uint32
		Valid   bool
	}
	BadIndices []uint32 `json:"bad_indices"`
	Stage      string

	Index     uint32
	PublicKey hexBytes `json:"public_key"`
	Partial   hexBytes
}

type vectorPartial struct {
	Index   uint32
	Partial hexBytes
}

// part is the partial as this package counts it; what is not 96 bytes long cannot even be a Partial.
func (v vectorPartial) part(t *testing.T) partials.Partial {
	t.Helper()
	if len(v.Partial) != bls.G2Size {
		t.Fatalf("partial of %d bytes", len(v.Partial))
	}
	return partials.Partial{Index: v.Index + 1, Sig: [bls.G2Size]byte(v.Partial)}
}

func (v *vector) parts(t *testing.T) []partials.Partial {
	var ps []partials.Partial
	for _, p := range v.Partials {
		ps = append(ps, p.part(t))
	}
	return ps
}

func (v *vector) prepare(t *testing.T, ns tlock.Namespace) *partials.Prepared {
	t.Helper()
	id, err := tlock.IdentityFromBytes(v.Identity)
	if err != nil {
		t.Fatal(err)
	}
	return partials.Prepare(ns, id)
}

func (v *vector) group(t *testing.T) *partials.Group {
	t.Helper()
	chain, _ := new(big.Int).SetString(v.ChainID, 10)
	ns, err := tlock.NewNamespace(chain, [32]byte(v.GenesisHash))
	if err != nil {
		t.Fatal(err)
	}
	var commitments []bls.G1
	for _, c := range v.Commitments {
		p, err := bls.DecodeG1(c)
		if err != nil {
			t.Fatal(err)
		}
		commitments = append(commitments, p)
	}
	g, err := partials.NewGroup(ns, 1, v.Participants, commitments)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func readVectors(t *testing.T) []vector {
	t.Helper()
	b, err := vectors.FS.ReadFile("beacon.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []vector }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// TestVectors runs the threshold, partial, recover and recover_skipping cases of beacon.json. Only the threshold cases name
// the commitments; the others use the group of the threshold case with the same shares.
func TestVectors(t *testing.T) {
	var groups []*partials.Group
	count := make(map[string]int)
	for _, v := range readVectors(t) {
		switch v.Type {
		case "threshold":
			g := v.group(t)
			groups = append(groups, g)
			t.Run(v.Name, func(t *testing.T) { checkThreshold(t, g, &v) })
		case "partial", "recover", "recover_skipping":
			at := slices.IndexFunc(groups, func(g *partials.Group) bool {
				return g.Namespace().GenesisHash() == [32]byte(v.GenesisHash)
			})
			if at < 0 {
				t.Fatalf("%s: no threshold case of its chain", v.Name)
			}
			check := map[string]func(*testing.T, *partials.Group, *vector){
				"partial": checkPartial, "recover": checkRecover, "recover_skipping": checkSkipping}[v.Type]
			t.Run(v.Name, func(t *testing.T) { check(t, groups[at], &v) })
		default:
			continue
		}
		count[v.Type]++
	}
	if got := count["threshold"] + count["partial"] + count["recover"] + count["recover_skipping"]; got != 40 {
		t.Errorf("ran %d cases, want 40: %v", got, count)
	}
}

func checkThreshold(t *testing.T, g *partials.Group, v *vector) {
	if got := g.Key().Bytes(); !slices.Equal(got[:], v.GroupKey) {
		t.Errorf("group key %x, want %x", got, v.GroupKey)
	}
	if g.Threshold() != v.Threshold || g.N() != v.Participants {
		t.Errorf("threshold %d of %d, want %d of %d", g.Threshold(), g.N(), v.Threshold, v.Participants)
	}
	p := v.prepare(t, g.Namespace())
	parts := v.parts(t)
	for i, s := range v.Shares {
		secret, err := bls.ScalarFromBytes(s.Value)
		if err != nil {
			t.Fatal(err)
		}
		share, err := partials.NewShare(s.Index+1, secret)
		if err != nil {
			t.Fatal(err)
		}
		public, _ := g.PublicShare(s.Index + 1)
		if got := public.Bytes(); !slices.Equal(got[:], s.PublicKey) {
			t.Errorf("public share %d is %x, want %x", s.Index+1, got, s.PublicKey)
		}
		if err := share.Check(g); err != nil {
			t.Error(err)
		}
		if got := share.Sign(p); got != parts[i] {
			t.Errorf("partial %x, want %x", got.Sig, parts[i].Sig)
		}
		if err := g.VerifyPartial(p, parts[i]); err != nil {
			t.Error(err)
		}
	}
	for _, r := range v.Recoveries {
		var chosen []partials.Partial
		for _, i := range r.Indices {
			chosen = append(chosen, parts[i])
		}
		key, bad, err := g.Recover(p, chosen, nil)
		if len(bad) != 0 {
			t.Errorf("recovering from %v: blamed %v", r.Indices, bad)
		}
		if !r.Valid {
			if !errors.Is(err, partials.ErrTooFew) {
				t.Errorf("recovering from %v: got %v, want ErrTooFew", r.Indices, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("recovering from %v: %v", r.Indices, err)
		}
		if got := key.Bytes(); !slices.Equal(got[:], v.Key) {
			t.Errorf("key %x, want %x", got, v.Key)
		}
	}
}

func checkPartial(t *testing.T, g *partials.Group, v *vector) {
	public, _ := g.PublicShare(v.Index + 1)
	if got := public.Bytes(); !slices.Equal(got[:], v.PublicKey) {
		t.Fatalf("public share %x, want %x", got, v.PublicKey)
	}
	p := v.prepare(t, g.Namespace())
	if len(v.Partial) != bls.G2Size {
		wire := g.Seal(p.Identity(), partials.Partial{Index: v.Index + 1}).Encode()
		wire = append(wire[:len(wire)-bls.G2Size], v.Partial...)
		if _, err := partials.DecodeEnvelope(wire); !errors.Is(err, partials.ErrInvalid) {
			t.Errorf("envelope: got %v, want ErrInvalid", err)
		}
		return
	}
	part := partials.Partial{Index: v.Index + 1, Sig: [bls.G2Size]byte(v.Partial)}
	if err := g.VerifyPartial(p, part); (err == nil) != v.Valid || err != nil && !errors.Is(err, partials.ErrInvalid) {
		t.Errorf("valid %v, got %v", v.Valid, err)
	}
	if bad := g.VerifyBatch(p, []partials.Partial{part}, nil); (len(bad) == 0) != v.Valid {
		t.Errorf("valid %v, batch finds %v", v.Valid, bad)
	}
}

// checkRecover runs the cases that must not give a key; valid recoveries are part of the threshold cases.
func checkRecover(t *testing.T, g *partials.Group, v *vector) {
	_, bad, err := g.Recover(v.prepare(t, g.Namespace()), v.parts(t), nil)
	if err == nil {
		t.Fatal("recovered a key")
	}
	if v.Stage == "verify" && len(bad) == 0 {
		t.Errorf("nobody blamed: %v", err)
	}
}

func checkSkipping(t *testing.T, g *partials.Group, v *vector) {
	key, bad, err := g.Recover(v.prepare(t, g.Namespace()), v.parts(t), nil)
	var want []uint32
	for _, i := range v.BadIndices {
		want = append(want, i+1)
	}
	slices.Sort(want)
	if !slices.Equal(bad, want) {
		t.Errorf("blamed %v, want %v", bad, want)
	}
	if (err == nil) != v.Valid {
		t.Fatalf("valid %v, got %v", v.Valid, err)
	}
	if !v.Valid {
		if !errors.Is(err, partials.ErrTooFew) {
			t.Errorf("got %v, want ErrTooFew", err)
		}
		return
	}
	if got := key.Bytes(); !slices.Equal(got[:], v.Key) {
		t.Errorf("key %x, want %x", got, v.Key)
	}
}
