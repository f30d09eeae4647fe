package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/term"
)

// NewLogger returns the logger of a daemon that writes to w: text where a person reads it (format "text", or "auto" on a
// terminal), JSON otherwise. level is one of debug, info, warn, error.
func NewLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil || strings.ContainsAny(level, "+-") {
		return nil, fmt.Errorf("log level %q is not one of debug, info, warn, error", level)
	}
	if format == "auto" {
		format = "json"
		if IsTerminal(w) {
			format = "text"
		}
	}
	switch format {
	case "text":
		return slog.New(newTextHandler(w, l)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})), nil
	}
	return nil, fmt.Errorf("log format %q is not one of auto, text, json", format)
}

// IsTerminal tells whether v (a reader or writer) is a terminal.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
