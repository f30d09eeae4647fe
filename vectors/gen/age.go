package main

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// stanza is one recipient of an age header.
type stanza struct {
	kind string
	args []string
	body []byte
}

// text is the stanza's lines: base64 without padding in columns of 64, the last line shorter than that, if need be empty.
func (s stanza) text() string {
	out := strings.Join(append([]string{"->", s.kind}, s.args...), " ") + "\n"
	b := base64.RawStdEncoding.EncodeToString(s.body)
	for len(b) >= 64 {
		out += b[:64] + "\n"
		b = b[64:]
	}
	return out + b + "\n"
}

// ageFile writes a whole file of age-encryption.org/v1 with a plaintext of one chunk.
func ageFile(fileKey, nonce, plaintext []byte, stanzas ...stanza) []byte {
	return append(ageHeader(fileKey, stanzas...), agePayload(fileKey, nonce, plaintext)...)
}

func ageHeader(fileKey []byte, stanzas ...stanza) []byte {
	header := "age-encryption.org/v1\n"
	for _, s := range stanzas {
		header += s.text()
	}
	header += "---"
	mac := hmac.New(sha256.New, derive(fileKey, nil, "header", 32))
	mac.Write([]byte(header))
	return []byte(header + " " + base64.RawStdEncoding.EncodeToString(mac.Sum(nil)) + "\n")
}

func agePayload(fileKey, nonce, plaintext []byte) []byte {
	lastChunk := append(make([]byte, 11), 1) // counter 0, then the flag of the last chunk
	return append(bytes.Clone(nonce), seal(derive(fileKey, nonce, "payload", 32), lastChunk, plaintext)...)
}

func derive(secret, salt []byte, info string, size int) []byte {
	key, err := hkdf.Key(sha256.New, secret, salt, info, size)
	must(err)
	return key
}

func seal(key, nonce, plaintext []byte) []byte {
	aead, err := chacha20poly1305.New(key)
	must(err)
	return aead.Seal(nil, nonce, plaintext, nil)
}
