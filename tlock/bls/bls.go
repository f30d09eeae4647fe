// Package bls is the BLS12-381 arithmetic of the beacon: scalars, the groups
// G1 (public keys) and G2 (signatures), hash to curve, pairings and their
// bytes, multi-scalar multiplication and Lagrange coefficients.
//
// It is the only importer of blst, whose C code does the field and curve
// arithmetic. What blst's Go package lacks is C of this package over the same C
// functions: pairings over stored lines, fixed-base tables, multi-scalar
// multiplication split by the endomorphisms, loops over scalars. Building needs
// cgo and a C compiler. The build tag bls_plain leaves our C out, at the price of
// speed and of constant time in GT.
//
// Besides that the package is a small interface that is hard to misuse:
//
//   - Values, not pointers: every operation returns a new value, no input is
//     changed, no call returns nil.
//   - Decoders are strict. A point that was decoded by DecodeG1 or DecodeG2 is
//     on the curve, in the subgroup of order r, and not the identity; every
//     point has exactly one accepted encoding.
//   - The zero values of G1 and G2 are the identity, of Scalar zero.
//   - Nothing here starts a goroutine, reads a clock or keeps state besides
//     fixed tables; all functions may be called concurrently. A call holds its
//     thread for up to some milliseconds, so callers with many should use a pool
//     of at most GOMAXPROCS workers.
//
// # Security
//
// Operations that take a Scalar are constant time in it unless their name says
// Public, Short or MSM, or they take a uint64: these are for public values and
// leak them through timing. Hashing, decoding, pairing and verification treat
// their inputs as public. A Scalar redacts itself when printed or logged. Go
// copies values freely, so secrets cannot be erased from memory reliably.
//
// # Encodings
//
// Points are compressed as in draft-irtf-cfrg-pairing-friendly-curves,
// appendix C ("ZCash format"): 48 bytes for G1, 96 for G2. Scalars are 32
// bytes big-endian. GT elements are 576 bytes in the order of
// blst_bendian_from_fp12: the Fp2 coefficients of 1, w, ..., w^5 with
// w^6 = 1 + u, each real part first, 48 bytes big-endian each; the final
// exponent is 3(p^12-1)/r. Other libraries order the coefficients differently.
package bls

import "errors"

// Sizes of encodings in bytes.
const (
	ScalarSize = 32
	G1Size     = 48
	G2Size     = 96
	GTSize     = 576
)

// ErrInvalid is wrapped by the error of every decoder: the bytes are not a
// canonical encoding of an acceptable value and never will be.
var ErrInvalid = errors.New("bls: invalid encoding")
