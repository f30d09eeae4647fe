package bls

// #include "native.h"
// #cgo noescape blst_fp12_conjugate
// #cgo nocallback blst_fp12_conjugate
import "C"

import (
	"unsafe"

	blst "github.com/supranational/blst/bindings/go"
)

func conjugate(f *blst.Fp12) { C.blst_fp12_conjugate((*C.fp12)(unsafe.Pointer(f))) }
