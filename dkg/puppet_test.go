package dkg_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"slices"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/field/hash"
)

// This file plays the ceremony a second time, by the text of the package's documentation and over gnark-crypto: it shares no
// code with dkg, tlock or kyber. A puppet is a member whose every bundle the test chooses. It plays honestly too, so that the
// attacks of the other tests are known to fail for their one change.

type (
	g1     = bls12381.G1Affine
	g2     = bls12381.G2Affine
	scalar = *big.Int
)

const (
	kindAnnounce = iota + 1
	kindDeal
	kindResponse
	kindJustification
	kindConfirm
	kindTimeout

	keyProofTag  = "DAYBREAK-DKG-V1_ENCRYPTION-KEY_XMD:SHA-256_"
	dealProofTag = "DAYBREAK-DKG-V1_CONSTANT-TERM_XMD:SHA-256_"
	confirmTag   = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_DAYBREAK-CONFIRMATION-V1_"
)

var order = fr.Modulus()

func mod(x scalar) scalar { return new(big.Int).Mod(x, order) }

func times(x scalar, p g1) g1 { return *new(g1).ScalarMultiplication(&p, x) }
func base(x scalar) g1        { return *new(g1).ScalarMultiplicationBase(x) }
func plus(p, q g1) g1         { return *new(g1).Add(&p, &q) }

func bytes32(x scalar) []byte { return x.FillBytes(make([]byte, 32)) }
func enc(p g1) []byte         { b := p.Bytes(); return b[:] }

func readG1(b []byte) (p g1) {
	if _, err := p.SetBytes(b); err != nil {
		panic(err)
	}
	return p
}

// number derives a scalar from anything, for tests only.
func number(parts ...any) scalar {
	a, b := sha256.Sum256([]byte(fmt.Sprint(parts...))), sha256.Sum256([]byte(fmt.Sprint("more", parts)))
	return mod(new(big.Int).SetBytes(append(a[:], b[:]...)))
}

func eval(poly []scalar, x uint32) scalar {
	acc := new(big.Int)
	for i := len(poly) - 1; i >= 0; i-- {
		acc = mod(acc.Add(acc.Mul(acc, big.NewInt(int64(x))), poly[i]))
	}
	return acc
}

func evalPoints(c []g1, x uint32) (acc g1) {
	acc.SetInfinity()
	for i := len(c) - 1; i >= 0; i-- {
		acc = plus(times(big.NewInt(int64(x)), acc), c[i])
	}
	return acc
}

func commit(poly []scalar) (out []g1) {
	for _, a := range poly {
		out = append(out, base(a))
	}
	return out
}

func challenge(tag string, id []byte, index uint32, points []g1, r g1) scalar {
	msg := binary.BigEndian.AppendUint32(slices.Clone(id), index)
	for _, p := range append(slices.Clone(points), r) {
		msg = append(msg, enc(p)...)
	}
	b, err := hash.ExpandMsgXmd(msg, []byte(tag), 48)
	if err != nil {
		panic(err)
	}
	return mod(new(big.Int).SetBytes(b))
}

func prove(tag string, id []byte, index uint32, points []g1, secret scalar) []byte {
	return proveWith(number("nonce", tag, id, index, points, secret), tag, id, index, points, secret)
}

func proveWith(k scalar, tag string, id []byte, index uint32, points []g1, secret scalar) []byte {
	c := challenge(tag, id, index, points, base(k))
	s := mod(new(big.Int).Add(k, new(big.Int).Mul(c, secret)))
	return append(bytes32(c), bytes32(s)...)
}

func proves(tag string, id []byte, index uint32, points []g1, proof []byte) bool {
	c, s := new(big.Int).SetBytes(proof[:32]), new(big.Int).SetBytes(proof[32:])
	cp := times(c, points[0])
	r := base(s)
	r.Sub(&r, &cp)
	return challenge(tag, id, index, points, r).Cmp(c) == 0
}

func box(dh g1) (cipher.AEAD, []byte) {
	okm, err := hkdf.Key(sha256.New, enc(dh), nil, "", 44)
	if err != nil {
		panic(err)
	}
	block, err := aes.NewCipher(okm[:32])
	if err != nil {
		panic(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead, okm[32:]
}

func encrypt(to g1, share, r scalar) []byte {
	aead, nonce := box(times(r, to))
	return append(enc(base(r)), aead.Seal(nil, nonce, bytes32(share), nil)...)
}

func decrypt(secret scalar, ct []byte) (scalar, bool) {
	var r g1
	if _, err := r.SetBytes(ct[:48]); err != nil {
		return nil, false
	}
	aead, nonce := box(times(secret, r))
	b, err := aead.Open(nil, nonce, ct[48:], nil)
	return new(big.Int).SetBytes(b), err == nil
}

// view is what one can read off the entries of a log that count: the first body of each kind and index.
type view struct {
	n, t   int
	id     []byte
	void   uint32
	bodies [kindConfirm + 1]map[uint32][]byte
}

func (c *cluster) view() *view {
	v := &view{n: c.n(), t: c.threshold(), id: c.id(), void: c.void}
	for k := range v.bodies {
		v.bodies[k] = map[uint32][]byte{}
	}
	for _, e := range c.log {
		k, index, body := e[0], binary.BigEndian.Uint32(e[65:69]), e[69:len(e)-64]
		if k >= kindTimeout {
			continue
		}
		if _, ok := v.bodies[k][index]; !ok && k <= kindConfirm {
			v.bodies[k][index] = body
		}
	}
	return v
}

// id is the ceremony's id by the documentation.
func (c *cluster) id() []byte {
	minQual := c.cfg.MinQual
	if minQual == 0 {
		minQual = c.n()
	}
	b := append([]byte("daybreak-dkg-id-v1"), c.cfg.Namespace.Bytes()...)
	for _, x := range []uint64{c.cfg.Epoch, c.cfg.Attempt, uint64(c.n()), uint64(c.threshold()), uint64(minQual)} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	for _, m := range c.cfg.Members {
		b = append(b, m.NetworkKey...)
	}
	id := sha256.Sum256(b)
	return id[:]
}

func (c *cluster) threshold() int {
	if c.cfg.Threshold != 0 {
		return c.cfg.Threshold
	}
	return 2*c.n()/3 + 1
}

func (v *view) context(kind int) []byte {
	ctx := sha256.Sum256(append([]byte("daybreak-dkg-context-v1"), v.id...))
	for k := kindAnnounce; k < kind; k++ {
		h := sha256.New()
		h.Write(ctx[:])
		for i := uint32(1); i <= uint32(v.n); i++ {
			if body, ok := v.bodies[k][i]; ok {
				h.Write([]byte{byte(k)})
				h.Write(binary.BigEndian.AppendUint32(nil, i))
				h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(body))))
				h.Write(body)
			}
		}
		ctx = [32]byte(h.Sum(nil))
	}
	return ctx[:]
}

func (v *view) participants() (out []uint32) {
	for i := uint32(1); i <= uint32(v.n); i++ {
		if v.bodies[kindAnnounce][i] != nil && i != v.void {
			out = append(out, i)
		}
	}
	return out
}

func (v *view) key(i uint32) g1 { return readG1(v.bodies[kindAnnounce][i][:48]) }

func (v *view) commitments(dealer uint32) (out []g1) {
	for k := range v.t {
		out = append(out, readG1(v.bodies[kindDeal][dealer][48*k:48*k+48]))
	}
	return out
}

// ciphertext is what dealer sent to holder.
func (v *view) ciphertext(dealer, holder uint32) []byte {
	at := 48*v.t + 64
	for _, p := range v.participants() {
		if p == holder {
			return v.bodies[kindDeal][dealer][at : at+96]
		}
		if p != dealer {
			at += 96
		}
	}
	panic("no such holder")
}

// outcome adds up the deals of qual: the commitments of the group and the hash of the transcript.
func (v *view) outcome(qual []uint32) (sum []g1, transcript []byte) {
	sum = make([]g1, v.t)
	h := sha256.New()
	h.Write([]byte("daybreak-dkg-transcript-v1"))
	h.Write(v.context(kindConfirm))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(qual))))
	for _, d := range qual {
		h.Write(binary.BigEndian.AppendUint32(nil, d))
		for k, p := range v.commitments(d) {
			sum[k] = plus(sum[k], p)
		}
	}
	for _, p := range sum {
		h.Write(enc(p))
	}
	return sum, h.Sum(nil)
}

func confirmPoint(namespace, transcript []byte) g2 {
	q, err := bls12381.HashToG2(slices.Concat(namespace, transcript), []byte(confirmTag))
	if err != nil {
		panic(err)
	}
	return q
}

// puppet is a member played by the test.
type puppet struct {
	c         *cluster
	index     uint32
	enc       scalar
	poly      []scalar
	nonce     func(tag string, points []g1) scalar // of a proof
	ephemeral func() scalar                        // of an encryption
}

// puppet takes over the member of this index; its machine falls silent.
func (c *cluster) puppet(index uint32) *puppet {
	c.silent[index] = true
	p := &puppet{c: c, index: index, enc: number("puppet key", index)}
	drawn := 0
	p.ephemeral = func() scalar { drawn++; return number("ephemeral", index, drawn) }
	p.nonce = func(tag string, points []g1) scalar { return number("nonce", index, tag, points) }
	for k := range c.threshold() {
		p.poly = append(p.poly, number("puppet polynomial", index, k))
	}
	return p
}

// entry signs a body for the present phase of the log, or of the kind given.
func (p *puppet) entry(kind int, body []byte) []byte {
	v := p.c.view()
	phase := kind
	if kind == kindTimeout {
		phase = int(body[0])
	}
	return p.sign(slices.Concat([]byte{byte(kind)}, v.id, v.context(phase), binary.BigEndian.AppendUint32(nil, p.index), body))
}

func (p *puppet) sign(unsigned []byte) []byte {
	return append(unsigned, ed25519.Sign(p.c.keys[p.index-1], append([]byte("daybreak-dkg-entry-v1"), unsigned...))...)
}

func (p *puppet) announcement() []byte {
	key := base(p.enc)
	return append(enc(key), p.prove(keyProofTag, []g1{key}, p.enc)...)
}

func (p *puppet) prove(tag string, points []g1, secret scalar) []byte {
	return proveWith(p.nonce(tag, points), tag, p.c.view().id, p.index, points, secret)
}

// deal is an honest deal.
func (p *puppet) deal() []byte {
	return p.dealWith(func(_ uint32, share scalar) scalar { return share })
}

// dealWith deals shares that change has its way with.
func (p *puppet) dealWith(change func(holder uint32, share scalar) scalar) []byte {
	commitments := commit(p.poly)
	return p.dealFrom(commitments, p.prove(dealProofTag, commitments, p.poly[0]), func(h uint32) scalar {
		return change(h, eval(p.poly, h))
	})
}

func (p *puppet) dealFrom(commitments []g1, proof []byte, share func(holder uint32) scalar) (body []byte) {
	v := p.c.view()
	for _, point := range commitments {
		body = append(body, enc(point)...)
	}
	body = append(body, proof...)
	for _, h := range v.participants() {
		if h != p.index {
			body = append(body, encrypt(v.key(h), share(h), p.ephemeral())...)
		}
	}
	return body
}

func (p *puppet) response(complaints ...uint32) []byte {
	b := make([]byte, (p.c.n()+7)/8)
	for _, d := range complaints {
		b[(d-1)/8] |= 1 << ((d - 1) % 8)
	}
	return b
}

func (p *puppet) justification(holders ...uint32) (b []byte) {
	for _, h := range holders {
		b = append(b, bytes32(eval(p.poly, h))...)
	}
	return b
}

// share adds up what the dealers of qual dealt to this puppet.
func (p *puppet) share(t testing.TB, qual []uint32) scalar {
	v, sum := p.c.view(), new(big.Int)
	for _, d := range qual {
		if d == p.index {
			sum.Add(sum, eval(p.poly, p.index))
			continue
		}
		s, ok := decrypt(p.enc, v.ciphertext(d, p.index))
		if got, want := base(s), evalPoints(v.commitments(d), p.index); !ok || !got.Equal(&want) {
			t.Errorf("member %d dealt puppet %d a bad share", d, p.index)
		}
		sum.Add(sum, s)
	}
	return mod(sum)
}

func (p *puppet) confirmation(share scalar, qual []uint32) []byte {
	sum, transcript := p.c.view().outcome(qual)
	q := confirmPoint(p.c.cfg.Namespace.Bytes(), transcript)
	sig := new(g2).ScalarMultiplication(&q, share).Bytes()
	return slices.Concat(transcript, enc(sum[0]), sig[:])
}
