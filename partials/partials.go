// Package partials makes the key of an identity out of its members' partial signatures.
//
// A Group shares one BLS12-381 secret among n members so that nobody knows it: member i, 1..n, holds the value at i of a
// secret polynomial of degree threshold-1, its Share; the group's secret is the value at 0. The points of the polynomial's
// coefficients, its commitments, are public, and so are the public shares that follow from them. A partial is a member's
// share times the identity's point Q; threshold partials of different members interpolate to the group's secret times Q,
// which is the identity's key: a BLS signature that anyone can verify, the same whichever members took part (I-38).
//
// # Protocol
//
//  1. A member that may release an identity prepares it (Prepare), signs it (Share.Sign) and publishes an Envelope.
//  2. A peer decodes the envelope, checks that it is of its chain and epoch (Group.Admit) and that its author is the member
//     whose index it carries. In small groups it also verifies the partial (Group.VerifyPartial) before it relays it.
//  3. It adds the partial to its Pool. As soon as threshold partials of an identity are there, Pool.Add returns a Job.
//  4. Job.Run, a pure function for any goroutine, decodes the partials without checking their subgroup, interpolates, and
//     verifies the result once. That is all if nobody cheats.
//  5. If the result does not verify, Run checks the partials themselves: subgroup, then all at once in a random linear
//     combination, then by halves until every bad one is found. It takes others in their place and goes on as soon as
//     threshold good ones are there.
//  6. Pool.Finish takes the outcome in: the key, or who is to blame. Whoever was to blame is left out of the first threshold
//     from then on, so that a member can slow recovery down once and not at every slot.
//
// Recover does steps 4 and 5 without a Pool.
//
// # Security
//
// Fewer than threshold shares say nothing about a key. No number of bad partials yields a wrong key: a result is accepted
// only if it verifies under the group key, and the valid signature is unique; so it does no harm that in step 4 the points may
// lie outside of the subgroup. Up to n-threshold bad partials do not stop recovery (S-BEA-06). Nobody is blamed by
// inference: a blamed partial did not decode, lies outside of the subgroup, or failed its own pairing check. Partials that
// cancel out in a plain sum do not pass step 5, which weighs each by a random number of about 127 bits, drawn from crypto/rand
// after the partials are fixed; a bad batch passes with a chance of about 2^-127. These numbers are the only randomness here
// and never change a result, only, with that chance, the work.
//
// Who sent a partial is for the caller to know: a Pool believes the index it is given, so it may only be given partials whose
// author was authenticated. Otherwise anyone could get a member blamed, or take its place.
//
// Signing is constant time in the share. A Share prints as "redacted" however it is printed. Recovered keys, public shares and
// partials are public and are handled in variable time.
//
// # Limits
//
// At most MaxMembers members. The package has no clock, goroutine, lock, log or file: a Pool is a serial machine for
// one caller at a time, and where work can use more than one core the caller passes a Runner. The threshold, partial and
// recovery cases of beacon.json in package vectors hold for it, and envelope.json.
package partials

import (
	"github.com/daybreak-beacon/daybreak/tlock"
)

// MaxMembers bounds n: a size check for decoders. A group of that size takes seconds to set up.
const MaxMembers = 1024

// Threshold returns floor(2n/3)+1, how many of n members make a key (S-BEA-07): n-t members may be down or lie, and t-1 may be
// corrupt without being able to open anything.
func Threshold(n int) int { return 2*n/3 + 1 }

// each calls f for 0..n-1 through run, or one after the other if run is nil.
func each(run tlock.Runner, n int, f func(i int)) {
	if run != nil && n > 1 {
		run(n, f)
		return
	}
	for i := range n {
		f(i)
	}
}
