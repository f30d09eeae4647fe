package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/field/hash"
)

// draw stands for 32 random bytes: they follow from a label.
func draw(label string) []byte {
	h := sha256.Sum256([]byte("daybreak vectors: " + label))
	return h[:]
}

// drawScalar stands for a random scalar.
func drawScalar(label string) *big.Int {
	return new(big.Int).Mod(new(big.Int).SetBytes(draw(label)), fr.Modulus())
}

func scalarBytes(x *big.Int) []byte { return x.FillBytes(make([]byte, 32)) }

func mulG1(x *big.Int) bls12381.G1Affine {
	_, _, g1, _ := bls12381.Generators()
	var p bls12381.G1Affine
	p.ScalarMultiplication(&g1, x)
	return p
}

func g1Bytes(p bls12381.G1Affine) []byte {
	b := p.Bytes()
	return b[:]
}

func g2Bytes(p bls12381.G2Affine) []byte {
	b := p.Bytes()
	return b[:]
}

// namespace is "metal-beacon-v1" || u256(chain id) || genesis hash.
func namespace(chain *big.Int, genesis []byte) []byte {
	ns := append([]byte("metal-beacon-v1"), chain.FillBytes(make([]byte, 32))...)
	return append(ns, genesis...)
}

// point is Q: LEB128 of the namespace's length, namespace and identity, hashed to G2.
func point(ns, identity []byte) bls12381.G2Affine {
	message := append(append([]byte{byte(len(ns))}, ns...), identity...) // 79 is below 128: one byte
	q, err := bls12381.HashToG2(message, []byte("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"))
	must(err)
	return q
}

// sign is the key of an identity under the whole secret x.
func sign(x *big.Int, ns, identity []byte) bls12381.G2Affine {
	q := point(ns, identity)
	var k bls12381.G2Affine
	k.ScalarMultiplication(&q, x)
	return k
}

// encrypt is document 002 "Timelock key encoding": 112 bytes.
func encrypt(pk bls12381.G1Affine, q bls12381.G2Affine, sigma, msg []byte) []byte {
	uniform, err := hash.ExpandMsgXmd(append(append([]byte{}, sigma...), msg...), []byte("TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"), 48)
	must(err)
	r := new(big.Int).Mod(new(big.Int).SetBytes(uniform), fr.Modulus())
	var rPK bls12381.G1Affine
	rPK.ScalarMultiplication(&pk, r)
	g, err := bls12381.Pair([]bls12381.G1Affine{rPK}, []bls12381.G2Affine{q})
	must(err)
	h2 := sha256.Sum256(append([]byte("h2"), gtBytes(g)...))
	h4 := sha256.Sum256(append([]byte("h4"), sigma...))
	return append(append(g1Bytes(mulG1(r)), xor(sigma, h2[:])...), xor(msg, h4[:])...)
}

// gtBytes writes the Fp2 coefficients of w^0 to w^5, each real part first, 48 bytes big-endian. gnark's own bytes run
// through the tower from the top instead.
func gtBytes(g bls12381.GT) []byte {
	var out []byte
	for _, c := range []bls12381.E2{g.C0.B0, g.C1.B0, g.C0.B1, g.C1.B1, g.C0.B2, g.C1.B2} {
		for _, part := range []fp.Element{c.A0, c.A1} {
			b := part.Bytes()
			out = append(out, b[:]...)
		}
	}
	return out
}

// outsideGroup returns a point of the curve that is not in the group of order r.
func outsideGroup() bls12381.G1Affine {
	for x := uint64(1); ; x++ {
		var p bls12381.G1Affine
		var y2, four fp.Element
		p.X.SetUint64(x)
		four.SetUint64(4)
		y2.Square(&p.X).Mul(&y2, &p.X).Add(&y2, &four)
		if p.Y.Sqrt(&y2) != nil && !p.IsInSubGroup() {
			return p
		}
	}
}

func xor(a, b []byte) []byte {
	out := make([]byte, len(a))
	for i := range a {
		out[i] = a[i] ^ b[i]
	}
	return out
}

func u64(x uint64) []byte { return binary.BigEndian.AppendUint64(nil, x) }
