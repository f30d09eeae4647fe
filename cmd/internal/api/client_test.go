package api_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// node is a client of a server that answers everything with h.
func nodeOf(t *testing.T, h http.HandlerFunc) *api.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := api.NewClient(s.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestAnswersOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		retry, body string
		says        string
		notYet      bool
	}{
		"an error with its text":       {400, "", `{"error":"slot \"x\" is not a number"}`, `node: slot "x" is not a number`, false},
		"not yet":                      {404, "7", `{"error":"not over"}`, "node: not over", true},
		"an error of two lines":        {404, "", `{"error":"no\n\thint: send money"}`, "node: no hint: send money", false},
		"never":                        {404, "", `{"error":"no such entry"}`, "node: no such entry", false},
		"a proxy's page":               {502, "", "<html>", "node answered 502 Bad Gateway", false},
		"Retry-After that makes none":  {404, "soon", `{"error":"x"}`, "node: x", false},
		"success that is no JSON":      {200, "", "<html>", "is not what a Daybreak node says", false},
		"success that is endless JSON": {200, "", `{"slot":` + strings.Repeat(" ", 9<<20) + `1}`, "longer than", false},
	} {
		client := nodeOf(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.retry != "" {
				w.Header().Set("Retry-After", c.retry)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := client.Key(t.Context(), 5)
		if err == nil || !strings.Contains(err.Error(), c.says) || api.NotYet(err) != c.notYet {
			t.Errorf("%s: %v (not yet: %v), want %q, %v", name, err, api.NotYet(err), c.says, c.notYet)
		}
	}
}

func TestWhatIsNoURLIsRefused(t *testing.T) {
	for _, url := range []string{"", "localhost:26680", "ftp://x", "http://", "://"} {
		if _, err := api.NewClient(url); err == nil {
			t.Errorf("%q was taken for a node's URL", url)
		}
	}
}

func TestStreamOfEvents(t *testing.T) {
	c := nodeOf(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Last-Event-ID"); got != "41" {
			t.Errorf("resumed after %q, want 41", got)
		}
		_, _ = io.WriteString(w, ": hello\n\nid: 42\nevent: key\ndata: {\"slot\":1}\n\nevent: gap\ndata: {}\n\nid: 43\nevent: block\ndata: {}\n\nid: 44\ndata: cut")
	})
	var got []string
	err := c.Stream(t.Context(), 41, func(e api.Event) error {
		got = append(got, e.Kind+string(e.Data))
		return nil
	})
	if !errors.Is(err, io.EOF) || strings.Join(got, " ") != `key{"slot":1} gap{} block{}` {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestStreamEndsWithItsReader(t *testing.T) {
	c := nodeOf(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "id: 1\nevent: key\ndata: {}\n\n"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	})
	enough := errors.New("enough")
	if err := c.Stream(t.Context(), 0, func(api.Event) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("the reader's error: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Stream(ctx, 0, func(api.Event) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the end of ctx: %v", err)
	}
}

func TestStreamRefusalsAndNonsense(t *testing.T) {
	busy := nodeOf(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "10")
		w.WriteHeader(503)
		_, _ = io.WriteString(w, `{"error":"too many streams"}`)
	})
	if err := busy.Stream(t.Context(), 0, nil); !api.NotYet(err) {
		t.Errorf("a busy node: %v", err)
	}
	mad := nodeOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "id: x\n\n") })
	if err := mad.Stream(t.Context(), 0, nil); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("an id that is no number: %v", err)
	}
}
