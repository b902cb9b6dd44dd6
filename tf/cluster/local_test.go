package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A session on a server of this process needs no network: the server's port
// answers nobody.
func TestSessionInTheServersProcess(t *testing.T) {
	lis := listen(t)
	c := cluster.Local(lis.Addr().String())
	c.Listener = deaf{lis}
	s := serve(t, c)
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 2)
	y := ops.Square(x)
	own, err := session.New(g, session.With(session.Config{Target: s.Target(), Timeout: time.Minute}))
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	got, err := session.Fetch[float32](t.Context(), own, nil, y)
	if err != nil || got[0] != 4 {
		t.Errorf("2² = %v, %v", got, err)
	}
	_, err = own.Run(t.Context(), session.Feeds{x: tf.Scalar[float32](3)}, y, ops.Placeholder(g, tf.Float32, tf.Shape{}))
	if tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a placeholder that nobody feeds = %v, want InvalidArgument", err)
	}
}

// deaf is a listener that hears nobody.
type deaf struct{ net.Listener }

// Accept waits for the end.
func (d deaf) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c.Close()
	}
}

// certificate returns a configuration in which everybody is the same and trusts
// nobody else.
func certificate(t *testing.T) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// TestTLS: client and tasks speak TLS with each other, and refuse peers without it.
func TestTLS(t *testing.T) {
	secret := certificate(t)
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps, TLS: secret})
	target := serve(t, cluster.Config{Cluster: spec, Job: "worker", Listener: worker, TLS: secret}).Target()
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 2, tf.OnDevice("/job:ps"))
	y := ops.Square(x, tf.OnDevice("/job:worker"))
	s := open(t, g, target, session.TLS(secret))
	if got, err := session.Fetch[float32](t.Context(), s, nil, y); err != nil || got[0] != 4 {
		t.Errorf("2² = %v, %v", got, err)
	}
	plain := open(t, g, target, session.Timeout(time.Second))
	if _, err := plain.Run(t.Context(), nil, y); err == nil {
		t.Error("a client without TLS was served")
	}
}

// heard is a log that a test listens to.
type heard chan string

func (heard) Enabled(context.Context, slog.Level) bool { return true }
func (h heard) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h heard) WithGroup(string) slog.Handler          { return h }
func (h heard) Handle(_ context.Context, r slog.Record) error {
	select {
	case h <- r.Message:
	default: // nobody listens any more
	}
	return nil
}

// A server ends when the task that it is to exit with has been up and is gone.
func TestExitWith(t *testing.T) {
	ps, chief := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "chief": {chief.Addr().String()}}
	log := make(heard, 100)
	server := serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps, ExitWith: "/job:chief/task:0", Log: log})
	boss := serve(t, cluster.Config{Cluster: spec, Job: "chief", Listener: chief})
	list, err := cluster.Probe(t.Context(), spec, nil)
	if err != nil || len(list) != 2 || list[0].Err != nil || list[1].Err != nil || list[0].Version == "" {
		t.Fatalf("the tasks are %+v, %v", list, err)
	}
	ended := make(chan struct{})
	go func() { server.Join(); close(ended) }()
	select {
	case <-ended:
		t.Fatal("the server ended before its chief")
	default:
	}
	for msg := range log {
		if msg == "the task to exit with is up" {
			break
		}
	}
	boss.Stop()
	<-ended
	for _, bad := range []string{"chief:0", "/job:chief", "/task:0", "/job:chief/task:1", "/job:boss/task:0"} {
		if _, err := cluster.NewServer(cluster.Config{Cluster: spec, Job: "ps", ExitWith: bad}); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("exiting with %q = %v, want InvalidArgument", bad, err)
		}
	}
}
