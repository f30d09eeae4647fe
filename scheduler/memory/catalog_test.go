package memory_test

import (
	"bytes"
	"testing"

	"github.com/daybreak-beacon/daybreak/scheduler"
	"github.com/daybreak-beacon/daybreak/scheduler/memory"
)

func TestCatalog(t *testing.T) {
	item, value := scheduler.Word{1}, scheduler.Word{31: 7}
	yes, no := true, false
	h, err := memory.New(config())
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, want scheduler.Item, wantListed bool) {
		t.Helper()
		if got, listed := h.Item(item); got != want || listed != wantListed {
			t.Errorf("%s: %+v, listed %v; want %+v, %v", what, got, listed, want, wantListed)
		}
	}
	empty := h.StateHash()
	expect("unknown", scheduler.Item{}, false)
	h.List(item)
	expect("listed, never written", scheduler.Item{}, true)
	h.Delist(item)
	if h.StateHash() != empty {
		t.Error("an item that was never written leaves something behind")
	}

	h.Write(item, value, true, false)
	written := scheduler.Item{Value: value, Halted: true, Written: true, Height: 7, Time: 1000}
	expect("a write lists the item and is stamped with the block", written, true)
	h.SetFlags(item, &no, &yes)
	written.Halted, written.Disputed = false, true
	expect("flags change without a write", written, true)
	h.SetFlags(item, nil, nil)
	expect("flags left alone", written, true)
	h.Delist(item)
	expect("the record stays", written, false)
	h.List(item)
	expect("listed again", written, true)

	before := h.StateHash()
	at := h.Snapshot()
	h.Write(item, scheduler.Word{}, false, false)
	h.Delist(item)
	h.Revert(at)
	if h.StateHash() != before {
		t.Error("the catalog is not journaled")
	}
	var out bytes.Buffer
	if err := h.Export(&out); err != nil {
		t.Fatal(err)
	}
	if h, err = memory.Import(config(), &out, 1<<20); err != nil {
		t.Fatal(err)
	}
	expect("imported", written, true)
}
