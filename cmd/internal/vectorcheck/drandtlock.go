package vectorcheck

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"

	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// drand's timelock files are encrypted with a relative of our scheme: messages of 16 bytes, other hash tags, the target
// group's bytes in tower order, and, for short signatures, the two groups exchanged. Opening files that others sealed
// years ago shows that our pairing is everybody's.

const noSignature = "the round's signature is not published"

func drandTlockFile(raw []byte) ([]testCase, error) {
	var file struct {
		Description string            `json:"description"`
		AgeFiles    []json.RawMessage `json:"age_files"`
		Obsolete    []json.RawMessage `json:"ibe_obsolete"`
		RawIBE      []json.RawMessage `json:"raw_ibe"`
	}
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	var out []testCase
	add := func(list string, cases []json.RawMessage, check func(json.RawMessage) error) {
		for i, c := range cases {
			out = append(out, testCase{fmt.Sprintf("%s %d", list, i), func() error { return check(c) }})
		}
	}
	add("age_files", file.AgeFiles, checkDrandFile)
	add("ibe_obsolete", file.Obsolete, checkDrandObsolete)
	add("raw_ibe", file.RawIBE, checkDrandRaw)
	return out, nil
}

func checkDrandFile(raw json.RawMessage) error {
	var c struct {
		Name             string
		ChainHash        plainHex
		Scheme           string
		PublicKey        plainHex
		Round            uint64
		Signature        plainHex
		Plaintext        string
		Armored          string
		Source           string
		DecryptedLocally string
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	if len(c.Signature) == 0 {
		return &skip{noSignature}
	}
	chain := drandChain{c.Scheme, c.PublicKey}
	if err := chain.verify(chain.digest(c.Round, nil), c.Signature); err != nil {
		return err
	}
	id := &drandIdentity{scheme: c.Scheme, chainHash: c.ChainHash, round: c.Round, signature: c.Signature}
	plain, err := age.Decrypt(armor.NewReader(strings.NewReader(c.Armored)), id)
	if c.Plaintext == "" {
		if !errors.Is(err, errDrandProof) {
			return fmt.Errorf("a file of drand's obsolete scheme gives %v, must be refused as that", err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	got, err := io.ReadAll(plain)
	return errors.Join(err, same("Plaintext", got, []byte(c.Plaintext)))
}

// drandIdentity opens drand's stanza "tlock ROUND CHAINHASH".
type drandIdentity struct {
	scheme    string
	chainHash []byte
	round     uint64
	signature []byte
}

func (d *drandIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	for _, s := range stanzas {
		if s.Type != "tlock" {
			continue
		}
		if len(s.Args) != 2 || s.Args[0] != strconv.FormatUint(d.round, 10) || s.Args[1] != hex.EncodeToString(d.chainHash) {
			return nil, fmt.Errorf("the file is sealed to %q, not to the recorded round and chain", s.Args)
		}
		return drandDecrypt(d.scheme, d.signature, s.Body)
	}
	return nil, age.ErrIncorrectIdentity
}

func checkDrandObsolete(raw json.RawMessage) error {
	var c struct {
		U         plainHex
		V         plainHex
		W         plainHex
		FileKey   plainHex `json:"expected_filekey_old_scheme"`
		Name      string   `json:"name"`
		Result    string   `json:"result_with_current_code"`
		Signature plainHex `json:"signature_G2_round1_testnet_unchained"`
		Source    string   `json:"source"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	if _, err := drandDecrypt(unchained, c.Signature, bytes.Join([][]byte{c.U, c.V, c.W}, nil)); !errors.Is(err, errDrandProof) {
		return fmt.Errorf("a ciphertext of drand's obsolete scheme gives %v, must be refused as that", err)
	}
	return nil
}

func checkDrandRaw(raw json.RawMessage) error {
	var c struct {
		Ciphertext plainHex `json:"ciphertext"`
		Decrypted  bool     `json:"decrypted_locally"`
		Name       string   `json:"name"`
		Plaintext  plainHex `json:"plaintext_hex"`
		PublicKey  plainHex `json:"public_key"`
		Round      uint64   `json:"round"`
		Scheme     string   `json:"scheme"`
		Signature  plainHex `json:"signature"`
		Source     string   `json:"source"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	chain := drandChain{c.Scheme, c.PublicKey}
	if err := chain.verify(chain.digest(c.Round, nil), c.Signature); err != nil {
		return err
	}
	got, err := drandDecrypt(c.Scheme, c.Signature, c.Ciphertext)
	if err == nil {
		err = same("plaintext_hex", got, c.Plaintext)
	}
	return head{Valid: c.Decrypted}.expect(err)
}

var errDrandProof = errors.New("re-encrypting does not give U")

// drandDecrypt opens U || V || W, V and W of 16 bytes, with a round's signature.
func drandDecrypt(scheme string, signature, ct []byte) ([]byte, error) {
	const half = 16
	if len(ct) < 2*half {
		return nil, fmt.Errorf("ciphertext of %d bytes", len(ct))
	}
	u, v, w := ct[:len(ct)-2*half], ct[len(ct)-2*half:len(ct)-half], ct[len(ct)-half:]
	g, err := drandPair(scheme, signature, u)
	if err != nil {
		return nil, err
	}
	sigma, msg := make([]byte, half), make([]byte, half)
	mask := sha256.Sum256(append([]byte("IBE-H2"), towerOrder(g)...))
	subtle.XORBytes(sigma, v, mask[:])
	mask = sha256.Sum256(append([]byte("IBE-H4"), sigma...))
	subtle.XORBytes(msg, w, mask[:])

	r := drandH3(sigma, msg)
	rG1, rG2 := bls.MulG1Public(r).Bytes(), bls.G2Generator().Mul(r).Bytes()
	if !bytes.Equal(u, rG1[:]) && !bytes.Equal(u, rG2[:]) {
		return nil, errDrandProof
	}
	return msg, nil
}

// drandPair pairs U with the signature, whichever of them lies in which group.
func drandPair(scheme string, signature, u []byte) (bls.GT, error) {
	inG1, inG2 := u, signature
	if scheme == unchainedG1 || scheme == rfc9380G1 {
		inG1, inG2 = signature, u
	}
	p, errP := bls.DecodeG1(inG1)
	q, errQ := bls.DecodeG2(inG2)
	if err := errors.Join(errP, errQ); err != nil {
		return bls.GT{}, err
	}
	return bls.Pair(p, q), nil
}

// drandH3 draws the scalar by rejection: sha256(u16_le(i) || sha256("IBE-H3" || sigma || msg)), top bit cleared, for i = 1
// and on until it is below the group order.
func drandH3(sigma, msg []byte) bls.Scalar {
	seed := sha256.Sum256(bytes.Join([][]byte{[]byte("IBE-H3"), sigma, msg}, nil))
	for i := uint16(1); ; i++ {
		h := sha256.Sum256(append(binary.LittleEndian.AppendUint16(nil, i), seed[:]...))
		h[0] >>= 1
		if r, err := bls.ScalarFromBytes(h[:]); err == nil {
			return r
		}
	}
}

// towerOrder returns the bytes of g in the order of most other libraries: coefficients of the highest tower level first.
func towerOrder(g bls.GT) []byte {
	const size = bls.GTSize / 12
	ours, out := g.Bytes(), make([]byte, bls.GTSize)
	for i, at := range [12]int{11, 10, 5, 4, 9, 8, 3, 2, 7, 6, 1, 0} {
		copy(out[at*size:(at+1)*size], ours[i*size:(i+1)*size])
	}
	return out
}
