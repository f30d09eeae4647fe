package model

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/daybreak-beacon/daybreak/scheduler/replay"
)

// onEveryCore is a Runner with a goroutine for each of GOMAXPROCS.
func onEveryCore(n int, f func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				f(i)
			}
		})
	}
	wg.Wait()
}

// TestDeterminism plays the same scripts on one core and on two, with a Runner that uses them and without, throws a proposer's block
// away before making it again, and goes on from exported states: the lines are the same, with the state hash of every block.
func TestDeterminism(t *testing.T) {
	t.Run("I-33 the same blocks give the same state, receipts and events", func(t *testing.T) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
		scripts := 0
		rapid.Check(t, func(t *rapid.T) {
			if scripts++; scripts > 40 {
				return
			}
			seed := seeds.Draw(t, "seed")
			s, _, _ := generate(dice{rand.NewChaCha8(seed)}, blocksPerScript)
			runtime.GOMAXPROCS(1)
			plain, err := machine(s, func(*replay.Player) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, cores := range []int{1, 2} {
				runtime.GOMAXPROCS(cores)
				d := dice{rand.NewChaCha8(seed)}
				got, err := machine(s, func(p *replay.Player) {
					p.UseRunner(onEveryCore)
					p.Observe(func(step replay.Step) {
						switch {
						case step.At == replay.Begun && d.intn(5) == 0:
							f := p.Host().Fork() // a proposer tries its block first
							for i := range step.Runs {
								f.ExecuteRun(i)
							}
							f.EndBlock(onEveryCore)
						case step.At == replay.Ended && d.intn(4) == 0:
							reimport(t, p)
						}
					})
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range plain {
					if i >= len(got) || plain[i] != got[i] {
						t.Fatalf("%d cores, line %d\n%s", cores, i+1, around(got[i], plain[i]))
					}
				}
			}
		})
	})
}

func reimport(t *rapid.T, p *replay.Player) {
	var state bytes.Buffer
	if err := p.Export(&state); err != nil {
		t.Fatal(err)
	}
	before := p.Host().StateHash()
	if err := p.Import(&state, int64(state.Len())); err != nil {
		t.Fatal(err)
	}
	if after := p.Host().StateHash(); after != before {
		t.Fatal(fmt.Sprintf("exported %x, imported %x", before, after))
	}
}
