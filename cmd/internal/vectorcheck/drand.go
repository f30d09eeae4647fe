package vectorcheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// plainHex is hex without 0x, as drand writes it.
type plainHex []byte

func (h *plainHex) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := hex.DecodeString(s)
	if err != nil {
		return fmt.Errorf("%q is not hex", s)
	}
	*h = v
	return nil
}

const (
	chained     = "pedersen-bls-chained"
	unchained   = "pedersen-bls-unchained"
	unchainedG1 = "bls-unchained-on-g1" // G1 points under the tag of G2: drand's first short signatures
	rfc9380G1   = "bls-unchained-g1-rfc9380"
	bn254       = "bls-bn254-unchained-on-g1"
	drandDSTG1  = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
	drandDSTG2  = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"
)

// drandChain is a public key under one of drand's schemes.
type drandChain struct {
	scheme string
	key    []byte
}

// digest returns what a round's signature signs; previous only for chained beacons.
func (c drandChain) digest(round uint64, previous []byte) [32]byte {
	if c.scheme != chained {
		previous = nil
	}
	return sha256.Sum256(binary.BigEndian.AppendUint64(bytes.Clone(previous), round))
}

// verify checks a signature over a digest. A scheme off BLS12-381 is skipped by name.
func (c drandChain) verify(digest [32]byte, signature []byte) error {
	switch c.scheme {
	case chained, unchained:
		pk, errPK := bls.DecodeG1(c.key)
		sig, errSig := bls.DecodeG2(signature)
		if err := errors.Join(errPK, errSig); err != nil {
			return err
		}
		if !bls.VerifyG2(pk, bls.Prepare(bls.HashToG2(digest[:], []byte(drandDSTG2))), sig) {
			return errors.New("the signature does not verify")
		}
	case unchainedG1, rfc9380G1:
		pk, errPK := bls.DecodeG2(c.key)
		sig, errSig := bls.DecodeG1(signature)
		if err := errors.Join(errPK, errSig); err != nil {
			return err
		}
		dst := map[string]string{unchainedG1: drandDSTG2, rfc9380G1: drandDSTG1}[c.scheme]
		if !bls.VerifyG1(pk, bls.HashToG1(digest[:], []byte(dst)), sig) {
			return errors.New("the signature does not verify")
		}
	case bn254:
		return &skip{bn254 + ": another curve"}
	default:
		return fmt.Errorf("unknown scheme %q", c.scheme)
	}
	return nil
}

type drandBeacon struct {
	Chain             string
	Scheme            string
	PublicKey         plainHex
	Round             uint64
	Signature         json.RawMessage // hex, decoded once the scheme is known to be ours
	PreviousSignature plainHex
	Randomness        plainHex
	MessageDigest     plainHex
	Source            string
	Verified          bool
	Valid             bool
	Note              string
}

func drandBeaconsFile(raw []byte) ([]testCase, error) {
	var file struct {
		Description string            `json:"description"`
		Digest      map[string]string `json:"digest"`
		DST         map[string]string `json:"dst"`
		Beacons     []json.RawMessage `json:"beacons"`
	}
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	var out []testCase
	for i, b := range file.Beacons {
		out = append(out, testCase{fmt.Sprintf("beacon %d", i), func() error { return checkDrandBeacon(b) }})
	}
	return out, nil
}

func checkDrandBeacon(raw json.RawMessage) error {
	var b drandBeacon
	if err := strict(raw, &b); err != nil {
		return err
	}
	chain := drandChain{b.Scheme, b.PublicKey}
	if b.Scheme == bn254 {
		return chain.verify([32]byte{}, nil)
	}
	var signature plainHex
	if err := json.Unmarshal(b.Signature, &signature); err != nil {
		return err
	}
	digest, randomness := chain.digest(b.Round, b.PreviousSignature), sha256.Sum256(signature)
	if err := errors.Join(same("MessageDigest", digest[:], b.MessageDigest), same("Randomness", randomness[:], b.Randomness)); err != nil {
		return err
	}
	return head{Valid: b.Valid, Reason: b.Note}.expect(chain.verify(digest, signature))
}

func drandChainsFile(raw []byte) ([]testCase, error) {
	var file struct {
		Description string            `json:"description"`
		Source      string            `json:"source"`
		Chains      []json.RawMessage `json:"chains"`
	}
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	var out []testCase
	for i, c := range file.Chains {
		out = append(out, testCase{fmt.Sprintf("chain %d", i), func() error { return checkDrandChain(c) }})
	}
	return out, nil
}

// checkDrandChain recomputes a chain's hash, which takes no curve.
func checkDrandChain(raw json.RawMessage) error {
	var c struct {
		BeaconID    string   `json:"beacon_id"`
		ChainHash   plainHex `json:"chain_hash"`
		Recomputed  bool     `json:"chain_hash_recomputed_ok"`
		GenesisSeed plainHex `json:"genesis_seed"`
		GenesisTime uint64   `json:"genesis_time"`
		Period      uint32   `json:"period"`
		PublicKey   plainHex `json:"public_key"`
		Scheme      string   `json:"scheme"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	in := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, c.Period), c.GenesisTime)
	in = append(append(in, c.PublicKey...), c.GenesisSeed...)
	if c.BeaconID != "default" {
		in = append(in, c.BeaconID...)
	}
	hash := sha256.Sum256(in)
	return errors.Join(head{Valid: c.Recomputed}.expect(same("chain_hash", hash[:], c.ChainHash)), checkDrandKey(c.Scheme, c.PublicKey))
}

// checkDrandKey decodes a public key of the schemes on our curve.
func checkDrandKey(scheme string, key []byte) (err error) {
	switch scheme {
	case chained, unchained:
		_, err = bls.DecodeG1(key)
	case unchainedG1, rfc9380G1:
		_, err = bls.DecodeG2(key)
	case bn254:
	default:
		err = fmt.Errorf("unknown scheme %q", scheme)
	}
	return err
}
