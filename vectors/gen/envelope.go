package main

import (
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

const envelopeDescription = "Envelopes of partials as validators gossip them (package partials). encoded = u8 format 1 || genesis hash (32) || " +
	"u64 epoch || u8 kind (1 slot, 2 condition) || identity (8 or 32) || u32 index || partial (96), big-endian. index counts from 1 here and " +
	"is the evaluation point: partial = share * q, share the value at x = index of the polynomial with the recorded coefficients (constant " +
	"term first). valid false: decoding must refuse encoded. The point itself is not decoded at this step, only its flags. Byte strings are " +
	"lower-case hex with 0x, integers of 64 bits are decimal strings."

type envelope struct {
	epoch    uint64
	identity []byte
	index    uint32
}

var coefficients = []*big.Int{drawScalar("coefficient 0"), drawScalar("coefficient 1"), drawScalar("coefficient 2")}

// share evaluates the polynomial at x.
func share(x uint32) *big.Int {
	sum := new(big.Int)
	for i := len(coefficients) - 1; i >= 0; i-- {
		sum.Mul(sum, new(big.Int).SetUint64(uint64(x)))
		sum.Add(sum, coefficients[i]).Mod(sum, fr.Modulus())
	}
	return sum
}

func (e envelope) partial() []byte { return g2Bytes(sign(share(e.index), home.ns(), e.identity)) }

func (e envelope) encode() []byte {
	b := append([]byte{1}, home.genesis...)
	b = binary.BigEndian.AppendUint64(b, e.epoch)
	kind := byte(2)
	if len(e.identity) == 8 {
		kind = 1
	}
	b = append(append(b, kind), e.identity...)
	b = binary.BigEndian.AppendUint32(b, e.index)
	return append(b, e.partial()...)
}

func envelopeCases() []object {
	slot := envelope{1, u64(1800000000), 3}
	condition := envelope{7, draw("condition"), 1}
	cases := []object{
		envelopeCase("slot", slot),
		envelopeCase("condition", condition),
		envelopeCase("epoch-u64-max", envelope{1<<64 - 1, slot.identity, 2}),
		envelopeCase("index-1024", envelope{1, slot.identity, 1024}),
		envelopeCase("slot-zero", envelope{1, u64(0), 1}),
	}
	good, long := slot.encode(), condition.encode()
	set := func(b []byte, at int, v byte) []byte {
		b = slices.Clone(b)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name, reason string
		encoded      []byte
	}{
		{"empty", "no bytes", []byte{}},
		{"head-only", "ends behind the kind", good[:42]},
		{"short", "a byte is missing", good[:149]},
		{"long", "a byte follows", append(slices.Clone(good), 0)},
		{"format-0", "format 0", set(good, 0, 0)},
		{"format-2", "format 2", set(good, 0, 2)},
		{"kind-0", "identity of kind 0", set(good, 41, 0)},
		{"kind-3", "identity of kind 3", set(good, 41, 3)},
		{"slot-as-condition", "says condition, has the length of a slot", set(good, 41, 2)},
		{"condition-as-slot", "says slot, has the length of a condition", set(long, 41, 1)},
		{"index-0", "index 0: members count from 1", set(good, 53, 0)},
		{"partial-infinity", "the partial is the identity point", append(slices.Clone(good[:54]), append([]byte{0xc0}, make([]byte, 95)...)...)},
		{"partial-uncompressed-flag", "the partial's compression flag is clear", set(good, 54, good[54]&^0x80)},
	} {
		cases = append(cases, object{{"name", "envelope-bad-" + c.name}, {"type", "envelope"}, {"valid", false}, {"reason", c.reason}, {"encoded", hexed(c.encoded)}})
	}
	return cases
}

func envelopeCase(name string, e envelope) object {
	o := object{{"name", "envelope-" + name}, {"type", "envelope"}, {"valid", true}}
	o = append(o, networkFields(home, e.identity)...)
	var list []string
	for _, c := range coefficients {
		list = append(list, hexed(scalarBytes(c)))
	}
	return append(o,
		field{"epoch", new(big.Int).SetUint64(e.epoch).String()},
		field{"coefficients", list},
		field{"index", e.index},
		field{"share", hexed(scalarBytes(share(e.index)))},
		field{"partial", hexed(e.partial())},
		field{"encoded", hexed(e.encode())},
	)
}
