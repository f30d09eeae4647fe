package tlockage

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"filippo.io/age"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// MaxHeader is how many bytes at the start of a file Inspect wants to see at most: room for a hundred stanzas.
const MaxHeader = 32 << 10

const (
	argSlot      = "slot"
	argCondition = "condition"
)

// Stanza is what a sealed file tells everyone: the network and the identity it is sealed to.
type Stanza struct {
	Namespace tlock.Namespace
	Identity  tlock.Identity
}

// parsedStanza is a whole stanza.
type parsedStanza struct {
	Stanza
	ct      tlock.Ciphertext
	wrapped [wrappedSize]byte
}

// encode writes the stanza in the form of the package doc.
func (s Stanza) encode(ct tlock.Ciphertext, wrapped []byte) *age.Stanza {
	genesis := s.Namespace.GenesisHash()
	args := []string{s.Namespace.ChainID().String(), hex.EncodeToString(genesis[:])}
	if slot, ok := s.Identity.Slot(); ok {
		args = append(args, argSlot, strconv.FormatUint(slot, 10))
	} else {
		args = append(args, argCondition, hex.EncodeToString(s.Identity.Bytes()))
	}
	return &age.Stanza{Type: StanzaType, Args: args, Body: append(ct[:], wrapped...)}
}

// network names chain and genesis for messages.
func (s Stanza) network() string {
	return fmt.Sprintf("chain %v, genesis %x", s.Namespace.ChainID(), s.Namespace.GenesisHash())
}

// parseStanza accepts exactly what encode writes; else tlock.ErrMalformed.
func parseStanza(s *age.Stanza) (p parsedStanza, err error) {
	defer func() {
		if err != nil {
			p, err = parsedStanza{}, fmt.Errorf("%w timelock stanza: %w", tlock.ErrMalformed, err)
		}
	}()
	if len(s.Args) != 4 {
		return p, fmt.Errorf("%d arguments, want chain, genesis, kind and value", len(s.Args))
	}
	chainID, err := parseDecimal(s.Args[0])
	if err != nil {
		return p, fmt.Errorf("chain id: %w", err)
	}
	genesis, err := parseHex32(s.Args[1])
	if err != nil {
		return p, fmt.Errorf("genesis hash: %w", err)
	}
	if p.Namespace, err = tlock.NewNamespace(chainID, genesis); err != nil {
		return p, err
	}
	if p.Identity, err = parseIdentity(s.Args[2], s.Args[3]); err != nil {
		return p, err
	}
	if len(s.Body) != bodySize {
		return p, fmt.Errorf("body of %d bytes, want %d", len(s.Body), bodySize)
	}
	copy(p.wrapped[:], s.Body[copy(p.ct[:], s.Body):])
	return p, nil
}

func parseIdentity(kind, value string) (tlock.Identity, error) {
	switch kind {
	case argSlot:
		slot, err := parseDecimal(value)
		if err != nil || !slot.IsUint64() {
			return tlock.Identity{}, fmt.Errorf("slot %q is not a number of 64 bits", value)
		}
		return tlock.SlotIdentity(slot.Uint64()), nil
	case argCondition:
		condition, err := parseHex32(value)
		if err != nil {
			return tlock.Identity{}, fmt.Errorf("condition: %w", err)
		}
		return tlock.ConditionIdentity(condition), nil
	}
	return tlock.Identity{}, fmt.Errorf("identity of kind %q: want slot or condition", kind)
}

// maxDecimal is the number of digits of 2^256-1: longer ones need not be parsed to be refused.
const maxDecimal = 78

func parseDecimal(s string) (*big.Int, error) {
	if len(s) > maxDecimal {
		return nil, fmt.Errorf("number of %d digits", len(s))
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || n.String() != s {
		return nil, fmt.Errorf("%q is not a plain decimal number", s)
	}
	return n, nil
}

func parseHex32(s string) (out [32]byte, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(out) || hex.EncodeToString(b) != s {
		return out, fmt.Errorf("%q is not 64 lower-case hex digits", s)
	}
	return [32]byte(b), nil
}

// Inspect reads the header of a file that was sealed with this package and returns its first stanza. head is the start of
// the binary (not armored) file, MaxHeader bytes or the whole if it is shorter. A file that is not age, has no stanza of
// ours or a badly formed one is tlock.ErrMalformed. Nothing is authenticated: that takes the key.
func Inspect(head []byte) (Stanza, error) {
	var found inspector
	header, err := age.ExtractHeader(bytes.NewReader(head))
	if err != nil {
		return Stanza{}, fmt.Errorf("%w age file: %w", tlock.ErrMalformed, err)
	}
	if _, err := age.DecryptHeader(header, &found); !errors.Is(err, errInspected) {
		return Stanza{}, fmt.Errorf("%w age file: %w", tlock.ErrMalformed, err)
	}
	return found.stanza, found.err
}

var errInspected = errors.New("the header was inspected")

// inspector is an age.Identity that opens nothing: age offers no other way to see a header's stanzas.
type inspector struct {
	stanza Stanza
	err    error
}

func (i *inspector) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	i.err = fmt.Errorf("%w: the age file has no timelock stanza of Daybreak", tlock.ErrMalformed)
	for _, s := range stanzas {
		if s.Type == StanzaType {
			var p parsedStanza
			p, i.err = parseStanza(s)
			i.stanza = p.Stanza
			break
		}
	}
	return nil, errInspected
}
