package node

import (
	"context"
	"log/slog"

	"github.com/daybreak-beacon/daybreak/p2p"
)

// peerNames is a log handler that writes validators as people know them: the value of "peer" becomes the name in genesis.
type peerNames struct {
	next  slog.Handler
	names map[p2p.PeerID]string
}

func (h peerNames) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h peerNames) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.name(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h peerNames) WithAttrs(attrs []slog.Attr) slog.Handler {
	named := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		named[i] = h.name(a)
	}
	return peerNames{h.next.WithAttrs(named), h.names}
}

func (h peerNames) WithGroup(name string) slog.Handler {
	return peerNames{h.next.WithGroup(name), h.names}
}

func (h peerNames) name(a slog.Attr) slog.Attr {
	if a.Key != "peer" {
		return a
	}
	if name, ok := h.names[p2p.PeerID(a.Value.String())]; ok {
		return slog.String(a.Key, name)
	}
	return a
}
