package replay

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/holiman/uint256"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// writer writes canonical JSON: no spaces, fields in the order they are written, lower-case hex, numbers of at most 32 bits as
// numbers and wider ones as decimal strings.
type writer struct{ b []byte }

// encodeLine is a line of one object, with its line feed.
func encodeLine(fields func(*writer)) []byte {
	w := new(writer)
	w.object(func() { fields(w) })
	return append(w.b, '\n')
}

// raw begins a value or a field's name: with a comma, unless it is the first of its list or object or follows a field's name.
func (w *writer) raw(s string) {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' && w.b[n-1] != ':' {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, s...)
}

func (w *writer) field(name string) {
	w.string(name)
	w.b = append(w.b, ':')
}

func (w *writer) object(fields func()) {
	w.raw("{")
	fields()
	w.b = append(w.b, '}')
}

func (w *writer) string(s string) {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("replay: internal error: " + err.Error()) // a string always marshals
	}
	w.raw(string(quoted))
}

func (w *writer) bool(v bool)           { w.raw(strconv.FormatBool(v)) }
func (w *writer) small(v uint32)        { w.raw(strconv.FormatUint(uint64(v), 10)) }
func (w *writer) uint64(v uint64)       { w.string(strconv.FormatUint(v, 10)) }
func (w *writer) amount(v uint256.Int)  { w.string(v.Dec()) }
func (w *writer) bytes(b []byte)        { w.string("0x" + hex.EncodeToString(b)) }
func (w *writer) addr(a scheduler.Addr) { w.bytes(a[:]) }
func (w *writer) word(v scheduler.Word) { w.bytes(v[:]) }

func writeList[T any](w *writer, list []T, write func(*writer, T)) {
	w.raw("[")
	for _, v := range list {
		write(w, v)
	}
	w.b = append(w.b, ']')
}

// put writes a field.
func put[T any](w *writer, name string, v T, write func(*writer, T)) {
	w.field(name)
	write(w, v)
}

// The following leave out what is zero or empty.

func putIf[T any](w *writer, there bool, name string, v T, write func(*writer, T)) {
	if there {
		put(w, name, v, write)
	}
}

func putList[T any](w *writer, name string, list []T, write func(*writer, T)) {
	putIf(w, len(list) > 0, name, list, func(w *writer, list []T) { writeList(w, list, write) })
}

func putTrue(w *writer, name string, v bool)     { putIf(w, v, name, v, (*writer).bool) }
func putSmall(w *writer, name string, v uint32)  { putIf(w, v != 0, name, v, (*writer).small) }
func putUint64(w *writer, name string, v uint64) { putIf(w, v != 0, name, v, (*writer).uint64) }
func putAmount(w *writer, name string, v uint256.Int) {
	putIf(w, !v.IsZero(), name, v, (*writer).amount)
}
func putWord(w *writer, name string, v scheduler.Word) {
	putIf(w, v != scheduler.Word{}, name, v, (*writer).word)
}
func putMap[V any](w *writer, name string, m keyed[V], write func(*writer, V)) {
	putIf(w, len(m) > 0, name, m, func(w *writer, m keyed[V]) { writeMap(w, m, write) })
}

// keyed is a map's entries in the order they are written.
type keyed[V any] []struct {
	key   string
	value V
}

func writeMap[V any](w *writer, m keyed[V], write func(*writer, V)) {
	w.object(func() {
		for _, e := range m {
			put(w, e.key, e.value, write)
		}
	})
}

// inOrder walks a map by its keys in ascending order.
func inOrder[K comparable, V any](m map[K]V, compare func(a, b K) int) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, k := range slices.SortedFunc(maps.Keys(m), compare) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func sorted[K comparable, V any](m map[K]V, compare func(a, b K) int, name func(K) string) keyed[V] {
	out := make(keyed[V], 0, len(m))
	for k, v := range inOrder(m, compare) {
		out = append(out, struct {
			key   string
			value V
		}{name(k), v})
	}
	return out
}

func compareAddr(a, b scheduler.Addr) int { return bytes.Compare(a[:], b[:]) }
func compareWord(a, b scheduler.Word) int { return bytes.Compare(a[:], b[:]) }

func addrKeys[V any](m map[scheduler.Addr]V) keyed[V] {
	return sorted(m, compareAddr, scheduler.Addr.String)
}
func wordKeys[V any](m map[scheduler.Word]V) keyed[V] {
	return sorted(m, compareWord, scheduler.Word.String)
}
func uintKeys[V any](m map[uint64]V) keyed[V] {
	return sorted(m, cmp.Compare[uint64], func(k uint64) string { return strconv.FormatUint(k, 10) })
}
