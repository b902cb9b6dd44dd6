package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// securedBy names the directory with the certificate of a cluster with mutual TLS.
// Clusters for which observedBy is set keep metrics, and traces of one step in a hundred.
const (
	securedBy  = "GORGE_BENCH_SECURED"
	observedBy = "GORGE_BENCH_OBSERVED"
)

// guarded is workload 27: clusters with and without mutual TLS, metrics and traces, in
// turn, and a bare connection of crypto/tls.
func guarded(b *bench) {
	dir := must(os.MkdirTemp("", "guarded"))
	defer os.RemoveAll(dir)
	certify(dir)
	ways := []*way{{name: "plain"}, {name: "tls", secured: true}, {name: "observed", observed: true}, {name: "guarded", secured: true, observed: true}}
	for _, w := range ways {
		c := w.start(b, dir)
		defer c.close()
	}
	scalar, fetch := map[string]float64{}, map[string]float64{}
	for range b.repeat {
		for _, w := range ways {
			s, step := adding(w)
			least(scalar, w.name, b.best(b.steps(100), 1, func() { must(s.Run(ctx, nil, step)) }))
			s.Close()
		}
	}
	const large = 25_000_000
	for range 5 {
		for _, w := range ways {
			s, out := fetching(w, large)
			least(fetch, w.name, b.best(1, 2, func() { must(s.Run(ctx, nil, out)) }))
			s.Close()
		}
		least(fetch, "crypto_tls", bareTLS(dir, large*4))
	}
	for name, t := range scalar {
		b.emit("ps_scalar_step."+name+".us", t*1e6, "us")
	}
	for name, t := range fetch {
		b.emit("fetch_100MB."+name+".us", t*1e6, "us")
	}
}

// A way is a cluster and how its sessions are opened.
type way struct {
	name              string
	secured, observed bool
	target            string
	opts              []session.Option
}

// start starts the cluster.
func (w *way) start(b *bench, dir string) *tasks {
	if w.secured {
		must(0, os.Setenv(securedBy, dir))
		w.opts = append(w.opts, cluster.Secured(security(dir)))
	}
	if w.observed {
		must(0, os.Setenv(observedBy, "1"))
		w.opts = append(w.opts, cluster.Observed(observer()))
	}
	c := b.startCluster("server", map[string]int{"ps": 1, "worker": 1})
	must(0, os.Unsetenv(securedBy))
	must(0, os.Unsetenv(observedBy))
	w.target = c.target()
	return c
}

// least keeps the least value of a name.
func least(m map[string]float64, name string, v float64) {
	if old, there := m[name]; !there || v < old {
		m[name] = v
	}
}

// adding opens a session whose step adds a number of the worker's to a variable of the
// parameter server's.
func adding(w *way) (*session.Session, *tf.Operation) {
	g := tf.NewGraph()
	var v *tf.Variable
	g.Device("/job:ps/task:0", func() { v = tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"}) })
	delta := ops.Minimum(v.Value(), ops.Scalar(g, float32(1)), tf.OnDevice("/job:worker/task:0"))
	var step *tf.Operation
	g.Device("/job:ps/task:0", func() { step = v.AssignAdd(delta) })
	s := w.open(g)
	for range 50 {
		must(s.Run(ctx, nil, step))
	}
	return s, step
}

// fetching opens a session whose step brings n numbers of the parameter server's to the
// worker, which answers with the last one.
func fetching(w *way, n int) (*session.Session, tf.Output) {
	g := tf.NewGraph()
	v := ramp(g, "v", int32(n))
	var out tf.Output
	g.Device("/job:worker/task:0", func() { out = last(g, ops.Identity(v.Value()), int32(n)) })
	s := w.open(g)
	must(s.Run(ctx, nil, out))
	return s, out
}

// open opens a session and gives its variables their values.
func (w *way) open(g *tf.Graph) *session.Session {
	s := must(session.New(g, slices.Concat(w.opts, []session.Option{session.Target(w.target)})...))
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	return s
}

// guard turns on in a task what its environment says.
func guard(c *cluster.Config) {
	if dir := os.Getenv(securedBy); dir != "" {
		c.Security = security(dir)
	}
	if os.Getenv(observedBy) != "" {
		c.Observer = observer()
	}
}

func security(dir string) *cluster.Security {
	cert := filepath.Join(dir, "cert.pem")
	return must(cluster.OpenSecurity(cluster.SecurityFiles{Cert: cert, Key: filepath.Join(dir, "key.pem"), CA: cert, ClientVerify: "require"}, nil, nil))
}

func observer() *telemetry.Telemetry {
	return must(telemetry.New(context.Background(), telemetry.Options{Traces: telemetry.TraceOptions{Sample: 0.01, Exporter: discard{tracetest.NewNoopExporter()}}}))
}

// discard is where traces go: what a collector does with them is not measured.
type discard struct{ sdk.SpanExporter }

// certify writes a certificate that signs itself, for servers and clients.
func certify(dir string) {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem":  {Type: "PRIVATE KEY", Bytes: must(x509.MarshalPKCS8PrivateKey(key))},
	} {
		must(0, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

// bareTLS returns how long n bytes take over a connection of crypto/tls.
func bareTLS(dir string, n int) float64 {
	cert := must(tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(must(os.ReadFile(filepath.Join(dir, "cert.pem"))))
	lis := must(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}}))
	defer lis.Close()
	data := bytes.Repeat([]byte{7}, n)
	go func() {
		c := must(lis.Accept())
		defer c.Close()
		must(io.ReadFull(c, make([]byte, 1)))
		must(c.Write(data))
	}()
	c := must(tls.Dial("tcp", lis.Addr().String(), &tls.Config{RootCAs: pool}))
	defer c.Close()
	must(0, c.Handshake())
	to := make([]byte, n)
	start := time.Now()
	must(c.Write([]byte{1}))
	must(io.ReadFull(c, to))
	return time.Since(start).Seconds()
}
