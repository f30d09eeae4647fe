// Package tlock seals bytes to a moment or a condition, and opens them once it has come.
//
// A Daybreak network's validators hold one BLS12-381 key together that nobody knows whole. When a slot (one second,
// named by its Unix time) is over, or a condition has been met on chain, they sign its identity. The signature is the
// identity's key: public from then on, and until then computable by nobody. Sealing needs only the group's public key,
// no network access and no permission.
//
// # Protocol
//
// The encryption is Boneh-Franklin with the Fujisaki-Okamoto transform, exactly as document 002 "Timelock key encoding"
// has it; PK is the group key in G1, K the key in G2.
//
//  1. Q = hash_to_G2(varint(79) || ns || id), ns naming chain and genesis; K is the group's secret times Q.
//  2. Seal M, 32 bytes: draw sigma; r = H3(sigma, M); U = r*G1; V = sigma xor H2(e(PK, Q)^r); W = M xor H4(sigma).
//     The ciphertext is U || V || W, 112 bytes.
//  3. Open: sigma = V xor H2(e(U, K)), M = W xor H4(sigma); accept only if H3(sigma, M)*G1 is U to the byte.
//
// What is longer than 32 bytes is encrypted under a random data key, and the data key is sealed. SealCalls does that
// for the calls of a scheduled entry (document 002 "Encrypted payloads"), package tlockage for files.
//
// # Use
//
// Namespace and GroupKey come from a network file (ParseNetwork). SlotAt turns a time into a slot, never an early one.
// Encrypt and Decrypt handle one message; Sealer (many to one identity) and Opener (many under one key) share the work.
// A key from an untrusted source goes through GroupKey.Verify first. Errors have one of three classes: ErrMalformed,
// ErrWrongKey, ErrTampered.
//
// The package is pure: no clock, goroutine, log or I/O, apart from crypto/rand. It needs cgo, for blst.
//
// # Security
//
// Assumed: fewer than t = floor(2n/3)+1 of n validators collude, and the group key is authentic; who can swap the group
// key or genesis hash reads everything sealed with it. Then a ciphertext hides its message until the key is out, against
// chosen ciphertexts too (random oracle model, bilinear Diffie-Hellman). It is not anonymous: the identity travels
// beside it. Anyone can seal, so opening authenticates no sender. Once t validators collude, or a key is out, everything
// sealed to that identity, however long ago, is open: there is no forward secrecy beyond the moment itself.
//
// Every decoder is strict: points canonical, in the group, not the identity; one encoding for one value. That is not
// only hygiene: two nodes that disagree on whether a payload opens would split the chain. The scalar r is secret when
// sealing and handled in constant time; when opening everything is public.
//
// # Limits
//
// Messages have 32 bytes, payloads at most 4092. There is no revocation: what is sealed opens. Vectors for every format
// are in the module's folder vectors.
package tlock
