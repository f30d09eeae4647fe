package dkg_test

import (
	"bytes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/vectors"
	"golang.org/x/crypto/chacha20"
)

// ceremony.json is written by puppets, which share no code with what it is to test:
//
//	go test ./dkg -run TestCeremonyVectors -update
var update = flag.Bool("update", false, "write vectors/ceremony.json anew")

const vectorFile = "../vectors/ceremony.json"

type vectorMember struct {
	Index         uint32 `json:"index"`
	NetworkSecret string `json:"network_secret"`
	NetworkKey    string `json:"network_key"`
	Seed          string `json:"seed"`
}

type vectorCase struct {
	Name        string         `json:"name"`
	Type        string         `json:"type"`
	Valid       bool           `json:"valid"`
	Reason      string         `json:"reason,omitempty"`
	ChainID     string         `json:"chain_id,omitempty"`
	GenesisHash string         `json:"genesis_hash,omitempty"`
	Epoch       string         `json:"epoch,omitempty"`
	Attempt     string         `json:"attempt,omitempty"`
	Threshold   int            `json:"threshold,omitempty"`
	MinQual     int            `json:"min_qual,omitempty"`
	Members     []vectorMember `json:"members,omitempty"`
	Scripted    []int          `json:"scripted,omitempty"`
	CeremonyID  string         `json:"ceremony_id,omitempty"`
	Entries     []string       `json:"entries,omitempty"`
	Qual        []uint32       `json:"qual,omitempty"`
	Transcript  string         `json:"transcript,omitempty"`
	Commitments []string       `json:"commitments,omitempty"`
	GroupKey    string         `json:"group_key,omitempty"`
	Shares      []string       `json:"shares,omitempty"`
	Culprits    []uint32       `json:"culprits,omitempty"`
	// of type refused
	Ceremony string `json:"ceremony,omitempty"`
	After    int    `json:"after,omitempty"`
	Entry    string `json:"entry,omitempty"`
	Class    string `json:"class,omitempty"`
}

type vectorFileShape struct {
	Description string       `json:"description"`
	Source      string       `json:"source"`
	Cases       []vectorCase `json:"cases"`
}

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seeded makes a puppet derive its secrets as the documentation says a member does.
func (p *puppet) seeded(seed [32]byte) *puppet {
	derive := func(purpose string, n int) []byte {
		out, err := hkdf.Key(sha256.New, seed[:], p.c.id(), "daybreak-dkg-v1 "+purpose, n)
		if err != nil {
			panic(err)
		}
		return out
	}
	wide := func(b []byte) scalar { return mod(new(big.Int).SetBytes(b)) }
	var stream cipher.Stream
	stream, err := chacha20.NewUnauthenticatedCipher(derive("polynomial", 32), make([]byte, 12))
	if err != nil {
		panic(err)
	}
	pick := func() scalar {
		b := make([]byte, 64)
		stream.XORKeyStream(b, b)
		return wide(b)
	}
	p.enc = wide(derive("encryption key", 64))
	for k := range p.poly {
		p.poly[k] = pick()
	}
	p.ephemeral = pick
	p.nonce = func(tag string, points []g1) scalar {
		h := hmac.New(sha512.New, derive("proof nonces", 32))
		h.Write([]byte(tag))
		h.Write(p.c.id())
		h.Write([]byte{0, 0, 0, byte(p.index)})
		for _, point := range points {
			h.Write(enc(point))
		}
		return wide(h.Sum(nil))
	}
	return p
}

// reference plays a ceremony with puppets alone. script may replace a bundle; a nil bundle is not given.
func reference(t testing.TB, name string, n int, script func(p *puppet, kind int) ([]byte, bool), qual []uint32) (*cluster, vectorCase) {
	c := &cluster{t: t, cfg: dkg.Config{Namespace: namespace(t), Epoch: 1, Attempt: 1}, silent: map[uint32]bool{}}
	genesis := sha256.Sum256([]byte("genesis"))
	v := vectorCase{
		Name: name, Type: "ceremony", Valid: qual != nil, ChainID: "4217", GenesisHash: hex0x(genesis[:]),
		Epoch: "1", Attempt: "1", Threshold: 2*n/3 + 1, MinQual: n, Qual: qual,
	}
	for i := range n {
		secret, seed := seedOf("network key", i), [32]byte(seedOf("vector seed", name, i))
		key := ed25519.NewKeyFromSeed(secret[:])
		c.keys = append(c.keys, key)
		c.cfg.Members = append(c.cfg.Members, dkg.Member{Index: uint32(i + 1), NetworkKey: key.Public().(ed25519.PublicKey)})
		v.Members = append(v.Members, vectorMember{
			Index: uint32(i + 1), NetworkSecret: hex0x(secret[:]), NetworkKey: hex0x(c.cfg.Members[i].NetworkKey), Seed: hex0x(seed[:]),
		})
	}
	v.CeremonyID = hex0x(c.id())
	var puppets []*puppet
	for i := range n {
		puppets = append(puppets, c.puppet(uint32(i+1)).seeded([32]byte(unhex(t, v.Members[i].Seed))))
	}
	for kind := kindAnnounce; kind <= kindConfirm; kind++ {
		confirmed := 0
		for _, p := range puppets {
			body, scripted := script(p, kind)
			if scripted {
				v.Scripted = append(v.Scripted, len(c.log))
			} else if kind == kindJustification || kind == kindConfirm && (qual == nil || confirmed == v.Threshold) {
				continue
			} else {
				body = p.honest(t, kind, qual)
			}
			c.order(p.entry(kind, body))
			confirmed++
		}
		if qual == nil && kind == kindDeal {
			break
		}
	}
	for _, e := range c.log {
		v.Entries = append(v.Entries, hex0x(e))
	}
	if qual != nil {
		sum, transcript := c.view().outcome(qual)
		v.Transcript, v.GroupKey = hex0x(transcript), hex0x(enc(sum[0]))
		for _, point := range sum {
			v.Commitments = append(v.Commitments, hex0x(enc(point)))
		}
		for _, p := range puppets {
			v.Shares = append(v.Shares, hex0x(bytes32(p.share(t, qual))))
		}
	}
	return c, v
}

func (p *puppet) honest(t testing.TB, kind int, qual []uint32) []byte {
	switch kind {
	case kindAnnounce:
		return p.announcement()
	case kindDeal:
		return p.deal()
	case kindResponse:
		return p.response()
	}
	return p.confirmation(p.share(t, qual), qual)
}

func nothing(*puppet, int) ([]byte, bool) { return nil, false }

// buildVectors is the generator.
func buildVectors(t testing.TB) []byte {
	file := vectorFileShape{
		Description: "Whole ceremonies under fixed seeds, entry by entry as they lie in the log. types: ceremony (valid: the entries end it with this group; a member with the seed given publishes exactly the entries that carry its index, up to the first of its that is scripted, by position from 0; not valid: they end it without a group, and the culprits are these); refused (after the first `after` entries of the ceremony named, the entry changes nothing; class is invalid, stale or not_yet). Shares, seeds and network secrets are secret in real life. Index i, from 1, holds the polynomial at x = i.",
		Source:      "puppets of the dkg package's tests: gnark-crypto and the standard library, from the package's documentation alone",
	}
	plain, v := reference(t, "four-members", 4, nothing, all(4))
	file.Cases = append(file.Cases, v)
	_, v = reference(t, "one-member", 1, nothing, all(1))
	file.Cases = append(file.Cases, v)
	_, v = reference(t, "a-false-complaint-is-justified", 4, func(p *puppet, kind int) ([]byte, bool) {
		switch {
		case kind == kindResponse && p.index == 2:
			return p.response(3), true
		case kind == kindJustification && p.index == 3:
			return p.justification(2), true
		}
		return nil, false
	}, all(4))
	v.Scripted = v.Scripted[:1] // the complaint; member 3 justifies by itself
	file.Cases = append(file.Cases, v)
	_, v = reference(t, "a-deal-without-a-proof", 4, func(p *puppet, kind int) ([]byte, bool) {
		if kind != kindDeal || p.index != 2 {
			return nil, false
		}
		return p.dealFrom(commit(p.poly), make([]byte, 64), func(h uint32) scalar { return eval(p.poly, h) }), true
	}, nil)
	v.Reason, v.Culprits = "member 2 does not prove that it knows its constant term", []uint32{2}
	file.Cases = append(file.Cases, v)

	log := plain.log
	refused := func(name, class string, after int, entry []byte) {
		file.Cases = append(file.Cases, vectorCase{
			Name: name, Type: "refused", Reason: strings.ReplaceAll(name, "-", " "), Ceremony: "four-members",
			After: after, Entry: hex0x(entry), Class: class,
		})
	}
	changed := func(e []byte, at int) []byte { e = slices.Clone(e); e[at] ^= 1; return e }
	p := &puppet{c: plain, index: 2}
	foreign := p.sign(changed(log[1][:len(log[1])-64], 1))
	fork := p.sign(changed(log[5][:len(log[5])-64], 40))
	refused("an-entry-a-second-time", "stale", 2, log[1])
	refused("an-announcement-after-its-phase", "stale", 8, log[0])
	refused("a-deal-before-its-phase", "not_yet", 3, log[4])
	refused("an-entry-of-another-ceremony", "stale", 1, foreign)
	refused("an-entry-made-upon-another-log", "stale", 5, fork)
	refused("an-entry-with-another-index", "invalid", 0, changed(log[0], 68))
	refused("an-entry-with-a-changed-body", "invalid", 4, changed(log[4], 100))
	refused("an-entry-with-a-changed-signature", "invalid", 0, changed(log[0], len(log[0])-1))
	refused("an-entry-cut-short", "invalid", 0, log[0][:len(log[0])-1])
	refused("an-entry-of-an-unknown-kind", "invalid", 0, append([]byte{7}, log[0][1:]...))
	refused("a-timeout-of-no-phase", "invalid", 0, p.sign(slices.Concat([]byte{6}, log[0][1:65], []byte{0, 0, 0, 2, 9})))
	refused("a-confirmation-after-the-end", "stale", len(log), log[len(log)-1])

	out, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

func readVectors(t testing.TB) []vectorCase {
	t.Helper()
	raw, err := vectors.FS.ReadFile("ceremony.json")
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFileShape
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestCeremonyVectorsAreWhatTheGeneratorWrites(t *testing.T) {
	want := buildVectors(t)
	if *update {
		if err := os.WriteFile(vectorFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("vectors/ceremony.json differs from what the generator writes")
	}
}

// config returns what a member of the case, or an observer for 0, is configured with.
func (v *vectorCase) config(t testing.TB, self uint32) dkg.Config {
	t.Helper()
	chain, _ := new(big.Int).SetString(v.ChainID, 10)
	ns, err := tlock.NewNamespace(chain, [32]byte(unhex(t, v.GenesisHash)))
	if err != nil {
		t.Fatal(err)
	}
	cfg := dkg.Config{Namespace: ns, Epoch: 1, Attempt: 1, Threshold: v.Threshold, MinQual: v.MinQual, Self: self}
	for _, m := range v.Members {
		cfg.Members = append(cfg.Members, dkg.Member{Index: m.Index, NetworkKey: unhex(t, m.NetworkKey)})
	}
	if self != 0 {
		m := v.Members[self-1]
		cfg.Seed, cfg.Signer = dkg.Seed(unhex(t, m.Seed)), ed25519.NewKeyFromSeed(unhex(t, m.NetworkSecret))
	}
	return cfg
}

// TestMembersPublishTheVectorsEntries: our members, given the seeds of the vectors, want the recorded entries bit by bit.
func TestMembersPublishTheVectorsEntries(t *testing.T) {
	for _, v := range readVectors(t) {
		if v.Type != "ceremony" {
			continue
		}
		for self := range uint32(len(v.Members) + 1) {
			m, err := dkg.New(v.config(t, self))
			if err != nil {
				t.Fatal(err)
			}
			if id := m.ID(); hex0x(id[:]) != v.CeremonyID {
				t.Errorf("%s: ceremony id %s, want %s", v.Name, id, v.CeremonyID)
			}
			honest := true
			for at, raw := range v.Entries {
				e := unhex(t, raw)
				if uint32(e[68]) == self && slices.Contains(v.Scripted, at) {
					honest = false
				}
				if p := m.Pending(); uint32(e[68]) == self && honest && (len(p) != 1 || !bytes.Equal(p[0], e)) {
					t.Errorf("%s: member %d does not want its recorded entry of kind %d", v.Name, self, e[0])
				}
				if _, err := m.Apply(e); err != nil {
					t.Fatalf("%s: machine %d: %v", v.Name, self, err)
				}
			}
			if !v.Valid {
				if f := m.Failure(); f == nil || fmt.Sprint(f.Culprits) != fmt.Sprint(v.Culprits) {
					t.Errorf("%s: machine %d: failure %+v, want culprits %v", v.Name, self, f, v.Culprits)
				}
				continue
			}
			r := m.Result()
			if r == nil {
				t.Fatalf("%s: machine %d: %+v", v.Name, self, m.Status())
			}
			key := r.Group.Key().Bytes()
			if hex0x(key[:]) != v.GroupKey || hex0x(r.Transcript[:]) != v.Transcript || fmt.Sprint(r.Qual) != fmt.Sprint(v.Qual) {
				t.Errorf("%s: machine %d ends with another key, transcript or list of dealers", v.Name, self)
			}
			for k, c := range r.Group.Commitments() {
				if b := c.Bytes(); hex0x(b[:]) != v.Commitments[k] {
					t.Errorf("%s: machine %d: commitment %d differs", v.Name, self, k)
				}
			}
			if self != 0 && honest {
				text, err := r.Share.Encode(r.Group)
				if err != nil || !bytes.Contains(text, []byte("secret "+v.Shares[self-1])) {
					t.Errorf("%s: member %d has another share (%v)", v.Name, self, err)
				}
			}
		}
	}
}

func TestRefusedVectors(t *testing.T) {
	cases := readVectors(t)
	classes := map[string]error{"invalid": dkg.ErrInvalid, "stale": dkg.ErrStale, "not_yet": dkg.ErrNotYet}
	for _, v := range cases {
		if v.Type != "refused" {
			continue
		}
		of := cases[slices.IndexFunc(cases, func(c vectorCase) bool { return c.Name == v.Ceremony })]
		m, err := dkg.New(of.config(t, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range of.Entries[:v.After] {
			if _, err := m.Apply(unhex(t, e)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := m.Apply(unhex(t, v.Entry)); !errors.Is(err, classes[v.Class]) || classes[v.Class] == nil {
			t.Errorf("%s: %v, want class %s", v.Name, err, v.Class)
		}
	}
}

// TestVectorsHoldTogether checks the recorded results against the recorded entries over gnark-crypto alone: proofs, sums,
// shares on the polynomial, confirmations under the public shares, and that any threshold shares make the secret of the key.
func TestVectorsHoldTogether(t *testing.T) {
	for _, v := range readVectors(t) {
		if v.Type != "ceremony" || !v.Valid {
			continue
		}
		cfg := v.config(t, 0)
		c := &cluster{t: t, cfg: cfg}
		for _, e := range v.Entries {
			c.order(unhex(t, e))
		}
		w := c.view()
		sum, transcript := w.outcome(v.Qual)
		if hex0x(enc(sum[0])) != v.GroupKey || hex0x(transcript) != v.Transcript {
			t.Errorf("%s: key or transcript is not what the entries add up to", v.Name)
		}
		for i := range w.bodies[kindAnnounce] {
			if !proves(keyProofTag, w.id, i, []g1{w.key(i)}, w.bodies[kindAnnounce][i][48:]) {
				t.Errorf("%s: member %d does not prove its encryption key", v.Name, i)
			}
			points := w.commitments(i)
			if !proves(dealProofTag, w.id, i, points, w.bodies[kindDeal][i][48*w.t:48*w.t+64]) {
				t.Errorf("%s: member %d does not prove its constant term", v.Name, i)
			}
		}
		q := confirmPoint(cfg.Namespace.Bytes(), transcript)
		_, _, generator, _ := bls12381.Generators()
		var minus g1
		minus.Neg(&generator)
		for i, body := range w.bodies[kindConfirm] {
			var sig g2
			if _, err := sig.SetBytes(body[80:]); err != nil {
				t.Fatal(err)
			}
			if ok, err := bls12381.PairingCheck([]g1{evalPoints(sum, i), minus}, []g2{q, sig}); err != nil || !ok {
				t.Errorf("%s: confirmation of member %d does not verify", v.Name, i)
			}
		}
		shares := map[uint32]scalar{}
		for k, s := range v.Shares {
			i := uint32(k + 1)
			shares[i] = new(big.Int).SetBytes(unhex(t, s))
			if got, want := base(shares[i]), evalPoints(sum, i); !got.Equal(&want) {
				t.Errorf("%s: share %d is not on the polynomial", v.Name, i)
			}
		}
		for from := 1; from+w.t-1 <= w.n; from++ {
			if got := base(interpolate(shares, from, w.t)); !got.Equal(&sum[0]) {
				t.Errorf("%s: shares from %d do not make the secret", v.Name, from)
			}
		}
	}
}

// interpolate returns the value at zero from count shares, starting with index from.
func interpolate(shares map[uint32]scalar, from, count int) scalar {
	secret := new(big.Int)
	for i := from; i < from+count; i++ {
		num, den := big.NewInt(1), big.NewInt(1)
		for j := from; j < from+count; j++ {
			if i != j {
				num = mod(num.Mul(num, big.NewInt(int64(j))))
				den = mod(den.Mul(den, big.NewInt(int64(j-i))))
			}
		}
		num.Mul(num, den.ModInverse(den, order))
		secret = mod(secret.Add(secret, num.Mul(num, shares[uint32(i)])))
	}
	return secret
}
