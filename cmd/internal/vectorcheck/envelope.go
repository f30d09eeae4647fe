package vectorcheck

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func envelopeFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"envelope": checkEnvelope})
}

func checkEnvelope(raw json.RawMessage) error {
	var c struct {
		head
		ageTarget
		Epoch        decimal    `json:"epoch"`
		Coefficients []hexBytes `json:"coefficients"`
		Index        uint32     `json:"index"`
		Share        hexBytes   `json:"share"`
		Partial      hexBytes   `json:"partial"`
		Encoded      hexBytes   `json:"encoded"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	decoded, err := partials.DecodeEnvelope(c.Encoded)
	if !c.Valid || err != nil {
		return c.expect(err)
	}
	ns, id, err := c.resolve()
	if err != nil {
		return err
	}
	epoch, err := c.Epoch.uint64()
	if err != nil {
		return err
	}
	var polynomial []bls.Scalar
	for _, b := range c.Coefficients {
		a, err := bls.ScalarFromBytes(b)
		if err != nil {
			return err
		}
		polynomial = append(polynomial, a)
	}
	value := bls.EvalScalar(polynomial, c.Index)
	v := value.Bytes()
	share, err := partials.NewShare(c.Index, value)
	if err != nil {
		return err
	}
	part := share.Sign(partials.Prepare(ns, id))
	built := partials.Envelope{GenesisHash: ns.GenesisHash(), Epoch: epoch, Identity: id, Partial: part}
	if decoded != built {
		return fmt.Errorf("encoded decodes to %+v, the fields make %+v", decoded, built)
	}
	return errors.Join(same("share", v[:], c.Share), same("partial", part.Sig[:], c.Partial), same("encoded", built.Encode(), c.Encoded))
}
