package bls_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Known answers of RFC 9380, appendices K.1 and K.2.
func TestExpandMessageXMDKnownAnswers(t *testing.T) {
	const dst = "QUUX-V01-CS02-with-expander-SHA256-128"
	long := dst + "-long-DST-" + strings.Repeat("1", 256-len(dst)-len("-long-DST-"))
	for name, c := range map[string]struct {
		msg, dst, want string
	}{
		"empty message, 32 bytes": {"", dst, "68a985b87eb6b46952128911f2a4412bbc302a9d759667f87f7a21d803f07235"},
		"abc, 32 bytes":           {"abc", dst, "d8ccab23b5985ccea865c6c97b6e5b8350e794e603b4b97902f53a8a0d605615"},
		"empty message, 128 bytes": {"", dst, "af84c27ccfd45d41914fdff5df25293e221afc53d8ad2ac06d5e3e29485dadbe" +
			"e0d121587713a3e0dd4d5e69e93eb7cd4f5df4cd103e188cf60cb02edc3edf18" +
			"eda8576c412b18ffb658e3dd6ec849469b979d444cf7b26911a08e63cf31f9dc" +
			"c541708d3491184472c2c29bb749d4286b004ceb5ee6b9a7fa5b646c993f0ced"},
		"tag of 256 bytes": {"", long, "e8dc0c8b686b7ef2074086fbdd2f30e3f8bfbd3bdf177f73f04b97ce618a3ed3"},
	} {
		t.Run(name, func(t *testing.T) {
			got := hex.EncodeToString(bls.ExpandMessageXMD([]byte(c.msg), []byte(c.dst), len(c.want)/2))
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestExpandMessageXMDRefusesImpossibleLengths(t *testing.T) {
	for _, n := range []int{-1, 0, 255*32 + 1} {
		mustPanic(t, "bls: ExpandMessageXMD gives 1 to 8160 bytes", func() { bls.ExpandMessageXMD(nil, []byte("dst"), n) })
	}
	if got := bls.ExpandMessageXMD(nil, []byte("dst"), 255*32); len(got) != 255*32 {
		t.Errorf("%d bytes, want %d", len(got), 255*32)
	}
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

// Known answers of RFC 9380, appendix J.9.1.
func TestHashToG1KnownAnswers(t *testing.T) {
	const dst = "QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_"
	for _, c := range []struct{ msg, x, y string }{
		{"", "052926add2207b76ca4fa57a8734416c8dc95e24501772c814278700eed6d1e4e8cf62d9c09db0fac349612b759e79a1",
			"08ba738453bfed09cb546dbb0783dbb3a5f1f566ed67bb6be0e8c67e2e81a4cc68ee29813bb7994998f3eae0c9c6a265"},
		{"abc", "03567bc5ef9c690c2ab2ecdf6a96ef1c139cc0b2f284dca0a9a7943388a49a3aee664ba5379a7655d3c68900be2f6903",
			"0b9c15f3fe6e5cf4211f346271d7b01c8f3b28be689c8429c85b67af215533311f0b8dfaaa154fa6b88176c229f2885d"},
	} {
		got := bls.HashToG1([]byte(c.msg), []byte(dst)).Bytes()
		if want := compressed(t, c.y, c.x); hex.EncodeToString(got[:]) != want {
			t.Errorf("%q: got %x, want %s", c.msg, got, want)
		}
	}
}

// Known answers of RFC 9380, appendix J.10.1; coordinates are c0 + c1 u.
func TestHashToG2KnownAnswers(t *testing.T) {
	const dst = "QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_"
	for _, c := range []struct{ msg, x0, x1, y1 string }{
		{"", "0141ebfbdca40eb85b87142e130ab689c673cf60f1a3e98d69335266f30d9b8d4ac44c1038e9dcdd5393faf5c41fb78a",
			"05cb8437535e20ecffaef7752baddf98034139c38452458baeefab379ba13dff5bf5dd71b72418717047f5b0f37da03d",
			"12424ac32561493f3fe3c260708a12b7c620e7be00099a974e259ddc7d1f6395c3c811cdd19f1e8dbf3e9ecfdcbab8d6"},
		{"abc", "02c2d18e033b960562aae3cab37a27ce00d80ccd5ba4b7fe0e7a210245129dbec7780ccc7954725f4168aff2787776e6",
			"139cddbccdc5e91b9623efd38c49f81a6f83f175e80b06fc374de9eb4b41dfe4ca3a230ed250fbe3a2acf73a41177fd8",
			"00aa65dae3c8d732d10ecd2c50f8a1baf3001578f71c694e03866e9f3d49ac1e1ce70dd94a733534f106d4cec0eddd16"},
	} {
		got := bls.HashToG2([]byte(c.msg), []byte(dst)).Bytes()
		if want := compressed(t, c.y1, c.x1, c.x0); hex.EncodeToString(got[:]) != want {
			t.Errorf("%q: got %x, want %s", c.msg, got, want)
		}
	}
}

var fieldModulus, _ = new(big.Int).SetString("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab", 16)

// compressed writes a point by its x and the part of y that gives the sign.
func compressed(t *testing.T, y string, x ...string) string {
	t.Helper()
	out := unhex(t, strings.Join(x, ""))
	out[0] |= 0x80
	if twice := new(big.Int).SetBytes(unhex(t, y)); twice.Lsh(twice, 1).Cmp(fieldModulus) > 0 {
		out[0] |= 0x20
	}
	return hex.EncodeToString(out)
}
