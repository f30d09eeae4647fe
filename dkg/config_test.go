package dkg_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/daybreak-beacon/daybreak/tlock"
)

func TestConfigurationsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		n      int
		change func(*dkg.Config)
		want   string
	}{
		"no namespace":               {4, func(c *dkg.Config) { c.Namespace = tlock.Namespace{} }, "no namespace"},
		"no members":                 {1, func(c *dkg.Config) { c.Members, c.Self = nil, 0 }, "0 members"},
		"too many members":           {dkg.MaxMembers + 1, func(*dkg.Config) {}, "129 members"},
		"indices from 0":             {4, func(c *dkg.Config) { c.Members[0].Index = 0 }, "indices are 1 to n in order"},
		"indices out of order":       {4, func(c *dkg.Config) { c.Members[1], c.Members[2] = c.Members[2], c.Members[1] }, "indices are 1 to n in order"},
		"a gap":                      {4, func(c *dkg.Config) { c.Members[3].Index = 5 }, "indices are 1 to n in order"},
		"one network key twice":      {4, func(c *dkg.Config) { c.Members[3].NetworkKey = c.Members[2].NetworkKey }, "members 3 and 4 have the same network key"},
		"a short network key":        {4, func(c *dkg.Config) { c.Members[3].NetworkKey = c.Members[3].NetworkKey[:31] }, "31 bytes"},
		"half as threshold":          {4, func(c *dkg.Config) { c.Threshold = 2 }, "threshold 2: for 4 members it is 3 to 4"},
		"a threshold above n":        {4, func(c *dkg.Config) { c.Threshold = 5 }, "threshold 5"},
		"a negative threshold":       {4, func(c *dkg.Config) { c.Threshold = -1 }, "threshold -1"},
		"threshold dealers":          {7, func(c *dkg.Config) { c.MinQual = 5 }, "at least 5 qualified dealers: for 7 members and threshold 5 it is 6 to 7"},
		"fewer than n dealers of 3":  {3, func(c *dkg.Config) { c.MinQual = 2 }, "it is 3 to 3"},
		"more dealers than members":  {7, func(c *dkg.Config) { c.MinQual = 8 }, "at least 8"},
		"an own index above n":       {4, func(c *dkg.Config) { c.Self = 5 }, "own index 5"},
		"no seed":                    {4, func(c *dkg.Config) { c.Seed = dkg.Seed{} }, "no seed"},
		"no signer":                  {4, func(c *dkg.Config) { c.Signer = nil }, "no signer"},
		"another member's signer":    {4, func(c *dkg.Config) { c.Self = 2 }, "not the network key of member 2"},
		"several things at once":     {4, func(c *dkg.Config) { c.Threshold, c.Seed = 1, dkg.Seed{} }, "no seed"},
		"several things at once too": {4, func(c *dkg.Config) { c.Threshold, c.Seed = 1, dkg.Seed{} }, "threshold 1"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := dkg.Config{Namespace: namespace(t), Epoch: 1, Attempt: 1, Self: 1, Seed: dkg.Seed{1}}
			for i := range c.n {
				seed := seedOf("network key", i)
				key := ed25519.NewKeyFromSeed(seed[:])
				if i == 0 {
					cfg.Signer = key
				}
				cfg.Members = append(cfg.Members, dkg.Member{Index: uint32(i + 1), NetworkKey: key.Public().(ed25519.PublicKey)})
			}
			c.change(&cfg)
			m, err := dkg.New(cfg)
			if err == nil || m != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestEverythingIsInTheID: entries of one ceremony are worth nothing in another.
func TestEverythingIsInTheID(t *testing.T) {
	seen := map[dkg.ID]string{}
	for name, change := range map[string]func(*dkg.Config){
		"as it is":          func(*dkg.Config) {},
		"another epoch":     func(c *dkg.Config) { c.Epoch++ },
		"another attempt":   func(c *dkg.Config) { c.Attempt++ },
		"another threshold": func(c *dkg.Config) { c.Threshold = 6 },
		"another MinQual":   func(c *dkg.Config) { c.MinQual = 6 },
		"another chain": func(c *dkg.Config) {
			ns, err := tlock.NewNamespace(c.Namespace.ChainID(), [32]byte{1})
			if err != nil {
				t.Fatal(err)
			}
			c.Namespace = ns
		},
		"another order of members": func(c *dkg.Config) {
			c.Members[0].NetworkKey, c.Members[1].NetworkKey = c.Members[1].NetworkKey, c.Members[0].NetworkKey
		},
		"fewer members": func(c *dkg.Config) { c.Members = c.Members[:6] },
	} {
		cfg := newCluster(t, 7, nil).cfg
		change(&cfg)
		m, err := dkg.New(cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, ok := seen[m.ID()]; ok {
			t.Errorf("%q and %q have one id", name, other)
		}
		seen[m.ID()] = name
	}
}

func TestDefaultsAreWrittenOutInTheID(t *testing.T) {
	short := newCluster(t, 7, nil)
	long := newCluster(t, 7, func(c *dkg.Config) { c.Threshold, c.MinQual = 5, 7 })
	if short.machines[0].ID() != long.machines[0].ID() {
		t.Error("the defaults, written out, make another ceremony")
	}
}

func TestTheMachineKeepsItsOwnMembers(t *testing.T) {
	c := newCluster(t, 4, nil)
	for i := range c.cfg.Members {
		clear(c.cfg.Members[i].NetworkKey)
	}
	c.run()
	c.group(all(4)...)
}

func TestSeedsAreNotPrinted(t *testing.T) {
	cfg := newCluster(t, 4, nil).config(0)
	secret := [32]byte(cfg.Seed)
	m, err := dkg.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("ceremony", "seed", cfg.Seed, "config", cfg, "machine", m)
	out := log.String()
	cfg.Signer = nil // crypto/ed25519 prints its keys
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		out += fmt.Sprintf(verb+verb+verb, cfg.Seed, cfg, m)
	}
	for _, leak := range []string{fmt.Sprintf("%x", secret[:8]), fmt.Sprintf("%d", secret[:8])[1:20], fmt.Sprintf("%q", secret[:8])} {
		if strings.Contains(strings.ToLower(out), leak) {
			t.Errorf("the seed is printed as %s", leak)
		}
	}
	if _, err := json.Marshal(cfg.Seed); err == nil {
		t.Error("a seed went into JSON")
	}
}

// failingSigner fails as long as it is told to.
type failingSigner struct {
	ed25519.PrivateKey
	broken bool
}

var errSigner = errors.New("the device is away")

// Sign shadows that of the key.
func (s *failingSigner) Sign(r io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	if s.broken {
		return nil, errSigner
	}
	return s.PrivateKey.Sign(r, message, opts)
}

func TestASignerThatFailsForAWhile(t *testing.T) {
	cfg := newCluster(t, 1, nil).config(0)
	s := &failingSigner{PrivateKey: cfg.Signer.(ed25519.PrivateKey), broken: true}
	cfg.Signer = s
	m, err := dkg.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Pending(); len(p) != 0 || !errors.Is(m.Status().Problem, errSigner) {
		t.Errorf("%d entries, problem %v", len(p), m.Status().Problem)
	}
	s.broken = false
	for m.Result() == nil {
		p := m.Pending()
		if len(p) != 1 {
			t.Fatalf("%d entries, status %+v", len(p), m.Status())
		}
		if _, err := m.Apply(p[0]); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Status().Problem; err != nil || m.Result().Share.IsZero() {
		t.Errorf("problem %v, share %v", err, m.Result().Share)
	}
}
