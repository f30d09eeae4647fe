package vectorcheck

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/sha3"

	"github.com/daybreak-beacon/daybreak/tlock"
)

func keccak256(b []byte) []byte {
	h := sha3.NewLegacyKeccak256()
	h.Write(b)
	return h.Sum(nil)
}

func sealedFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"seal": checkSeal, "seal_refused": checkSealRefused, "open": checkOpen})
}

// call is one call of a case.
type call struct {
	Target   hexBytes `json:"target"`
	GasLimit decimal  `json:"gas_limit"`
	Data     hexBytes `json:"data"`
}

func toCalls(list []call) ([]tlock.Call, error) {
	out := make([]tlock.Call, len(list))
	for i, c := range list {
		var err error
		if out[i].Target, err = array[[20]byte]("target", c.Target); err != nil {
			return nil, err
		}
		if out[i].GasLimit, err = c.GasLimit.uint64(); err != nil {
			return nil, err
		}
		out[i].Data = c.Data
	}
	return out, nil
}

// payloadCase is what sealing and opening cases share. For a slot the identity is the slot, for a condition its hash.
type payloadCase struct {
	head
	network
	predicate
	Mode              string   `json:"mode"`
	GroupKey          hexBytes `json:"group_key"`
	ConditionPreimage hexBytes `json:"condition_preimage"`
	Condition         hexBytes `json:"condition"`
	Identity          hexBytes `json:"identity"`
	Q                 hexBytes `json:"q"`
	Key               hexBytes `json:"key"`
	AssociatedData    hexBytes `json:"associated_data"`
	EncodedCalls      hexBytes `json:"encoded_calls"`
	Salt              hexBytes `json:"salt"`
	Commitment        hexBytes `json:"commitment"`
	Ciphertext        hexBytes `json:"ciphertext"`
	CiphertextLength  int      `json:"ciphertext_length"`
	CallsDecode       string   `json:"calls_decode"`
	Entry             string   `json:"entry"`
	EntryReason       string   `json:"entry_reason"`
	EntryBasis        string   `json:"entry_basis"`
	EntryOtherwise    string   `json:"entry_if_not_enforced"`
}

// sealedTo returns what the payload is bound to and checks the fields that follow from it.
func (c *payloadCase) sealedTo() (ns tlock.Namespace, to tlock.SealedTo, err error) {
	if ns, err = c.namespace(); err != nil {
		return ns, to, err
	}
	switch c.Mode {
	case "slot":
		slot, err := c.Slot.uint64()
		if err != nil {
			return ns, to, err
		}
		payer, err := array[[20]byte]("payer", c.Payer)
		if err != nil {
			return ns, to, err
		}
		to = tlock.SlotSeal(slot, payer)
	case "condition":
		condition, err := c.condition()
		if err != nil {
			return ns, to, err
		}
		if to, err = tlock.ConditionSeal(condition); err != nil {
			return ns, to, err
		}
		if err := errors.Join(same("condition_preimage", conditionPreimage(condition), c.ConditionPreimage),
			same("condition", to.Identity().Bytes(), c.Condition)); err != nil {
			return ns, to, err
		}
	default:
		return ns, to, fmt.Errorf("mode %q", c.Mode)
	}
	if c.CiphertextLength != len(c.Ciphertext) {
		return ns, to, fmt.Errorf("ciphertext_length is %d, ciphertext has %d bytes", c.CiphertextLength, len(c.Ciphertext))
	}
	q := ns.Point(to.Identity()).Bytes()
	return ns, to, errors.Join(
		same("identity", to.Identity().Bytes(), c.Identity),
		same("q", q[:], c.Q),
		same("associated_data", to.AssociatedData(), c.AssociatedData),
	)
}

// open opens the payload as the scheduler would.
func (c *payloadCase) open(to tlock.SealedTo) ([]byte, error) {
	key, err := tlock.ParseKey(c.Key)
	if err != nil {
		return nil, err
	}
	commitment, err := array[[32]byte]("commitment", c.Commitment)
	if err != nil {
		return nil, err
	}
	return tlock.OpenCalls(key, to, c.Ciphertext, commitment)
}

// checkOutcome compares what becomes of the opened calls: whether they decode, and whether an entry could run them.
func (c *payloadCase) checkOutcome() error {
	calls, err := tlock.DecodeCalls(c.EncodedCalls)
	if err == nil {
		err = same("calls encoded again", tlock.EncodeCalls(calls), c.EncodedCalls)
	}
	decode, entry := "ok", "runnable"
	if err != nil {
		decode = "fails"
	}
	if err != nil || !runnable(calls) {
		entry = "fails"
	}
	if c.CallsDecode != decode || c.Entry != entry {
		return fmt.Errorf("calls_decode %q and entry %q, recorded %q and %q", decode, entry, c.CallsDecode, c.Entry)
	}
	return nil
}

// runnable is S-SEA-12 as far as the calls alone decide: one to eight, no target the zero address or the scheduler.
func runnable(calls []tlock.Call) bool {
	for _, c := range calls {
		if c.Target == ([20]byte{}) || c.Target == ([20]byte{19: 0xfe}) {
			return false
		}
	}
	return len(calls) >= 1 && len(calls) <= 8
}

type sealCase struct {
	payloadCase
	secretKey
	Calls              *[]call  `json:"calls"` // absent where the bytes are no encoding of calls
	EncodedCallsLength int      `json:"encoded_calls_length"`
	Body               hexBytes `json:"body"`
	BodyLength         int      `json:"body_length"`
	DataKey            hexBytes `json:"data_key"`
	Sigma              hexBytes `json:"sigma"`
	Timelock           hexBytes `json:"timelock"`
	Nonce              hexBytes `json:"nonce"`
	Tag                hexBytes `json:"tag"`
}

func checkSeal(raw json.RawMessage) error {
	var c sealCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, to, err := c.sealedTo()
	if err != nil {
		return err
	}
	gk, key, err := verifiedKey(ns, to.Identity(), c.GroupKey, c.Key)
	if err != nil {
		return err
	}
	opened, err := c.open(to)
	return c.expect(errors.Join(err,
		same("encoded_calls", opened, c.EncodedCalls),
		c.secretKey.check(ns, to.Identity(), c.GroupKey, c.Key),
		c.checkCalls(),
		c.checkOutcome(),
		c.checkSteps(gk, ns, to),
		c.sealAfresh(ns, gk, to, key),
	))
}

func (c *sealCase) checkCalls() error {
	if c.Calls == nil {
		return nil
	}
	calls, err := toCalls(*c.Calls)
	if err != nil {
		return err
	}
	return same("encoded_calls", tlock.EncodeCalls(calls), c.EncodedCalls)
}

// checkSteps follows document 002 "Encrypted payloads" step by step from the recorded randomness.
func (c *sealCase) checkSteps(gk tlock.GroupKey, ns tlock.Namespace, to tlock.SealedTo) error {
	size := 256
	for size < 4+len(c.EncodedCalls) {
		size *= 2
	}
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(c.EncodedCalls))), c.EncodedCalls...)
	body = append(body, make([]byte, size-len(body))...)
	if c.BodyLength != size || c.EncodedCallsLength != len(c.EncodedCalls) {
		return fmt.Errorf("body_length %d or encoded_calls_length %d is wrong", c.BodyLength, c.EncodedCallsLength)
	}
	if len(c.Salt) != 32 || len(c.DataKey) != 32 || len(c.Sigma) != 32 || len(c.Nonce) != 12 || len(c.Tag) != 16 {
		return errors.New("salt, data key, sigma, nonce or tag is of another length")
	}
	aead, err := chacha20poly1305.New(c.DataKey)
	if err != nil {
		return err
	}
	plain := append(bytes.Clone(c.Salt), body...)
	timelock := encryptSteps(gk, ns.Point(to.Identity()), c.Sigma, c.DataKey).ciphertext()
	ciphertext := aead.Seal(append(bytes.Clone(timelock), c.Nonce...), c.Nonce, plain, to.AssociatedData())
	return errors.Join(
		same("body", body, c.Body),
		same("commitment", keccak256(plain), c.Commitment),
		same("timelock", timelock, c.Timelock),
		same("tag", ciphertext[len(ciphertext)-16:], c.Tag),
		same("ciphertext", ciphertext, c.Ciphertext),
	)
}

// sealAfresh seals the same calls with this build's own randomness and opens them with the recorded key.
func (c *sealCase) sealAfresh(ns tlock.Namespace, gk tlock.GroupKey, to tlock.SealedTo, key tlock.Key) error {
	ciphertext, commitment, err := tlock.SealCalls(ns, gk, to, c.EncodedCalls)
	if err != nil {
		return err
	}
	if len(ciphertext) != len(c.Ciphertext) {
		return fmt.Errorf("sealing afresh gives %d bytes, recorded are %d", len(ciphertext), len(c.Ciphertext))
	}
	opened, err := tlock.OpenCalls(key, to, ciphertext, commitment)
	return errors.Join(err, same("calls sealed afresh", opened, c.EncodedCalls))
}

func checkSealRefused(raw json.RawMessage) error {
	var c struct {
		head
		EncodedCalls       hexBytes `json:"encoded_calls"`
		EncodedCallsLength int      `json:"encoded_calls_length"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	if c.EncodedCallsLength != len(c.EncodedCalls) {
		return fmt.Errorf("encoded_calls_length is %d, encoded_calls has %d bytes", c.EncodedCallsLength, len(c.EncodedCalls))
	}
	ns, gk, err := anyNetwork()
	if err != nil {
		return err
	}
	_, _, err = tlock.SealCalls(ns, gk, tlock.SlotSeal(1, [20]byte{1}), c.EncodedCalls)
	return c.expect(err)
}

func checkOpen(raw json.RawMessage) error {
	var c payloadCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, to, err := c.sealedTo()
	if err != nil {
		return err
	}
	if _, err := tlock.ParseGroupKey(c.GroupKey); err != nil {
		return err
	}
	opened, err := c.open(to)
	if !c.Valid || err != nil {
		return c.expect(err)
	}
	_, _, err = verifiedKey(ns, to.Identity(), c.GroupKey, c.Key)
	body := append(binary.BigEndian.AppendUint32(nil, uint32(len(opened))), opened...)
	body = append(body, make([]byte, len(c.Ciphertext)-tlock.PayloadOverhead-len(body))...)
	return errors.Join(err,
		same("encoded_calls", opened, c.EncodedCalls),
		same("commitment", keccak256(append(bytes.Clone(c.Salt), body...)), c.Commitment),
		c.checkOutcome(),
	)
}
