package dkg

import (
	"errors"
	"fmt"
	"slices"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
	"github.com/drand/kyber"
	"github.com/drand/kyber/share"
	kdkg "github.com/drand/kyber/share/dkg"
	"github.com/drand/kyber/sign"
)

// participant is the secret side of a member that takes part: kyber's handler, which makes, opens and adds up shares, and is
// shown only what the board counts. What it believes about others decides nothing; it must end with the share that the board's
// public polynomial demands, or its member ends without one.
type participant struct {
	cfg     *Config
	id      ID
	handler *kdkg.DistKeyGenerator
	// mirror is the handler's own polynomial, picked again from an equal stream, since kyber does not show it.
	mirror *share.PriPoly
	result *kdkg.Result
}

// kyber counts from 0 and evaluates at index+1.
func toKyber(index uint32) uint32   { return index - 1 }
func fromKyber(index uint32) uint32 { return index + 1 }

// unsigned stands in for kyber's signatures of bundles: the envelope is signed, by the network key, and says more.
type unsigned struct{ sign.Scheme }

func (unsigned) Sign(kyber.Scalar, []byte) ([]byte, error) { return nil, nil }

func encryptionKey(cfg *Config, id ID) bls.Scalar { return cfg.Seed.scalar(id, "encryption key") }

func announce(cfg *Config, id ID) announcement {
	secret := encryptionKey(cfg, id)
	key := bls.MulG1Secret(secret)
	stmt := statement(id, cfg.Self, []bls.G1{key})
	return announcement{key: key, proof: prove(cfg.Seed.derive(id, "proof nonces", 32), keyProofTag, stmt, secret)}
}

func newParticipant(b *board) (*participant, error) {
	members := b.participants()
	nodes := make([]kdkg.Node, len(members))
	for i, m := range members {
		nodes[i] = kdkg.Node{Index: toKyber(m), Public: kyberPoint(*b.keys[m-1])}
	}
	const purpose = "polynomial"
	handler, err := kdkg.NewDistKeyHandler(&kdkg.Config{
		Suite:     &suite{b.cfg.Seed.stream(b.id, purpose)},
		Longterm:  kyberScalar(encryptionKey(b.cfg, b.id)),
		NewNodes:  nodes,
		Threshold: b.cfg.Threshold,
		Nonce:     b.id[:],
		Auth:      unsigned{},
		// Not FastSync, which takes silence for a complaint: the dealers would publish the shares of a member whose response
		// is late, and with t-1 corrupt members that is one share too many.
		FastSync: false,
	})
	if err != nil {
		return nil, err
	}
	again := &suite{b.cfg.Seed.stream(b.id, purpose)}
	mirror := share.NewPriPoly(again, b.cfg.Threshold, nil, again.RandomStream())
	return &participant{cfg: b.cfg, id: b.id, handler: handler, mirror: mirror}, nil
}

// deal returns the own deal.
func (p *participant) deal() (deal, error) {
	bundle, err := p.handler.Deals()
	if err != nil {
		return deal{}, err
	}
	_, commits := p.mirror.Commit(nil).Info()
	d := deal{commitments: make([]bls.G1, len(bundle.Public)), shares: make([][]byte, len(bundle.Deals))}
	for i, c := range bundle.Public {
		if !c.Equal(commits[i]) {
			return deal{}, errors.New("kyber dealt from another polynomial than its stream gives")
		}
		d.commitments[i] = pointOf(c)
	}
	for i, s := range bundle.Deals { // ascending: kyber deals in the order of its nodes
		d.shares[i] = s.EncryptedShare
	}
	stmt := statement(p.id, p.cfg.Self, d.commitments)
	d.proof = prove(p.cfg.Seed.derive(p.id, "proof nonces", 32), dealProofTag, stmt, scalarOf(p.mirror.Secret()))
	return d, nil
}

// judge opens the deals and returns the dealers whose deal gave this member no good share.
func (p *participant) judge(b *board) (complaints []uint32, err error) {
	members := b.participants()
	var bundles []*kdkg.DealBundle
	for _, dealer := range members {
		if dealer == p.cfg.Self {
			continue
		}
		bundle := &kdkg.DealBundle{DealerIndex: toKyber(dealer)}
		if d := b.deals[dealer-1]; d != nil {
			bundle.SessionID = p.id[:]
			for _, c := range d.commitments {
				bundle.Public = append(bundle.Public, kyberPoint(c))
			}
			at := slices.Index(slices.DeleteFunc(slices.Clone(members), func(m uint32) bool { return m == dealer }), p.cfg.Self)
			bundle.Deals = []kdkg.Deal{{ShareIndex: toKyber(p.cfg.Self), EncryptedShare: d.shares[at]}}
		} // else kyber evicts the dealer, for the bundle lacks the ceremony's id
		bundles = append(bundles, bundle)
	}
	response, err := p.handler.ProcessDeals(bundles)
	if err != nil || response == nil {
		return nil, err
	}
	for _, r := range response.Responses {
		complaints = append(complaints, fromKyber(r.DealerIndex))
	}
	return complaints, nil
}

// answer takes in the complaints and returns the shares of those who complained about this member, if any did.
func (p *participant) answer(b *board) ([]bls.Scalar, error) {
	bundles := make(map[uint32]*kdkg.ResponseBundle, b.n)
	var order []*kdkg.ResponseBundle
	for i, holders := range b.complaints {
		for _, h := range holders {
			if h == p.cfg.Self {
				continue
			}
			if bundles[h] == nil {
				bundles[h] = &kdkg.ResponseBundle{ShareIndex: toKyber(h), SessionID: p.id[:]}
				order = append(order, bundles[h])
			}
			bundles[h].Responses = append(bundles[h].Responses, kdkg.Response{DealerIndex: uint32(i), Status: kdkg.Complaint})
		}
	}
	result, justification, err := p.handler.ProcessResponses(order)
	if err != nil {
		return nil, err
	}
	p.result = result
	if justification == nil {
		return nil, nil
	}
	own := make(map[uint32]bls.Scalar, len(justification.Justifications))
	for _, j := range justification.Justifications {
		own[fromKyber(j.ShareIndex)] = scalarOf(j.Share)
	}
	var shares []bls.Scalar
	for _, h := range b.complaints[p.cfg.Self-1] {
		s, ok := own[h]
		if !ok {
			return nil, fmt.Errorf("kyber does not justify the share of member %d, who complained", h)
		}
		shares = append(shares, s)
	}
	return shares, nil
}

// finish takes in the justifications and returns the member's share and its confirmation.
func (p *participant) finish(b *board) (partials.Share, *confirmation, error) {
	if p.result == nil {
		result, err := p.handler.ProcessJustifications(p.justifications(b))
		if err != nil {
			return partials.Share{}, nil, err
		}
		p.result = result
	}
	secret := scalarOf(p.result.Key.Share.V)
	if !slices.Contains(b.qual, p.cfg.Self) {
		// kyber never doubts its own deal. If the log does (it came too late, or its justification did), the group's polynomial
		// is without it, and so is the share.
		secret = secret.Sub(scalarOf(p.mirror.Eval(int(toKyber(p.cfg.Self))).V))
	}
	s, err := partials.NewShare(p.cfg.Self, secret)
	if err == nil {
		err = s.Check(b.group)
	}
	if err != nil {
		return partials.Share{}, nil, err
	}
	return s, &confirmation{
		transcript: b.transcript,
		key:        b.group.Key().Bytes(),
		sig:        s.Sign(b.toConfirm).Sig,
	}, nil
}

func (p *participant) justifications(b *board) []*kdkg.JustificationBundle {
	var out []*kdkg.JustificationBundle
	for i, shares := range b.justified {
		if shares == nil || uint32(i+1) == p.cfg.Self {
			continue
		}
		j := &kdkg.JustificationBundle{DealerIndex: uint32(i), SessionID: p.id[:]}
		for k, h := range b.complaints[i] {
			j.Justifications = append(j.Justifications, kdkg.Justification{ShareIndex: toKyber(h), Share: kyberScalar(shares[k])})
		}
		out = append(out, j)
	}
	return out
}
