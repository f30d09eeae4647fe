package dkg

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
)

// MaxMembers bounds n. At 128 a deal has 17 kB and a ceremony takes a node about a second of one core.
const MaxMembers = 128

// Member is one of those who will share the key.
type Member struct {
	Index      uint32            // 1..n: the point at which its share is evaluated
	NetworkKey ed25519.PublicKey // signs its entries
}

// Config says who makes a key for what. All members must use the same, apart from the last three fields.
type Config struct {
	Namespace tlock.Namespace
	Epoch     uint64
	Attempt   uint64 // a new one after each failure; part of the ceremony's id

	// Members in ascending order of their indices, which are 1..n; at most MaxMembers.
	Members []Member
	// Threshold is how many shares make a key, above n/2 and at most n. 0 is partials.Threshold(n).
	Threshold int
	// MinQual is how many dealers must qualify, or the ceremony fails. 0 is all n. A lower number lets a ceremony pass that
	// some members miss; it is never below min(threshold+1, n), so that every coalition below the threshold faces at
	// least two dealers it does not control (one for n < 4, where all must deal).
	MinQual int

	// Self is the own index, or 0 for an observer, which needs no seed or signer.
	Self uint32
	// Seed must be stored before the ceremony starts and be the same after a restart; see Seed.
	Seed Seed
	// Signer holds the member's ed25519 network key. It is asked to sign messages (crypto.Hash(0)).
	Signer crypto.Signer
}

// withDefaults returns the configuration with copied members and all numbers set, or every problem it has.
func (c Config) withDefaults() (Config, error) {
	n := len(c.Members)
	if c.Threshold == 0 {
		c.Threshold = partials.Threshold(n)
	}
	if c.MinQual == 0 {
		c.MinQual = n
	}
	members := make([]Member, n)
	for i, m := range c.Members {
		members[i] = Member{m.Index, bytes.Clone(m.NetworkKey)}
	}
	c.Members = members

	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if c.Namespace.IsZero() {
		problem("no namespace")
	}
	if n < 1 || n > MaxMembers {
		problem("%d members: a ceremony takes 1 to %d", n, MaxMembers)
	} else {
		if c.Threshold <= n/2 || c.Threshold > n {
			problem("threshold %d: for %d members it is %d to %d", c.Threshold, n, n/2+1, n)
		}
		if least := min(c.Threshold+1, n); c.MinQual < least || c.MinQual > n {
			problem("at least %d qualified dealers: for %d members and threshold %d it is %d to %d", c.MinQual, n, c.Threshold, least, n)
		}
	}
	problems = append(problems, checkMembers(c.Members)...)
	if err := c.checkSelf(); err != nil {
		problems = append(problems, err)
	}
	return c, errors.Join(problems...)
}

func checkMembers(members []Member) (problems []error) {
	owner := make(map[string]uint32, len(members))
	for i, m := range members {
		if m.Index != uint32(i+1) {
			problems = append(problems, fmt.Errorf("member %d of the list has index %d: indices are 1 to n in order", i+1, m.Index))
		}
		if len(m.NetworkKey) != ed25519.PublicKeySize {
			problems = append(problems, fmt.Errorf("network key of member %d has %d bytes, want %d", m.Index, len(m.NetworkKey), ed25519.PublicKeySize))
		}
		if other, ok := owner[string(m.NetworkKey)]; ok {
			problems = append(problems, fmt.Errorf("members %d and %d have the same network key", other, m.Index))
		}
		owner[string(m.NetworkKey)] = m.Index
	}
	return problems
}

func (c *Config) checkSelf() error {
	if c.Self == 0 {
		return nil
	}
	if int64(c.Self) > int64(len(c.Members)) {
		return fmt.Errorf("own index %d: there are %d members", c.Self, len(c.Members))
	}
	if c.Seed == (Seed{}) {
		return fmt.Errorf("no seed: draw 32 bytes from crypto/rand and store them first")
	}
	if c.Signer == nil {
		return fmt.Errorf("no signer")
	}
	if pub, ok := c.Signer.Public().(ed25519.PublicKey); !ok || !pub.Equal(c.Members[c.Self-1].NetworkKey) {
		return fmt.Errorf("the signer's key is not the network key of member %d", c.Self)
	}
	return nil
}

// ID names one attempt at a ceremony. Entries carry it and are signed under it, secrets and proofs are bound to it.
type ID [32]byte

// String returns the id in hex.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// id returns SHA-256 of the label, namespace, epoch, attempt, n, threshold and MinQual (8 bytes each, big-endian), and the
// network keys in the order of the indices.
func (c *Config) id() ID {
	b := []byte("daybreak-dkg-id-v1")
	b = append(b, c.Namespace.Bytes()...)
	for _, x := range []uint64{c.Epoch, c.Attempt, uint64(len(c.Members)), uint64(c.Threshold), uint64(c.MinQual)} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	for _, m := range c.Members {
		b = append(b, m.NetworkKey...)
	}
	return sha256.Sum256(b)
}
