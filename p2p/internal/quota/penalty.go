package quota

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	penaltyBurst = 16
	penaltyEvery = 10 * time.Second
	// BanTime is how long a peer with too many penalties is refused.
	BanTime = time.Minute
)

// Penalties counts a peer's faults, and refuses the peer for a while when they come too fast. The zero value has none.
type Penalties struct {
	mu      sync.Mutex
	bucket  *rate.Limiter
	refused time.Time
}

// Add counts one fault and returns whether it is the one that gets the peer banned.
func (p *Penalties) Add(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bucket == nil {
		p.bucket = rate.NewLimiter(rate.Every(penaltyEvery), penaltyBurst)
	}
	if now.Before(p.refused) || p.bucket.AllowN(now, 1) {
		return false
	}
	p.refused = now.Add(BanTime)
	return true
}

// Refuse refuses the peer for d, without a fault.
func (p *Penalties) Refuse(now time.Time, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := now.Add(d); until.After(p.refused) {
		p.refused = until
	}
}

// Refused returns for how long the peer is to be refused still; 0 means it is welcome.
func (p *Penalties) Refused(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.refused.Sub(now))
}
