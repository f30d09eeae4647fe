package tlock_test

import (
	"errors"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/daybreak-beacon/daybreak/tlock"
	"github.com/daybreak-beacon/daybreak/tlock/bls"
)

// wantClass demands an error of exactly one class.
func wantClass(t *testing.T, name string, err, class error) {
	t.Helper()
	for _, c := range []error{tlock.ErrMalformed, tlock.ErrWrongKey, tlock.ErrTampered} {
		if got, want := errors.Is(err, c), c == class; got != want {
			t.Errorf("%s: error %v is of class %v: %v, want %v", name, err, c, got, want)
		}
	}
}

// network returns a group of one with its secret, for tests that need no particular one.
func network(t testing.TB) (tlock.Namespace, tlock.GroupKey, bls.Scalar) {
	t.Helper()
	ns, err := tlock.NewNamespace(big.NewInt(31337), [32]byte{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	secret, err := bls.RandomScalar()
	if err != nil {
		t.Fatal(err)
	}
	gk, err := tlock.GroupKeyFromPoint(bls.MulG1Secret(secret))
	if err != nil {
		t.Fatal(err)
	}
	return ns, gk, secret
}

// keyOf signs id with the whole secret.
func keyOf(t testing.TB, ns tlock.Namespace, secret bls.Scalar, id tlock.Identity) tlock.Key {
	t.Helper()
	k, err := tlock.KeyFromPoint(ns.Point(id).Mul(secret))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// twoCores is a Runner on two goroutines.
func twoCores(n int, f func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
