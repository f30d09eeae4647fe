package node

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/daybreak-beacon/daybreak/cmd/internal/cli"
	"github.com/daybreak-beacon/daybreak/cmd/internal/durable"
	"github.com/daybreak-beacon/daybreak/scheduler/chain/finality"
)

// Home is a validator's folder:
//
//	config.json     settings, edited by the operator
//	genesis.json    the network: the same file at every validator
//	validator.json  what goes into genesis about this validator; public
//	network.key     ed25519 seed: this validator's identity; secret
//	voting.key      what its votes on blocks are signed with; secret
//	votes.lost      only while a lost journal is started anew
//	votes           journal of these votes, as precious as the key: one without the other must not vote
//	lock            held by the running daemon
//	chain           genesis hash the folder's data belong to
//	log/            the replicated log and its snapshots
//	keys/           recovered keys of slots
//	ceremony/       seed (secret, until the key is active), share (secret), group (public)
type Home string

// File names within a Home.
const (
	fileConfig     = "config.json"
	fileGenesis    = "genesis.json"
	fileDescriptor = "validator.json"
	fileNetworkKey = "network.key"
	fileVotingKey  = "voting.key"
	fileVotes      = "votes"
	fileVotesLost  = "votes.lost"
	fileLock       = "lock"
	fileChain      = "chain"
	dirLog         = "log"
	dirKeys        = "keys"
	dirCeremony    = "ceremony"
)

// Path is the path of name within the folder.
func (h Home) Path(name ...string) string {
	return filepath.Join(append([]string{string(h)}, name...)...)
}

// GenesisPath is where the daemon looks for the network's genesis.
func (h Home) GenesisPath() string { return h.Path(fileGenesis) }

// DescriptorPath is where Init leaves what others need to know of this validator.
func (h Home) DescriptorPath() string { return h.Path(fileDescriptor) }

// maxSmallFile bounds the files a person or Init writes into a home, in bytes.
const maxSmallFile = 64 << 10

// Init makes the folder of a new validator: a fresh network key, cfg, and the descriptor for genesis. The folder appears
// whole or not at all, and one that already holds something is left alone.
func (h Home) Init(cfg Config, name string, proposer Address, addrs []string) (Descriptor, error) {
	if err := cfg.Validate(); err != nil {
		return Descriptor{}, cli.Usage("%w", err)
	}
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return Descriptor{}, err
	}
	voting, err := finality.NewSecret()
	if err != nil {
		return Descriptor{}, err
	}
	d := Descriptor{
		Name: name, NetworkKey: hex.EncodeToString(pub), VotingKey: voting.Public(), VotingProof: voting.Possession(),
		Proposer: proposer, Addrs: addrs,
	}
	if err := d.Validate(); err != nil {
		return Descriptor{}, cli.Usage("%w", err)
	}
	if err := h.refuseUsed(); err != nil {
		return Descriptor{}, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(filepath.Clean(string(h))), "."+filepath.Base(string(h))+".tmp-*")
	if err != nil {
		return Descriptor{}, fmt.Errorf("making %s: %w", h, err)
	}
	defer os.RemoveAll(tmp) // after the rename there is nothing left under this name
	if err := Home(tmp).fill(cfg, d, key, voting); err != nil {
		return Descriptor{}, err
	}
	// os.Rename does not replace a folder; an empty one has to go first, and a filled one does not go.
	if err := os.Remove(string(h)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Descriptor{}, fmt.Errorf("making %s: %w", h, err)
	}
	if err := os.Rename(tmp, string(h)); err != nil {
		return Descriptor{}, fmt.Errorf("making %s: %w", h, err)
	}
	return d, nil
}

func (h Home) fill(cfg Config, d Descriptor, key ed25519.PrivateKey, voting finality.Secret) error {
	if err := durable.CreateSecret(h.Path(fileNetworkKey), encodeNetworkKey(key)); err != nil {
		return err
	}
	if err := durable.CreateSecret(h.Path(fileVotingKey), encodeVotingKey(voting)); err != nil {
		return err
	}
	if err := finality.CreateJournal(h.Path(fileVotes), d.VotingKey); err != nil {
		return err
	}
	if err := durable.CreatePublic(h.Path(fileConfig), cfg.Encode()); err != nil {
		return err
	}
	return durable.CreatePublic(h.DescriptorPath(), d.Encode())
}

// refuseUsed fails unless the folder is missing or empty.
func (h Home) refuseUsed() error {
	entries, err := os.ReadDir(string(h))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty: a validator's key is made once and never replaced", h)
	}
	return nil
}
