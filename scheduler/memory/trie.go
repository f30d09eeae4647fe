package memory

import (
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

// path is the key's way down the trie, in nibbles: SHA-256(address | bytes 1..23 of the slot) | a byte that tells neighbours apart | kind
// | byte 0 of the slot | bytes 24..31 of the slot. So the words and blobs that the scheduler keeps for one entry, or for one queue, are
// a group and lie in one subtree, mostly in one branch: a block goes down to each of them once. The hash keeps the trie balanced
// whatever the keys are, but for the last 22 nibbles.
type path [sha256.Size + len(tail{})]byte

const (
	pathNibbles  = 2 * len(path{})
	groupNibbles = 2 * sha256.Size // that the paths of a group share
)

func (k *key) path() path {
	g := k.group()
	sum := g.sum()
	return k.pathIn(&sum)
}

// groupKey is what the keys of one group have in common.
type groupKey struct {
	addr scheduler.Addr
	slot [23]byte
}

func (k *key) group() groupKey { return groupKey{k.addr, [23]byte(k.slot[1:24])} }

func (g *groupKey) sum() [sha256.Size]byte {
	var b [len(g.addr) + len(g.slot)]byte
	copy(b[:], g.addr[:])
	copy(b[len(g.addr):], g.slot[:])
	return sha256.Sum256(b[:])
}

// tail is what tells the keys of a group apart, and the end of their paths.
type tail [11]byte

func (k *key) tail() (t tail) {
	t[0] = k.slot[31]<<4 ^ k.kind<<7
	t[1], t[2] = k.kind, k.slot[0]
	copy(t[3:], k.slot[24:])
	return t
}

func pathOf(sum *[sha256.Size]byte, t *tail) (p path) {
	copy(p[:], sum[:])
	copy(p[sha256.Size:], t[:])
	return p
}

// pathIn is the path of a key whose group has that sum.
func (k *key) pathIn(sum *[sha256.Size]byte) path {
	t := k.tail()
	return pathOf(sum, &t)
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

// tree is a subtree of the persistent trie that holds the state; the zero tree is empty. A tree of one leaf is that leaf, any other
// is a branch: where paths part. A branch has at least two children, so that the shape depends on the content alone. What a tree points
// to is never changed, so that a copy of it is a snapshot.
//
// Digest: SHA-256(0 | key | value) of a leaf; SHA-256(1 | depth | bitmap of 16 bits | digests of the children that are there) of a
// branch; zero of the empty tree.
//
// All that the way down needs to know of a branch stands next to the pointer to its children: in a large state each further place of
// memory on the way is one more wait for it.
type tree struct {
	leaf   *leaf
	kids   []tree // of a branch: those that are there, by their nibble
	bitmap uint16 // which are there
	depth  uint8  // nibbles that all paths below a branch share
	digest [32]byte
}

type leaf struct {
	key  key
	word scheduler.Word // of a word: not zero
	blob []byte         // of a blob: not empty
}

func (l *leaf) value() []byte {
	if l.key.kind == kindBlob {
		return l.blob
	}
	return l.word[:]
}

// treeOf is the tree of one leaf, or of none.
func treeOf(l *leaf) tree {
	if l == nil {
		return tree{}
	}
	var fixed [1 + keySize + 32]byte // enough for a word, on the stack
	k := l.key.bytes()
	buf := append(append(fixed[:1], k[:]...), l.value()...)
	return tree{leaf: l, digest: sha256.Sum256(buf)}
}

// branchOf is the tree with these children, those of paths that part at depth.
func branchOf(kids *[16]tree, depth int) tree {
	count, only := 0, 0
	for i := range kids {
		if !kids[i].empty() {
			count, only = count+1, i
		}
	}
	if count < 2 {
		return kids[only]
	}
	t := tree{kids: make([]tree, 0, count), depth: uint8(depth)}
	var fixed [4 + 16*32]byte
	buf := fixed[:4]
	for i := range kids {
		if !kids[i].empty() {
			t.kids = append(t.kids, kids[i])
			t.bitmap |= 1 << i
			buf = append(buf, kids[i].digest[:]...)
		}
	}
	buf[0], buf[1] = 1, t.depth
	binary.BigEndian.PutUint16(buf[2:], t.bitmap)
	t.digest = sha256.Sum256(buf)
	return t
}

func (t *tree) empty() bool { return t.leaf == nil && t.kids == nil }

// kid is the child at a nibble, or nil.
func (t *tree) kid(nibble int) *tree {
	if t.bitmap>>nibble&1 == 0 {
		return nil
	}
	return &t.kids[bits.OnesCount16(t.bitmap&(1<<nibble-1))]
}

// find returns the leaf of k, whose path is p, or nil.
func (t *tree) find(k *key, p *path) *leaf {
	t = t.down(p, pathNibbles)
	if t == nil || t.leaf == nil || t.leaf.key != *k {
		return nil
	}
	return t.leaf
}

// down goes along p to the subtree whose paths all share at least so many nibbles with each other; nil if p leads nowhere.
func (t *tree) down(p *path, nibbles int) *tree {
	for t != nil && t.kids != nil && int(t.depth) < nibbles {
		t = t.kid(p.nibble(int(t.depth)))
	}
	return t
}

// change is a new leaf at a path, or none.
type change struct {
	path path
	leaf *leaf
}

// with is the tree after changes, which ascend by path. Each branch on the way is made and hashed once, however many changes lie
// below it. All paths, the tree's and the changes', are known to share so many nibbles.
func (t tree) with(changes []change, shared int) tree {
	first, last := &changes[0].path, &changes[len(changes)-1].path
	var kids [16]tree
	depth := first.common(last)
	switch {
	case t.empty():
		if len(changes) == 1 {
			return treeOf(changes[0].leaf)
		}
	case t.leaf != nil:
		p := t.leaf.pathBeside(first, shared)
		if depth = min(depth, first.common(&p)); depth == pathNibbles {
			return treeOf(changes[0].leaf)
		}
		kids[p.nibble(depth)] = t
	default:
		if int(t.depth) > shared { // the changes' paths may part from the branch's before these do
			own := t.someLeaf().pathBeside(first, shared)
			if depth = min(depth, first.common(&own)); depth < int(t.depth) {
				kids[own.nibble(depth)] = t
				break
			}
		}
		depth = int(t.depth)
		for rest, i := t.bitmap, 0; rest != 0; rest, i = rest&(rest-1), i+1 {
			kids[bits.TrailingZeros16(rest)] = t.kids[i]
		}
	}
	changed := false
	for len(changes) > 0 {
		nibble, n := changes[0].path.nibble(depth), 1
		for n < len(changes) && changes[n].path.nibble(depth) == nibble {
			n++
		}
		kid := kids[nibble].with(changes[:n], depth+1)
		changed = changed || kid.digest != kids[nibble].digest
		kids[nibble], changes = kid, changes[n:]
	}
	if !changed {
		return t
	}
	return branchOf(&kids, depth)
}

// someLeaf is a leaf of a tree that is not empty.
func (t *tree) someLeaf() *leaf {
	for t.leaf == nil {
		t = &t.kids[0]
	}
	return t.leaf
}

// pathBeside is the leaf's path, which shares so many nibbles with p.
func (l *leaf) pathBeside(p *path, shared int) path {
	if shared < groupNibbles {
		return l.key.path()
	}
	sum := [sha256.Size]byte(p[:])
	return l.key.pathIn(&sum)
}

// walk visits the leaves in path order.
func (t *tree) walk(visit func(*leaf)) {
	if t.leaf != nil {
		visit(t.leaf)
	}
	for i := range t.kids {
		t.kids[i].walk(visit)
	}
}
