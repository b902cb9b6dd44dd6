package cluster_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A server's configuration bounds what its clients may take together.
func ExampleConfig() {
	var c cluster.Config = cluster.Local("127.0.0.1:0")
	c.Quotas = cluster.Quotas{Sessions: 1}
	server, err := cluster.NewServer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 3).Square()
	for range 2 {
		s, err := session.New(g, session.Target(server.Target()))
		if err == nil {
			defer s.Close()
			_, err = s.Run(context.Background(), nil, y)
		}
		fmt.Println(tf.CodeOf(err))
	}
	// Output:
	// OK
	// RESOURCE_EXHAUSTED
}

// A server tells how it is: its tasks and sessions, what waits, and what has been
// received.
func ExampleStatus() {
	server, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 3).Square()
	s, err := session.New(g, session.Target(server.Target()))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), nil, y); err != nil {
		fmt.Println(err)
		return
	}
	var (
		status   cluster.Status          = server.Status()
		tasks    []cluster.TaskAddress   = status.Tasks
		sessions []cluster.SessionStatus = status.Sessions
		waits    []cluster.Wait          = status.Waits
		received cluster.Traffic         = status.Received
		links    cluster.LinkStatus      = status.Links
		rdma     []cluster.RDMAStats     = status.RDMA
	)
	fmt.Println(status.Ready, tasks[0].Task, sessions[0].Signatures, "signature")
	fmt.Println(len(waits), "wait,", received.Tensors, "tensors received,", links.Calls, "calls,", len(rdma), "by RDMA")
	// Output:
	// true /job:localhost/replica:0/task:0 1 signature
	// 0 wait, 0 tensors received, 0 calls, 0 by RDMA
}

// Probe asks all tasks of a cluster at once; one of them is not there.
func ExampleProbe() {
	server, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	free.Close() // nothing listens there any more
	spec := cluster.Spec{"localhost": {server.Target()[len("grpc://"):], free.Addr().String()}}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var tasks []cluster.TaskStatus
	tasks, err = cluster.Probe(ctx, spec, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tasks {
		var devices []cluster.DeviceInfo = t.Devices
		fmt.Println(t.Task, t.Err == nil, len(devices), "device")
	}
	// Output:
	// /job:localhost/replica:0/task:0 true 1 device
	// /job:localhost/replica:0/task:1 false 0 device
}

// The tensors of a server go by RDMA, in software here.
func ExampleRDMA() {
	c := cluster.Local("127.0.0.1:0")
	c.Protocol = "grpc+verbs"
	c.RDMA = cluster.RDMA{Provider: cluster.ProviderSoft, QueueDepth: 256}
	server, err := cluster.NewServer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	fmt.Println(server.Start())
	var device cluster.RDMADevice
	device, err = cluster.OpenRDMA(c.RDMA, "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(device.Close())
	// Output:
	// <nil>
	// <nil>
}

// tally is an observer that counts the calls that come to a server.
type tally struct{ served atomic.Int32 }

func (c *tally) Serve(ctx context.Context, method, by string) (context.Context, func(error)) {
	c.served.Add(1)
	return ctx, func(error) {}
}

func (c *tally) Call(ctx context.Context, method string) (context.Context, func(error)) {
	return ctx, func(error) {}
}

func (c *tally) Outgoing(context.Context) []string { return nil }

func (c *tally) RequestID(context.Context) string { return "" }

// An observer is told of each call of a server, or of a session.
func ExampleObserver() {
	observer := &tally{}
	c := cluster.Local("127.0.0.1:0")
	c.Observer = cluster.Observer(observer)
	server, err := cluster.NewServer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	var client session.Observer = &tally{} // what cluster.Observed gives to a session
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 3).Square()
	s, err := session.New(g, session.Target(server.Target()), session.With(session.Config{Observer: client}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Run(context.Background(), nil, y))
	fmt.Println(observer.served.Load() > 0)
	// Output:
	// [float32[]{9}] <nil>
	// false
}

// selfSigned writes a certificate for 127.0.0.1 and its key to dir.
func selfSigned(dir string) (cert, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", err
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err = os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err == nil {
		err = os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
	}
	return cert, key, err
}

// Server and session read certificates from files, and again when these change.
func ExampleOpenSecurity() {
	dir, err := os.MkdirTemp("", "pki")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	cert, key, err := selfSigned(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	var security *cluster.Security
	security, err = cluster.OpenSecurity(cluster.SecurityFiles{Cert: cert, Key: key, CA: cert}, slog.DiscardHandler, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer security.Close()
	c := cluster.Local("127.0.0.1:0")
	c.Security = security
	server, err := cluster.NewServer(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		fmt.Println(err)
		return
	}
	var same session.Security = security // what cluster.Secured gives to a session
	g := tf.NewGraph()
	y := ops.Scalar[float32](g, 3).Square()
	s, err := session.New(g, session.Target(server.Target()), session.With(session.Config{Security: same}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(s.Run(context.Background(), nil, y))
	// Output: [float32[]{9}] <nil>
}
