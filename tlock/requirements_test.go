package tlock_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/sha3"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// The worked values of the requirements: a network, a group of one, one slot, one sealed entry and one condition. They were made by two
// libraries, none of them ours.
const (
	knownSlot   = 1_800_000_000
	knownSecret = "0c6d3a7ecd24126c85920d2dcd1fdcc8c451555bbef4a1f34812e8bccebc4a3f"
	knownPK     = "b572c9481ce9dd725c8eb9e938d132f20ae96007522e45820dd63a12603dbbb654db549837a36e966ce370cb9f3e5a1f"
	knownKey    = "a79398ef1f7115ce98fb56b2cab5301004fe3dc94227d85be5398298b06d462ea1a90b601872086c24f91c7752399ce4" +
		"173f133d963b35dce3c20df62df3c1ca5306e121108ae431bb009f43085e3a3b2686b8170286818a79df940dce8d1d72"
	knownR     = "6ef8f2d008b80b09139fadc7e6b467066d8cad50aa004d3eaf89229016b66ce7"
	knownPair  = "b2ffb5d60c1dcd3d199f13df4941fe6d89c67c6ca4aac1a86c18b92c7d7167d9" // sha256 of its bytes
	knownU     = "96fa8e522772a0fdbfe37b5541330d372e123d1c06699710ae22b3e6905f6976fd910e246ef3ab5821c2e42a5a93ecac"
	knownV     = "4f635f20ff75563538407343c00b1a5b736f3d10603bf71e03a15d39043037f5"
	knownW     = "7a7c277373c6fc03a1f72b3677e830e3eda58ff770543c7bb1da856cfd3d28fc"
	knownItem  = "0b43555ace6b39aae1b894097d0a9fc17f504c62fea598fa206cc6f5088e6e45" // keccak256("ETH/USD")
	knownCond  = "867189378d19057aaa0699838ac8213855799a89c4a82b487c5f566785711c36"
	knownCondV = "a6828af1c40fd8f206aa43d7ccdce3f3ee0984d3651d6ccff728390bf9110928"
	knownCKey  = "a266cefc9c13105dcb8c251e4bf71efa109e886674322595ab3d6b6f3c353a9890dd1c92b29a0216ca5d7915fd6f499c" +
		"02ee7ea6ef82df9bd5b97c77b55aa64b1bdb486f9a175b9f2d8ebf1e1bf9e35ca0109ae86eedabf9ea62c64567739520"
)

var knownPayer = [20]byte(bytes.Repeat([]byte{0xaa}, 20))

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantHex(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	if hex.EncodeToString(got) != want {
		t.Errorf("%s: got %x, want %s", what, got, want)
	}
}

func keccak(parts ...[]byte) []byte {
	h := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

func knownNetwork(t *testing.T) (tlock.Namespace, tlock.GroupKey) {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(31337), [32]byte(bytes.Repeat([]byte{0x11}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	gk, err := tlock.ParseGroupKey(unhex(t, knownPK))
	if err != nil {
		t.Fatal(err)
	}
	return ns, gk
}

func knownCondition(t *testing.T) tlock.Condition {
	c := tlock.Condition{Payer: knownPayer, Item: [32]byte(unhex(t, knownItem)), Kind: tlock.WhenValueAtLeast, NotBefore: knownSlot}
	c.Operand[30], c.Operand[31] = 3000>>8, 3000&0xff
	return c
}

func parseKey(t *testing.T, s string) tlock.Key {
	t.Helper()
	k, err := tlock.ParseKey(unhex(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTimelockRequirements(t *testing.T) {
	ns, gk := knownNetwork(t)
	slot := tlock.SlotIdentity(knownSlot)
	sigma, msg := sha256.Sum256([]byte("sigma")), sha256.Sum256([]byte("data key"))
	ct := tlock.EncryptWithSigma(ns, gk, slot, &msg, &sigma)
	secret, err := bls.ScalarFromBytes(unhex(t, knownSecret))
	if err != nil {
		t.Fatal(err)
	}

	t.Run("S-TLK-01 label, chain id and genesis hash, and their length in one byte", func(t *testing.T) {
		want := hex.EncodeToString([]byte("metal-beacon-v1")) + strings.Repeat("0", 60) + "7a69" + strings.Repeat("11", 32)
		wantHex(t, "namespace", ns.Bytes(), want)
		wantHex(t, "length", ns.Message(slot)[:1], "4f")
	})

	t.Run("S-TLK-02 messages of 88 and 112 bytes, hashed to G2", func(t *testing.T) {
		condition := tlock.ConditionIdentity([32]byte(unhex(t, knownCond)))
		wantHex(t, "message of a slot", ns.Message(slot), "4f"+hex.EncodeToString(ns.Bytes())+"000000006b49d200")
		wantHex(t, "message of a condition", ns.Message(condition), "4f"+hex.EncodeToString(ns.Bytes())+knownCond)
		for id, key := range map[tlock.Identity]string{slot: knownKey, condition: knownCKey} {
			q := bls.HashToG2(ns.Message(id), []byte("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"))
			if !q.Equal(ns.Point(id)) {
				t.Errorf("%v: Point is not the hash of the message", id)
			}
			b := q.Mul(secret).Bytes()
			wantHex(t, "the secret times Q", b[:], key)
		}
	})

	t.Run("S-TLK-03 r is a hash of sigma and the message", func(t *testing.T) {
		r := tlock.H3(&sigma, &msg).Bytes()
		wantHex(t, "r", r[:], knownR)
		wide := new(big.Int).SetBytes(bls.ExpandMessageXMD(append(sigma[:], msg[:]...), []byte("TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"), 48))
		order, _ := new(big.Int).SetString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16)
		wantHex(t, "48 bytes modulo the group order", wide.Mod(wide, order).FillBytes(make([]byte, 32)), knownR)
	})

	t.Run("S-TLK-04 U is r times the generator, compressed", func(t *testing.T) {
		wantHex(t, "U", ct[:48], knownU)
		u := bls.G1Generator().Mul(tlock.H3(&sigma, &msg)).Bytes()
		wantHex(t, "r*G1", u[:], knownU)
	})

	t.Run("S-TLK-05 the pairing's 576 bytes", func(t *testing.T) {
		g := bls.Pair(gk.Point().Mul(tlock.H3(&sigma, &msg)), ns.Point(slot)).Bytes()
		sum := sha256.Sum256(g[:])
		wantHex(t, "sha256(g)", sum[:], knownPair)
	})

	t.Run("S-TLK-06 V and W are masked", func(t *testing.T) {
		wantHex(t, "V", ct[48:80], knownV)
		wantHex(t, "W", ct[80:], knownW)
	})

	t.Run("S-TLK-07 a ciphertext is 112 bytes", func(t *testing.T) {
		wantHex(t, "U || V || W", ct[:], knownU+knownV+knownW)
		for _, n := range []int{0, 111, 113} {
			_, err := tlock.ParseCiphertext(make([]byte, n))
			wantClass(t, "another length", err, tlock.ErrMalformed)
		}
	})

	t.Run("S-TLK-08 the key opens it, and nothing else is accepted", func(t *testing.T) {
		opener := tlock.NewOpener(parseKey(t, knownKey))
		if got, err := opener.Open(ct); err != nil || got != msg {
			t.Fatalf("got %x, %v", got, err)
		}
		for bit := range 8 * tlock.CiphertextSize {
			bad := ct
			bad[bit/8] ^= 1 << (bit % 8)
			if got, err := opener.Open(bad); err == nil || got != [32]byte{} {
				t.Fatalf("bit %d flipped: got %x, %v", bit, got, err)
			}
		}
		_, err := tlock.Decrypt(parseKey(t, knownCKey), ct)
		wantClass(t, "another identity's key", err, tlock.ErrWrongKey)
	})

	t.Run("S-TLK-09 a sigma that gives r = 0 is drawn again, and U of r = 0 is refused", func(t *testing.T) {
		draws := 0
		got, r := tlock.DrawSigma(func() [32]byte { draws++; return [32]byte{byte(draws)} }, func(sigma *[32]byte) bls.Scalar {
			if sigma[0] < 3 {
				return bls.Scalar{}
			}
			return bls.ScalarFromUint64(7)
		})
		if got != [32]byte{3} || !r.Equal(bls.ScalarFromUint64(7)) {
			t.Errorf("took sigma %x with r = %x", got, r.Bytes())
		}
		// With r = 0 the mask would be the pairing's one, which everybody knows: such a ciphertext must not open.
		one := bls.Pair(bls.G1{}, ns.Point(slot)).Bytes()
		v, w := sha256.Sum256(append([]byte("h2"), one[:]...)), sha256.Sum256(append([]byte("h4"), sigma[:]...))
		bad := tlock.Ciphertext{0: 0xc0}
		for i := range 32 {
			bad[48+i], bad[80+i] = v[i]^sigma[i], w[i]^msg[i]
		}
		_, err := tlock.Decrypt(parseKey(t, knownKey), bad)
		wantClass(t, "U at infinity", err, tlock.ErrMalformed)
	})
}

func TestSealingRequirements(t *testing.T) {
	ns, gk := knownNetwork(t)
	to := tlock.SlotSeal(knownSlot, knownPayer)
	sigma, dataKey, salt := sha256.Sum256([]byte("sigma")), sha256.Sum256([]byte("data key")), sha256.Sum256([]byte("salt"))
	nonce := [12]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	calls := tlock.EncodeCalls([]tlock.Call{{Target: [20]byte(bytes.Repeat([]byte{0xbb}, 20)), GasLimit: 50_000}})
	body, err := tlock.PadBody(calls)
	if err != nil {
		t.Fatal(err)
	}
	timelock := tlock.EncryptWithSigma(ns, gk, to.Identity(), &dataKey, &sigma)
	ciphertext, commitment := tlock.SealBodyWith(to, body, salt, dataKey, nonce, timelock)

	t.Run("S-SEA-01 the least power of two that holds length and calls, from 256 to 4096", func(t *testing.T) {
		for n, want := range map[int]int{
			0: 256, 224: 256, 252: 256, 253: 512, 256: 512, 480: 512, 508: 512, 509: 1024, 512: 1024, 992: 1024, 1020: 1024, 1021: 2048,
			2016: 2048, 2044: 2048, 2045: 4096, 4064: 4096, 4092: 4096,
		} {
			body, err := tlock.PadBody(bytes.Repeat([]byte{0x5a}, n))
			if err != nil || len(body) != want {
				t.Fatalf("%d bytes of calls: a body of %d (%v), want %d", n, len(body), err, want)
			}
			if got := int(body[0])<<24 | int(body[1])<<16 | int(body[2])<<8 | int(body[3]); got != n {
				t.Errorf("%d bytes of calls: length prefix %d", n, got)
			}
			if !bytes.Equal(body[4:4+n], bytes.Repeat([]byte{0x5a}, n)) || !bytes.Equal(body[4+n:], make([]byte, want-4-n)) {
				t.Errorf("%d bytes of calls: not the calls and zeros", n)
			}
		}
		_, err := tlock.PadBody(make([]byte, 4093))
		wantClass(t, "4093 bytes", err, tlock.ErrMalformed)
	})

	t.Run("S-SEA-02 keccak256 of salt and body", func(t *testing.T) {
		wantHex(t, "commitment", commitment[:], "4d99abab2bddd926aa4d3a9fec5a42c4d46c8b88baf10c0efe8da8957af4b0b3")
		wantHex(t, "keccak256(salt || body)", keccak(salt[:], body), hex.EncodeToString(commitment[:]))
	})

	t.Run("S-SEA-03 the data key is sealed to the slot", func(t *testing.T) {
		wantHex(t, "timelock part", ciphertext[:112], knownU+knownV+knownW)
		got, err := tlock.Decrypt(parseKey(t, knownKey), tlock.Ciphertext(ciphertext[:112]))
		if err != nil || got != dataKey {
			t.Errorf("opened to %x, %v", got, err)
		}
	})

	t.Run("S-SEA-04 salt and body are encrypted for slot and payer", func(t *testing.T) {
		wantHex(t, "associated data", to.AssociatedData(), "000000006b49d200"+strings.Repeat("aa", 20))
		aead, err := chacha20poly1305.New(dataKey[:])
		if err != nil {
			t.Fatal(err)
		}
		plain, err := aead.Open(nil, nonce[:], ciphertext[124:], to.AssociatedData())
		if err != nil || !bytes.Equal(plain, append(salt[:], body...)) {
			t.Errorf("plaintext %x, %v", plain, err)
		}
		_, err = tlock.OpenCalls(parseKey(t, knownKey), tlock.SlotSeal(knownSlot, [20]byte{1}), ciphertext, commitment)
		wantClass(t, "another payer", err, tlock.ErrTampered)
	})

	t.Run("S-SEA-05 428 bytes for a body of 256, in four parts", func(t *testing.T) {
		wantHex(t, "keccak256 of the ciphertext", keccak(ciphertext), "57f2a9aa67c3027c562eb59e89c80072afd6c43127436fdca159acda8a152eda")
		if len(ciphertext) != 428 {
			t.Errorf("%d bytes", len(ciphertext))
		}
		wantHex(t, "nonce", ciphertext[112:124], "000102030405060708090a0b")
		wantHex(t, "tag", ciphertext[412:], "35a86e4772eeee04409502d03788501e")
	})

	t.Run("S-SEA-13 only the canonical padding is well formed", func(t *testing.T) {
		opener := tlock.NewOpener(parseKey(t, knownKey))
		for name, body := range map[string][]byte{
			"padding that is not zero":      func() []byte { b := bytes.Clone(body); b[255] = 1; return b }(),
			"a class too large":             append(bytes.Clone(body), make([]byte, 256)...),
			"a length beyond the body":      func() []byte { b := bytes.Clone(body); b[2] = 1; return b }(),
			"a length of the class itself":  func() []byte { b := bytes.Clone(body); b[2], b[3] = 1, 0; return b }(),
			"a length that leaves out some": func() []byte { b := bytes.Clone(body); b[3]--; b[4+223] = 1; return b }(),
		} {
			sealed, commitment := tlock.SealBodyWith(to, body, salt, dataKey, nonce, timelock)
			got, err := opener.OpenCalls(to, sealed, commitment)
			wantClass(t, name, err, tlock.ErrMalformed)
			if got != nil {
				t.Errorf("%s: calls came back", name)
			}
		}
	})
}

func TestConditionRequirements(t *testing.T) {
	ns, gk := knownNetwork(t)
	c := knownCondition(t)
	id, err := c.Identity()
	if err != nil {
		t.Fatal(err)
	}

	t.Run("S-SCO-01 111 bytes hashed", func(t *testing.T) {
		preimage := hex.EncodeToString([]byte("metal-condition-v1")) + strings.Repeat("aa", 20) + knownItem + "01" +
			strings.Repeat("0", 60) + "0bb8" + "000000006b49d200"
		wantHex(t, "preimage", c.Preimage(), preimage)
		wantHex(t, "identity", id.Bytes(), knownCond)
		wantHex(t, "keccak256", keccak(unhex(t, preimage)), knownCond)
		for name, change := range map[string]func(*tlock.Condition){
			"payer": func(c *tlock.Condition) { c.Payer[0]++ }, "item": func(c *tlock.Condition) { c.Item[31]++ },
			"kind": func(c *tlock.Condition) { c.Kind++ }, "operand": func(c *tlock.Condition) { c.Operand[0]++ },
			"slot": func(c *tlock.Condition) { c.NotBefore++ },
		} {
			other := c
			change(&other)
			if got, err := other.Identity(); err != nil || got == id {
				t.Errorf("another %s gives the same identity (%v)", name, err)
			}
		}
	})

	t.Run("S-SCO-02 sealed to the condition, authenticated with it", func(t *testing.T) {
		to, err := tlock.ConditionSeal(c)
		if err != nil {
			t.Fatal(err)
		}
		wantHex(t, "associated data", to.AssociatedData(), knownCond)
		sigma, dataKey := sha256.Sum256([]byte("sigma")), sha256.Sum256([]byte("data key"))
		ct := tlock.EncryptWithSigma(ns, gk, to.Identity(), &dataKey, &sigma)
		wantHex(t, "timelock part", ct[:], knownU+knownCondV+knownW)
		key := parseKey(t, knownCKey)
		if err := gk.Verify(ns, id, key); err != nil {
			t.Errorf("the condition's key: %v", err)
		}
		ciphertext, commitment, err := tlock.SealCalls(ns, gk, to, []byte("calls"))
		if err != nil || len(ciphertext) != 428 {
			t.Fatalf("a ciphertext of %d bytes, %v", len(ciphertext), err)
		}
		if got, err := tlock.OpenCalls(key, to, ciphertext, commitment); err != nil || string(got) != "calls" {
			t.Errorf("opened to %q, %v", got, err)
		}
		c.NotBefore++
		other, err := tlock.ConditionSeal(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = tlock.OpenCalls(key, other, ciphertext, commitment)
		wantClass(t, "another condition's data", err, tlock.ErrTampered)
	})
}
