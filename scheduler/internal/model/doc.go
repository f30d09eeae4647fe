// Package model checks the scheduler against a second one. Everything but this comment is test code.
//
// The model (files model_*_test.go) is a plain program over maps, slices and big integers. It was written from document 002 and
// the format of replay scripts, without a look at the machine, shares no code with it, and stores nothing cleverly: what follows from
// other state is counted anew each time. Sealing is done with another curve library.
//
// The tests draw scripts that aim at corners (generate_test.go), let the model and the machine's replay print their lines, and compare
// them; they watch the machine's state between the blocks for the invariants (invariants_test.go); they run the same script with other
// numbers of cores and from exported states (determinism_test.go). What differs is cut down (shrink_test.go) to a script that
// `beacond replay` runs.
package model
