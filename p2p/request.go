package p2p

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// One request and its answer make a stream of their own:
//
//	request   u32 length ‖ bytes
//	answer    u8 status (0 done, 1 refused, 2 busy) ‖ u32 length ‖ bytes
//
// with lengths big-endian. The bytes of a refusal are its text.

const (
	statusDone = iota
	statusRefused
	statusBusy
)

const (
	requestTimeout = 10 * time.Second
	maxErrorText   = 512
)

// ErrBusy says that the peer serves the protocol but not now: we ask too much.
var ErrBusy = errors.New("p2p: peer is busy")

// RemoteError is a peer's refusal of a request, in its own words.
type RemoteError struct{ Text string }

// Error returns the peer's words.
func (e *RemoteError) Error() string { return "peer says: " + e.Text }

// RequestLimits bound what peers may ask.
type RequestLimits struct {
	// MaxRequest bounds a request in bytes.
	MaxRequest int
	// PerPeer bounds the requests of one peer. Zero means 16 a second and a burst of 64.
	PerPeer Rate
	// Streams bounds the requests being served at the same time.
	Streams StreamLimits
}

// Request asks one peer and waits for its answer of at most maxAnswer bytes. ctx bounds all of it; without a deadline it
// is ten seconds. Errors: those of Open, ErrBusy, ErrTooLarge, *RemoteError.
func Request(ctx context.Context, n Network, peer PeerID, protocol string, req []byte, maxAnswer int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s, err := n.Open(ctx, peer, protocol)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { s.Reset() })
	defer stop()
	out, err := exchange(s, req, maxAnswer)
	if err != nil {
		s.Reset()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, fmt.Errorf("request %s of %s: %w", protocol, peer.Short(), err)
	}
	s.Close()
	return out, nil
}

func exchange(s Stream, req []byte, maxAnswer int) ([]byte, error) {
	sent := writeFrame(s, nil, req)
	if sent == nil {
		sent = s.CloseWrite()
	}
	// A peer that is busy answers without reading, which may have cut our writing short.
	var status [1]byte
	if _, err := io.ReadFull(s, status[:]); err != nil {
		return nil, errors.Join(sent, noEOF(err))
	}
	limit := maxAnswer
	if status[0] == statusRefused {
		limit = maxErrorText
	}
	b, err := readFrame(s, limit)
	if err != nil {
		return nil, err
	}
	switch status[0] {
	case statusDone:
		return b, nil
	case statusRefused:
		return nil, &RemoteError{Text: string(b)}
	case statusBusy:
		return nil, ErrBusy
	}
	return nil, fmt.Errorf("answer of unknown status %d", status[0])
}

// ServeRequests answers requests with h, which runs for several at a time; its ctx ends with the stream, after ten
// seconds at most. An error of h goes to the peer as text: say nothing in it that a peer must not know.
func ServeRequests(n Network, protocol string, limits RequestLimits, h func(ctx context.Context, from PeerID, req []byte) ([]byte, error)) (stop func(), err error) {
	if limits.MaxRequest < 1 {
		return nil, fmt.Errorf("serve %s: no size allowed for requests", protocol)
	}
	if limits.PerPeer == (Rate{}) {
		limits.PerPeer = Rate{PerSecond: 16, Burst: 64}
	}
	sv := &requests{limits: limits, h: h, peers: make(map[PeerID]*rate.Limiter)}
	return n.Serve(protocol, limits.Streams, sv.serve)
}

type requests struct {
	limits RequestLimits
	h      func(context.Context, PeerID, []byte) ([]byte, error)
	mu     sync.Mutex
	peers  map[PeerID]*rate.Limiter
}

func (sv *requests) allow(p PeerID) bool {
	sv.mu.Lock()
	defer sv.mu.Unlock()
	l := sv.peers[p]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(sv.limits.PerPeer.PerSecond), sv.limits.PerPeer.Burst)
		sv.peers[p] = l
	}
	return l.Allow()
}

func (sv *requests) serve(s Stream) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.Done():
			cancel()
		case <-ctx.Done():
			s.Reset()
		}
	})
	defer watch.Wait()
	status, out := sv.answer(ctx, s)
	if status < 0 {
		s.Reset()
		return
	}
	if writeFrame(s, []byte{byte(status)}, out) != nil {
		s.Reset()
		return
	}
	s.Close()
}

// answer returns a negative status for a request that deserves none.
func (sv *requests) answer(ctx context.Context, s Stream) (status int, out []byte) {
	if !sv.allow(s.Peer()) {
		return statusBusy, nil
	}
	req, err := readFrame(s, sv.limits.MaxRequest)
	if err != nil {
		return -1, nil
	}
	out, err = sv.h(ctx, s.Peer(), req)
	if err != nil {
		return statusRefused, []byte(clip(err.Error(), maxErrorText-len("…")))
	}
	return statusDone, out
}

// writeFrame writes head, length and body in one piece.
func writeFrame(w io.Writer, head, body []byte) error {
	b := make([]byte, 0, len(head)+4+len(body))
	b = append(b, head...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	_, err := w.Write(append(b, body...))
	return err
}

// readFrame reads one frame of at most limit bytes. It believes a length only as far as bytes follow it.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, noEOF(err)
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > int64(limit) {
		return nil, fmt.Errorf("frame of %d bytes, at most %d: %w", n, limit, ErrTooLarge)
	}
	b, err := io.ReadAll(io.LimitReader(r, n))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) != n {
		return nil, io.ErrUnexpectedEOF
	}
	return b, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
