package main

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

const tlockageDescription = "Stanza tlock-daybreak of age files (package tlock/tlockage). types: wrap (every value of one stanza " +
	"from the recorded sigma, secret and file key; stanza is its text in the header); unwrap (an opener for chain_id, genesis_hash and " +
	"identity with key is given one stanza, args and body: file_key comes out where valid, else the refusal has the recorded class: " +
	"malformed, wrong_key or tampered); file (a whole binary age file, opened to plaintext where valid). Byte strings are lower-case hex " +
	"with 0x, arguments are as they stand in the file, integers are decimal strings. slot stands beside identity where it is one."

// world is the network that the cases play on.
type world struct {
	chain   *big.Int
	genesis []byte
	secret  *big.Int
}

var home = world{big.NewInt(31337), draw("genesis"), drawScalar("group secret")}

func (w world) ns() []byte { return namespace(w.chain, w.genesis) }

// wrapping is one file key sealed to one identity, with all that a real program draws.
type wrapping struct {
	world
	identity               []byte
	sigma, secret, fileKey []byte
}

func newWrapping(w world, identity []byte, label string) wrapping {
	return wrapping{w, identity, draw(label + " sigma"), draw(label + " secret"), draw(label + " file key")[:16]}
}

func (w wrapping) info() string {
	return "daybreak-beacon/tlockage/v1" + string(w.ns()) + string(w.identity)
}

func (w wrapping) timelock() []byte {
	return encrypt(mulG1(w.world.secret), point(w.ns(), w.identity), w.sigma, w.secret)
}

func (w wrapping) wrappingKey() []byte { return derive(w.secret, nil, w.info(), 32) }

func (w wrapping) wrapped() []byte { return seal(w.wrappingKey(), make([]byte, 12), w.fileKey) }

func (w wrapping) stanza() stanza {
	return stanza{"tlock-daybreak", args(w.world, w.identity), append(w.timelock(), w.wrapped()...)}
}

func args(w world, identity []byte) []string {
	kind, value := "condition", hex.EncodeToString(identity)
	if len(identity) == 8 {
		kind, value = "slot", new(big.Int).SetBytes(identity).String()
	}
	return []string{w.chain.String(), hex.EncodeToString(w.genesis), kind, value}
}

// opener is the side that has a key.
type opener struct {
	world
	identity []byte
	key      []byte
}

func (w wrapping) opener() opener {
	return opener{w.world, w.identity, g2Bytes(sign(w.world.secret, w.ns(), w.identity))}
}

func networkFields(w world, identity []byte) object {
	o := object{{"chain_id", w.chain.String()}, {"genesis_hash", hexed(w.genesis)}}
	if len(identity) == 8 {
		return append(o, field{"identity_kind", "slot"}, field{"slot", new(big.Int).SetBytes(identity).String()}, field{"identity", hexed(identity)})
	}
	return append(o, field{"identity_kind", "condition"}, field{"identity", hexed(identity)})
}

func tlockageCases() []object {
	var cases []object
	slot := u64(1800000000)
	for _, c := range []struct {
		name     string
		world    world
		identity []byte
	}{
		{"slot", home, slot},
		{"slot-zero", home, u64(0)},
		{"slot-u64-max", home, u64(1<<64 - 1)},
		{"condition", home, draw("condition")},
		{"chain-zero", world{big.NewInt(0), home.genesis, home.secret}, slot},
		{"chain-u256-max", world{maxChain(), draw("other genesis"), home.secret}, slot},
	} {
		cases = append(cases, wrapCase("wrap-"+c.name, newWrapping(c.world, c.identity, c.name)))
	}
	cases = append(cases, unwrapCases(newWrapping(home, slot, "base"))...)
	return append(cases, fileCases(newWrapping(home, slot, "file"))...)
}

func maxChain() *big.Int {
	return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
}

func wrapCase(name string, w wrapping) object {
	o := object{{"name", name}, {"type", "wrap"}, {"valid", true}}
	o = append(o, networkFields(w.world, w.identity)...)
	return append(o,
		field{"secret_key", hexed(scalarBytes(w.world.secret))},
		field{"group_key", hexed(g1Bytes(mulG1(w.world.secret)))},
		field{"key", hexed(w.opener().key)},
		field{"sigma", hexed(w.sigma)},
		field{"secret", hexed(w.secret)},
		field{"timelock", hexed(w.timelock())},
		field{"info", hexed([]byte(w.info()))},
		field{"wrapping_key", hexed(w.wrappingKey())},
		field{"file_key", hexed(w.fileKey)},
		field{"wrapped", hexed(w.wrapped())},
		field{"args", w.stanza().args},
		field{"body", hexed(w.stanza().body)},
		field{"stanza", w.stanza().text()},
	)
}

func unwrapCase(name, class, reason string, op opener, s stanza, fileKey []byte) object {
	o := object{{"name", name}, {"type", "unwrap"}, {"valid", class == ""}}
	if class != "" {
		o = append(o, field{"reason", reason}, field{"class", class})
	}
	o = append(o, networkFields(op.world, op.identity)...)
	o = append(o, field{"key", hexed(op.key)}, field{"args", s.args}, field{"body", hexed(s.body)})
	if class == "" {
		o = append(o, field{"file_key", hexed(fileKey)})
	}
	return o
}

// Classes of refusal.
const (
	malformed = "malformed"
	wrongKey  = "wrong_key"
	tampered  = "tampered"
)

func unwrapCases(base wrapping) []object {
	condition := newWrapping(home, draw("condition"), "base condition")
	cases := []object{
		unwrapCase("unwrap-slot", "", "", base.opener(), base.stanza(), base.fileKey),
		unwrapCase("unwrap-condition", "", "", condition.opener(), condition.stanza(), condition.fileKey),
	}
	refuse := func(name, class, reason string, op opener, s stanza) {
		cases = append(cases, unwrapCase("unwrap-"+name, class, reason, op, s, nil))
	}
	arg := func(i int, v string) stanza {
		s := base.stanza()
		s.args = slices.Clone(s.args)
		s.args[i] = v
		return s
	}
	body := func(b []byte) stanza { return stanza{"tlock-daybreak", base.stanza().args, b} }
	flipped := func(at int) stanza {
		b := slices.Clone(base.stanza().body)
		b[at] ^= 1
		return body(b)
	}
	withU := func(u []byte) stanza { return body(append(slices.Clone(u), base.stanza().body[48:]...)) }
	op, good := base.opener(), base.stanza()

	refuse("no-arguments", malformed, "no arguments", op, stanza{"tlock-daybreak", []string{}, good.body})
	refuse("three-arguments", malformed, "the value is missing", op, stanza{"tlock-daybreak", good.args[:3], good.body})
	refuse("five-arguments", malformed, "an argument too many", op, stanza{"tlock-daybreak", append(slices.Clone(good.args), "x"), good.body})
	refuse("chain-leading-zero", malformed, "chain id with a leading zero", op, arg(0, "031337"))
	refuse("chain-plus", malformed, "chain id with a sign", op, arg(0, "+31337"))
	refuse("chain-hex", malformed, "chain id in hex", op, arg(0, "0x7a69"))
	refuse("chain-257-bits", malformed, "chain id of 2^256", op, arg(0, new(big.Int).Add(maxChain(), big.NewInt(1)).String()))
	refuse("genesis-upper-case", malformed, "genesis hash in upper case", op, arg(1, strings.ToUpper(good.args[1])))
	refuse("genesis-0x", malformed, "genesis hash with 0x", op, arg(1, "0x"+good.args[1]))
	refuse("genesis-short", malformed, "genesis hash of 31 bytes", op, arg(1, good.args[1][2:]))
	refuse("kind-upper-case", malformed, "Slot is no kind", op, arg(2, "Slot"))
	refuse("kind-round", malformed, "round is no kind", op, arg(2, "round"))
	refuse("slot-leading-zero", malformed, "slot with a leading zero", op, arg(3, "01800000000"))
	refuse("slot-65-bits", malformed, "slot of 2^64", op, arg(3, "18446744073709551616"))
	refuse("slot-negative", malformed, "negative slot", op, arg(3, "-1"))
	refuse("condition-of-8-bytes", malformed, "condition of eight bytes", op, stanza{"tlock-daybreak", []string{good.args[0], good.args[1], "condition", "000000006b49d200"}, good.body})
	refuse("body-empty", malformed, "empty body", op, body([]byte{}))
	refuse("body-143", malformed, "body of 143 bytes", op, body(good.body[:143]))
	refuse("body-145", malformed, "body of 145 bytes", op, body(append(slices.Clone(good.body), 0)))
	refuse("u-infinity", malformed, "U is the identity point", op, withU(append([]byte{0xc0}, make([]byte, 47)...)))
	refuse("u-outside-group", malformed, "U is on the curve, outside the group", op, withU(g1Bytes(outsideGroup())))
	refuse("u-uncompressed-flag", malformed, "the compression flag of U is clear", op, withU(append([]byte{good.body[0] &^ 0x80}, good.body[1:48]...)))

	refuse("v-flipped", wrongKey, "a bit of V flipped", op, flipped(60))
	refuse("w-flipped", wrongKey, "a bit of W flipped", op, flipped(111))
	refuse("other-slot", wrongKey, "sealed to another slot than the opener's", newWrapping(home, u64(1800000001), "x").opener(), good)
	refuse("other-chain", wrongKey, "sealed on another chain than the opener's", newWrapping(world{big.NewInt(31338), home.genesis, home.secret}, base.identity, "x").opener(), good)
	refuse("other-genesis", wrongKey, "sealed under another genesis than the opener's", newWrapping(world{home.chain, draw("other genesis"), home.secret}, base.identity, "x").opener(), good)
	other := newWrapping(world{home.chain, home.genesis, drawScalar("other group")}, base.identity, "x")
	refuse("other-group", wrongKey, "sealed under another group key", op, other.stanza())
	refuse("key-of-other-slot", wrongKey, "the key is that of the next slot", opener{home, base.identity, newWrapping(home, u64(1800000001), "x").opener().key}, good)

	refuse("wrapped-flipped", tampered, "a bit of the wrapped file key flipped", op, flipped(112))
	refuse("tag-flipped", tampered, "a bit of the tag flipped", op, flipped(143))
	refuse("slot-rewritten", tampered, "the slot was rewritten after sealing, for an opener who has the key of the old one",
		opener{home, u64(1800000001), op.key}, arg(3, strconv.Itoa(1800000001)))
	rewrap := func(key, nonce []byte) stanza {
		return body(append(base.timelock(), seal(key, nonce, base.fileKey)...))
	}
	zero := make([]byte, 12)
	refuse("info-without-identity", tampered, "wrapping key derived without the identity", op, rewrap(derive(base.secret, nil, strings.TrimSuffix(base.info(), string(base.identity)), 32), zero))
	refuse("info-empty", tampered, "wrapping key derived without info", op, rewrap(derive(base.secret, nil, "", 32), zero))
	refuse("salted", tampered, "wrapping key derived with a salt", op, rewrap(derive(base.secret, base.timelock(), base.info(), 32), zero))
	refuse("underived", tampered, "the secret itself used as wrapping key", op, rewrap(base.secret, zero))
	refuse("nonce-one", tampered, "nonce 1 instead of 0", op, rewrap(base.wrappingKey(), append(make([]byte, 11), 1)))
	return cases
}

func fileCases(w wrapping) []object {
	text, nonce := []byte("opens at slot 1800000000\n"), draw("payload nonce")[:16]
	later := newWrapping(home, u64(1900000000), "later")
	later.fileKey = w.fileKey // several stanzas wrap one file key
	whole := ageFile(w.fileKey, nonce, text, w.stanza())
	changed := slices.Clone(whole)
	changed[len(changed)-1] ^= 1

	one := func(name, reason string, op opener, file, plaintext []byte) object {
		o := object{{"name", "file-" + name}, {"type", "file"}, {"valid", reason == ""}}
		if reason != "" {
			o = append(o, field{"reason", reason})
		}
		o = append(o, networkFields(op.world, op.identity)...)
		o = append(o, field{"key", hexed(op.key)}, field{"file", hexed(file)})
		if reason == "" {
			o = append(o, field{"plaintext", hexed(plaintext)})
		}
		return o
	}
	return []object{
		one("one-stanza", "", w.opener(), whole, text),
		one("empty", "", w.opener(), ageFile(w.fileKey, nonce, nil, w.stanza()), []byte{}),
		one("second-of-two-stanzas", "", w.opener(), ageFile(w.fileKey, nonce, text, later.stanza(), w.stanza()), text),
		one("none-of-two-stanzas", "sealed to two other slots", newWrapping(home, u64(5), "x").opener(), ageFile(w.fileKey, nonce, text, later.stanza(), w.stanza()), nil),
		one("payload-flipped", "a bit of the last byte flipped", w.opener(), changed, nil),
		one("badly-formed-stanza-first", "a stanza of our type that is badly formed stops the file, though the next one would open it", w.opener(),
			ageFile(w.fileKey, nonce, text, stanza{"tlock-daybreak", []string{"1"}, make([]byte, 144)}, w.stanza()), nil),
		one("header-of-another", "header of one file, payload of another", w.opener(),
			append(ageHeader(w.fileKey, w.stanza()), agePayload(draw("other file key")[:16], nonce, text)...), nil),
	}
}
