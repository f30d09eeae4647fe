package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
)

// textHandler writes one short line a record, made for eyes: "15:04:05.000 warn  message  key=value …". The time is UTC.
type textHandler struct {
	mu     *sync.Mutex // guards w: one record, one write
	w      io.Writer
	level  slog.Level
	prefix string // rendered attributes of WithAttrs
	group  string // dotted path of WithGroup, with its final dot
}

func newTextHandler(w io.Writer, level slog.Level) *textHandler {
	return &textHandler{mu: new(sync.Mutex), w: w, level: level}
}

func (h *textHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.UTC().Format("15:04:05.000"))
	fmt.Fprintf(&b, " %-5s %s", strings.ToLower(r.Level.String()), r.Message)
	b.WriteString(h.prefix)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, h.group, a)
		return true
	})
	b.WriteByte('\n')
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, b.String())
	return err
}

func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	for _, a := range attrs {
		writeAttr(&b, h.group, a)
	}
	c := *h
	c.prefix += b.String()
	return &c
}

func (h *textHandler) WithGroup(name string) slog.Handler {
	c := *h
	if name != "" {
		c.group += name + "."
	}
	return &c
}

func writeAttr(b *strings.Builder, group string, a slog.Attr) {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, g := range v.Group() {
			writeAttr(b, group, g)
		}
		return
	}
	if a.Equal(slog.Attr{}) {
		return
	}
	s := v.String()
	if s == "" || strings.ContainsAny(s, " \t\r\n\"=") || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		s = strconv.Quote(s)
	}
	b.WriteString(" " + group + a.Key + "=" + s)
}
