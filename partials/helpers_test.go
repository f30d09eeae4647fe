package partials_test

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"testing"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// cluster is a group with all of its secrets, the same at every run.
type cluster struct {
	group  *partials.Group
	secret bls.Scalar
	shares []partials.Share // by index-1
}

func newCluster(t testing.TB, n, threshold int) *cluster {
	t.Helper()
	var coefficients []bls.Scalar
	var commitments []bls.G1
	for i := range threshold {
		c := bls.HashToScalar(fmt.Appendf(nil, "coefficient %d of %d-of-%d", i, threshold, n), []byte("test"))
		coefficients = append(coefficients, c)
		commitments = append(commitments, bls.MulG1Public(c))
	}
	g, err := partials.NewGroup(testNamespace(t, 4217), 1, n, commitments)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{group: g, secret: coefficients[0]}
	for i := range n {
		s, err := partials.NewShare(uint32(i+1), bls.EvalScalar(coefficients, uint32(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		c.shares = append(c.shares, s)
	}
	return c
}

func testNamespace(t testing.TB, chain int64) tlock.Namespace {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(chain), sha256.Sum256([]byte("genesis")))
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// key is the right key of an identity, made of the group's secret.
func (c *cluster) key(id tlock.Identity) [bls.G2Size]byte {
	return c.group.Namespace().Point(id).Mul(c.secret).Bytes()
}

// sign returns all members' good partials.
func (c *cluster) sign(p *partials.Prepared) []partials.Partial {
	var parts []partials.Partial
	for _, s := range c.shares {
		parts = append(parts, s.Sign(p))
	}
	return parts
}

// badness is a way to spoil the partial of the member at position i, 0-based, among all members' good ones.
type badness struct {
	name  string
	spoil func(c *cluster, parts []partials.Partial, i int) [bls.G2Size]byte
}

var badnesses = []badness{
	{"a point of the group that has nothing to do with it", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return bls.HashToG2(parts[i].Sig[:], []byte("test")).Bytes()
	}},
	{"another member's partial", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return parts[(i+1)%len(parts)].Sig
	}},
	{"a partial of another identity", func(c *cluster, _ []partials.Partial, i int) [bls.G2Size]byte {
		return c.shares[i].Sign(partials.Prepare(c.group.Namespace(), tlock.SlotIdentity(1<<40))).Sig
	}},
	{"a confirmation", func(c *cluster, _ []partials.Partial, i int) [bls.G2Size]byte {
		return c.shares[i].Sign(partials.PrepareConfirmation(c.group.Namespace(), [32]byte{1})).Sig
	}},
	{"a point outside of the subgroup", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return outsider(parts[i].Sig).Bytes()
	}},
	{"the good partial plus a point outside of the subgroup", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return decodeG2(parts[i].Sig).Add(outsider(parts[i].Sig)).Bytes()
	}},
	{"the good partial plus a point of small order", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return decodeG2(parts[i].Sig).Add(smallOrder()).Bytes()
	}},
	{"the identity point", func(*cluster, []partials.Partial, int) [bls.G2Size]byte {
		return [bls.G2Size]byte{0: 0xc0}
	}},
	{"zeros", func(*cluster, []partials.Partial, int) [bls.G2Size]byte {
		return [bls.G2Size]byte{}
	}},
	{"bytes that are no point", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		for b := parts[i].Sig; ; b[95]++ {
			if _, err := bls.DecodeG2Unchecked(b[:]); err != nil {
				return b
			}
		}
	}},
	{"the negated partial", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		return decodeG2(parts[i].Sig).Neg().Bytes()
	}},
	{"twice the partial", func(_ *cluster, parts []partials.Partial, i int) [bls.G2Size]byte {
		p := decodeG2(parts[i].Sig)
		return p.Add(p).Bytes()
	}},
}

func decodeG2(b [bls.G2Size]byte) bls.G2 {
	p, err := bls.DecodeG2(b[:])
	if err != nil {
		panic(err)
	}
	return p
}

// outsider returns a point of the curve, but not of the subgroup.
func outsider(seed [bls.G2Size]byte) bls.G2 {
	for b := seed; ; {
		h := sha256.Sum256(b[:])
		b = [bls.G2Size]byte{}
		copy(b[1:], h[:])
		b[0] = 0x80
		if p, err := bls.DecodeG2Unchecked(b[:]); err == nil && !p.InSubgroup() {
			return p
		}
	}
}

// cancel spoils two partials so that their plain sum stays the same.
func cancel(parts []partials.Partial, i, j int) {
	shift := bls.HashToG2([]byte("shift"), []byte("test"))
	parts[i].Sig = decodeG2(parts[i].Sig).Add(shift).Bytes()
	parts[j].Sig = decodeG2(parts[j].Sig).Sub(shift).Bytes()
}

// smallOrder returns a point of the curve whose order is 13 or 169: a random combination misses it with a chance of 1/13.
func smallOrder() bls.G2 {
	const cofactor = "5d543a95414e7f1091d50792876a202cd91de4547085abaa68a205b2e5a7ddfa628f1cb4d9e82ef21537e293a6691ae1616ec6e786f0c70cf1c38e31c7238e5"
	const order = "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"
	h, _ := new(big.Int).SetString(cofactor, 16)
	r, _ := new(big.Int).SetString(order, 16)
	times := h.Mul(h.Div(h, big.NewInt(169)), r)
	for seed := [bls.G2Size]byte{}; ; seed[0]++ {
		x, p := outsider(seed), bls.G2{}
		for i := times.BitLen() - 1; i >= 0; i-- {
			if p = p.Add(p); times.Bit(i) == 1 {
				p = p.Add(x)
			}
		}
		if !p.IsInfinity() {
			return p
		}
	}
}
