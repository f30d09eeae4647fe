package memory

import (
	"bytes"
	"slices"
)

// overlay is a state under change: what was read and written since the tree below it. Reads and writes of a block go down the tree once
// for each key, and the tree is made anew, and hashed, once for all of them.
//
// An overlay without cells is at rest: reading it writes nothing, so that it may be read from several goroutines.
type overlay struct {
	base  tree
	cells map[key]*cell
	undo  []undo
}

// cell is what a key holds now.
type cell struct {
	leaf    *leaf // nil: nothing
	changed bool  // since base
}

// undo is what a cell held before a write.
type undo struct {
	cell   *cell
	before cell
}

func (o *overlay) get(k key) *leaf {
	if o.cells == nil {
		return o.base.find(k)
	}
	return o.cell(k).leaf
}

func (o *overlay) cell(k key) *cell {
	c := o.cells[k]
	if c == nil {
		if o.cells == nil {
			o.cells = make(map[key]*cell)
		}
		c = &cell{leaf: o.base.find(k)}
		o.cells[k] = c
	}
	return c
}

// set puts l in place of what k holds; nil deletes.
func (o *overlay) set(k key, l *leaf) {
	c := o.cell(k)
	o.undo = append(o.undo, undo{c, *c})
	c.leaf, c.changed = l, true
}

// revert undoes all writes but the first n.
func (o *overlay) revert(n int) {
	for _, u := range slices.Backward(o.undo[n:]) {
		*u.cell = u.before
	}
	o.undo = o.undo[:n]
}

// tree is the content as a tree.
func (o *overlay) tree() tree {
	var changes []change
	for k, c := range o.cells { // any order: they are sorted
		if c.changed {
			changes = append(changes, change{k.path(), c.leaf})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return bytes.Compare(a.path[:], b.path[:]) })
	return o.base.with(changes)
}
