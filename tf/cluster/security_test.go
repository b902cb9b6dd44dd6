package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// securedPair starts a parameter server and a worker whose tasks and clients have
// certificates, roles and tokens.
func securedPair(t *testing.T, ca *securetest.CA, protocol string) (target string, k *cluster.Security) {
	t.Helper()
	ca.Issue(t, securetest.Cert{Name: "task"})
	f := ca.Files("task")
	f.Roles, f.Tokens = ca.Path("roles"), ca.Path("tokens")
	securetest.Write(t, f.Roles, []byte("administer task\nobserve viewer\nrun client\n"))
	securetest.Write(t, f.Tokens, []byte("run holder "+strings.Repeat("h", 20)+"\n"))
	k = securetest.Open(t, f)
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	c := cluster.Config{Cluster: spec, Protocol: protocol, Security: k, RDMA: cluster.RDMA{Provider: cluster.ProviderSoft}}
	c.Job, c.Listener = "ps", ps
	serve(t, c)
	c.Job, c.Listener = "worker", worker
	return serve(t, c).Target(), k
}

// overNetwork keeps a session from calling the master in its own process directly,
// where there is nothing to secure.
func overNetwork(target string) string { return strings.Replace(target, "127.0.0.1", "localhost", 1) }

// TestSecuredTraining: with certificates, roles and tokens on all ways training gives
// the same losses, also while certificates are replaced.
func TestSecuredTraining(t *testing.T) {
	want := trained(t, startWith(t, "grpc", new(bytes.Buffer)))
	for _, protocol := range []string{"grpc", "grpc+verbs"} {
		t.Run(protocol, func(t *testing.T) {
			ca := securetest.New(t)
			target, k := securedPair(t, ca, protocol)
			if got := trained(t, target, cluster.Secured(k)); !equal(got, want) {
				t.Errorf("losses are\n%v, in plain text\n%v", got, want)
			}
			ca.Issue(t, securetest.Cert{Name: "task"})
			if err := k.Reload(); err != nil {
				t.Fatal(err)
			}
			if got := trained(t, target, cluster.Secured(k)); !equal(got, want) {
				t.Errorf("with new certificates losses are\n%v, in plain text\n%v", got, want)
			}
		})
	}
}

func equal(a, b []float32) bool {
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestSessionsByRole: clients with the role run steps, by certificate or by token,
// also after links have come about; the error of others names what they lack.
func TestSessionsByRole(t *testing.T) {
	ca := securetest.New(t)
	target, _ := securedPair(t, ca, "grpc")
	ca.Issue(t, securetest.Cert{Name: "client"})
	ca.Issue(t, securetest.Cert{Name: "viewer"})
	ca.Issue(t, securetest.Cert{Name: "stranger"})
	holder := ca.Files("viewer")
	holder.Token = ca.Path("token")
	securetest.Write(t, holder.Token, []byte(strings.Repeat("h", 20)+"\n"))
	wrong := ca.Files("client")
	wrong.Token = ca.Path("wrong")
	securetest.Write(t, wrong.Token, []byte(strings.Repeat("w", 20)+"\n"))
	g := tf.NewGraph(tf.Strict())
	y := ops.Square(ops.Scalar[float32](g, 3, tf.OnDevice("/job:ps")), tf.OnDevice("/job:worker"))
	for _, c := range []struct {
		name      string
		files     cluster.SecurityFiles
		list, run tf.Code
	}{
		{"client", ca.Files("client"), tf.OK, tf.OK}, {"viewer", ca.Files("viewer"), tf.OK, tf.PermissionDenied},
		{"holder of a token", holder, tf.OK, tf.OK}, {"stranger", ca.Files("stranger"), tf.PermissionDenied, tf.PermissionDenied},
		{"wrong token", wrong, tf.Unauthenticated, tf.Unauthenticated},
	} {
		k := securetest.Open(t, c.files)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := cluster.ListDevicesSecured(ctx, target, k); tf.CodeOf(err) != c.list {
			t.Errorf("%s lists devices: %v, want %v", c.name, err, c.list)
		}
		s := open(t, g, overNetwork(target), cluster.Secured(k))
		for range 20 {
			if _, err := s.Run(ctx, nil, y); tf.CodeOf(err) != c.run {
				t.Fatalf("%s runs a step: %v, want %v", c.name, err, c.run)
			}
		}
		cancel()
	}
}

// TestWrongCertificate: when a task's certificate is rejected, the session's error and the
// probe give the reason, and the task logs the failed handshake.
func TestWrongCertificate(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "task"})
	ca.Issue(t, securetest.Cert{Name: "elsewhere", Hosts: []string{"other.example"}})
	ps, worker := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "worker": {worker.Addr().String()}}
	var log logged
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps, Security: securetest.Open(t, ca.Files("elsewhere")), Log: slog.NewTextHandler(&log, nil)})
	k := securetest.Open(t, ca.Files("task"))
	target := serve(t, cluster.Config{Cluster: spec, Job: "worker", Listener: worker, Security: k}).Target()
	const why = "because it doesn't contain any IP SANs"
	g := tf.NewGraph()
	s := open(t, g, overNetwork(target), cluster.Secured(k), session.StartTimeout(3*time.Second))
	_, err := s.Run(t.Context(), nil, ops.Scalar[float32](g, 3))
	if tf.CodeOf(err) != tf.DeadlineExceeded || !strings.Contains(err.Error(), "response from worker: /job:ps/replica:0/task:0 (") || !strings.Contains(err.Error(), why) {
		t.Errorf("a session: %v, want the task and %q", err, why)
	}
	tasks, err := cluster.ProbeSecured(t.Context(), spec, k)
	if err != nil || !strings.Contains(fmt.Sprint(tasks[0].Err), why) {
		t.Errorf("a probe: %v, %v", tasks, err)
	}
	if text := log.String(); strings.Count(text, "the TLS handshake failed") != 1 || !strings.Contains(text, "bad certificate") {
		t.Errorf("the log of the task:\n%s", text)
	}
}

// TestTokensNeedTLS: a token is not sent in plain text, and sessions say so.
func TestTokensNeedTLS(t *testing.T) {
	target := serve(t, cluster.Local("127.0.0.1:0")).Target()
	ca := securetest.New(t)
	path := ca.Path("token")
	securetest.Write(t, path, []byte(strings.Repeat("h", 20)))
	k := securetest.Open(t, cluster.SecurityFiles{CA: ca.Path("ca.pem"), Token: path, Poll: -1})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := cluster.ListDevicesSecured(ctx, target, k); err == nil {
		t.Error("a token was sent to a server without TLS")
	}
	if _, err := session.New(tf.NewGraph(), session.Target(target), session.With(session.Config{Security: k, TLS: certificate(t)})); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("TLS and Security together: %v", err)
	}
	c := cluster.Local("127.0.0.1:0")
	c.Security = k
	if _, err := cluster.NewServer(c); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a server without certificate: %v", err)
	}
}

// TestOpenServerWarns: a server that everybody can reach in plain text says so.
func TestOpenServerWarns(t *testing.T) {
	for address, warns := range map[string]bool{"127.0.0.1:0": false, "0.0.0.0:0": true} {
		lis, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		var log logged
		c := cluster.Local("127.0.0.1:0")
		c.Listener, c.Log = lis, slog.NewTextHandler(&log, nil)
		serve(t, c)
		if got := strings.Contains(log.String(), "plain text"); got != warns {
			t.Errorf("at %s it warns: %v, want %v:\n%s", address, got, warns, log.String())
		}
	}
}

// TestConnectionLimit: one connection too many hears why, and there is room again
// when another one has ended.
func TestConnectionLimit(t *testing.T) {
	c := cluster.Local("127.0.0.1:0")
	c.Quotas.Connections = 3
	addr := serve(t, c).Target()[len("grpc://"):]
	ask := func() (*rpc.Channel, error) {
		ch, err := rpc.Dial(addr, rpc.DialConfig{NoLinks: true})
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = rpc.NewWorkerClient(ch).Probe(t.Context())
		return ch, err
	}
	var open []*rpc.Channel
	for range 3 {
		ch, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		defer ch.Close()
		open = append(open, ch)
	}
	ch, err := ask()
	if tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "limit of connections") {
		t.Errorf("the fourth connection: %v", err)
	}
	ch.Close()
	var crowd sync.WaitGroup
	for range 50 { // more than are told why
		crowd.Go(func() {
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			defer nc.Close()
			nc.SetDeadline(time.Now().Add(10 * time.Second))
			nc.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
			for b := make([]byte, 4096); err == nil; {
				_, err = nc.Read(b) // until the server closes it
			}
		})
	}
	crowd.Wait()
	open[0].Close()
	for {
		ch, err = ask()
		ch.Close()
		if err == nil {
			break
		}
		if code := tf.CodeOf(err); code != tf.ResourceExhausted && code != tf.Unavailable {
			t.Fatalf("after one has left: %v", err)
		}
	}
	if _, err := rpc.NewWorkerClient(open[1]).GetStatus(t.Context(), &pb.GetStatusRequest{}); err != nil {
		t.Errorf("a connection within the limit: %v", err)
	}
}

// TestAllowPeers: a session makes the server connect to tasks of its own cluster, and
// to those that are allowed, and nowhere else.
func TestAllowPeers(t *testing.T) {
	other := serve(t, cluster.Local("127.0.0.1:0")).Target()[len("grpc://"):]
	lis := listen(t)
	own := lis.Addr().String()
	for name, c := range map[string]struct {
		allow []string
		want  tf.Code
	}{"all": {nil, tf.OK}, "none": {[]string{}, tf.PermissionDenied}, "others": {[]string{"10.*:*"}, tf.PermissionDenied}, "it": {[]string{"127.0.0.1:*"}, tf.OK}} {
		cfg := cluster.Local(own)
		if cfg.Listener, cfg.AllowPeers = lis, c.allow; name != "all" {
			cfg.Listener = listen(t)
		}
		s := serve(t, cfg)
		addr := s.Target()[len("grpc://"):]
		def := &pb.ClusterDef{Job: []*pb.JobDef{{Name: "a", Tasks: map[int32]string{0: addr, 1: other}}}}
		if name != "all" { // the address in its cluster is another one than it listens at
			def.Job[0].Tasks[0] = own
		}
		ch, err := rpc.Dial(cfg.Listener.Addr().String(), rpc.DialConfig{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		_, err = rpc.NewWorkerClient(ch).CreateWorkerSession(ctx, &pb.CreateWorkerSessionRequest{SessionHandle: "x", ServerDef: &pb.ServerDef{Cluster: def, JobName: "a"}})
		cancel()
		if tf.CodeOf(err) != c.want {
			t.Errorf("allowed is %s: %v, want %v", name, err, c.want)
		}
		ch.Close()
	}
}

// TestSessionAndStepLimits: what is one too many is refused with the limit's name, and
// fits again afterwards.
func TestSessionAndStepLimits(t *testing.T) {
	c := cluster.Local("127.0.0.1:0")
	c.Quotas.Sessions, c.Quotas.Steps = 2, 1
	target := overNetwork(serve(t, c).Target())
	g := tf.NewGraph(tf.Strict())
	y := ops.Square(ops.Scalar[float32](g, 3))
	never := tf.Apply(g, "TestWait", nil)
	var sessions []*session.Session
	for range 2 {
		s := open(t, g, target)
		if _, err := s.Run(t.Context(), nil, y); err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	third := open(t, g, target)
	if _, err := third.Run(t.Context(), nil, y); tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "limit of sessions") {
		t.Errorf("the third session: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := sessions[0].Run(ctx, nil, never)
		ended <- err
	}()
	<-waiting
	if _, err := sessions[1].Run(t.Context(), nil, y); tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "limit of steps") {
		t.Errorf("the second step: %v", err)
	}
	cancel()
	<-ended
	if err := sessions[0].Close(); err != nil { // which waits for its step
		t.Error(err)
	}
	for _, s := range []*session.Session{sessions[1], third} {
		if _, err := s.Run(t.Context(), nil, y); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
}

// TestExitWithARefusal: a task to exit with that refuses to say how it is has not gone.
func TestExitWithARefusal(t *testing.T) {
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "task"})
	f := ca.Files("task")
	f.Roles = ca.Path("roles")
	securetest.Write(t, f.Roles, []byte("administer task\n"))
	k := securetest.Open(t, f)
	ps, chief := listen(t), listen(t)
	spec := cluster.Spec{"ps": {ps.Addr().String()}, "chief": {chief.Addr().String()}}
	log := make(heard, 100)
	serve(t, cluster.Config{Cluster: spec, Job: "chief", Listener: chief, Security: k})
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps, Security: k, ExitWith: "/job:chief/task:0", Log: log})
	for msg := range log {
		switch msg {
		case "the task to exit with is up":
			securetest.Write(t, f.Roles, []byte("administer another\n"))
			if err := k.Reload(); err != nil {
				t.Fatal(err)
			}
		case "stopping, as the task to exit with is gone":
			t.Fatal("a refusal was taken for the end of the task")
		case "the task to exit with does not say how it is":
			return
		}
	}
}
