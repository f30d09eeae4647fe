package memory

import (
	"bytes"
	"slices"
)

// overlay is a state under change: what was read and written since the tree below it. Reads and writes of a block go down the tree once
// for each group of keys, and the tree is made anew, and hashed, once for all of them.
//
// An overlay without cells is at rest: reading it writes nothing, so that it may be read from several goroutines.
type overlay struct {
	base   tree
	cells  map[key]*cell
	unused []cell // made in advance, to be cells
	undo   []undo
	last   place // of the group that was read last
}

// cell is what a key holds now.
type cell struct {
	leaf    *leaf // nil: nothing
	changed bool  // since base
	path    path
}

// undo is what a cell held before a write.
type undo struct {
	cell    *cell
	leaf    *leaf
	changed bool
}

// place is where the keys of a group lie in base.
type place struct {
	group group
	sum   [32]byte
	tree  tree // zero if no key of the group is there
	known bool
}

func (o *overlay) get(k key) *leaf {
	if o.cells == nil {
		p := k.path()
		return o.base.find(&k, &p)
	}
	return o.cell(&k).leaf
}

func (o *overlay) cell(k *key) *cell {
	c := o.cells[*k]
	if c != nil {
		return c
	}
	if o.cells == nil {
		o.cells = make(map[key]*cell)
	}
	if len(o.unused) == 0 {
		o.unused = make([]cell, 32)
	}
	c, o.unused = &o.unused[0], o.unused[1:]
	c.path = o.goTo(k)
	c.leaf = o.last.tree.find(k, &c.path)
	o.cells[*k] = c
	return c
}

// goTo makes k's group the last one and returns k's path.
func (o *overlay) goTo(k *key) path {
	if g := k.group(); !o.last.known || g != o.last.group {
		o.last = place{group: g, sum: g.sum(), known: true}
		p := k.pathIn(o.last.sum)
		o.last.tree = o.base.down(&p, groupNibbles)
	}
	return k.pathIn(o.last.sum)
}

// set puts l in place of what k holds; nil deletes.
func (o *overlay) set(k key, l *leaf) {
	c := o.cell(&k)
	if c.leaf == nil && l == nil {
		return
	}
	o.undo = append(o.undo, undo{c, c.leaf, c.changed})
	c.leaf, c.changed = l, true
}

// revert undoes all writes but the first n.
func (o *overlay) revert(n int) {
	for _, u := range slices.Backward(o.undo[n:]) {
		u.cell.leaf, u.cell.changed = u.leaf, u.changed
	}
	o.undo = o.undo[:n]
}

// tree is the content as a tree.
func (o *overlay) tree() tree {
	changes := make([]change, 0, len(o.cells))
	for _, c := range o.cells { // any order: they are sorted
		if c.changed {
			changes = append(changes, change{&c.path, c.leaf})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return bytes.Compare(a.path[:], b.path[:]) })
	return o.base.with(changes)
}
