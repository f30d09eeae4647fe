package vectorcheck

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/tlockage"
)

func tlockageFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"wrap": checkWrap, "unwrap": checkUnwrap, "file": checkAgeFile})
}

// ageTarget is target without the point, which these cases do not record.
type ageTarget struct {
	network
	IdentityKind string   `json:"identity_kind"`
	Slot         decimal  `json:"slot"`
	Identity     hexBytes `json:"identity"`
}

func (t ageTarget) resolve() (tlock.Namespace, tlock.Identity, error) {
	return target{network: t.network, IdentityKind: t.IdentityKind, Slot: t.Slot, Identity: t.Identity}.resolve()
}

// identity makes the opener of a case.
func (t ageTarget) identity(key hexBytes) (*tlockage.Identity, error) {
	ns, id, err := t.resolve()
	if err != nil {
		return nil, err
	}
	k, err := tlock.ParseKey(key)
	if err != nil {
		return nil, err
	}
	return tlockage.NewIdentity(ns, id, k), nil
}

type wrapCase struct {
	head
	ageTarget
	secretKey
	GroupKey    hexBytes `json:"group_key"`
	Key         hexBytes `json:"key"`
	Sigma       hexBytes `json:"sigma"`
	Secret      hexBytes `json:"secret"`
	Timelock    hexBytes `json:"timelock"`
	Info        hexBytes `json:"info"`
	WrappingKey hexBytes `json:"wrapping_key"`
	FileKey     hexBytes `json:"file_key"`
	Wrapped     hexBytes `json:"wrapped"`
	Args        []string `json:"args"`
	Body        hexBytes `json:"body"`
	Stanza      string   `json:"stanza"`
}

func checkWrap(raw json.RawMessage) error {
	var c wrapCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolve()
	if err != nil {
		return err
	}
	gk, key, err := verifiedKey(ns, id, c.GroupKey, c.Key)
	if err != nil {
		return err
	}
	recipient, err := tlockage.NewRecipient(ns, gk, id)
	if err != nil {
		return err
	}
	opener := tlockage.NewIdentity(ns, id, key)
	recorded := &age.Stanza{Type: tlockage.StanzaType, Args: c.Args, Body: c.Body}
	opened, err := opener.Unwrap([]*age.Stanza{recorded})
	return c.expect(errors.Join(err,
		same("file_key", opened, c.FileKey),
		c.secretKey.check(ns, id, c.GroupKey, c.Key),
		c.checkSteps(ns, id, gk),
		same("stanza", []byte(stanzaText(recorded)), []byte(c.Stanza)),
		c.wrapAfresh(recipient, opener),
	))
}

// checkSteps follows the three steps of tlockage's package doc from the recorded randomness.
func (c *wrapCase) checkSteps(ns tlock.Namespace, id tlock.Identity, gk tlock.GroupKey) error {
	timelock := encryptSteps(gk, ns.Point(id), c.Sigma, c.Secret).ciphertext()
	info := "daybreak-beacon/tlockage/v1" + string(ns.Bytes()) + string(id.Bytes())
	wrappingKey, err := hkdf.Key(sha256.New, c.Secret, nil, info, 32)
	if err != nil {
		return err
	}
	aead, err := chacha20poly1305.New(wrappingKey)
	if err != nil {
		return err
	}
	wrapped := aead.Seal(nil, make([]byte, 12), c.FileKey, nil)
	return errors.Join(
		same("timelock", timelock, c.Timelock),
		same("info", []byte(info), c.Info),
		same("wrapping_key", wrappingKey, c.WrappingKey),
		same("wrapped", wrapped, c.Wrapped),
		same("body", append(timelock, wrapped...), c.Body),
	)
}

// wrapAfresh wraps with this build's own randomness: the arguments are the recorded ones, the recorded key unwraps.
func (c *wrapCase) wrapAfresh(recipient *tlockage.Recipient, opener *tlockage.Identity) error {
	stanzas, err := recipient.Wrap(c.FileKey)
	if err != nil {
		return err
	}
	if got := strings.Join(stanzas[0].Args, " "); len(stanzas) != 1 || got != strings.Join(c.Args, " ") {
		return fmt.Errorf("args: got %q, recorded %q", got, c.Args)
	}
	opened, err := opener.Unwrap(stanzas)
	return errors.Join(err, same("file key wrapped afresh", opened, c.FileKey))
}

// stanzaText writes a stanza as the age format has it: base64 without padding in columns of 64, the last one shorter.
func stanzaText(s *age.Stanza) string {
	out := "-> " + s.Type + " " + strings.Join(s.Args, " ") + "\n"
	b := base64.RawStdEncoding.EncodeToString(s.Body)
	for ; len(b) >= 64; b = b[64:] {
		out += b[:64] + "\n"
	}
	return out + b + "\n"
}

func checkUnwrap(raw json.RawMessage) error {
	var c struct {
		head
		ageTarget
		Class   string   `json:"class"`
		Key     hexBytes `json:"key"`
		Args    []string `json:"args"`
		Body    hexBytes `json:"body"`
		FileKey hexBytes `json:"file_key"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	id, err := c.identity(c.Key)
	if err != nil {
		return err
	}
	got, err := id.Unwrap([]*age.Stanza{{Type: tlockage.StanzaType, Args: c.Args, Body: c.Body}})
	if c.Valid {
		return errors.Join(err, same("file_key", got, c.FileKey))
	}
	class := map[string]error{"malformed": tlock.ErrMalformed, "wrong_key": tlock.ErrWrongKey, "tampered": tlock.ErrTampered}[c.Class]
	if class == nil {
		return fmt.Errorf("class %q", c.Class)
	}
	if err == nil {
		return c.expect(nil)
	}
	if !errors.Is(err, class) || errors.Is(err, age.ErrIncorrectIdentity) != (class == tlock.ErrWrongKey) {
		return fmt.Errorf("refused as %q, recorded class %s", err, c.Class)
	}
	return nil
}

func checkAgeFile(raw json.RawMessage) error {
	var c struct {
		head
		ageTarget
		Key       hexBytes `json:"key"`
		File      hexBytes `json:"file"`
		Plaintext hexBytes `json:"plaintext"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	id, err := c.identity(c.Key)
	if err != nil {
		return err
	}
	var got []byte
	plain, err := age.Decrypt(bytes.NewReader(c.File), id)
	if err == nil {
		got, err = io.ReadAll(plain)
	}
	if err == nil {
		err = same("plaintext", got, c.Plaintext)
	}
	return c.expect(err)
}
