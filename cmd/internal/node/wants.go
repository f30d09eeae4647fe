package node

import (
	"encoding/binary"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/daybreak-beacon/daybreak/scheduler"
)

// Rates at which this node asks others to sign old slots, whoever asks it.
const (
	wantsPerSecond = 4
	wantsBurst     = 16
	wantAgain      = 10 * time.Second // a slot that was asked for is not asked for again before
	keptWants      = 1024
)

// wantLimiter bounds what the public can make the validators sign: each slot rarely, and few in all.
type wantLimiter struct {
	mu    sync.Mutex // guards asked
	rate  *rate.Limiter
	asked map[uint64]time.Time
}

func newWantLimiter() *wantLimiter {
	return &wantLimiter{rate: rate.NewLimiter(wantsPerSecond, wantsBurst), asked: make(map[uint64]time.Time)}
}

// allow tells whether the slot may be asked for now.
func (w *wantLimiter) allow(slot uint64, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.asked[slot]) < wantAgain || !w.rate.AllowN(now, 1) {
		return false
	}
	if len(w.asked) >= keptWants {
		clear(w.asked)
	}
	w.asked[slot] = now
	return true
}

// ask has an old slot's key fetched, and signed by all if nobody has it. Within the window that happens without being asked.
func (n *Node) ask(slot uint64, now time.Time) {
	if !n.wants.allow(slot, now) {
		return
	}
	n.loop.do(n.ctx, func() {
		if err := n.slots.want(now, slot, n.self); err != nil {
			n.log.Debug("slot not signed on request", "slot", slot, "err", err)
			return
		}
		n.act(n.slots.tick(time.Now()))
		if err := n.topics.wants.Publish(n.ctx, binary.BigEndian.AppendUint64(nil, slot)); err != nil {
			n.log.Debug("request to sign not sent", "slot", slot, "err", err)
		}
	})
}

var allowanceSelector = crypto.Keccak256([]byte("allowance(address,address)"))[:4]

// allowance is what the account lets the scheduler take of its gas tokens, in decimal.
func (n *Node) allowance(a Address) (string, error) {
	input := append(append([]byte{}, allowanceSelector...), leftPad(a[:])...)
	input = append(input, leftPad(scheduler.Address[:])...)
	ret, err := n.chain.Call(a, Address(n.genesis.Policy.GasToken), input)
	if err != nil {
		return "", err
	}
	return decimal(ret), nil
}
