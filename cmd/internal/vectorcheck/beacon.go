package vectorcheck

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

func beaconFile(raw []byte) ([]testCase, error) {
	groups, err := thresholdGroups(raw)
	if err != nil {
		return nil, err
	}
	return caseFile(raw, checks{
		"leb128":           checkLEB128,
		"namespace":        checkNamespace,
		"hash_to_g2":       checkHashToG2,
		"group_key":        checkGroupKey,
		"key":              checkKey,
		"threshold":        checkThreshold,
		"partial":          checkPartial,
		"recover":          groups.checkRecover,
		"recover_skipping": groups.checkRecoverSkipping,
	})
}

func checkLEB128(raw json.RawMessage) error {
	var c struct {
		head
		Value   decimal  `json:"value"`
		Encoded hexBytes `json:"encoded"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	v, err := c.Value.uint64()
	if err != nil {
		return err
	}
	return c.expect(same("encoded", binary.AppendUvarint(nil, v), c.Encoded))
}

func checkNamespace(raw json.RawMessage) error {
	var c struct {
		head
		network
		Namespace hexBytes `json:"namespace"`
		Length    int      `json:"namespace_length"`
		Prefixed  hexBytes `json:"prefixed"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, err := c.namespace()
	if err != nil {
		return err
	}
	if c.Length != len(c.Namespace) {
		return fmt.Errorf("namespace_length is %d, namespace has %d bytes", c.Length, len(c.Namespace))
	}
	message := ns.Message(tlock.SlotIdentity(0))
	return c.expect(errors.Join(
		same("namespace", ns.Bytes(), c.Namespace),
		same("prefixed", message[:len(message)-8], c.Prefixed),
	))
}

func checkHashToG2(raw json.RawMessage) error {
	var c struct {
		head
		target
		Namespace hexBytes `json:"namespace"`
		Message   hexBytes `json:"message"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolve()
	if err != nil {
		return err
	}
	if err := same("namespace", ns.Bytes(), c.Namespace); err != nil {
		return err
	}
	q := ns.Point(id).Bytes()
	return c.expect(errors.Join(same("message", ns.Message(id), c.Message), same("q", q[:], c.Q)))
}

func checkGroupKey(raw json.RawMessage) error {
	var c struct {
		head
		secretKey
		GroupKey hexBytes `json:"group_key"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	gk, err := tlock.ParseGroupKey(c.GroupKey)
	if err == nil {
		b := gk.Bytes()
		err = errors.Join(same("group_key", b[:], c.GroupKey), c.secretKey.check(tlock.Namespace{}, tlock.Identity{}, c.GroupKey, nil))
	}
	return c.expect(err)
}

func checkKey(raw json.RawMessage) error {
	var c struct {
		head
		target
		secretKey
		GroupKey hexBytes `json:"group_key"`
		Key      hexBytes `json:"key"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return err
	}
	if _, err := tlock.ParseGroupKey(c.GroupKey); err != nil {
		return err
	}
	_, _, err = verifiedKey(ns, id, c.GroupKey, c.Key)
	if c.Valid && err == nil {
		err = c.secretKey.check(ns, id, c.GroupKey, c.Key)
	}
	return c.expect(err)
}

// checkPartial verifies one partial against one public share; these cases name no group.
func checkPartial(raw json.RawMessage) error {
	var c struct {
		head
		target
		Index     int      `json:"index"`
		PublicKey hexBytes `json:"public_key"`
		Partial   hexBytes `json:"partial"`
	}
	if err := strict(raw, &c); err != nil {
		return err
	}
	ns, id, err := c.resolvePoint()
	if err != nil {
		return err
	}
	share, err := bls.DecodeG1(c.PublicKey)
	if err != nil {
		return err
	}
	sig, err := bls.DecodeG2(c.Partial)
	if err == nil && !bls.VerifyG2(share, bls.Prepare(ns.Point(id)), sig) {
		err = errors.New("the partial does not verify")
	}
	return c.expect(err)
}
