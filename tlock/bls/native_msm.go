//go:build !bls_plain

package bls

// #include "native.h"
import "C"

import (
	"encoding/binary"
	"math/bits"
)

// With m = |z|, the order r is below m^4, and on the groups of order r cheap
// maps multiply by m (G2) and by m^2 (G1). So a scalar of 255 bits becomes four
// of 64 bits in G2 and two of 128 bits in G1, and the doublings of the sum
// shrink with them. A coefficient c0 + c1 m is made for this: two of 64 bits in
// G2, one of 128 in G1.

// zDigits returns the digits of s in base m. It is not constant time.
func (a *Scalar) zDigits() (d [4]uint64) {
	var k [4]uint64
	for i := range k {
		k[i] = binary.LittleEndian.Uint64(a.littleEndian()[8*i:])
	}
	for i := range d {
		var rem uint64
		for j := 3; j >= 0; j-- {
			k[j], rem = bits.Div64(rem, k[j], zAbs)
		}
		d[i] = rem
	}
	return d
}

// combine returns the two words of lo + hi m.
func combine(lo, hi uint64) (w0, w1 uint64) {
	w1, w0 = bits.Mul64(hi, zAbs)
	w0, carry := bits.Add64(w0, lo, 0)
	return w0, w1 + carry
}

func msmG1(p []G1, s []Scalar) G1 {
	points, k := make([]G1, 2*len(p)), make([]byte, 0, 32*len(p))
	for i := range p {
		points[2*i] = p[i]
		d := s[i].zDigits()
		k = appendWord128(k, d[0], d[1])
		k = appendWord128(k, d[2], d[3])
	}
	return sumG1(points, 2, k)
}

func msmG1Short(p []G1, c []Coeff128) G1 {
	k := make([]byte, 0, 16*len(p))
	for i := range c {
		k = appendWord128(k, c[i].c0, c[i].c1)
	}
	return sumG1(append([]G1(nil), p...), 1, k)
}

func appendWord128(k []byte, lo, hi uint64) []byte {
	w0, w1 := combine(lo, hi)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(k, w0), w1)
}

func sumG1(points []G1, parts int, k []byte) (out G1) {
	if len(points) == 0 {
		return G1{}
	}
	const bits = 128
	n := C.size_t(len(points))
	scratch := make([]uint64, C.daybreak_msm_g1_scratch(n, bits)/8)
	C.daybreak_msm_g1(cG1(&out), cG1(&points[0]), C.unsigned(parts), (*C.uint8_t)(&k[0]), n, bits, cWords(scratch))
	return out
}

func msmG2(p []G2, s []Scalar) G2 {
	points, k := make([]G2, 4*len(p)), make([]byte, 0, 32*len(p))
	for i := range p {
		points[4*i] = p[i]
		for _, d := range s[i].zDigits() {
			k = binary.LittleEndian.AppendUint64(k, d)
		}
	}
	return sumG2(points, 4, k)
}

func msmG2Short(p []G2, c []Coeff128) G2 {
	points, k := make([]G2, 2*len(p)), make([]byte, 0, 16*len(p))
	for i := range p {
		points[2*i] = p[i]
		k = binary.LittleEndian.AppendUint64(k, c[i].c0)
		k = binary.LittleEndian.AppendUint64(k, c[i].c1)
	}
	return sumG2(points, 2, k)
}

func sumG2(points []G2, parts int, k []byte) (out G2) {
	if len(points) == 0 {
		return G2{}
	}
	const bits = 64
	n := C.size_t(len(points))
	scratch := make([]uint64, C.daybreak_msm_g2_scratch(n, bits)/8)
	C.daybreak_msm_g2(cG2(&out), cG2(&points[0]), C.unsigned(parts), (*C.uint8_t)(&k[0]), n, bits, cWords(scratch))
	return out
}
