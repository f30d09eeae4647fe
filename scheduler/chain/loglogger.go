package chain

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"
)

// raftLogger sends raft's lines to slog. Raft calls an unreachable peer an error on every try and an election a warning:
// for a validator's log both are steps, so only raft's other errors become warnings.
func raftLogger(to *slog.Logger) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{Name: "raft", Level: hclog.Debug, Output: io.Discard})
	l.RegisterSink(slogSink{to})
	return l
}

type slogSink struct{ to *slog.Logger }

// Accept implements hclog.SinkAdapter.
func (s slogSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	to := slog.LevelDebug
	if level >= hclog.Error && !aboutPeer(msg) {
		to = slog.LevelWarn
	}
	if !s.to.Enabled(context.Background(), to) {
		return
	}
	args = slices.Clone(args) // the caller's
	for i, arg := range args {
		if f, ok := arg.(hclog.Format); ok && len(f) > 0 {
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	s.to.Log(context.Background(), to, name+": "+msg, args...)
}

// aboutPeer recognizes the lines that an unreachable or departing peer causes.
func aboutPeer(msg string) bool {
	for _, part := range []string{"appendEntries", "heartbeat", "RequestVote", "requestVote", "pipeline", "peer", "incoming command",
		"accept connection", "flush response", "snapshot to"} {
		if strings.Contains(msg, part) {
			return true
		}
	}
	return false
}
