// Package replay drives the scheduler by a script, on its in-memory host: without network, consensus, clock or randomness. The same
// script gives the same output, byte for byte, on every machine. Chain integrators reproduce a block with it by hand; tests compare
// its output with independent models.
//
// A script is JSON lines: a genesis (Genesis), then one line for each block (Block). The output is JSON lines too: one for each block
// (BlockLine), then one for the state that is left (FinalLine). README.md describes both, with examples.
//
//  1. Parse or Reader read a script. Unknown and repeated fields, numbers in another form than they are written in, and anything out
//     of its range are errors that name line and field.
//  2. Player plays it block by block; Run and Stream play all of it.
//  3. The lines' Encode writes the output in its one canonical form.
//
// # Security
//
// A script holds the secret of its chain's group key, so that it can name keys: it is for trials, and its secret must be nobody's.
// No error repeats it.
//
// # Limits
//
// A line has at most MaxLine bytes. Gas is not metered: a call that comes back to the scheduler costs none, and a run fails as out of
// gas only if its calls declare more than the entry's gas limit.
package replay
