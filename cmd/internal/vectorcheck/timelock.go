package vectorcheck

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func timelockFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"gt": checkGT, "h3": checkH3, "encrypt": checkEncrypt, "decrypt": checkDecrypt})
}

func checkGT(raw json.RawMessage) error {
	var c struct {
		head
		PScalar       hexBytes `json:"p_scalar"`
		QScalar       hexBytes `json:"q_scalar"`
		P             hexBytes `json:"p"`
		Q             hexBytes `json:"q"`
		WCoefficients []struct {
			Power int      `json:"power"`
			C0    hexBytes `json:"c0"`
			C1    hexBytes `json:"c1"`
		} `json:"w_coefficients"`
		G hexBytes `json:"g"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	p, errP := bls.DecodeG1(c.P)
	q, errQ := bls.DecodeG2(c.Q)
	if err := errors.Join(errP, errQ); err != nil {
		return err
	}
	g, lines := bls.Pair(p, q).Bytes(), bls.Prepare(q).Pair(p).Bytes()
	err := errors.Join(same("g", g[:], c.G), same("g over stored lines", lines[:], c.G))
	if !c.Valid {
		return c.expect(err)
	}
	var coefficients []byte
	for i, w := range c.WCoefficients {
		if w.Power != i || len(w.C0) != 48 || len(w.C1) != 48 {
			return fmt.Errorf("coefficient %d is of another power or length", i)
		}
		coefficients = append(append(coefficients, w.C0...), w.C1...)
	}
	x, errX := bls.ScalarFromBytes(c.PScalar)
	y, errY := bls.ScalarFromBytes(c.QScalar)
	xp, yq := bls.MulG1Secret(x).Bytes(), bls.G2Generator().Mul(y).Bytes()
	return errors.Join(err, errX, errY, same("w_coefficients", coefficients, c.G), same("p", xp[:], c.P), same("q", yq[:], c.Q))
}

// h3DST is S-TLK-03's domain separation tag.
const h3DST = "TLE_BLS12381_XMD:SHA-256_SSWU_RO_H3_"

func checkH3(raw json.RawMessage) error {
	var c struct {
		head
		Sigma   hexBytes `json:"sigma"`
		Message hexBytes `json:"message"`
		Uniform hexBytes `json:"uniform"`
		R       hexBytes `json:"r"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	in := append(bytes.Clone(c.Sigma), c.Message...)
	r := bls.HashToScalar(in, []byte(h3DST)).Bytes()
	return c.expect(errors.Join(
		same("uniform", bls.ExpandMessageXMD(in, []byte(h3DST), 48), c.Uniform),
		same("r", r[:], c.R),
	))
}

// encryption is every value of one encryption, from given sigma and message.
type encryption struct {
	uniform, r, u, rGroupKey, g, h2, h4, v, w []byte
}

// encryptSteps follows document 002 "Timelock key encoding" step by step over the curve's plain operations, beside the
// sealing code of package tlock with its tables and shortcuts.
func encryptSteps(gk tlock.GroupKey, q bls.G2, sigma, msg []byte) encryption {
	var e encryption
	in := append(bytes.Clone(sigma), msg...)
	r := bls.HashToScalar(in, []byte(h3DST))
	rBytes, u, rPK := r.Bytes(), bls.G1Generator().Mul(r), gk.Point().Mul(r)
	uBytes, rPKBytes, g := u.Bytes(), rPK.Bytes(), bls.Pair(rPK, q).Bytes()
	h2, h4 := sha256.Sum256(append([]byte("h2"), g[:]...)), sha256.Sum256(append([]byte("h4"), sigma...))
	e.uniform, e.r = bls.ExpandMessageXMD(in, []byte(h3DST), 48), rBytes[:]
	e.u, e.rGroupKey, e.g, e.h2, e.h4 = uBytes[:], rPKBytes[:], g[:], h2[:], h4[:]
	e.v, e.w = make([]byte, 32), make([]byte, 32)
	subtle.XORBytes(e.v, sigma, e.h2)
	subtle.XORBytes(e.w, msg, e.h4)
	return e
}

func (e encryption) ciphertext() []byte { return bytes.Join([][]byte{e.u, e.v, e.w}, nil) }

type encryptCase struct {
	head
	target
	secretKey
	Namespace  hexBytes `json:"namespace"`
	GroupKey   hexBytes `json:"group_key"`
	Key        hexBytes `json:"key"`
	Sigma      hexBytes `json:"sigma"`
	Message    hexBytes `json:"message"`
	H3Uniform  hexBytes `json:"h3_uniform"`
	R          hexBytes `json:"r"`
	U          hexBytes `json:"u"`
	RGroupKey  hexBytes `json:"r_group_key"`
	G          hexBytes `json:"g"`
	H2         hexBytes `json:"h2"`
	H4         hexBytes `json:"h4"`
	V          hexBytes `json:"v"`
	W          hexBytes `json:"w"`
	Ciphertext hexBytes `json:"ciphertext"`
}

func checkEncrypt(raw json.RawMessage) error {
	var c encryptCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return err
	}
	gk, key, err := verifiedKey(ns, id, c.GroupKey, c.Key)
	if err != nil {
		return err
	}
	if len(c.Sigma) != 32 || len(c.Message) != 32 {
		return errors.New("sigma and message have 32 bytes each")
	}
	e := encryptSteps(gk, ns.Point(id), c.Sigma, c.Message)
	return c.expect(errors.Join(
		c.secretKey.check(ns, id, c.GroupKey, c.Key),
		same("namespace", ns.Bytes(), c.Namespace),
		same("h3_uniform", e.uniform, c.H3Uniform), same("r", e.r, c.R), same("u", e.u, c.U),
		same("r_group_key", e.rGroupKey, c.RGroupKey), same("g", e.g, c.G),
		same("h2", e.h2, c.H2), same("h4", e.h4, c.H4), same("v", e.v, c.V), same("w", e.w, c.W),
		same("ciphertext", e.ciphertext(), c.Ciphertext),
		opensTo(key, c.Ciphertext, c.Message),
		sealsAfresh(ns, gk, id, key, [32]byte(c.Message)),
	))
}

// opensTo opens a recorded ciphertext, in both ways that package tlock has.
func opensTo(key tlock.Key, ciphertext, message []byte) error {
	ct, err := tlock.ParseCiphertext(ciphertext)
	if err != nil {
		return err
	}
	msg, err := tlock.Decrypt(key, ct)
	if err != nil {
		return err
	}
	many, errs := tlock.NewOpener(key).OpenMany([]tlock.Ciphertext{ct}, nil)
	return errors.Join(errs[0], same("message", msg[:], message), same("message of OpenMany", many[0][:], message))
}

// sealsAfresh seals with this build's own randomness: the recorded key must open it. Since opening accepts nothing but the
// exact encryption, that proves the sealing code right for the recorded group, identity and message.
func sealsAfresh(ns tlock.Namespace, gk tlock.GroupKey, id tlock.Identity, key tlock.Key, msg [32]byte) error {
	once, err := tlock.Encrypt(ns, gk, id, &msg)
	if err != nil {
		return err
	}
	many, err := tlock.NewSealer(ns, gk, id).Seal(&msg)
	if err != nil {
		return err
	}
	return errors.Join(opensTo(key, once[:], msg[:]), opensTo(key, many[:], msg[:]))
}

func checkDecrypt(raw json.RawMessage) error {
	var c struct {
		head
		target
		GroupKey   hexBytes `json:"group_key"`
		Key        hexBytes `json:"key"`
		Ciphertext hexBytes `json:"ciphertext"`
		Message    hexBytes `json:"message"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return err
	}
	if _, err := tlock.ParseGroupKey(c.GroupKey); err != nil {
		return err
	}
	key, err := tlock.ParseKey(c.Key)
	if err == nil {
		err = opensTo(key, c.Ciphertext, c.Message)
	}
	if c.Valid && err == nil {
		_, _, err = verifiedKey(ns, id, c.GroupKey, c.Key)
	}
	return c.expect(err)
}
