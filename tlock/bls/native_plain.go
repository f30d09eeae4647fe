//go:build bls_plain

package bls

func conjugate(g *GT) { *g = plainConjugate(*g) }

func finalExp(g *GT) { g.f.FinalExp() }

type storedLines struct{ q G2 }

func (l *storedLines) set(q *G2)     { l.q = *q }
func (l *storedLines) pair(p *G1) GT { return Pair(*p, l.q) }
func (l *storedLines) verify(pk *G1, sig *G2) bool {
	return equalPairings(*pk, l.q, G1Generator(), *sig)
}

type g1Rows struct{ p G1 }

func (r *g1Rows) set(p *G1, _ int)       { r.p = *p }
func (r *g1Rows) mulSecret(s *Scalar) G1 { return r.p.Mul(*s) }
func (r *g1Rows) mulPublic(s *Scalar) G1 { return r.p.Mul(*s) }

type gtRows struct{ g GT }

func (r *gtRows) set(g *GT)              { r.g = *g }
func (r *gtRows) expSecret(s *Scalar) GT { return plainExp(r.g, *s) }
func (r *gtRows) expPublic(s *Scalar) GT { return plainExp(r.g, *s) }

func lagrangeAtZero(xs []uint32) []Scalar    { return plainLagrangeAtZero(xs) }
func evalScalar(c []Scalar, x uint32) Scalar { return plainEvalScalar(c, x) }
func evalG1(c []G1, x uint32) G1             { return plainEvalG1(c, x) }
func msmG1(p []G1, s []Scalar) G1            { return plainMSMG1(p, s) }
func msmG2(p []G2, s []Scalar) G2            { return plainMSMG2(p, s) }
func msmG1Short(p []G1, c []Coeff128) G1     { return plainMSMG1(p, coeffScalars(c)) }
func msmG2Short(p []G2, c []Coeff128) G2     { return plainMSMG2(p, coeffScalars(c)) }

func coeffScalars(c []Coeff128) []Scalar {
	s := make([]Scalar, len(c))
	for i := range c {
		s[i] = c[i].Scalar()
	}
	return s
}
