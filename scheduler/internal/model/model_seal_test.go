package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"sync"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/field/hash"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/sha3"
)

func keccak(parts ...[]byte) (h word) {
	k := sha3.NewLegacyKeccak256()
	for _, p := range parts {
		k.Write(p)
	}
	k.Sum(h[:0])
	return h
}

func be64(x uint64) []byte { return binary.BigEndian.AppendUint64(nil, x) }

func be256(x *big.Int) []byte { return x.FillBytes(make([]byte, 32)) }

// conditionID is the identity that a condition's entries are sealed to.
func conditionID(payer addr, c condition, slot uint64) word {
	return keccak([]byte("metal-condition-v1"), payer[:], c.Item[:], []byte{c.Kind}, be256(c.Operand.get()), be64(slot))
}

// sealed is what the model knows of a ciphertext that the script had made: it need not decrypt.
type sealed struct {
	ciphertext []byte
	commitment word // of what lies inside
	secret     word // of the group
	identity   string
	bound      string // the associated data
	good       bool   // padding as it should be
	calls      []call
}

// sealCache keeps what was sealed: pairings are dear, and shrinking repeats them.
var sealCache sync.Map

// seal makes a ciphertext as "Encrypted payloads" says, and the commitment that is passed with it.
func (m *model) seal(payer addr, p params) (s sealed, commitment word) {
	w := *p.Seal
	slot := uint64(p.Slot)
	if w.Wrong == "slot" {
		slot++
	}
	identity := be64(slot)
	bound := append(be64(slot), payer[:]...)
	if p.When != nil {
		c := conditionID(payer, *p.When, slot)
		identity, bound = c[:], c[:]
	}
	calls := encodeCalls(w.Calls)
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(calls))), calls...)
	size := 256
	for size < len(body) {
		size *= 2
	}
	body = append(body, make([]byte, size-len(body))...)
	if w.Wrong == "padding" {
		body[4+len(calls)] = 1
	}
	commitment = keccak(w.Salt[:], body)
	var secret word // without a group the entry is refused, whatever it holds
	if m.groupSecret != nil {
		secret = *m.groupSecret
	}
	memo := string(bytes.Join([][]byte{secret[:], m.namespace(), identity, bound, body, w.Salt[:], w.DataKey[:], w.Sigma[:], w.Nonce,
		[]byte(w.Wrong)}, []byte{'|'}))
	if had, ok := sealCache.Load(memo); ok {
		s = had.(sealed)
	} else {
		aead, err := chacha20poly1305.New(w.DataKey[:])
		if err != nil {
			panic(err)
		}
		s = sealed{commitment: commitment, secret: secret, identity: string(identity), bound: string(bound), good: w.Wrong != "padding" && w.Wrong != "tag",
			calls: w.Calls}
		lock := timelock(secret, m.namespace(), identity, w.Sigma[:], w.DataKey[:])
		s.ciphertext = aead.Seal(append(lock, w.Nonce...), w.Nonce, append(slices.Clone(w.Salt[:]), body...), bound)
		if w.Wrong == "tag" {
			s.ciphertext[len(s.ciphertext)-1] ^= 1
		}
		sealCache.Store(memo, s)
	}
	if w.Wrong == "commitment" {
		commitment[31] ^= 1
	}
	return s, commitment
}

func (m *model) namespace() []byte {
	id := new(big.Int).SetUint64(uint64(m.g.ChainID))
	return append(append([]byte("metal-beacon-v1"), be256(id)...), m.g.GenesisHash[:]...)
}

// timelock is "Timelock key encoding".
func timelock(secret word, ns, identity, sigma, message []byte) []byte {
	if secret == (word{}) {
		return make([]byte, 112)
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	q, err := bls12381.HashToG2(append(append([]byte{byte(len(ns))}, ns...), identity...), []byte("BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_"))
	check(err)
	wide, err := hash.ExpandMsgXmd(append(slices.Clone(sigma), message...), []byte("TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"), 48)
	check(err)
	r := new(big.Int).Mod(new(big.Int).SetBytes(wide), fr.Modulus())
	_, _, g1, _ := bls12381.Generators()
	var u, rpk bls12381.G1Affine
	u.ScalarMultiplication(&g1, r)
	rpk.ScalarMultiplication(&u, new(big.Int).SetBytes(secret[:]))
	g, err := bls12381.Pair([]bls12381.G1Affine{rpk}, []bls12381.G2Affine{q})
	check(err)
	h2 := sha256.New()
	h2.Write([]byte("h2"))
	for _, c := range []bls12381.E2{g.C0.B0, g.C1.B0, g.C0.B1, g.C1.B1, g.C0.B2, g.C1.B2} { // w^0 .. w^5
		for _, part := range []fp.Element{c.A0, c.A1} {
			b := part.Bytes()
			h2.Write(b[:])
		}
	}
	h4 := sha256.Sum256(append([]byte("h4"), sigma...))
	point := u.Bytes()
	out := append([]byte{}, point[:]...)
	for i, b := range h2.Sum(nil) {
		out = append(out, b^sigma[i])
	}
	for i, b := range h4 {
		out = append(out, b^message[i])
	}
	return out
}

// encodeCalls is abi.encode(Call[]).
func encodeCalls(calls []call) []byte {
	pad := func(b []byte) []byte { return append(slices.Clone(b), make([]byte, (32-len(b)%32)%32)...) }
	num := func(n int) []byte { return be256(big.NewInt(int64(n))) }
	var heads, tails []byte
	for _, c := range calls {
		heads = append(heads, num(32*len(calls)+len(tails))...)
		tails = append(tails, make([]byte, 12)...)
		tails = append(tails, c.Target[:]...)
		tails = append(tails, be256(new(big.Int).SetUint64(uint64(c.GasLimit)))...)
		tails = append(tails, num(96)...)
		tails = append(tails, num(len(c.Data))...)
		tails = append(tails, pad(c.Data)...)
	}
	return slices.Concat(num(32), num(len(calls)), heads, tails)
}

// rlp of byte strings in a list.
func rlpList(items ...[]byte) []byte {
	head := func(short byte, n int) []byte {
		if n < 56 {
			return []byte{short + byte(n)}
		}
		size := new(big.Int).SetInt64(int64(n)).Bytes()
		return append([]byte{short + 55 + byte(len(size))}, size...)
	}
	var body []byte
	for _, it := range items {
		if len(it) == 1 && it[0] < 0x80 {
			body = append(body, it[0])
			continue
		}
		body = append(append(body, head(0x80, len(it))...), it...)
	}
	return append(head(0xc0, len(body)), body...)
}
