package dkg_test

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/daybreak-beacon/daybreak/dkg"
	"github.com/drand/kyber"
	bls "github.com/drand/kyber-bls12381"
	"github.com/drand/kyber/encrypt/ecies"
	kdkg "github.com/drand/kyber/share/dkg"
	"github.com/drand/kyber/sign/schnorr"
	"github.com/drand/kyber/util/random"
)

// The first test of each pair is a control: it shows that the attack works against kyber's share/dkg by itself. The second shows
// that it does not work here.

func kyberSuite() kdkg.Suite { return bls.NewBLS12381Suite().G1().(kdkg.Suite) }

// plainKyber makes n handlers with nothing around them.
func plainKyber(t *testing.T, n, threshold int, fastSync bool) ([]*kdkg.DistKeyGenerator, []kdkg.Node) {
	t.Helper()
	suite := kyberSuite()
	nodes := make([]kdkg.Node, n)
	secrets := make([]kyber.Scalar, n)
	for i := range nodes {
		secrets[i] = suite.Scalar().Pick(random.New())
		nodes[i] = kdkg.Node{Index: uint32(i), Public: suite.Point().Mul(secrets[i], nil)}
	}
	handlers := make([]*kdkg.DistKeyGenerator, n)
	for i := range handlers {
		var err error
		handlers[i], err = kdkg.NewDistKeyHandler(&kdkg.Config{
			Suite: suite, Longterm: secrets[i], NewNodes: slices.Clone(nodes), Threshold: threshold, FastSync: fastSync,
			Nonce: make([]byte, kdkg.NonceLength), Auth: schnorr.NewScheme(suite),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return handlers, nodes
}

// TestControlARogueDealerChoosesTheKeyOfPlainKyber: of n = 4 with threshold 3, members 2 and 3 (from 0) collude. Member 2 waits
// for the others' commitments and takes for its constant term the point that makes the sum the key of its choice. It does not
// know the discrete logarithm of that point, and need not: it fixes the two shares that the honest members get, and
// interpolates the other commitments in the exponent. Its accomplice does not complain.
func TestControlARogueDealerChoosesTheKeyOfPlainKyber(t *testing.T) {
	for _, fastSync := range []bool{false, true} {
		suite := kyberSuite()
		handlers, nodes := plainKyber(t, 4, 3, fastSync)
		bundles := make([]*kdkg.DealBundle, 4)
		chosen := suite.Point().Mul(suite.Scalar().Pick(random.New()), nil)
		constant := chosen.Clone()
		for i, h := range handlers {
			b, err := h.Deals()
			if err != nil {
				t.Fatal(err)
			}
			if i != 2 {
				bundles[i] = b
				constant = suite.Point().Sub(constant, b.Public[0])
			}
		}
		shares := []kyber.Scalar{suite.Scalar().Pick(random.New()), suite.Scalar().Pick(random.New())}
		y1, y2 := suite.Point().Mul(shares[0], nil), suite.Point().Mul(shares[1], nil)
		half := suite.Scalar().Inv(suite.Scalar().SetInt64(2))
		lin := func(a, b, c int64) kyber.Point { // (a*constant + b*y1 + c*y2) / 2
			p := suite.Point().Mul(suite.Scalar().SetInt64(a), constant)
			p = suite.Point().Add(p, suite.Point().Mul(suite.Scalar().SetInt64(b), y1))
			p = suite.Point().Add(p, suite.Point().Mul(suite.Scalar().SetInt64(c), y2))
			return suite.Point().Mul(half, p)
		}
		rogue := &kdkg.DealBundle{
			DealerIndex: 2, SessionID: make([]byte, kdkg.NonceLength),
			Public: []kyber.Point{constant, lin(-3, 4, -1), lin(1, -2, 1)},
		}
		for i, s := range shares {
			raw, err := s.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			ct, err := ecies.Encrypt(suite, nodes[i].Public, raw, sha256.New)
			if err != nil {
				t.Fatal(err)
			}
			rogue.Deals = append(rogue.Deals, kdkg.Deal{ShareIndex: uint32(i), EncryptedShare: ct})
		}
		bundles[2] = rogue

		var responses []*kdkg.ResponseBundle
		for _, h := range handlers[:2] {
			r, err := h.ProcessDeals(bundles)
			if err != nil {
				t.Fatal(err)
			}
			responses = append(responses, r)
		}
		if fastSync { // the colluders say that all is well
			for i := range uint32(2) {
				r := &kdkg.ResponseBundle{ShareIndex: 2 + i, SessionID: rogue.SessionID}
				for d := range uint32(4) {
					r.Responses = append(r.Responses, kdkg.Response{DealerIndex: d, Status: kdkg.Success})
				}
				responses = append(responses, r)
			}
		} else if responses[0] != nil || responses[1] != nil {
			t.Fatal("someone complained")
		} else {
			responses = nil
		}
		for i, h := range handlers[:2] {
			result, _, err := h.ProcessResponses(responses)
			if err != nil || result == nil {
				t.Fatalf("honest member %d does not finish: %v", i, err)
			}
			if !result.Key.Public().Equal(chosen) {
				t.Errorf("FastSync %v: honest member %d ends with another key than the rogue's", fastSync, i)
			}
		}
	}
}

// TestARogueDealerDoesNotChooseTheKey plays the same coalition here, members 3 and 4, with every proof it could come up with.
func TestARogueDealerDoesNotChooseTheKey(t *testing.T) {
	x := number("the rogue's key")
	for name, proof := range map[string]func(p *puppet, c []g1) []byte{
		"no proof":                   func(*puppet, []g1) []byte { return make([]byte, 64) },
		"an honest dealer's proof":   func(p *puppet, _ []g1) []byte { return p.c.view().bodies[kindDeal][1][3*48 : 3*48+64] },
		"a proof for the chosen key": func(p *puppet, c []g1) []byte { return p.prove(dealProofTag, c, x) },
		"a proof for zero":           func(p *puppet, c []g1) []byte { return p.prove(dealProofTag, c, new(big.Int)) },
		"a proof simulated for a challenge of its choice": func(p *puppet, c []g1) []byte {
			return append(bytes32(number("challenge")), bytes32(number("answer"))...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, 4, nil)
			rogue, accomplice := c.puppet(3), c.puppet(4)
			c.begin()
			rogue.play(kindAnnounce, rogue.announcement())
			accomplice.play(kindAnnounce, accomplice.announcement())
			accomplice.play(kindDeal, accomplice.deal())

			v := c.view()
			constant := base(x)
			for _, d := range []uint32{1, 2, 4} {
				other := v.commitments(d)[0]
				constant.Sub(&constant, &other)
			}
			shares := map[uint32]scalar{1: number("first share"), 2: number("second share"), 4: number("whatever")}
			y1, y2 := base(shares[1]), base(shares[2])
			half := new(big.Int).ModInverse(big.NewInt(2), order)
			lin := func(a, b, c int64) g1 {
				p := plus(times(mod(big.NewInt(a)), constant), times(mod(big.NewInt(b)), y1))
				return times(half, plus(p, times(mod(big.NewInt(c)), y2)))
			}
			commitments := []g1{constant, lin(-3, 4, -1), lin(1, -2, 1)}
			for _, h := range []uint32{1, 2} {
				if got, want := evalPoints(commitments, h), base(shares[h]); !got.Equal(&want) {
					t.Fatal("the attack is not the one that works against plain kyber")
				}
			}
			rogue.play(kindDeal, rogue.dealFrom(commitments, proof(rogue, commitments), func(h uint32) scalar { return shares[h] }))
			f := c.failed()
			if fmt.Sprint(f.Culprits) != "[3]" {
				t.Errorf("failure %+v, want culprit 3", f)
			}
			faultsOf(t, c, 3, "no proof that it knows its constant term")
		})
	}
}

// TestControlLostMessagesSplitPlainKyber: of n = 5 with threshold 3, one node misses one deal, and another misses the
// justification that follows. Both finish, without an error, with different keys.
func TestControlLostMessagesSplitPlainKyber(t *testing.T) {
	handlers, _ := plainKyber(t, 5, 3, false)
	deals := make([]*kdkg.DealBundle, 5)
	for i, h := range handlers {
		var err error
		if deals[i], err = h.Deals(); err != nil {
			t.Fatal(err)
		}
	}
	var complaints []*kdkg.ResponseBundle
	for i, h := range handlers {
		got := deals
		if i == 0 {
			got = deals[:4]
		}
		r, err := h.ProcessDeals(got)
		if err != nil {
			t.Fatal(err)
		}
		if r != nil {
			complaints = append(complaints, r)
		}
	}
	var justifications []*kdkg.JustificationBundle
	for _, h := range handlers {
		_, j, err := h.ProcessResponses(complaints)
		if err != nil {
			t.Fatal(err)
		}
		if j != nil {
			justifications = append(justifications, j)
		}
	}
	keys := map[string]int{}
	for i, h := range handlers {
		got := justifications
		if i == 1 {
			got = nil
		}
		result, err := h.ProcessJustifications(got)
		if err != nil {
			t.Fatal(err)
		}
		keys[result.Key.Public().String()]++
	}
	if len(keys) != 2 {
		t.Errorf("%d keys, want 2", len(keys))
	}
}

// TestLostMessagesDoNotSplit loses every bundle in turn on its way into the log, for good, and then every pair of one deal and one
// later bundle. A bundle is in the log for all or for none, so all end with one key, or with none.
func TestLostMessagesDoNotSplit(t *testing.T) {
	type loss struct {
		kind   byte
		author byte
	}
	var losses [][]loss
	for kind := byte(kindAnnounce); kind <= kindConfirm; kind++ {
		for _, author := range []byte{1, 3} {
			losses = append(losses, []loss{{kind, author}})
			if kind > kindDeal {
				losses = append(losses, []loss{{kindDeal, 5}, {kind, author}})
			}
		}
	}
	for _, lost := range losses {
		t.Run(fmt.Sprint(lost), func(t *testing.T) {
			c := newCluster(t, 5, func(cfg *dkg.Config) { cfg.Threshold, cfg.MinQual = 3, 4 })
			p := c.puppet(2) // complains falsely about 3, so that there are justifications to lose
			drop := func() {
				c.pool = slices.DeleteFunc(c.pool, func(e []byte) bool {
					return slices.Contains(lost, loss{e[0], e[68]})
				})
			}
			advance := func() {
				drop()
				c.flush()
				before := c.machines[5].Status().Phase
				c.timeout()
				drop()
				if c.machines[5].Status().Phase == before {
					c.flush()
				}
			}
			c.begin()
			for _, step := range []struct {
				kind int
				body func() []byte
			}{
				{kindAnnounce, p.announcement}, {kindDeal, p.deal}, {kindResponse, func() []byte { return p.response(3) }},
			} {
				if c.over() {
					break
				}
				c.order(p.entry(step.kind, step.body()))
				advance()
			}
			for range 5 {
				advance()
			}
			if c.machines[5].Failure() != nil {
				c.failed()
				return
			}
			c.outcome()
		})
	}
}
