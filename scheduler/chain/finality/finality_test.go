package finality

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// club is n validators with known secrets.
type club struct {
	domain  Domain
	secrets []Secret
	voters  *Voters
}

func newClub(t testing.TB, n int) *club {
	t.Helper()
	c := &club{domain: NewDomain(31337, [32]byte{1})}
	var keys []PublicKey
	for i := range n {
		seed := bls.HashToScalar([]byte{byte(i), byte(i >> 8)}, []byte("test")).Bytes()
		s, err := SecretFromBytes(seed[:])
		if err != nil {
			t.Fatal(err)
		}
		c.secrets, keys = append(c.secrets, s), append(keys, s.Public())
	}
	var err error
	if c.voters, err = NewVoters(c.domain, keys, 2*n/3+1); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *club) vote(index uint32, b Block) Vote { return c.secrets[index-1].Sign(c.domain, index, b) }

func block(height uint64, name byte) Block { return Block{height, [32]byte{name}} }

// certificate is that of the first t validators.
func (c *club) certificate(b Block) *Certificate {
	var votes []Vote
	for i := range c.voters.threshold {
		votes = append(votes, c.vote(uint32(i+1), b))
	}
	cert, ok := c.voters.aggregate(c.voters.prepare(b), votes)
	if !ok {
		panic("good votes do not add up")
	}
	return cert
}

func TestPossession(t *testing.T) {
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	k, p := s.Public(), s.Possession()
	if err := k.Verify(p); err != nil {
		t.Fatal(err)
	}
	other, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	infinity := PublicKey{0: 0xc0}
	for name, bad := range map[string]struct {
		k PublicKey
		p Possession
	}{
		"another's proof":        {k, other.Possession()},
		"the identity as key":    {infinity, p},
		"no key":                 {PublicKey{}, p},
		"no proof":               {k, Possession{}},
		"the identity as proof":  {k, Possession{0: 0xc0}},
		"a vote as proof":        {k, Possession(s.Sign(NewDomain(1, [32]byte{}), 1, block(1, 1)).Signature)},
		"a rogue key: -k of it":  {PublicKey(mustG1(t, k).Neg().Bytes()), p},
		"key outside the curve":  {PublicKey{0: 0x80, 47: 1}, p},
		"proof outside the tags": {k, Possession(bls.HashToG2(k[:], []byte(sigTag)).Mul(*s.scalar).Bytes())},
	} {
		if err := bad.k.Verify(bad.p); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func mustG1(t *testing.T, k PublicKey) bls.G1 {
	t.Helper()
	p, err := bls.DecodeG1(k[:])
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestKeysAsText(t *testing.T) {
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	in := struct {
		K PublicKey
		P Possession
	}{s.Public(), s.Possession()}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out := in
	out.K, out.P = PublicKey{}, Possession{}
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Fatalf("%s came back as %v, %v", text, out, err)
	}
	for _, bad := range []string{``, `0x`, `0x00`, "0x" + strings.Repeat("g", 96), strings.Repeat("0", 98), "0X" + strings.Repeat("0", 96)} {
		if err := new(PublicKey).UnmarshalText([]byte(bad)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", bad, err)
		}
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	s, err := NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bytes()
	holder := struct{ s Secret }{s}
	for _, text := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %x %d", s, s, s, s, s), fmt.Sprintf("%+v %#v", holder, holder), s.LogValue().String(), s.GoString(),
	} {
		if strings.Contains(text, fmt.Sprintf("%x", b[:8])) || !strings.Contains(text, "redacted") && !strings.Contains(text, "0x") {
			t.Errorf("printed as %q", text)
		}
	}
	for _, bad := range [][]byte{nil, make([]byte, 32), bytes.Repeat([]byte{0xff}, 32), make([]byte, 31)} {
		if _, err := SecretFromBytes(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("secret %x: %v, want ErrInvalid", bad, err)
		}
	}
}

func TestVotes(t *testing.T) {
	c := newClub(t, 4)
	v := c.vote(2, block(7, 1))
	got, err := DecodeVote(v.Encode())
	if err != nil || got != v {
		t.Fatalf("decoded %v, %v", got, err)
	}
	if err := c.voters.Verify(v); err != nil {
		t.Fatal(err)
	}
	change := func(f func(*Vote)) Vote { w := v; f(&w); return w }
	for name, bad := range map[string]Vote{
		"another's":      change(func(w *Vote) { w.Index = 3 }),
		"index 5 of 4":   change(func(w *Vote) { w.Index = 5 }),
		"index 0":        change(func(w *Vote) { w.Index = 0 }),
		"another height": change(func(w *Vote) { w.Height++ }),
		"another digest": change(func(w *Vote) { w.Digest[31]++ }),
		"no signature":   change(func(w *Vote) { w.Signature = [96]byte{} }),
		"the identity":   change(func(w *Vote) { w.Signature = [96]byte{0: 0xc0} }),
		"another chain":  c.secrets[1].Sign(NewDomain(31338, [32]byte{1}), 2, v.Block),
		"other genesis":  c.secrets[1].Sign(NewDomain(31337, [32]byte{2}), 2, v.Block),
	} {
		if err := c.voters.Verify(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	for _, bad := range [][]byte{nil, v.Encode()[1:], append(v.Encode(), 0), Vote{Index: 1}.Encode(), Vote{Block: block(1, 1)}.Encode(),
		Vote{Block: block(1, 1), Index: MaxVoters + 1}.Encode()} {
		if _, err := DecodeVote(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("decoding %x: %v, want ErrInvalid", bad, err)
		}
	}
}

func TestCertificates(t *testing.T) {
	c := newClub(t, 10) // t = 7
	cert := c.certificate(block(9, 3))
	got, err := DecodeCertificate(cert.Encode())
	if err != nil || !bytes.Equal(got.Encode(), cert.Encode()) {
		t.Fatalf("decoded %v, %v", got, err)
	}
	if err := c.voters.VerifyCertificate(got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got.Indices()) != "[1 2 3 4 5 6 7]" || !got.Has(7) || got.Has(8) || got.Has(0) || got.Has(1<<32-1) {
		t.Errorf("signers %v", got.Indices())
	}
	change := func(f func(*Certificate)) *Certificate {
		d, err := DecodeCertificate(cert.Encode())
		if err != nil {
			t.Fatal(err)
		}
		f(d)
		return d
	}
	six, _ := c.voters.aggregate(c.voters.prepare(cert.Block), []Vote{c.vote(1, cert.Block), c.vote(2, cert.Block)})
	for name, bad := range map[string]*Certificate{
		"two signers":         six,
		"one signer replaced": change(func(d *Certificate) { d.Voters[0] ^= 0x81 }),
		"one signer more":     change(func(d *Certificate) { d.Voters[0] |= 0x80 }),
		"one signer less":     change(func(d *Certificate) { d.Voters[0] &^= 1 }),
		"signer 11 of 10":     change(func(d *Certificate) { d.Voters[1] |= 4 }),
		"short bitmap":        change(func(d *Certificate) { d.Voters = d.Voters[:1] }),
		"long bitmap":         change(func(d *Certificate) { d.Voters = append(d.Voters, 0) }),
		"another height":      change(func(d *Certificate) { d.Height++ }),
		"height 0":            change(func(d *Certificate) { d.Height = 0 }),
		"another digest":      change(func(d *Certificate) { d.Digest[0]++ }),
		"no signature":        change(func(d *Certificate) { d.Signature = [96]byte{} }),
	} {
		if err := c.voters.VerifyCertificate(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	b := cert.Encode()
	for _, bad := range [][]byte{nil, b[:len(b)-1], append(bytes.Clone(b), 0), append(bytes.Clone(b[:41]), append([]byte{9}, b[42:]...)...), make([]byte, MaxCertificate+1)} {
		if _, err := DecodeCertificate(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("decoding %d bytes: %v, want ErrInvalid", len(bad), err)
		}
	}
}

func TestVotersAreChecked(t *testing.T) {
	c := newClub(t, 4)
	k := c.secrets[0].Public()
	for name, try := range map[string]struct {
		keys      []PublicKey
		threshold int
	}{
		"none": {nil, 0}, "threshold 0": {[]PublicKey{k}, 0}, "threshold 2 of 1": {[]PublicKey{k}, 2},
		"the identity": {[]PublicKey{{0: 0xc0}}, 1}, "too many": {make([]PublicKey, MaxVoters+1), 1},
	} {
		if _, err := NewVoters(c.domain, try.keys, try.threshold); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
}

func TestEvidence(t *testing.T) {
	c := newClub(t, 4)
	e := Evidence{c.vote(3, block(5, 2)), c.vote(3, block(5, 1))}
	got, err := DecodeEvidence(e.Encode())
	if err != nil || got.First != e.Second || got.Second != e.First {
		t.Fatalf("decoded %v, %v", got, err)
	}
	if err := c.voters.VerifyEvidence(got); err != nil {
		t.Fatal(err)
	}
	forged := got
	forged.Second.Signature = got.First.Signature
	for name, bad := range map[string]Evidence{
		"two heights":      {c.vote(3, block(5, 1)), c.vote(3, block(6, 2))},
		"two validators":   {c.vote(3, block(5, 1)), c.vote(2, block(5, 2))},
		"one block":        {got.First, got.First},
		"a forged vote":    forged,
		"the other forged": {forged.Second, got.First},
	} {
		if err := c.voters.VerifyEvidence(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	b := got.Encode()
	for _, bad := range [][]byte{nil, b[1:], append(bytes.Clone(b[VoteSize:]), b[:VoteSize]...), append(bytes.Clone(b[:VoteSize]), b[:VoteSize]...)} {
		if _, err := DecodeEvidence(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("decoding %d bytes: %v, want ErrInvalid", len(bad), err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	c := newClub(f, 4)
	f.Add(c.vote(1, block(1, 1)).Encode())
	f.Add(c.certificate(block(1, 1)).Encode())
	f.Add(Evidence{c.vote(1, block(1, 1)), c.vote(1, block(1, 2))}.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := DecodeVote(b); err == nil && !bytes.Equal(v.Encode(), b) {
			t.Error("a vote has two encodings")
		}
		if e, err := DecodeEvidence(b); err == nil && !bytes.Equal(e.Encode(), b) {
			t.Error("evidence has two encodings")
		}
		if cert, err := DecodeCertificate(b); err == nil {
			if !bytes.Equal(cert.Encode(), b) {
				t.Error("a certificate has two encodings")
			}
			if c.voters.VerifyCertificate(cert) == nil && cert.count() < c.voters.threshold {
				t.Error("a certificate of too few verifies")
			}
		}
	})
}
