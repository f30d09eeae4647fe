package p2p

import (
	"context"
	"log/slog"
	"os"

	"github.com/libp2p/go-libp2p/gologshim"
)

// libp2p logs through one handler of the whole process, which must be in place before its first line, and quic-go
// prints one line about UDP buffers unless an environment variable says no. Both are of the library's making: there is
// no way to pass a logger in. What it deems a warning is, for us, a remote's misbehaviour or a closed connection.
func init() {
	gologshim.SetDefaultHandler(demoted{})
	if os.Getenv(quicWarning) == "" {
		os.Setenv(quicWarning, "true")
	}
}

const quicWarning = "QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING"

// demoted hands the library's warnings and errors to the process's default logger at level debug, and drops the rest.
type demoted struct{ to slog.Handler } // a nil handler is the default logger's at the time of the line

func (d demoted) target() slog.Handler {
	if d.to != nil {
		return d.to
	}
	return slog.Default().Handler()
}

func (d demoted) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && d.target().Enabled(ctx, slog.LevelDebug)
}

func (d demoted) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, slog.LevelDebug, "libp2p: "+r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool { out.AddAttrs(a); return true })
	return d.target().Handle(ctx, out)
}

func (d demoted) WithAttrs(as []slog.Attr) slog.Handler { return demoted{d.target().WithAttrs(as)} }
func (d demoted) WithGroup(name string) slog.Handler    { return demoted{d.target().WithGroup(name)} }
