package telemetry

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/gorge-tf/gorge/internal/inbound"
	"github.com/gorge-tf/gorge/internal/secure"
)

// HandlerOptions say what is served by HTTP.
type HandlerOptions struct {
	Guard   *secure.Keeper // asks for roles; nil: all may see all
	Ready   func() error   // why the process takes no work; nil: it does
	Page    http.Handler   // at /; nil: there is none
	Profile bool           // at /debug/pprof/, for administrators
}

// maxBody bounds the bodies of requests, which are addresses to be named at most: the
// handlers of profiles would put a large form into files.
const maxBody = 1 << 20

// Handler serves /healthz and /readyz to everybody, /metrics and the page to those
// who may observe, profiles to administrators.
func (t *Telemetry) Handler(o HandlerOptions) http.Handler {
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := o.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n")
	})
	mux.Handle("GET /metrics", o.Guard.Protect(secure.Observe, promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})))
	if o.Page != nil {
		mux.Handle("GET /{$}", o.Guard.Protect(secure.Observe, o.Page))
	}
	if o.Profile {
		admin := func(path string, f http.HandlerFunc) { mux.Handle(path, o.Guard.Protect(secure.Administer, f)) }
		admin("/debug/pprof/", pprof.Index)
		admin("/debug/pprof/cmdline", pprof.Cmdline)
		admin("/debug/pprof/profile", pprof.Profile)
		admin("/debug/pprof/symbol", pprof.Symbol)
		admin("/debug/pprof/trace", pprof.Trace)
	}
	return inbound.Bodies(maxBody, mux)
}

// A Server serves HTTP beside what a process is for.
type Server struct {
	http    *http.Server
	serving sync.WaitGroup
	addr    string
}

// What clients may take. A request has no body that is worth a wait, but net/http reads
// one to its end before the next request. The time for an answer includes that for its
// making, so it bounds how long a profile may last.
const (
	headerTime = 10 * time.Second
	readTime   = 30 * time.Second
	writeTime  = 5 * time.Minute
	idleTime   = time.Minute
	maxHeader  = 64 << 10
)

// maxConns is how many connections are open at once; others wait until one of them ends,
// which the limits above see to.
const maxConns = 1000

// newHTTP returns a server that slow clients do not hold.
func newHTTP(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// Serve serves h at an address until Close; under TLS if there is a guard.
func Serve(address string, h http.Handler, guard *secure.Keeper, log *slog.Logger) (*Server, error) {
	lis, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{addr: lis.Addr().String(), http: newHTTP(h, log)}
	lis = netutil.LimitListener(lis, maxConns)
	if guard != nil {
		lis = tls.NewListener(lis, guard.HTTPServer())
	}
	s.serving.Go(func() {
		if err := s.http.Serve(lis); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics and health cannot be served any more", "error", err)
		}
	})
	return s, nil
}

// Addr returns where the server is: "host:port".
func (s *Server) Addr() string { return s.addr }

// Close ends the server and its connections.
func (s *Server) Close() error {
	err := s.http.Close()
	s.serving.Wait()
	return err
}
