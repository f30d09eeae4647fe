// Package tlockage seals files and streams of any size to an identity, in the age format (age-encryption.org/v1).
//
// age encrypts the data under a random 16-byte file key and wraps that key once per recipient in a "stanza" of the
// header. This package is the recipient whose private key does not exist yet: the stanza seals the file key with
// package tlock, and the identity's key opens it. Chunking, authentication and armor are age's.
//
// # Format
//
// One stanza, as lines of the header:
//
//	-> tlock-daybreak CHAIN GENESIS slot SLOT
//	BODY
//
// or, for a condition,
//
//		-> tlock-daybreak CHAIN GENESIS condition CONDITION
//		BODY
//
//	  - CHAIN is the chain id in decimal, without sign or leading zeros, at most 2^256-1.
//	  - GENESIS and CONDITION are 64 lower-case hex digits, without 0x.
//	  - SLOT is the slot in decimal, without sign or leading zeros, at most 2^64-1.
//	  - BODY is 144 bytes, in age's base64 (no padding, 64 columns): bytes 0..111 are the timelock ciphertext U || V || W
//	    of a 32-byte secret, bytes 112..143 the wrapped file key.
//
// The file key is wrapped in three steps:
//
//  1. Draw secret, 32 random bytes, and seal it to the identity: 112 bytes.
//  2. wrapping key = HKDF-SHA256(secret, no salt, info), 32 bytes, with info =
//     "daybreak-beacon/tlockage/v1" || namespace (79 bytes) || identity (8 or 32 bytes).
//  3. wrapped = ChaCha20-Poly1305(wrapping key, nonce of 12 zero bytes, file key, no associated data): 16 + 16 bytes.
//
// A fixed nonce is sound because a wrapping key encrypts one message, once: its secret is drawn anew for every stanza.
// Chain, genesis and identity enter the wrapping key, so a stanza whose arguments were changed does not unwrap, even
// where some key opened its secret.
//
// Reading is strict: a stanza of this type that is not exactly of this form makes the file unreadable rather than being
// passed over. A file may hold several stanzas, for several identities or other recipients; any one opens it.
//
// # Security
//
// What package tlock says about keys and groups holds here. age authenticates header and data under the file key: who
// cannot open the file cannot change it unnoticed. Who has opened it can write another with the same header, so a sealed
// file proves nothing about its author. Vectors are in tlockage.json of the module's folder vectors.
package tlockage

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/daybreak-beacon/daybreak/tlock"
)

const (
	// StanzaType is the first argument of our stanzas.
	StanzaType = "tlock-daybreak"

	hkdfLabel   = "daybreak-beacon/tlockage/v1"
	fileKeySize = 16
	wrappedSize = fileKeySize + chacha20poly1305.Overhead
	bodySize    = tlock.CiphertextSize + wrappedSize
)

// Recipient seals files to one identity; give it to age.Encrypt.
type Recipient struct {
	stanza Stanza
	gk     tlock.GroupKey
}

// NewRecipient returns the recipient for id on the network of ns and gk. Zero values are an error.
func NewRecipient(ns tlock.Namespace, gk tlock.GroupKey, id tlock.Identity) (*Recipient, error) {
	if ns.IsZero() || gk.IsZero() || id.IsZero() {
		return nil, errors.New("sealing a file: network, group key or identity is missing")
	}
	return &Recipient{stanza: Stanza{Namespace: ns, Identity: id}, gk: gk}, nil
}

// Wrap implements age.Recipient.
func (r *Recipient) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	if len(fileKey) != fileKeySize {
		return nil, fmt.Errorf("wrapping a file key of %d bytes, want %d", len(fileKey), fileKeySize)
	}
	var secret [32]byte
	rand.Read(secret[:])
	ct, err := tlock.Encrypt(r.stanza.Namespace, r.gk, r.stanza.Identity, &secret)
	if err != nil {
		return nil, err
	}
	return []*age.Stanza{r.stanza.encode(ct, r.stanza.wrap(&secret, fileKey))}, nil
}

// Identity opens files with the key of one identity; give it to age.Decrypt.
type Identity struct {
	stanza Stanza
	opener *tlock.Opener
}

// NewIdentity returns the opener of files sealed to id on the network ns. Verify the key first if it is not trusted
// (tlock.GroupKey.Verify): a wrong one is noticed anyway, but cannot be told from a damaged file.
func NewIdentity(ns tlock.Namespace, id tlock.Identity, key tlock.Key) *Identity {
	return &Identity{stanza: Stanza{Namespace: ns, Identity: id}, opener: tlock.NewOpener(key)}
}

// Unwrap implements age.Identity. Where no stanza is for this identity or its key opens none, the error wraps
// age.ErrIncorrectIdentity, so that age tries its other identities, and tlock.ErrWrongKey; it says what the file is
// sealed to. A stanza of our type that is badly formed is tlock.ErrMalformed, one that was altered tlock.ErrTampered:
// both final.
func (i *Identity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	var wrong []error
	for _, s := range stanzas {
		if s.Type != StanzaType {
			continue
		}
		fileKey, err := i.unwrap(s)
		if err == nil {
			return fileKey, nil
		}
		if !errors.Is(err, tlock.ErrWrongKey) {
			return nil, err
		}
		wrong = append(wrong, err)
	}
	if len(wrong) == 0 {
		wrong = []error{&mismatch{"the file has no timelock stanza of Daybreak"}}
	}
	return nil, fmt.Errorf("%w: %w", age.ErrIncorrectIdentity, errors.Join(wrong...))
}

func (i *Identity) unwrap(s *age.Stanza) ([]byte, error) {
	p, err := parseStanza(s)
	if err != nil {
		return nil, err
	}
	if p.Namespace != i.stanza.Namespace {
		return nil, &mismatch{"the file is sealed on another network: " + p.network()}
	}
	if p.Identity != i.stanza.Identity {
		return nil, &mismatch{fmt.Sprintf("the file is sealed to %v, the key is for %v", p.Identity, i.stanza.Identity)}
	}
	secret, err := i.opener.Open(p.ct)
	if err != nil {
		return nil, err
	}
	return p.unwrap(&secret, p.wrapped[:])
}

// mismatch is a stanza for someone else, of class tlock.ErrWrongKey.
type mismatch struct{ text string }

func (m *mismatch) Error() string { return m.text }
func (m *mismatch) Unwrap() error { return tlock.ErrWrongKey }

func (s Stanza) wrap(secret *[32]byte, fileKey []byte) []byte {
	var zeroNonce [chacha20poly1305.NonceSize]byte // the key is used once: see the package doc
	return s.aead(secret).Seal(nil, zeroNonce[:], fileKey, nil)
}

func (s Stanza) unwrap(secret *[32]byte, wrapped []byte) ([]byte, error) {
	var zeroNonce [chacha20poly1305.NonceSize]byte
	fileKey, err := s.aead(secret).Open(nil, zeroNonce[:], wrapped, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the stanza's file key does not authenticate", tlock.ErrTampered)
	}
	return fileKey, nil
}

func (s Stanza) aead(secret *[32]byte) cipher.AEAD {
	info := hkdfLabel + string(s.Namespace.Bytes()) + string(s.Identity.Bytes())
	key, err := hkdf.Key(sha256.New, secret[:], nil, info, chacha20poly1305.KeySize)
	if err != nil {
		panic("tlockage: internal error: " + err.Error()) // the length is fixed and allowed
	}
	aead, err := chacha20poly1305.New(key)
	if err != nil {
		panic("tlockage: internal error: " + err.Error())
	}
	return aead
}
