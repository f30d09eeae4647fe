package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/daybreak-beacon/daybreak/cmd/internal/api"
)

// Bounds of the HTTP listeners.
const (
	maxConnections  = 1024
	maxHeaderBytes  = 16 << 10
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second // of one answer; the stream renews its own
	profileTimeout  = 5 * time.Minute  // of one answer to the operator: profiles run as long as asked for
	idleTimeout     = 60 * time.Second
	shutdownTimeout = 3 * time.Second
)

// httpServer is one listener and what it serves.
type httpServer struct {
	server   *http.Server
	listener net.Listener
	done     chan error
}

// serveHTTP listens on addr at once, so that a port in use is an error of the start, and serves in the background. An
// answer may take as long as said.
func serveHTTP(addr, what string, h http.Handler, answer time.Duration, log *slog.Logger) (*httpServer, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s listener: port of %s is in use by another process: stop it, or change %q in %s", what, addr, what, fileConfig)
	}
	if err != nil {
		return nil, fmt.Errorf("%s listener: %w", what, err)
	}
	s := &httpServer{
		server: &http.Server{
			Handler: h, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: answer,
			IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
			ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
		listener: l, done: make(chan error, 1),
	}
	go func() { s.done <- s.server.Serve(netutil.LimitListener(l, maxConnections)) }()
	return s, nil
}

// url is the base URL under which this machine reaches the listener.
func (s *httpServer) url() string { return "http://" + s.listener.Addr().String() }

// close stops listening and gives running requests a moment.
func (s *httpServer) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := s.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.server.Close()
	}
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// httpError is an answer that is not 2xx, made of an error of any class or of an explicit status.
type httpError struct {
	status int // 0: by the class of err
	err    error
	hint   string
	retry  time.Duration // Retry-After, rounded up to seconds
}

func (e *httpError) Error() string { return e.err.Error() }
func (e *httpError) Unwrap() error { return e.err }

// handlerFunc answers with a JSON value or an error.
type handlerFunc func(r *http.Request) (any, error)

// answer adapts a handlerFunc. Errors of ours are logged, since the client can do nothing about them.
func answer(log *slog.Logger, h handlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := h(r)
		if err != nil {
			writeError(w, r, log, err)
			return
		}
		writeJSON(w, http.StatusOK, v)
	}
}

func writeError(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	status, body := edge[classOf(err)].status, api.ErrorBody{Error: err.Error()}
	var retry time.Duration
	if e, ok := errors.AsType[*httpError](err); ok {
		body.Hint, retry = e.hint, e.retry
		if e.status != 0 {
			status = e.status
		}
	}
	if status == http.StatusInternalServerError {
		log.Error("request not answered", "path", r.URL.Path, "err", err)
		body = api.ErrorBody{Error: "this node could not answer", Hint: "its log says why"}
	}
	if retry == 0 && classOf(err) == notYet && status == http.StatusNotFound {
		retry = time.Second
	}
	if retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((retry+time.Second-1)/time.Second)))
	}
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := marshal(v)
	if err != nil {
		panic("node: internal error: encoding an answer: " + err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client is gone; net/http closes the connection
}

// marshal writes JSON on one line, or what is JSON already as it is.
func marshal(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	body, err := json.Marshal(v)
	return append(body, '\n'), err
}
