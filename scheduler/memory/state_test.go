package memory_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

// place is where a value lies in the model of a host's state.
type place struct {
	kind byte // 0 a word, 1 a blob
	addr scheduler.Addr
	slot scheduler.Word
}

// content is the model: what a host's state should hold.
type content map[place]string

// path is the documented way of a key down the trie, a nibble for each byte.
func (p place) path() (nibbles []byte) {
	sum := sha256.Sum256(append(p.addr[:], p.slot[1:24]...))
	for _, b := range append(append(sum[:], p.slot[31]<<4^p.kind<<7, p.kind, p.slot[0]), p.slot[24:]...) {
		nibbles = append(nibbles, b>>4, b&15)
	}
	return nibbles
}

// digest is the documented digest of the state, made from scratch.
func (c content) digest() (sum [32]byte) {
	places := slices.Collect(maps.Keys(c))
	slices.SortFunc(places, func(a, b place) int { return bytes.Compare(a.path(), b.path()) })
	return c.digestOf(places)
}

func (c content) digestOf(places []place) [32]byte {
	switch len(places) {
	case 0:
		return [32]byte{}
	case 1:
		p := places[0]
		return sha256.Sum256(slices.Concat([]byte{0, p.kind}, p.addr[:], p.slot[:], []byte(c[p])))
	}
	first, last := places[0].path(), places[len(places)-1].path()
	depth := 0
	for first[depth] == last[depth] {
		depth++
	}
	var bitmap uint16
	var digests []byte
	for nibble := range byte(16) {
		var below []place
		for _, p := range places {
			if p.path()[depth] == nibble {
				below = append(below, p)
			}
		}
		if len(below) > 0 {
			bitmap |= 1 << nibble
			d := c.digestOf(below)
			digests = append(digests, d[:]...)
		}
	}
	return sha256.Sum256(append(binary.BigEndian.AppendUint16([]byte{1, byte(depth)}, bitmap), digests...))
}

// places are keys of which many share most of their path: the same slot in two contracts, neighbours by their last or first byte,
// words and blobs.
var places = func() (all []place) {
	for kind := range byte(2) {
		for contract := range byte(2) {
			for _, tag := range []byte{0, 4, 5} {
				for id := range byte(3) {
					for _, index := range []byte{0, 1, 15, 16} {
						all = append(all, place{kind, scheduler.Addr{0: 1 + contract}, scheduler.Word{0: tag, 23: id, 31: index}})
					}
				}
			}
		}
	}
	return all
}()

func somePlace(t *rapid.T) place { return rapid.SampledFrom(places).Draw(t, "place") }

// TestStateIsAMap drives hosts with random writes, deletions, snapshots, reverts, hashes, forks, exports and transactions beside plain
// maps.
func TestStateIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, err := memory.New(config())
		if err != nil {
			t.Fatal(err)
		}
		m := &stateModel{host: h, words: own(h), temps: content{}}
		t.Repeat(map[string]func(*rapid.T){
			"set":       m.set,
			"set temp":  m.setTemp,
			"snapshot":  m.snapshot,
			"revert":    m.revert,
			"hash":      func(*rapid.T) { m.host.StateHash() },
			"fork":      m.fork,
			"export":    m.export,
			"begin":     m.begin,
			"view":      m.view,
			"":          m.check,
			"set again": m.set,
		})
		for _, o := range m.others {
			o.check(t)
		}
	})
}

// stateModel is a host and what it should hold.
type stateModel struct {
	host         *memory.Host
	words, temps content
	saved        []savedModel
	others       []*stateModel // hosts that were forked from, or forked, and must not change
}

type savedModel struct {
	snapshot     int
	words, temps content
}

// own is what New and setEnv write themselves.
func own(h *memory.Host) content {
	c := content{}
	for _, addr := range []scheduler.Addr{{}, scheduler.Address} {
		for tag := range byte(2) {
			for index := range byte(8) {
				p := place{0, addr, scheduler.Word{0: tag, 31: index}}
				if w := h.Space(addr).Get(p.slot); w != (scheduler.Word{}) {
					c[p] = string(w[:])
				}
			}
		}
	}
	return c
}

func (m *stateModel) set(t *rapid.T) {
	p := somePlace(t)
	s := m.host.Space(p.addr)
	if p.kind == 1 {
		b := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "blob")
		s.SetBlob(p.slot, b)
		m.words.put(p, string(b))
		return
	}
	w := value(rapid.IntRange(0, 3).Draw(t, "value"))
	s.Set(p.slot, w)
	m.words.put(p, textOf(w))
}

func (m *stateModel) setTemp(t *rapid.T) {
	p := somePlace(t)
	p.kind = 0
	w := value(rapid.IntRange(0, 3).Draw(t, "value"))
	m.host.Space(p.addr).SetTemp(p.slot, w)
	m.temps.put(p, textOf(w))
}

func textOf(w scheduler.Word) string {
	if w == (scheduler.Word{}) {
		return ""
	}
	return string(w[:])
}

func (c content) put(p place, v string) {
	if v == "" {
		delete(c, p)
	} else {
		c[p] = v
	}
}

func (m *stateModel) snapshot(*rapid.T) {
	m.saved = append(m.saved, savedModel{m.host.Snapshot(), maps.Clone(m.words), maps.Clone(m.temps)})
}

func (m *stateModel) revert(t *rapid.T) {
	if len(m.saved) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.saved)-1).Draw(t, "to")
	s := m.saved[i]
	m.host.Revert(s.snapshot)
	m.words, m.temps, m.saved = s.words, s.temps, m.saved[:i]
}

// fork goes on with a fork, or with the original while the fork stays.
func (m *stateModel) fork(t *rapid.T) {
	f := m.host.Fork()
	if rapid.Bool().Draw(t, "go on with the fork") {
		m.others = append(m.others, &stateModel{host: m.host, words: maps.Clone(m.words), temps: m.temps})
		m.host, m.temps, m.saved = f, content{}, nil
	} else {
		m.others = append(m.others, &stateModel{host: f, words: maps.Clone(m.words), temps: content{}})
	}
}

func (m *stateModel) export(t *rapid.T) {
	var out bytes.Buffer
	if err := m.host.Export(&out); err != nil {
		t.Fatal(err)
	}
	h, err := memory.Import(config(), bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	m.host, m.temps, m.saved = h, content{}, nil
}

// begin is a transaction that fails before it does anything.
func (m *stateModel) begin(*rapid.T) {
	m.host.Transact(alice, bob, 0, nil)
	m.temps, m.saved = content{}, nil
}

func (m *stateModel) view(t *rapid.T) {
	if _, err := m.host.View(alice, bob, nil); err != nil {
		t.Fatal(err)
	}
}

func (m *stateModel) check(t *rapid.T) {
	for _, p := range places {
		s := m.host.Space(p.addr)
		got := string(s.Blob(p.slot))
		if p.kind == 0 {
			got = textOf(s.Get(p.slot))
			if temp := textOf(s.Temp(p.slot)); temp != m.temps[p] {
				t.Fatalf("transient %v: got %x, want %x", p, temp, m.temps[p])
			}
		}
		if got != m.words[p] {
			t.Fatalf("%v: got %x, want %x", p, got, m.words[p])
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "hash") == 0 {
		if got, want := m.host.StateHash(), m.words.digest(); got != want {
			t.Fatalf("state hash %x, the content's digest is %x", got, want)
		}
	}
}
