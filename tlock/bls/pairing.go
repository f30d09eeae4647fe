package bls

import blst "github.com/supranational/blst/bindings/go"

// Pair returns e(p, q). If either point is the identity the result is one.
func Pair(p G1, q G2) GT {
	f := blst.Fp12MillerLoop(&q.p, &p.p)
	f.FinalExp()
	return GT{*f}
}

// Lines is a point of G2 prepared for many pairings.
type Lines struct {
	q G2
}

// Prepare prepares q.
func Prepare(q G2) *Lines { return &Lines{q: q} }

// Pair returns e(p, q).
func (l *Lines) Pair(p G1) GT { return Pair(p, l.q) }

// VerifyG2 reports whether e(pk, q) = e(G, sig) with G the generator of G1: sig
// is the signature under pk of the message that hashes to q. That sig is in
// the subgroup is for the caller to have checked. A pk or sig that is the
// identity is refused.
func VerifyG2(pk G1, q *Lines, sig G2) bool {
	if pk.IsInfinity() || sig.IsInfinity() || q.q.IsInfinity() {
		return false
	}
	return equalPairings(&pk.p, &q.q.p, blst.P1Generator().ToAffine(), &sig.p)
}

// VerifyG1 reports whether e(q, pk) = e(sig, G) with G the generator of G2: sig
// is the short signature under pk of the message that hashes to q. The rules of
// VerifyG2 hold.
func VerifyG1(pk G2, q, sig G1) bool {
	if pk.IsInfinity() || sig.IsInfinity() || q.IsInfinity() {
		return false
	}
	return equalPairings(&q.p, &pk.p, &sig.p, blst.P2Generator().ToAffine())
}

// equalPairings reports whether e(p1, q1) = e(p2, q2).
func equalPairings(p1 *blst.P1Affine, q1 *blst.P2Affine, p2 *blst.P1Affine, q2 *blst.P2Affine) bool {
	return blst.Fp12FinalVerify(blst.Fp12MillerLoop(q1, p1), blst.Fp12MillerLoop(q2, p2))
}
