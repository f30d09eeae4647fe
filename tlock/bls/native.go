//go:build !bls_plain

package bls

// #include "native.h"
// #cgo noescape blst_fp12_conjugate
// #cgo nocallback blst_fp12_conjugate
// #cgo noescape blst_precompute_lines
// #cgo nocallback blst_precompute_lines
// #cgo noescape blst_miller_loop_lines
// #cgo nocallback blst_miller_loop_lines
// #cgo noescape daybreak_final_exp
// #cgo nocallback daybreak_final_exp
// #cgo noescape daybreak_verify_lines
// #cgo nocallback daybreak_verify_lines
// #cgo noescape daybreak_g1_table_build
// #cgo nocallback daybreak_g1_table_build
// #cgo noescape daybreak_g1_table_mul_secret
// #cgo nocallback daybreak_g1_table_mul_secret
// #cgo noescape daybreak_g1_table_mul_public
// #cgo nocallback daybreak_g1_table_mul_public
// #cgo noescape daybreak_gt_table_build
// #cgo nocallback daybreak_gt_table_build
// #cgo noescape daybreak_gt_table_exp_secret
// #cgo nocallback daybreak_gt_table_exp_secret
// #cgo noescape daybreak_gt_table_exp_public
// #cgo nocallback daybreak_gt_table_exp_public
// #cgo noescape daybreak_lagrange_at_zero
// #cgo nocallback daybreak_lagrange_at_zero
// #cgo noescape daybreak_eval_scalar
// #cgo nocallback daybreak_eval_scalar
// #cgo noescape daybreak_eval_g1
// #cgo nocallback daybreak_eval_g1
// #cgo noescape daybreak_msm_g1
// #cgo nocallback daybreak_msm_g1
// #cgo noescape daybreak_msm_g2
// #cgo nocallback daybreak_msm_g2
import "C"

import (
	"unsafe"

	blst "github.com/supranational/blst/bindings/go"
)

// The operations that blst's Go package does not offer are C functions of this
// package over blst's C functions. Built with the tag bls_plain they are
// replaced by plain.go, which needs only the Go package and is much slower.

// Points and field elements cross by pointer casts, which is sound only while
// the declarations in native.h fit blst.
func init() {
	sizes := []struct{ here, binding, c uintptr }{
		{unsafe.Sizeof(C.p1{}), unsafe.Sizeof(blst.P1{}), uintptr(C.blst_p1_sizeof())},
		{unsafe.Sizeof(C.p1_affine{}), unsafe.Sizeof(blst.P1Affine{}), uintptr(C.blst_p1_affine_sizeof())},
		{unsafe.Sizeof(C.p2{}), unsafe.Sizeof(blst.P2{}), uintptr(C.blst_p2_sizeof())},
		{unsafe.Sizeof(C.p2_affine{}), unsafe.Sizeof(blst.P2Affine{}), uintptr(C.blst_p2_affine_sizeof())},
		{unsafe.Sizeof(C.fp12{}), unsafe.Sizeof(blst.Fp12{}), uintptr(C.blst_fp12_sizeof())},
		{unsafe.Sizeof(C.scalar{}), unsafe.Sizeof(blst.Scalar{}), ScalarSize},
	}
	for _, s := range sizes {
		if s.here != s.binding || s.here != s.c {
			panic("bls: internal error: blst's types have other sizes than native.h says; build with -tags bls_plain")
		}
	}
}

func cG1(p *G1) *C.p1_affine           { return (*C.p1_affine)(unsafe.Pointer(p)) }
func cG2(p *G2) *C.p2_affine           { return (*C.p2_affine)(unsafe.Pointer(p)) }
func cGT(g *GT) *C.fp12                { return (*C.fp12)(unsafe.Pointer(g)) }
func cScalar(s *Scalar) *C.scalar      { return (*C.scalar)(unsafe.Pointer(s)) }
func cWords(w []uint64) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(w)) }

func conjugate(g *GT) { C.blst_fp12_conjugate(cGT(g)) }

// finalExp maps the result of a Miller loop to the target group.
func finalExp(g *GT) { C.daybreak_final_exp(cGT(g), cGT(g)) }

// storedLines are the coefficients of the lines of the Miller loop of a point
// other than the identity.
type storedLines [68]C.fp6

func (l *storedLines) set(q *G2) { C.blst_precompute_lines(&l[0], cG2(q)) }

func (l *storedLines) pair(p *G1) (out GT) {
	C.blst_miller_loop_lines(cGT(&out), &l[0], cG1(p))
	finalExp(&out)
	return out
}

// verify reports whether e(pk, q) = e(G, sig) for points that are not the
// identity.
func (l *storedLines) verify(pk *G1, sig *G2) bool {
	return bool(C.daybreak_verify_lines(cG1(pk), &l[0], cG2(sig)))
}

// g1Rows is a table of multiples of one point for windows of w bits.
type g1Rows struct {
	w     C.unsigned
	table []C.p1_affine
}

func (r *g1Rows) set(p *G1, w int) {
	r.w = C.unsigned(w)
	n := C.daybreak_g1_table_entries(r.w)
	r.table = make([]C.p1_affine, n)
	scratch := make([]C.p1, n)
	C.daybreak_g1_table_build(&r.table[0], &scratch[0], cG1(p), r.w)
}

func (r *g1Rows) mulSecret(s *Scalar) (out G1) {
	C.daybreak_g1_table_mul_secret(cG1(&out), &r.table[0], r.w, cScalar(s))
	return out
}

func (r *g1Rows) mulPublic(s *Scalar) (out G1) {
	C.daybreak_g1_table_mul_public(cG1(&out), &r.table[0], r.w, cScalar(s))
	return out
}

// gtRows is a table of powers of one element.
type gtRows []C.fp12

func (r *gtRows) set(g *GT) {
	*r = make([]C.fp12, C.daybreak_gt_table_entries())
	C.daybreak_gt_table_build(&(*r)[0], cGT(g))
}

func (r gtRows) expSecret(s *Scalar) (out GT) {
	C.daybreak_gt_table_exp_secret(cGT(&out), &r[0], cScalar(s))
	return out
}

func (r gtRows) expPublic(s *Scalar) (out GT) {
	C.daybreak_gt_table_exp_public(cGT(&out), &r[0], cScalar(s))
	return out
}

func lagrangeAtZero(xs []uint32) []Scalar {
	if len(xs) == 0 {
		return nil
	}
	out, scratch := make([]Scalar, len(xs)), make([]C.fr, 2*len(xs))
	C.daybreak_lagrange_at_zero(cScalar(&out[0]), &scratch[0], (*C.uint32_t)(&xs[0]), C.size_t(len(xs)))
	return out
}

func evalScalar(c []Scalar, x uint32) (out Scalar) {
	C.daybreak_eval_scalar(cScalar(&out), cScalar(unsafe.SliceData(c)), C.size_t(len(c)), C.uint32_t(x))
	return out
}

func evalG1(c []G1, x uint32) (out G1) {
	C.daybreak_eval_g1(cG1(&out), cG1(unsafe.SliceData(c)), C.size_t(len(c)), C.uint32_t(x))
	return out
}
