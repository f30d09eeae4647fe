package node

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// The prefixes type the files: a share or another secret put in a key's place is refused by name.
const (
	networkKeyPrefix = "daybreak-network-key-v1:"
	votingKeyPrefix  = "daybreak-voting-key-v1:"
)

// NetworkKey reads the validator's identity.
func (h Home) NetworkKey() (ed25519.PrivateKey, error) {
	seed, err := readKey("network key", h.Path(fileNetworkKey), networkKeyPrefix, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// VotingKey reads what the validator's votes are signed with.
func (h Home) VotingKey() (finality.Secret, error) {
	b, err := readKey("voting key", h.Path(fileVotingKey), votingKeyPrefix, bls.ScalarSize)
	if err != nil {
		return finality.Secret{}, err
	}
	return finality.SecretFromBytes(b)
}

func readKey(what, path, prefix string, size int) ([]byte, error) {
	data, err := durable.ReadSecret(path, maxSmallFile)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", what, err)
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if !ok {
		return nil, fmt.Errorf("reading %s: %s does not begin with %q: put the validator's file back from a backup", what, path, prefix)
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != size {
		return nil, fmt.Errorf("reading %s: %s does not hold %d bytes of hex: put the validator's file back from a backup", what, path, size)
	}
	return key, nil
}

func encodeNetworkKey(key ed25519.PrivateKey) []byte {
	return []byte(networkKeyPrefix + hex.EncodeToString(key.Seed()) + "\n")
}

func encodeVotingKey(s finality.Secret) []byte {
	b := s.Bytes()
	return []byte(votingKeyPrefix + hex.EncodeToString(b[:]) + "\n")
}
