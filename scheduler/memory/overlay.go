package memory

import (
	"bytes"
	"slices"
)

// overlay is a state under change: what was read and written since the tree below it, by groups of keys. Reads and writes of a block go
// down the tree once for each group, and the tree is made anew, and hashed, once for all of them.
//
// An overlay without groups is at rest: reading it writes nothing, so that it may be read from several goroutines.
type overlay struct {
	base   tree
	groups map[groupKey]*group
	last   *group // the one that was used last: a key's neighbours are used together
	undo   []undo
}

// group is what the keys of a group hold now.
type group struct {
	key   groupKey
	sum   [32]byte
	base  *tree // what of the tree below may hold keys of the group; nil if nothing does
	cells []cell
	index map[tail]int // of cells, once they are many
	few   [6]cell      // room for the first
}

// cell is what a key holds now.
type cell struct {
	tail    tail
	changed bool  // since base
	leaf    *leaf // nil: nothing
}

// undo is what a cell held before a write.
type undo struct {
	group   *group
	cell    int
	changed bool
	leaf    *leaf
}

func (o *overlay) get(k *key) *leaf {
	if o.groups == nil {
		p := k.path()
		return o.base.find(k, &p)
	}
	g := o.group(k)
	return g.cells[g.cell(k)].leaf
}

func (o *overlay) group(k *key) *group {
	at := k.group()
	if o.last != nil && o.last.key == at {
		return o.last
	}
	g := o.groups[at]
	if g == nil {
		if o.groups == nil {
			o.groups = make(map[groupKey]*group)
		}
		g = &group{key: at, sum: at.sum()}
		g.cells = g.few[:0]
		p := k.pathIn(&g.sum)
		g.base = o.base.down(&p, groupNibbles)
		o.groups[at] = g
	}
	o.last = g
	return g
}

const manyCells = 16

// cell is the place of a key's cell among the group's, which is read from base if it is new.
func (g *group) cell(k *key) int {
	t := k.tail()
	if at, ok := g.find(&t); ok {
		return at
	}
	p := k.pathIn(&g.sum)
	g.cells = append(g.cells, cell{tail: t, leaf: g.base.find(k, &p)})
	at := len(g.cells) - 1
	if g.index != nil {
		g.index[t] = at
	} else if at == manyCells {
		g.index = make(map[tail]int, 4*manyCells)
		for i := range g.cells {
			g.index[g.cells[i].tail] = i
		}
	}
	return at
}

func (g *group) find(t *tail) (int, bool) {
	if g.index != nil {
		at, ok := g.index[*t]
		return at, ok
	}
	for i := range g.cells {
		if g.cells[i].tail == *t {
			return i, true
		}
	}
	return 0, false
}

// set puts l in place of what k holds; nil deletes.
func (o *overlay) set(k *key, l *leaf) {
	g := o.group(k)
	at := g.cell(k)
	c := &g.cells[at]
	if c.leaf == nil && l == nil {
		return
	}
	o.undo = append(o.undo, undo{g, at, c.changed, c.leaf})
	c.leaf, c.changed = l, true
}

// revert undoes all writes but the first n.
func (o *overlay) revert(n int) {
	for _, u := range slices.Backward(o.undo[n:]) {
		c := &u.group.cells[u.cell]
		c.leaf, c.changed = u.leaf, u.changed
	}
	o.undo = o.undo[:n]
}

// tree is the content as a tree.
func (o *overlay) tree() tree {
	groups := make([]*group, 0, len(o.groups))
	for _, g := range o.groups { // any order: they are sorted
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *group) int { return bytes.Compare(a.sum[:], b.sum[:]) })
	changes := make([]change, 0, 2*len(groups))
	for _, g := range groups {
		first := len(changes)
		for i := range g.cells {
			if c := &g.cells[i]; c.changed {
				changes = append(changes, change{pathOf(&g.sum, &c.tail), c.leaf})
			}
		}
		slices.SortFunc(changes[first:], func(a, b change) int { return bytes.Compare(a.path[groupNibbles/2:], b.path[groupNibbles/2:]) })
	}
	if len(changes) == 0 {
		return o.base
	}
	return o.base.with(changes, 0)
}
