package tlock_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/vectors"
)

// vector is one case of a given file; the fields of all types together.
type vector struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Valid bool   `json:"valid"`

	ChainID     string `json:"chain_id"`
	GenesisHash hexed  `json:"genesis_hash"`
	Namespace   hexed  `json:"namespace"`
	Identity    hexed  `json:"identity"`
	Message     hexed  `json:"message"`
	Q           hexed  `json:"q"`
	GroupKey    hexed  `json:"group_key"`
	Key         hexed  `json:"key"`
	Sigma       hexed  `json:"sigma"`
	R           hexed  `json:"r"`
	Ciphertext  hexed  `json:"ciphertext"`

	Mode       string `json:"mode"`
	Payer      hexed  `json:"payer"`
	Slot       string `json:"slot"`
	Item       hexed  `json:"item"`
	Kind       uint8  `json:"kind"`
	Operand    string `json:"operand"`
	Preimage   hexed  `json:"preimage"`
	Condition  hexed  `json:"condition"`
	Associated hexed  `json:"associated_data"`

	Calls []struct {
		Target   hexed  `json:"target"`
		GasLimit string `json:"gas_limit"`
		Data     hexed  `json:"data"`
	} `json:"calls"`
	EncodedCalls hexed  `json:"encoded_calls"`
	CallsDecode  string `json:"calls_decode"`
	Body         hexed  `json:"body"`
	Salt         hexed  `json:"salt"`
	DataKey      hexed  `json:"data_key"`
	Nonce        hexed  `json:"nonce"`
	Timelock     hexed  `json:"timelock"`
	Commitment   hexed  `json:"commitment"`
}

type hexed []byte

func (h *hexed) UnmarshalJSON(b []byte) (err error) {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*h, err = hex.DecodeString(strings.TrimPrefix(s, "0x"))
	return err
}

// cases reads the cases of one type ("" for all) and demands as many as the README promises.
func cases(t *testing.T, file, kind string, want int) []vector {
	t.Helper()
	raw, err := vectors.FS.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Cases []json.RawMessage `json:"cases"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	var out []vector
	for _, rawCase := range f.Cases {
		var head struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(rawCase, &head); err != nil {
			t.Fatal(err)
		}
		if kind != "" && head.Type != kind {
			continue
		}
		var v vector
		if err := json.Unmarshal(rawCase, &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	if len(out) != want {
		t.Fatalf("%s has %d cases of type %q, want %d", file, len(out), kind, want)
	}
	return out
}

func (v vector) ns(t *testing.T) tlock.Namespace {
	t.Helper()
	id, ok := new(big.Int).SetString(v.ChainID, 10)
	if !ok {
		t.Fatalf("chain id %q", v.ChainID)
	}
	ns, err := tlock.NewNamespace(id, [32]byte(v.GenesisHash))
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

func (v vector) id(t *testing.T) tlock.Identity {
	t.Helper()
	id, err := tlock.IdentityFromBytes(v.Identity)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (v vector) groupKey(t *testing.T) tlock.GroupKey {
	t.Helper()
	gk, err := tlock.ParseGroupKey(v.GroupKey)
	if err != nil {
		t.Fatal(err)
	}
	return gk
}

func (v vector) slot(t *testing.T) uint64 {
	t.Helper()
	s, err := strconv.ParseUint(v.Slot, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (v vector) cond(t *testing.T) tlock.Condition {
	t.Helper()
	op, ok := new(big.Int).SetString(v.Operand, 10)
	if !ok {
		t.Fatalf("operand %q", v.Operand)
	}
	c := tlock.Condition{Payer: [20]byte(v.Payer), Item: [32]byte(v.Item), Kind: v.Kind, NotBefore: v.slot(t)}
	op.FillBytes(c.Operand[:])
	return c
}

func (v vector) sealedTo(t *testing.T) tlock.SealedTo {
	t.Helper()
	if v.Mode == "slot" {
		return tlock.SlotSeal(v.slot(t), [20]byte(v.Payer))
	}
	to, err := tlock.ConditionSeal(v.cond(t))
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestVectorsNamespace(t *testing.T) {
	for _, v := range cases(t, "beacon.json", "namespace", 9) {
		if got := bytes.Equal(v.ns(t).Bytes(), v.Namespace); got != v.Valid {
			t.Errorf("%s: namespace equals the recorded one: %v, want %v", v.Name, got, v.Valid)
		}
	}
}

func TestVectorsIdentityPoint(t *testing.T) {
	for _, v := range cases(t, "beacon.json", "hash_to_g2", 15) {
		q := v.ns(t).Point(v.id(t)).Bytes()
		if got := bytes.Equal(q[:], v.Q); got != v.Valid {
			t.Errorf("%s: Q equals the recorded one: %v, want %v", v.Name, got, v.Valid)
		}
		if v.Valid && !bytes.Equal(v.ns(t).Message(v.id(t)), v.Message) {
			t.Errorf("%s: message differs", v.Name)
		}
	}
}

func TestVectorsGroupKey(t *testing.T) {
	for _, v := range cases(t, "beacon.json", "group_key", 11) {
		gk, err := tlock.ParseGroupKey(v.GroupKey)
		if (err == nil) != v.Valid {
			t.Errorf("%s: got error %v, valid is %v", v.Name, err, v.Valid)
		}
		if b := gk.Bytes(); err == nil && !bytes.Equal(b[:], v.GroupKey) {
			t.Errorf("%s: key does not encode back", v.Name)
		}
		if err != nil {
			wantClass(t, v.Name, err, tlock.ErrMalformed)
		}
	}
}

func TestVectorsKey(t *testing.T) {
	for _, v := range cases(t, "beacon.json", "key", 22) {
		k, err := tlock.ParseKey(v.Key)
		if err != nil {
			wantClass(t, v.Name, err, tlock.ErrMalformed)
		} else if err = v.groupKey(t).Verify(v.ns(t), v.id(t), k); err != nil {
			wantClass(t, v.Name, err, tlock.ErrWrongKey)
		}
		if (err == nil) != v.Valid {
			t.Errorf("%s: got error %v, valid is %v", v.Name, err, v.Valid)
		}
	}
}

func TestVectorsH3(t *testing.T) {
	for _, v := range cases(t, "timelock.json", "h3", 5) {
		sigma, msg := [32]byte(v.Sigma), [32]byte(v.Message)
		if got := tlock.H3(&sigma, &msg).Bytes(); !bytes.Equal(got[:], v.R) {
			t.Errorf("%s: got r %x, want %x", v.Name, got, v.R)
		}
	}
}

func TestVectorsEncrypt(t *testing.T) {
	for _, v := range cases(t, "timelock.json", "encrypt", 15) {
		ns, gk, id := v.ns(t), v.groupKey(t), v.id(t)
		sigma, msg := [32]byte(v.Sigma), [32]byte(v.Message)
		if got := tlock.EncryptWithSigma(ns, gk, id, &msg, &sigma); !bytes.Equal(got[:], v.Ciphertext) {
			t.Errorf("%s: Encrypt gave %x, want %x", v.Name, got, v.Ciphertext)
		}
		if got := tlock.NewSealer(ns, gk, id).SealWithSigma(&msg, &sigma); !bytes.Equal(got[:], v.Ciphertext) {
			t.Errorf("%s: Sealer gave %x, want %x", v.Name, got, v.Ciphertext)
		}
	}
}

func TestVectorsDecrypt(t *testing.T) {
	for _, v := range cases(t, "timelock.json", "decrypt", 59) {
		msg, err := decrypt(v.Key, v.Ciphertext)
		if (err == nil) != v.Valid {
			t.Errorf("%s: got error %v, valid is %v", v.Name, err, v.Valid)
		}
		if v.Valid && !bytes.Equal(msg[:], v.Message) {
			t.Errorf("%s: got message %x, want %x", v.Name, msg, v.Message)
		}
		if err != nil && msg != [32]byte{} {
			t.Errorf("%s: refused, yet something of the message came back", v.Name)
		}
	}
}

func decrypt(key, ciphertext []byte) (msg [32]byte, err error) {
	k, err := tlock.ParseKey(key)
	if err != nil {
		return msg, err
	}
	ct, err := tlock.ParseCiphertext(ciphertext)
	if err != nil {
		return msg, err
	}
	return tlock.Decrypt(k, ct)
}

func TestVectorsCondition(t *testing.T) {
	for _, v := range cases(t, "condition.json", "", 31) {
		id, err := v.cond(t).Identity()
		if err != nil {
			wantClass(t, v.Name, err, tlock.ErrMalformed)
		}
		got, _ := id.Condition()
		if same := err == nil && bytes.Equal(got[:], v.Condition); same != v.Valid {
			t.Errorf("%s: got %x (%v), recorded %x, valid is %v", v.Name, got, err, v.Condition, v.Valid)
		}
		if !v.Valid {
			continue
		}
		if !bytes.Equal(v.cond(t).Preimage(), v.Preimage) {
			t.Errorf("%s: preimage differs", v.Name)
		}
		k, err := tlock.ParseKey(v.Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.groupKey(t).Verify(v.ns(t), id, k); err != nil {
			t.Errorf("%s: recorded key: %v", v.Name, err)
		}
	}
}

func TestVectorsSeal(t *testing.T) {
	for _, v := range cases(t, "sealed.json", "seal", 33) {
		to := v.sealedTo(t)
		if !bytes.Equal(to.AssociatedData(), v.Associated) {
			t.Errorf("%s: associated data differ", v.Name)
		}
		body, err := tlock.PadBody(v.EncodedCalls)
		if err != nil || !bytes.Equal(body, v.Body) {
			t.Fatalf("%s: body differs (%v)", v.Name, err)
		}
		sigma, dataKey := [32]byte(v.Sigma), [32]byte(v.DataKey)
		ct := tlock.EncryptWithSigma(v.ns(t), v.groupKey(t), to.Identity(), &dataKey, &sigma)
		sealed, commitment := tlock.SealBodyWith(to, body, [32]byte(v.Salt), dataKey, [12]byte(v.Nonce), ct)
		if !bytes.Equal(sealed, v.Ciphertext) || !bytes.Equal(commitment[:], v.Commitment) {
			t.Errorf("%s: ciphertext or commitment differs", v.Name)
		}
		v.checkCalls(t)
		v.checkOpen(t)
	}
}

func (v vector) checkCalls(t *testing.T) {
	t.Helper()
	calls, err := tlock.DecodeCalls(v.EncodedCalls)
	if got, want := err == nil, v.CallsDecode == "ok"; got != want {
		t.Errorf("%s: calls decode: %v (%v), want %v", v.Name, got, err, want)
	}
	if err != nil {
		wantClass(t, v.Name, err, tlock.ErrMalformed)
		return
	}
	if !bytes.Equal(tlock.EncodeCalls(calls), v.EncodedCalls) {
		t.Errorf("%s: calls do not encode back", v.Name)
	}
	if len(calls) != len(v.Calls) {
		t.Fatalf("%s: got %d calls, want %d", v.Name, len(calls), len(v.Calls))
	}
	for i, want := range v.Calls {
		got := calls[i]
		if !bytes.Equal(got.Target[:], want.Target) || strconv.FormatUint(got.GasLimit, 10) != want.GasLimit || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: call %d: got %+v, want %+v", v.Name, i, got, want)
		}
	}
}

func (v vector) checkOpen(t *testing.T) {
	t.Helper()
	k, err := tlock.ParseKey(v.Key)
	if err != nil {
		t.Fatalf("%s: %v", v.Name, err)
	}
	calls, err := tlock.OpenCalls(k, v.sealedTo(t), v.Ciphertext, [32]byte(v.Commitment))
	if (err == nil) != v.Valid {
		t.Errorf("%s: got error %v, valid is %v", v.Name, err, v.Valid)
	}
	if v.Valid && !bytes.Equal(calls, v.EncodedCalls) {
		t.Errorf("%s: opened to other calls", v.Name)
	}
	if !v.Valid && calls != nil {
		t.Errorf("%s: refused, yet calls came back", v.Name)
	}
}

func TestVectorsSealRefused(t *testing.T) {
	for _, v := range cases(t, "sealed.json", "seal_refused", 2) {
		ns, gk, _ := network(t)
		_, _, err := tlock.SealCalls(ns, gk, tlock.SlotSeal(1, [20]byte{}), v.EncodedCalls)
		wantClass(t, v.Name, err, tlock.ErrMalformed)
	}
}

func TestVectorsOpen(t *testing.T) {
	for _, v := range cases(t, "sealed.json", "open", 115) {
		if _, err := tlock.DecodeCalls(v.EncodedCalls); v.Valid && err != nil {
			t.Errorf("%s: calls: %v", v.Name, err)
		}
		v.checkOpen(t)
	}
}
