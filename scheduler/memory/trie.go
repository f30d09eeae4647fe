package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// key names a word or a blob of one contract.
type key struct {
	kind byte // kindWord or kindBlob
	addr scheduler.Addr
	slot scheduler.Word
}

const (
	kindWord = 0
	kindBlob = 1
	keySize  = 1 + 20 + 32
)

func (k key) bytes() (b [keySize]byte) {
	b[0] = k.kind
	copy(b[1:], k.addr[:])
	copy(b[21:], k.slot[:])
	return b
}

func keyFromBytes(b [keySize]byte) key {
	return key{b[0], scheduler.Addr(b[1:21]), scheduler.Word(b[21:])}
}

// path is the key's way down the trie, in nibbles: SHA-256(address | bytes 1..23 of the slot) | kind | byte 0 of the slot | bytes
// 24..31 of the slot. So the words and blobs that the scheduler keeps for one entry, or for one queue, are a group and lie in one
// subtree: a block goes down to each of them once. The hash keeps the trie balanced whatever the keys are, but for the last 20 nibbles.
type path [sha256.Size + 10]byte

const (
	pathNibbles  = 2 * len(path{})
	groupNibbles = 2 * sha256.Size // that the paths of a group share
)

func (k *key) path() path { return k.pathIn(k.group().sum()) }

// group is what the keys of one group have in common.
type group struct {
	addr scheduler.Addr
	slot [23]byte
}

func (k *key) group() group { return group{k.addr, [23]byte(k.slot[1:24])} }

func (g group) sum() [sha256.Size]byte {
	var b [len(g.addr) + len(g.slot)]byte
	copy(b[:], g.addr[:])
	copy(b[len(g.addr):], g.slot[:])
	return sha256.Sum256(b[:])
}

// pathIn is the path of a key whose group has that sum.
func (k *key) pathIn(sum [sha256.Size]byte) (p path) {
	copy(p[:], sum[:])
	p[32], p[33] = k.kind, k.slot[0]
	copy(p[34:], k.slot[24:])
	return p
}

func (p *path) nibble(depth int) int { return int(p[depth/2]>>(4*(1-depth%2))) & 15 }

// common is the number of nibbles with which both begin.
func (p *path) common(q *path) int {
	for i := range p {
		if x := p[i] ^ q[i]; x != 0 {
			return 2*i + bits.LeadingZeros8(x)/4
		}
	}
	return pathNibbles
}

// tree is a subtree of the persistent trie that holds the state, with its digest; the zero tree is empty. Nodes are never changed
// once made, so that a tree is a snapshot.
//
// Digest: SHA-256(0 | key | value) of a leaf; SHA-256(1 | depth | bitmap of 16 bits | digests of the children that are there) of a
// branch; zero of the empty tree.
type tree struct {
	node   any // nil, *leaf or *branch
	digest [32]byte
}

type leaf struct {
	key  key
	word scheduler.Word // of a word: not zero
	blob []byte         // of a blob: not empty
}

// branch is where paths part: it has at least two children, so that the shape depends on the content alone.
type branch struct {
	kids   []tree // those that are there, by their nibble
	bitmap uint16 // which are there
	depth  uint8  // nibbles that all paths below share
	path   path   // of some leaf that is or was below; its first depth nibbles are the shared ones
}

// newBranch has room for n children next to it: going down the trie then touches one place of memory for each level.
func newBranch(n int) *branch {
	switch {
	case n <= 2:
		b := new(struct {
			branch
			room [2]tree
		})
		b.kids = b.room[:0]
		return &b.branch
	case n <= 4:
		b := new(struct {
			branch
			room [4]tree
		})
		b.kids = b.room[:0]
		return &b.branch
	case n <= 8:
		b := new(struct {
			branch
			room [8]tree
		})
		b.kids = b.room[:0]
		return &b.branch
	default:
		b := new(struct {
			branch
			room [16]tree
		})
		b.kids = b.room[:0]
		return &b.branch
	}
}

func (b *branch) kid(nibble int) tree {
	if b.bitmap>>nibble&1 == 0 {
		return tree{}
	}
	return b.kids[bits.OnesCount16(b.bitmap&(1<<nibble-1))]
}

func (l *leaf) value() []byte {
	if l.key.kind == kindBlob {
		return l.blob
	}
	return l.word[:]
}

func (l *leaf) tree() tree {
	var fixed [1 + keySize + 32]byte // enough for a word, on the stack
	k := l.key.bytes()
	buf := append(append(fixed[:1], k[:]...), l.value()...)
	return tree{l, sha256.Sum256(buf)}
}

func (b *branch) tree() tree {
	var fixed [4 + 16*32]byte
	buf := append(fixed[:0], 1, b.depth)
	buf = binary.BigEndian.AppendUint16(buf, b.bitmap)
	for i := range b.kids {
		buf = append(buf, b.kids[i].digest[:]...)
	}
	return tree{b, sha256.Sum256(buf)}
}

// find returns the leaf of k, whose path is p, or nil.
func (t tree) find(k *key, p *path) *leaf {
	l, _ := t.down(p, pathNibbles).node.(*leaf)
	if l == nil || l.key != *k {
		return nil
	}
	return l
}

// down goes along p to the subtree whose paths all share at least so many nibbles with each other, if there is one.
func (t tree) down(p *path, nibbles int) tree {
	for {
		b, ok := t.node.(*branch)
		if !ok || int(b.depth) >= nibbles {
			return t
		}
		t = b.kid(p.nibble(int(b.depth)))
	}
}

// change is a new leaf at a path, or none.
type change struct {
	path *path
	leaf *leaf
}

// with is the tree after changes, which ascend by path. Each node on the way is made and hashed once, however many changes lie
// below it.
func (t tree) with(changes []change) tree {
	if len(changes) == 0 {
		return t
	}
	first, last := &changes[0], &changes[len(changes)-1]
	depth := first.path.common(last.path)
	var kids [16]tree
	switch at := t.node.(type) {
	case nil:
		if len(changes) == 1 {
			return first.tree()
		}
	case *leaf:
		p := at.key.path()
		depth = min(depth, first.path.common(&p))
		if depth == pathNibbles {
			if first.leaf != nil && bytes.Equal(first.leaf.value(), at.value()) {
				return t
			}
			return first.tree()
		}
		kids[p.nibble(depth)] = t
	case *branch:
		depth = min(depth, first.path.common(&at.path))
		if depth < int(at.depth) {
			kids[at.path.nibble(depth)] = t
			break
		}
		depth = int(at.depth)
		for rest, i := at.bitmap, 0; rest != 0; rest, i = rest&(rest-1), i+1 {
			kids[bits.TrailingZeros16(rest)] = at.kids[i]
		}
	}
	return t.branch(&kids, depth, changes)
}

// branch applies changes to the children that t has when its paths part at depth.
func (t tree) branch(kids *[16]tree, depth int, changes []change) tree {
	somePath := *changes[0].path
	changed := false
	for len(changes) > 0 {
		nibble, n := changes[0].path.nibble(depth), 1
		for n < len(changes) && changes[n].path.nibble(depth) == nibble {
			n++
		}
		before := kids[nibble].node
		kids[nibble] = kids[nibble].with(changes[:n])
		changed = changed || kids[nibble].node != before
		changes = changes[n:]
	}
	if !changed {
		return t
	}
	count, only := 0, 0
	for i := range kids {
		if kids[i].node != nil {
			count, only = count+1, i
		}
	}
	if count < 2 {
		return kids[only]
	}
	b := newBranch(count)
	b.depth, b.path = uint8(depth), somePath
	for i := range kids {
		if kids[i].node != nil {
			b.kids = append(b.kids, kids[i])
			b.bitmap |= 1 << i
		}
	}
	return b.tree()
}

func (c *change) tree() tree {
	if c.leaf == nil {
		return tree{}
	}
	return c.leaf.tree()
}

// walk visits the leaves in path order.
func (t tree) walk(visit func(*leaf)) {
	switch at := t.node.(type) {
	case *leaf:
		visit(at)
	case *branch:
		for i := range at.kids {
			at.kids[i].walk(visit)
		}
	}
}
