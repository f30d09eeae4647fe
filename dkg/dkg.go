// Package dkg makes a key that nobody knows whole: n members run a ceremony and end with a partials.Group and one Share each.
//
// It is a pure machine. The members share a log, the chain's, whose entries all of them see in the same order. A member's
// Machine takes the entries one by one (Apply) and says what the member wants to add. Time comes in as a call of Timeout. What
// a ceremony ends with is a function of the configuration and the log; whoever replays the log, member or not, gets the same.
// drand/kyber's share/dkg deals, opens and adds up the shares; what counts is decided here, from the log alone.
//
// # Protocol
//
// Each entry is an envelope signed by its author's network key. It names the ceremony and, by a hash, all that counted before
// its phase. The first bundle of a member in a phase is the one that counts.
//
//  1. Announce. Each member publishes an encryption key made for this ceremony and a proof that it knows its secret. Who
//     does is a participant.
//  2. Deal. Each participant draws a secret polynomial of degree threshold-1 and publishes commitments to it, a proof that it
//     knows the constant term, and for every other participant its share, encrypted.
//  3. Response. Each participant opens its shares, checks them against the commitments, and publishes whose were not good:
//     usually nobody's.
//  4. Justification, only if someone complained. The dealer publishes the shares of those who did; all check them. A dealer
//     whose deal is good and who answered all complaints qualifies. Threshold complaints cannot be answered, for that would
//     publish the polynomial.
//  5. The qualified dealers' commitments add up to the group, and so do the shares. Confirm: each participant signs the hash
//     of the transcript and the group key with its network key and with its new share. As soon as threshold confirmations that
//     verify are in the log, the ceremony is done.
//
// A phase ends when everyone who has a bundle to give in it has given one, or when threshold members have signed, as entries,
// that it lasts too long. If fewer than MinQual members announced, dealt or qualified, or fewer than threshold confirmed, the
// ceremony fails, all nodes name the same culprits, and a new attempt can follow under another id.
//
// Two different bundles of one member in one phase are evidence against it (Fault) and change nothing: the first counts. A
// bundle that is signed and makes no sense, such as a deal whose proof fails, counts as given and is worth nothing; it is
// evidence too. Bundles of phases that are over or have not begun, copies, and entries of other ceremonies change nothing.
//
// # Restart
//
// A member's secrets are a function of its Seed and the ceremony's id: HKDF-SHA256 gives the encryption key, the stream from
// which polynomial and ephemeral keys are picked, and the key of the proofs' nonces. A member that restarts makes its Machine
// again, applies the log from the start, and proposes what Pending says: the bytes are the same as before. If the log holds a
// bundle of its own that its seed does not give, it has lost its seed or runs twice, and goes on as an observer (Status).
// After the end, once the share is stored, the caller erases the seed, and with it all that can open the deals in the log.
// The machine drops its copies itself; Go cannot promise that memory is wiped.
//
// # Security
//
// Fewer than threshold corrupt members, who see everything first and delay what they like, learn nothing of the group's
// secret beyond its public key, and do not choose that key:
//
//   - A dealer proves that it knows its constant term, bound to ceremony and index. Without it, a coalition of n-threshold+1
//     that deals last could pick commitments that cancel out the others' and make the group key its own. It can still drop out
//     or pick among polynomials after it has seen the others' commitments, and so bias a few bits of the key, which hurts no
//     signature or encryption.
//   - MinQual is above the threshold (for n >= 4): at least two of the dealers that make up the key are honest.
//   - A share of an honest dealer is published only if its receiver signed a complaint. Silence is no complaint: a member whose
//     response is late loses the right to complain, not its secrets. (This is why kyber's FastSync is not used.)
//   - The proof in the announcement keeps anyone from announcing another's encryption key, and points are refused that are
//     the identity or outside of the subgroup.
//   - threshold confirmations mean that so many members hold shares that work, and see one transcript.
//
// Members that are honest and in time cannot be made to end with different groups: there is one log. Raft, which orders it,
// trusts its leader; if a leader shows different logs, entries made upon one count for nothing in the other (ErrFork), so that
// no member can be led to complain about a deal that was good for another list of participants, and threshold confirmations do
// not come together twice unless 2*threshold-n members confirm both. Apart from that a leader can delay a ceremony, or
// leave entries out until timeouts make it fail.
//
// # Limits
//
// At most MaxMembers members; for n < 4 no fault is tolerated: all must deal. The network must deliver within the
// caller's timeouts, or attempts fail. A false complaint and a bad ciphertext look alike, so neither is blamed; the dealer just
// has to answer. A member that did not announce in time has no share until the key is dealt again. Resharing is not built yet.
//
// ceremony.json in package vectors holds a whole ceremony under fixed seeds.
package dkg
