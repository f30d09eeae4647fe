package partials_test

import (
	"fmt"
	"math/big"

	"github.com/daybreak-beacon/daybreak/partials"
	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// Three of four members make the key of a slot, although the first partial to arrive is bad. A ceremony (package dkg) makes
// group and shares so that nobody knows the polynomial; here it is written down.
func Example() {
	polynomial := []bls.Scalar{bls.ScalarFromUint64(11), bls.ScalarFromUint64(22), bls.ScalarFromUint64(33)}
	var commitments []bls.G1
	for _, c := range polynomial {
		commitments = append(commitments, bls.MulG1Secret(c))
	}
	ns, err := tlock.NewNamespace(big.NewInt(4217), [32]byte{1})
	if err != nil {
		panic(err)
	}
	group, err := partials.NewGroup(ns, 1, 4, commitments)
	if err != nil {
		panic(err)
	}

	slot := tlock.SlotIdentity(1790000000)
	prepared := partials.Prepare(ns, slot)
	pool := partials.NewPool(group, partials.DefaultLimits)
	for index := uint32(1); index <= 4; index++ {
		share, err := partials.NewShare(index, bls.EvalScalar(polynomial, index))
		if err != nil {
			panic(err)
		}
		part := share.Sign(prepared)
		if index == 1 {
			part.Sig = bls.G2Generator().Bytes()
		}
		envelope, err := partials.DecodeEnvelope(group.Seal(slot, part).Encode()) // over the network
		if err != nil {
			panic(err)
		}
		job, err := pool.Add(envelope.Identity, envelope.Partial)
		if err != nil {
			panic(err)
		}
		for job != nil {
			outcome := job.Run(nil) // on any goroutine
			var result partials.Result
			result, job = pool.Finish(outcome)
			if len(result.Blamed) > 0 {
				fmt.Println("after", index, "partials: to blame", result.Blamed)
			}
			if result.Key != nil {
				fmt.Println("after", index, "partials: key verifies:", group.Key().Verify(ns, slot, *result.Key) == nil)
			}
		}
	}
	// Output:
	// after 3 partials: to blame [1]
	// after 4 partials: key verifies: true
}
