package vectorcheck

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// wirePartial is one partial of a case. Its index counts from 0; ours from 1.
type wirePartial struct {
	Index   uint32   `json:"index"`
	Partial hexBytes `json:"partial"`
}

type thresholdCase struct {
	head
	target
	Threshold    int        `json:"threshold"`
	Participants int        `json:"participants"`
	Coefficients []hexBytes `json:"coefficients"`
	Commitments  []hexBytes `json:"commitments"`
	GroupSecret  hexBytes   `json:"group_secret"`
	GroupKey     hexBytes   `json:"group_key"`
	Shares       []struct {
		Index     uint32   `json:"index"`
		X         decimal  `json:"x"`
		Value     hexBytes `json:"value"`
		PublicKey hexBytes `json:"public_key"`
	} `json:"shares"`
	Partials   []wirePartial `json:"partials"`
	Key        hexBytes      `json:"key"`
	Recoveries []struct {
		Indices   []uint32   `json:"indices"`
		Valid     bool       `json:"valid"`
		Reason    string     `json:"reason"`
		Lagrange  []hexBytes `json:"lagrange"`
		Recovered hexBytes   `json:"recovered"`
	} `json:"recoveries"`
}

func (c *thresholdCase) group() (*partials.Group, error) {
	ns, err := c.namespace()
	if err != nil {
		return nil, err
	}
	var commitments []bls.G1
	for i, b := range c.Commitments {
		p, err := bls.DecodeG1(b)
		if err != nil {
			return nil, fmt.Errorf("commitment %d: %w", i, err)
		}
		commitments = append(commitments, p)
	}
	return partials.NewGroup(ns, 1, c.Participants, commitments)
}

func checkThreshold(raw json.RawMessage) error {
	var c thresholdCase
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return err
	}
	g, err := c.group()
	if err != nil {
		return err
	}
	if c.Threshold != g.Threshold() || len(c.Coefficients) != c.Threshold || len(c.Shares) != c.Participants || len(c.Partials) != c.Participants {
		return errors.New("threshold, coefficients, commitments, shares, partials or participants do not agree in number")
	}
	if _, _, err := verifiedKey(ns, id, c.GroupKey, c.Key); err != nil {
		return err
	}
	return c.expect(all(
		func() error { return c.checkPolynomial(g) },
		func() error { return c.checkShares(g, partials.Prepare(ns, id)) },
		func() error { return c.checkRecoveries(g, partials.Prepare(ns, id)) },
	))
}

func (c *thresholdCase) checkPolynomial(g *partials.Group) error {
	for i, b := range c.Coefficients {
		a, err := bls.ScalarFromBytes(b)
		if err != nil {
			return fmt.Errorf("coefficient %d: %w", i, err)
		}
		p := bls.MulG1Secret(a).Bytes()
		if err := same(fmt.Sprintf("commitment %d", i), p[:], c.Commitments[i]); err != nil {
			return err
		}
	}
	gk := g.Key().Bytes()
	return errors.Join(same("group_secret", c.Coefficients[0], c.GroupSecret), same("group_key", gk[:], c.GroupKey))
}

func (c *thresholdCase) checkShares(g *partials.Group, p *partials.Prepared) error {
	for i, s := range c.Shares {
		x := uint32(i) + 1
		if s.Index != x-1 || s.X != decimal(fmt.Sprint(x)) || c.Partials[i].Index != s.Index {
			return fmt.Errorf("share %d: index or x is another's", i)
		}
		value := bls.EvalScalar(c.scalars(), x)
		v, public := value.Bytes(), bls.EvalG1(g.Commitments(), x).Bytes()
		share, err := partials.NewShare(x, value)
		if err != nil {
			return fmt.Errorf("share %d: %w", i, err)
		}
		sig := share.Sign(p)
		if err := errors.Join(
			same("value", v[:], s.Value),
			same("public_key", public[:], s.PublicKey),
			same("partial", sig.Sig[:], c.Partials[i].Partial),
			share.Check(g),
			g.VerifyPartial(p, sig),
		); err != nil {
			return fmt.Errorf("share %d: %w", i, err)
		}
	}
	return nil
}

// scalars returns the coefficients, which checkPolynomial has decoded once already.
func (c *thresholdCase) scalars() []bls.Scalar {
	out := make([]bls.Scalar, len(c.Coefficients))
	for i, b := range c.Coefficients {
		out[i], _ = bls.ScalarFromBytes(b)
	}
	return out
}

func (c *thresholdCase) checkRecoveries(g *partials.Group, p *partials.Prepared) error {
	for i, r := range c.Recoveries {
		var used []wirePartial
		for _, index := range r.Indices {
			if int(index) >= len(c.Partials) {
				return fmt.Errorf("recovery %d: no partial %d", i, index)
			}
			used = append(used, c.Partials[index])
		}
		sum, lagrange, err := interpolate(used)
		if err != nil || len(lagrange) != len(r.Lagrange) {
			return fmt.Errorf("recovery %d: %d coefficients recorded, %d partials used: %w", i, len(r.Lagrange), len(lagrange), err)
		}
		for j := range lagrange {
			l := lagrange[j].Bytes()
			if err := same("lagrange", l[:], r.Lagrange[j]); err != nil {
				return fmt.Errorf("recovery %d: %w", i, err)
			}
		}
		if err := same("recovered", sum[:], r.Recovered); err != nil {
			return fmt.Errorf("recovery %d: %w", i, err)
		}
		k, _, err := recoverKey(g, p, used)
		if err == nil {
			err = same("key", k, c.Key)
		}
		h := head{Valid: r.Valid, Reason: r.Reason}
		if err := h.expect(err); err != nil {
			return fmt.Errorf("recovery %d: %w", i, err)
		}
	}
	return nil
}

// interpolate sums the partials with their Lagrange coefficients at 0, without any check of the result.
func interpolate(used []wirePartial) (sum [bls.G2Size]byte, lagrange []bls.Scalar, err error) {
	var xs []uint32
	var points []bls.G2
	for _, u := range used {
		p, err := bls.DecodeG2(u.Partial)
		if err != nil {
			return sum, nil, err
		}
		xs, points = append(xs, u.Index+1), append(points, p)
	}
	if lagrange, err = bls.LagrangeAtZero(xs); err != nil {
		return sum, nil, err
	}
	return bls.MSMG2(points, lagrange).Bytes(), lagrange, nil
}

// recoverKey recovers as a validator does: decode, recover, verify. It also returns the indices blamed, from 0.
func recoverKey(g *partials.Group, p *partials.Prepared, used []wirePartial) (key []byte, bad []uint32, err error) {
	parts, err := ours(used)
	if err != nil {
		return nil, nil, err
	}
	k, blamed, err := g.Recover(p, parts, nil)
	if err != nil {
		return nil, blamed, err
	}
	b := k.Bytes()
	return b[:], blamed, nil
}

func ours(used []wirePartial) ([]partials.Partial, error) {
	var out []partials.Partial
	for _, u := range used {
		if len(u.Partial) != bls.G2Size {
			return nil, fmt.Errorf("partial %d has %d bytes, want %d", u.Index, len(u.Partial), bls.G2Size)
		}
		out = append(out, partials.Partial{Index: u.Index + 1, Sig: [bls.G2Size]byte(u.Partial)})
	}
	return out, nil
}
