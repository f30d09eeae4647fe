package tlock

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"
)

const (
	networkFormat = "daybreak-network-v1"
	// MaxNetworkFile bounds a network file, in bytes: room for more signatures than any validator set has.
	MaxNetworkFile = 1 << 20
	maxSignatures  = 4096
)

// Network is what a client needs to seal without asking anyone: which network, and its group key. It comes as a small
// JSON file:
//
//	{
//	  "format": "daybreak-network-v1",
//	  "chain_id": "31337",
//	  "genesis_hash": "0x1111…",
//	  "group_key": "0xb572…"
//	}
//
// Who controls the file controls what is sealed to: get it from someone trusted, or compare it with a second source.
// The field "signatures" is reserved for the validators' signatures over the rest; they are carried along and bounded,
// not checked.
type Network struct {
	Namespace  Namespace
	GroupKey   GroupKey
	Signatures []NetworkSignature // by ascending index
}

// NetworkSignature is one validator's signature over a Network.
type NetworkSignature struct {
	Index     uint32   // of the validator, from 1
	Signature [64]byte // ed25519
}

type jsonSignature struct {
	Index     uint32 `json:"index"`
	Signature string `json:"signature"`
}

// ParseNetwork reads a network file. It is strict: every field once, no unknown ones, nothing after the object, chain id
// a decimal string, hex with 0x. Errors are ErrMalformed and name the field.
func ParseNetwork(b []byte) (Network, error) {
	if len(b) > MaxNetworkFile {
		return Network{}, malformed("network file of %d bytes, at most %d", len(b), MaxNetworkFile)
	}
	fields, err := strictObject(b, "format", "chain_id", "genesis_hash", "group_key", "signatures")
	if err != nil {
		return Network{}, malformed("network file: %v", err)
	}
	n, err := networkFromFields(fields)
	if err != nil {
		return Network{}, malformed("network file: %v", err)
	}
	return n, nil
}

func networkFromFields(fields map[string]json.RawMessage) (n Network, err error) {
	if format, err := stringField(fields, "format"); err != nil || format != networkFormat {
		return n, fmt.Errorf("format must be %q", networkFormat)
	}
	id, err := stringField(fields, "chain_id")
	if err != nil {
		return n, err
	}
	chainID, ok := new(big.Int).SetString(id, 10)
	if !ok || chainID.String() != id {
		return n, fmt.Errorf("chain_id %q is not a decimal number", id)
	}
	var genesis [32]byte
	if err := hexField(fields, "genesis_hash", genesis[:]); err != nil {
		return n, err
	}
	var groupKey [GroupKeySize]byte
	if err := hexField(fields, "group_key", groupKey[:]); err != nil {
		return n, err
	}
	if n.Namespace, err = NewNamespace(chainID, genesis); err != nil {
		return n, err
	}
	if n.GroupKey, err = ParseGroupKey(groupKey[:]); err != nil {
		return n, err
	}
	if raw, ok := fields["signatures"]; ok {
		n.Signatures, err = parseSignatures(raw)
	}
	return n, err
}

func parseSignatures(raw json.RawMessage) ([]NetworkSignature, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) > maxSignatures {
		return nil, fmt.Errorf("signatures must be a list of at most %d", maxSignatures)
	}
	var out []NetworkSignature
	last := uint32(0)
	for _, item := range list {
		fields, err := strictObject(item, "index", "signature")
		if err != nil {
			return nil, fmt.Errorf("signatures: %w", err)
		}
		var s NetworkSignature
		if err := json.Unmarshal(fields["index"], &s.Index); err != nil || s.Index <= last {
			return nil, fmt.Errorf("signatures: index must be a number, ascending from 1")
		}
		if err := hexField(fields, "signature", s.Signature[:]); err != nil {
			return nil, fmt.Errorf("signatures: %w", err)
		}
		last = s.Index
		out = append(out, s)
	}
	return out, nil
}

// Encode returns the file's bytes, which ParseNetwork reads back. A Network without namespace or group key is an error.
func (n Network) Encode() ([]byte, error) {
	if n.Namespace.IsZero() || n.GroupKey.IsZero() {
		return nil, fmt.Errorf("network file: namespace or group key is missing")
	}
	file := struct {
		Format      string          `json:"format"`
		ChainID     string          `json:"chain_id"`
		GenesisHash string          `json:"genesis_hash"`
		GroupKey    string          `json:"group_key"`
		Signatures  []jsonSignature `json:"signatures,omitempty"`
	}{
		Format:      networkFormat,
		ChainID:     n.Namespace.ChainID().String(),
		GenesisHash: fmt.Sprintf("%#x", n.Namespace.GenesisHash()),
		GroupKey:    n.GroupKey.String(),
	}
	for _, s := range n.Signatures {
		file.Signatures = append(file.Signatures, jsonSignature{s.Index, fmt.Sprintf("%#x", s.Signature)})
	}
	b, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// strictObject splits a JSON object into its fields. encoding/json alone would match names in any case and let the last
// of two equal ones win, so that two readers could see two networks in one file.
func strictObject(b []byte, allowed ...string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("not a JSON object")
	}
	known := make(map[string]bool, len(allowed))
	for _, name := range allowed {
		known[name] = true
	}
	fields := make(map[string]json.RawMessage, len(allowed))
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if !known[name] {
			return nil, fmt.Errorf("unknown field %q", name)
		}
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("field %q appears twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("the object does not end: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("something follows the object")
	}
	return fields, nil
}

func stringField(fields map[string]json.RawMessage, name string) (string, error) {
	raw, ok := fields[name]
	if !ok {
		return "", fmt.Errorf("field %q is missing", name)
	}
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return "", fmt.Errorf("field %q must be a string", name)
	}
	return *s, nil
}

func hexField(fields map[string]json.RawMessage, name string, into []byte) error {
	s, err := stringField(fields, name)
	if err != nil {
		return err
	}
	digits, ok := strings.CutPrefix(s, "0x")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != len(into) {
		return fmt.Errorf("%s must be 0x and %d hex digits", name, 2*len(into))
	}
	copy(into, b)
	return nil
}
