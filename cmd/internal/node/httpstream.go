package node

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// streamPing keeps idle streams open through proxies and finds clients that are gone.
const streamPing = 10 * time.Second

// serveStream answers /v1/stream: events as they happen, from the one after Last-Event-ID (header, or query "after") on.
func (b *broker) serveStream(w http.ResponseWriter, r *http.Request) error {
	after, err := lastEventID(r)
	if err != nil {
		return err
	}
	backlog, lost, sub := b.subscribe(clientOf(r.RemoteAddr), after)
	if sub == nil {
		return &httpError{status: http.StatusServiceUnavailable, err: errNotYet, hint: "too many streams are open: try again later", retry: streamPing}
	}
	defer b.unsubscribe(sub)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := streamWriter{w, http.NewResponseController(w)}
	if lost {
		// The client learns that it has to look at the present state once.
		if out.write("event: gap\ndata: {}\n\n") != nil {
			return nil
		}
	}
	started := time.Now()
	for _, e := range backlog {
		// A client that reads slowly must not keep old events in memory.
		if sub.cut.Load() || time.Since(started) > writeTimeout || out.event(e) != nil {
			return nil
		}
	}
	backlog = nil
	if out.write(": daybreak\n\n") != nil {
		return nil
	}
	for {
		select {
		case e, ok := <-sub.events:
			if !ok || sub.cut.Load() || out.event(e) != nil {
				return nil
			}
			sub.took(e)
		case <-sub.pings:
			if out.write(": ping\n\n") != nil {
				return nil
			}
		case <-r.Context().Done():
			return nil
		}
	}
}

// clientOf is what counts as one client's address: an IPv4 address, or the /64 that IPv6 gives to one customer.
func clientOf(remote string) netip.Prefix {
	addr, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // no TCP connection has such an address
	}
	ip, bits := addr.Addr().Unmap(), 64
	if ip.Is4() {
		bits = 32
	}
	if ip.IsLoopback() {
		bits = ip.BitLen()
	}
	p, err := ip.WithZone("").Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}

func lastEventID(r *http.Request) (uint64, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, classed(errInvalid, "event id %.40q is not a number", text)
	}
	return id, nil
}

// streamWriter writes and flushes; an error means that the client is gone.
type streamWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s streamWriter) event(e api.Event) error {
	return s.write(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", e.ID, e.Kind, e.Data))
}

func (s streamWriter) write(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
