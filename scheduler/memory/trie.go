package memory

import (
	"bytes"
	"crypto/sha256"

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

// path is the key's way down the trie, one nibble a level: its SHA-256, so that the trie is balanced whatever the keys are.
type path [32]byte

func (k key) path() path { b := k.bytes(); return sha256.Sum256(b[:]) }

func (p path) nibble(depth int) int { return int(p[depth/2]>>(4*(1-depth%2))) & 15 }

// node is a subtree of the persistent trie that holds the state: nil, *leaf or *branch. Nodes are never changed once made, so a root
// is a snapshot. A branch has at least two leaves below it, which makes the shape depend on the content alone.
//
// Digest: SHA-256(0 | key | value) of a leaf; SHA-256(1 | bitmap of 16 bits | digests of the children that are there) of a branch;
// zero of nothing.
type node interface{ digest() [32]byte }

type leaf struct {
	key  key
	word scheduler.Word // of a word: not zero
	blob []byte         // of a blob: not empty
}

type branch struct {
	kids   [16]node
	sum    [32]byte // the digest, once hashed
	hashed bool
}

func (l *leaf) value() []byte {
	if l.key.kind == kindBlob {
		return l.blob
	}
	return l.word[:]
}

func (l *leaf) digest() [32]byte {
	var fixed [1 + keySize + 32]byte // enough for a word, on the stack
	k := l.key.bytes()
	buf := append(append(fixed[:1], k[:]...), l.value()...)
	return sha256.Sum256(buf)
}

func (b *branch) digest() [32]byte {
	if b.hashed {
		return b.sum
	}
	var bitmap uint16
	var fixed [3 + 16*32]byte
	buf := fixed[:3]
	for i, kid := range b.kids {
		if kid != nil {
			bitmap |= 1 << i
			d := kid.digest()
			buf = append(buf, d[:]...)
		}
	}
	buf[0], buf[1], buf[2] = 1, byte(bitmap>>8), byte(bitmap)
	b.sum, b.hashed = sha256.Sum256(buf), true
	return b.sum
}

func digestOf(root node) [32]byte {
	if root == nil {
		return [32]byte{}
	}
	return root.digest()
}

// find returns the leaf of k, or nil.
func find(n node, k key) *leaf {
	p := k.path()
	for depth := 0; ; depth++ {
		switch at := n.(type) {
		case *branch:
			n = at.kids[p.nibble(depth)]
		case *leaf:
			if at.key == k {
				return at
			}
			return nil
		default:
			return nil
		}
	}
}

// put returns the trie with l in place of what was under its key.
func put(n node, l *leaf) node { return putAt(n, l, l.key.path(), 0) }

func putAt(n node, l *leaf, p path, depth int) node {
	switch at := n.(type) {
	case *branch:
		i := p.nibble(depth)
		kid := putAt(at.kids[i], l, p, depth+1)
		if kid == at.kids[i] {
			return at
		}
		return at.with(i, kid)
	case *leaf:
		if at.key != l.key {
			return fork(at, at.key.path(), l, p, depth)
		}
		if bytes.Equal(at.value(), l.value()) {
			return at
		}
		return l
	default:
		return l
	}
}

// fork makes the branches down to where two leaves part.
func fork(a *leaf, pa path, b *leaf, pb path, depth int) node {
	out := new(branch)
	i, j := pa.nibble(depth), pb.nibble(depth)
	if i == j {
		out.kids[i] = fork(a, pa, b, pb, depth+1)
	} else {
		out.kids[i], out.kids[j] = a, b
	}
	return out
}

// remove returns the trie without k.
func remove(n node, k key) node { return removeAt(n, k, k.path(), 0) }

func removeAt(n node, k key, p path, depth int) node {
	switch at := n.(type) {
	case *branch:
		i := p.nibble(depth)
		kid := removeAt(at.kids[i], k, p, depth+1)
		if kid == at.kids[i] {
			return at
		}
		return at.with(i, kid).collapse()
	case *leaf:
		if at.key == k {
			return nil
		}
		return at
	default:
		return nil
	}
}

func (b *branch) with(i int, kid node) *branch {
	out := &branch{kids: b.kids}
	out.kids[i] = kid
	return out
}

// collapse is the branch itself or, if only one leaf is left below it, that leaf.
func (b *branch) collapse() node {
	var only node
	for _, kid := range b.kids {
		if kid == nil {
			continue
		}
		if only != nil {
			return b
		}
		only = kid
	}
	if l, ok := only.(*leaf); ok {
		return l
	}
	return b
}

// walk visits the leaves in path order until visit returns false.
func walk(n node, visit func(*leaf) bool) bool {
	switch at := n.(type) {
	case *leaf:
		return visit(at)
	case *branch:
		for _, kid := range at.kids {
			if !walk(kid, visit) {
				return false
			}
		}
	}
	return true
}
