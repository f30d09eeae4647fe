package bls

import (
	"crypto/sha256"
	"crypto/subtle"

	blst "github.com/supranational/blst/bindings/go"
)

// ExpandMessageXMD is expand_message_xmd of RFC 9380, section 5.3.1, with
// SHA-256: n uniform bytes from msg under the domain separation tag dst. It
// panics if n is not in 1..8160.
func ExpandMessageXMD(msg, dst []byte, n int) []byte {
	if n < 1 || n > 255*sha256.Size {
		panic("bls: ExpandMessageXMD gives 1 to 8160 bytes")
	}
	if len(dst) > 255 { // RFC 9380, section 5.3.3
		h := sha256.Sum256(append([]byte("H2C-OVERSIZE-DST-"), dst...))
		dst = h[:]
	}
	dstPrime := append(append([]byte(nil), dst...), byte(len(dst)))

	h := sha256.New()
	h.Write(make([]byte, sha256.BlockSize))
	h.Write(msg)
	h.Write([]byte{byte(n >> 8), byte(n), 0})
	h.Write(dstPrime)
	b0 := h.Sum(nil)

	out := make([]byte, 0, n+sha256.Size)
	block := make([]byte, sha256.Size)
	for i := byte(1); len(out) < n; i++ {
		subtle.XORBytes(block, block, b0)
		h.Reset()
		h.Write(block)
		h.Write([]byte{i})
		h.Write(dstPrime)
		block = h.Sum(block[:0])
		out = append(out, block...)
	}
	return out[:n]
}

// HashToScalar is hash_to_field of RFC 9380, section 5.2, for one element
// modulo r: 48 bytes of ExpandMessageXMD, big-endian, reduced. It is H3 of
// document 002.
func HashToScalar(msg, dst []byte) Scalar {
	return ScalarFromWide(ExpandMessageXMD(msg, dst, 48))
}

// HashToG1 is hash_to_curve of RFC 9380 for BLS12381G1_XMD:SHA-256_SSWU_RO_.
func HashToG1(msg, dst []byte) G1 {
	return G1{*blst.HashToG1(msg, dst).ToAffine()}
}

// HashToG2 is hash_to_curve of RFC 9380 for BLS12381G2_XMD:SHA-256_SSWU_RO_.
func HashToG2(msg, dst []byte) G2 {
	return G2{*blst.HashToG2(msg, dst).ToAffine()}
}
