package vectorcheck

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock"
)

// predicate is the condition of a case.
type predicate struct {
	Payer    hexBytes `json:"payer"`
	Slot     decimal  `json:"slot"`
	ItemName *string  `json:"item_name"` // of some: keccak256(item_name) = item
	Item     hexBytes `json:"item"`
	Kind     uint8    `json:"kind"`
	Operand  decimal  `json:"operand"`
}

func (p predicate) condition() (c tlock.Condition, err error) {
	operand, err := p.Operand.big()
	if err != nil || operand.Sign() < 0 || operand.BitLen() > 256 {
		return c, fmt.Errorf("operand %q is not a number of 256 bits", p.Operand)
	}
	operand.FillBytes(c.Operand[:])
	if c.Payer, err = array[[20]byte]("payer", p.Payer); err != nil {
		return c, err
	}
	if c.Item, err = array[[32]byte]("item", p.Item); err != nil {
		return c, err
	}
	if p.ItemName != nil {
		if err := same("item", keccak256([]byte(*p.ItemName)), p.Item); err != nil {
			return c, err
		}
	}
	c.Kind = p.Kind
	c.NotBefore, err = p.Slot.uint64()
	return c, err
}

// conditionPreimage spells out S-SCO-01.
func conditionPreimage(c tlock.Condition) []byte {
	return bytes.Join([][]byte{
		[]byte("metal-condition-v1"), c.Payer[:], c.Item[:], {c.Kind}, c.Operand[:], binary.BigEndian.AppendUint64(nil, c.NotBefore),
	}, nil)
}

func conditionFile(raw []byte) ([]testCase, error) {
	return caseFile(raw, checks{"condition": checkCondition})
}

func checkCondition(raw json.RawMessage) error {
	var c struct {
		head
		network
		predicate
		secretKey
		Preimage  hexBytes `json:"preimage"`
		Condition hexBytes `json:"condition"`
		GroupKey  hexBytes `json:"group_key"`
		Q         hexBytes `json:"q"`
		Key       hexBytes `json:"key"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	condition, err := c.condition()
	if err != nil {
		return err
	}
	id, err := condition.Identity()
	if err == nil {
		err = same("condition", id.Bytes(), c.Condition)
	}
	if !c.Valid || err != nil {
		return c.expect(err)
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	q := ns.Point(id).Bytes()
	_, _, err = verifiedKey(ns, id, c.GroupKey, c.Key)
	return errors.Join(err,
		same("preimage", conditionPreimage(condition), c.Preimage),
		same("q", q[:], c.Q),
		c.secretKey.check(ns, id, c.GroupKey, c.Key),
	)
}
