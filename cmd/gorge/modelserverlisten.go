package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/netutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/serving"
)

// grpcSide is what answers by gRPC.
type grpcSide struct {
	s         *grpc.Server
	health    *rpc.Health // nil: it is not served
	addresses []string
}

// restSide is what answers by HTTP.
type restSide struct {
	s       *http.Server
	address string
}

// maxHeader bounds the headers of a request by HTTP.
const maxHeader = 64 << 10

// listen opens all ports, also while models are still being loaded: a client that asks
// for their states is answered.
func (p *modelProcess) listen(f *modelServerFlags) error {
	if f.port < 0 && f.socket == "" && f.restPort == 0 {
		return tf.Errorf(tf.InvalidArgument, "at least one of --port, --grpc_socket_path and --rest_api_port must be given")
	}
	security, err := readTLS(f.ssl)
	if err != nil {
		return err
	}
	if err := p.show(); err != nil {
		return err
	}
	if f.port >= 0 || f.socket != "" {
		if err := p.listenGRPC(f, security); err != nil {
			return err
		}
	}
	if f.restPort == 0 {
		return nil
	}
	if p.security != nil {
		security = p.security.HTTPServer()
	} else if !f.restTLS {
		security = nil
	} else if security == nil {
		return tf.Errorf(tf.InvalidArgument, "--rest_api_enable_tls needs --ssl_config_file")
	}
	return p.listenREST(f, security)
}

func (p *modelProcess) listenGRPC(f *modelServerFlags, security *tls.Config) error {
	options := append(p.s.GRPCOptions(), grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}))
	switch {
	case security != nil:
		options = append(options, grpc.Creds(serving.Credentials(credentials.NewTLS(security))))
	case p.security == nil:
		options = append(options, grpc.Creds(serving.Credentials(nil)))
	}
	p.grpc = &grpcSide{s: grpc.NewServer(options...)}
	p.s.RegisterGRPC(p.grpc.s)
	if f.health {
		h := rpc.NewHealth()
		for _, name := range []string{"", "ModelService", "PredictionService"} {
			h.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
		}
		healthpb.RegisterHealthServer(p.grpc.s, h)
		p.grpc.health = h
	}
	if f.port >= 0 {
		lis, err := p.listenAt(f.port)
		if err != nil {
			return err
		}
		p.serveGRPC(lis, lis.Addr().String())
	}
	if f.socket == "" {
		return nil
	}
	if err := removeSocket(f.socket); err != nil {
		return err
	}
	lis, err := net.Listen("unix", f.socket)
	if err != nil {
		return tf.Errorf(tf.Unavailable, "cannot listen at %s: %v", f.socket, err)
	}
	p.serveGRPC(lis, "unix:"+f.socket)
	return nil
}

// removeSocket removes the socket of a server that has died. Another file stays, and so
// does the socket of one that answers: its clients would not find it any more.
func removeSocket(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return core.FileError(name, err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return tf.Errorf(tf.AlreadyExists, "the path of a socket must be free, %s is a file", name)
	}
	if live, err := net.DialTimeout("unix", name, time.Second); err == nil {
		live.Close()
		return tf.Errorf(tf.AlreadyExists, "the path of a socket must be free, a server listens at %s", name)
	}
	return os.Remove(name)
}

func (p *modelProcess) serveGRPC(lis net.Listener, address string) {
	p.grpc.addresses = append(p.grpc.addresses, address)
	p.tasks.Go(func() {
		if err := p.grpc.s.Serve(lis); err != nil {
			p.failed <- tf.Errorf(tf.Unavailable, "gRPC at %s: %v", address, err)
		}
	})
}

// restHandler answers by REST, and with metrics. It is no mux, which would redirect
// requests whose paths it does not find clean.
func (p *modelProcess) restHandler() http.Handler {
	models := p.s.Handler()
	if p.metrics == nil {
		return models
	}
	metrics := p.security.Protect(secure.Observe, p.metrics)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == p.path && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			metrics.ServeHTTP(w, r)
		} else {
			models.ServeHTTP(w, r)
		}
	})
}

func (p *modelProcess) listenREST(f *modelServerFlags, security *tls.Config) error {
	lis, err := p.listenAt(max(f.restPort, 0))
	if err != nil {
		return err
	}
	scheme := "http://"
	if security != nil {
		lis, scheme = tls.NewListener(lis, security), "https://"
	}
	p.rest = &restSide{address: scheme + lis.Addr().String(), s: &http.Server{
		Handler: p.restHandler(), ReadHeaderTimeout: f.headerTimeout, ReadTimeout: f.readTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}}
	p.tasks.Go(func() {
		if err := p.rest.s.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
			p.failed <- tf.Errorf(tf.Unavailable, "REST at %s: %v", p.rest.address, err)
		}
	})
	return nil
}

// show opens the port that says how the server is, if a flag asks for it.
func (p *modelProcess) show() (err error) {
	f := &p.flags.observe
	if f.port == 0 {
		return nil
	}
	host := f.host
	if host == "" {
		host = p.flags.host
	}
	h := p.seen.Handler(telemetry.HandlerOptions{Guard: p.security, Ready: p.s.Available, Profile: f.profile})
	p.shown, err = telemetry.Serve(net.JoinHostPort(host, strconv.Itoa(max(f.port, 0))), h, p.security, p.log)
	if err != nil {
		return tf.Errorf(tf.Unavailable, "cannot serve health and metrics: %v", err)
	}
	p.log.Info("health and metrics are served", "address", p.shown.Addr())
	return nil
}

func (p *modelProcess) listenAt(port int) (net.Listener, error) {
	address := net.JoinHostPort(p.flags.host, strconv.Itoa(port))
	lis, err := net.Listen("tcp", address)
	if err != nil {
		return nil, tf.Errorf(tf.Unavailable, "cannot listen at %s: %v", address, err)
	}
	if a, ok := lis.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() && p.security == nil && p.flags.ssl == "" {
		p.log.Warn("the server can be reached from other machines in plain text: whoever reaches it may replace its configuration; give it certificates, or an address of the loopback interface", "address", a.String())
	}
	if p.flags.maxConnections > 0 {
		lis = netutil.LimitListener(lis, p.flags.maxConnections)
	}
	return lis, nil
}

// addresses says where the server is called.
func (p *modelProcess) addresses() string {
	var out []string
	if p.grpc != nil {
		out = append(out, "gRPC at "+strings.Join(p.grpc.addresses, " and "))
	}
	if p.rest != nil {
		out = append(out, "REST at "+p.rest.address)
	}
	return strings.Join(out, ", ")
}

// drain answers the requests that there are until ctx ends, and then no more.
func (g *grpcSide) drain(ctx context.Context) {
	stop := context.AfterFunc(ctx, g.s.Stop)
	defer stop()
	if g.health != nil {
		g.health.End()
	}
	g.s.GracefulStop()
}

func (r *restSide) drain(ctx context.Context) {
	if r.s.Shutdown(ctx) != nil {
		r.s.Close()
	}
}

// readTLS reads an SSL config file; without one there is no TLS.
func readTLS(name string) (*tls.Config, error) {
	if name == "" {
		return nil, nil
	}
	c := &servingpb.SSLConfig{}
	if err := readMessage(name, c); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(c.GetServerCert()), []byte(c.GetServerKey()))
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "%s must have a certificate and its key in PEM form: %v", name, err)
	}
	out := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if c.GetCustomCa() != "" {
		out.ClientCAs = x509.NewCertPool()
		if !out.ClientCAs.AppendCertsFromPEM([]byte(c.GetCustomCa())) {
			return nil, tf.Errorf(tf.InvalidArgument, "custom_ca in %s must have certificates in PEM form", name)
		}
	}
	if c.GetClientVerify() {
		out.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return out, nil
}

// readMessage reads a configuration file.
func readMessage(name string, m proto.Message) error {
	text, err := readConfig(name)
	if err != nil {
		return err
	}
	return ofFile(name, serving.ParseText(text, m))
}
