package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// listen binds an address; the error is one sentence that says what to do about it.
func listen(ctx context.Context, address, flag string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use: stop the program that listens there, or choose another address with %s", address, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return nil, fmt.Errorf("address %s is none of this machine's: choose another with %s", address, flag)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("address %s is not allowed to this user: choose a port from 1024 on with %s", address, flag)
	case err != nil:
		return nil, usage("%s: %w", flag, err)
	}
	return listener, nil
}

// checkAddress refuses an address that can never be listened on.
func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%s: %q is no address such as 127.0.0.1:8080 or :8080", flag, address)
	}
	return nil
}

// The times that a caller may take, so that a slow or idle one holds no connection for ever. Answers
// may take as long as they need: a run's events go on until the run ends.
const (
	headerTimeout = 10 * time.Second
	bodyTimeout   = time.Minute
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 << 10
)

func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: limitBodyTime(handler), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
}

// limitBodyTime bounds the reading of a body. Server.ReadTimeout would do so too, but also end
// answers that take longer.
func limitBodyTime(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			// An error means that the connection has no deadlines; then there is none to keep.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}

// reachable is the URL under which a listener is reached from this machine.
func reachable(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// serving runs servers until one breaks or ctx ends.
type serving struct {
	servers []*http.Server
	broken  chan error
}

func newServing() *serving { return &serving{broken: make(chan error, 4)} }

// start serves a handler on a listener.
func (s *serving) start(l net.Listener, handler http.Handler) {
	server := newServer(handler)
	s.servers = append(s.servers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.broken <- fmt.Errorf("serve on %s: %w", l.Addr(), err)
		}
	}()
}

// wait returns nil when ctx ends, and the error when a server breaks before.
func (s *serving) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-s.broken:
		return err
	}
}

// shutdown lets requests under way end within ctx and cuts off the rest.
func (s *serving) shutdown(ctx context.Context) error {
	var errs []error
	for _, server := range s.servers {
		err := server.Shutdown(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("requests under way were cut off: %w", err), server.Close())
		}
	}
	return errors.Join(errs...)
}
