package cluster_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestServerLives(t *testing.T) {
	s, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(s.Target(), ":0") || !strings.HasPrefix(s.Target(), "grpc://127.0.0.1:") {
		t.Errorf("target %s, want the port that the server really has", s.Target())
	}
	joined := make(chan struct{})
	go func() { s.Join(); close(joined) }()
	if err := errors.Join(s.Start(), s.Start()); err != nil {
		t.Errorf("starting twice: %v", err)
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := s.Stop(); err != nil {
				t.Errorf("Stop: %v", err)
			}
		})
	}
	wg.Wait()
	<-joined
	if err := s.Start(); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("starting a stopped server: %v, want a FailedPrecondition error", err)
	}
}

func TestServerStopsUnstarted(t *testing.T) {
	s, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	again, err := cluster.NewServer(cluster.Local(strings.TrimPrefix(s.Target(), "grpc://")))
	if err != nil {
		t.Fatalf("the port of a stopped server is not free: %v", err)
	}
	again.Stop()
}

func TestNewServerRefuses(t *testing.T) {
	taken := listen(t)
	defer taken.Close()
	spec := cluster.Spec{"worker": {"127.0.0.1:0"}}
	for name, c := range map[string]struct {
		cfg  cluster.Config
		code tf.Code
		text string
	}{
		"no cluster":         {cluster.Config{}, tf.InvalidArgument, "at least one job"},
		"no such job":        {cluster.Config{Cluster: spec, Job: "ps"}, tf.Internal, `Job "ps" was not defined in cluster`},
		"no such task":       {cluster.Config{Cluster: spec, Job: "worker", Task: 1}, tf.Internal, `Task 1 was not defined in job "worker"`},
		"no address":         {cluster.Config{Cluster: cluster.Spec{"worker": {"localhost"}}, Job: "worker"}, tf.InvalidArgument, "host:port"},
		"a port taken":       {cluster.Local(taken.Addr().String()), tf.Unknown, "Could not start gRPC server"},
		"unknown protocol":   {cluster.Config{Cluster: spec, Job: "worker", Protocol: "tcp"}, tf.NotFound, "No server factory registered for the given ServerDef"},
		"unknown device":     {cluster.Config{Cluster: spec, Job: "worker", Devices: map[string]int{"TPU": 1}}, tf.InvalidArgument, "TPU"},
		"a host not of ours": {cluster.Local("192.0.2.1:0"), tf.Unknown, "Could not start gRPC server"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := cluster.NewServer(c.cfg)
			if err == nil {
				s.Stop()
			}
			if tf.CodeOf(err) != c.code || !strings.Contains(tf.AsError(err).Message(), c.text) {
				t.Errorf("NewServer = %v, want %v: ...%s...", err, c.code, c.text)
			}
		})
	}
}

// A server may have several devices; what one of them computes another can use.
func TestServerDevices(t *testing.T) {
	c := cluster.Local("127.0.0.1:0")
	c.Devices = map[string]int{"CPU": 2}
	s := serve(t, c)
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 2, tf.OnDevice("/device:CPU:1"))
	y := ops.Add(x, x, tf.OnDevice("/device:CPU:0"))
	got, err := session.Fetch[float32](t.Context(), open(t, g, s.Target()), nil, y)
	if err != nil || got[0] != 4 {
		t.Errorf("2 + 2 on two devices = %v, %v", got, err)
	}
}

// Stopping a server ends the steps that run on it, wherever their clients and
// masters are.
func TestStopEndsSteps(t *testing.T) {
	for _, stop := range []string{"ps:0", "worker:0"} {
		t.Run(stop, func(t *testing.T) {
			c := start(t, map[string]int{"ps": 1, "worker": 1})
			g := tf.NewGraph(tf.Strict())
			x := tf.Apply(g, "TestWait", nil, tf.OnDevice("/job:ps")).Output(0)
			y := ops.Add(x, x, tf.OnDevice("/job:worker"))
			s := open(t, g, c.servers["worker:0"].Target())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { _, err := s.Run(ctx, nil, y); ended <- err }()
			<-waiting
			if err := c.servers[stop].Stop(); err != nil {
				t.Fatal(err)
			}
			err := <-ended
			if code := tf.CodeOf(err); code != tf.Unavailable && code != tf.Aborted {
				t.Errorf("the step = %v, want an Unavailable or Aborted error", err)
			}
		})
	}
}

// nowhere is an address where nobody listens, nor ever will: ports that were free
// a moment ago may be another program's by now.
const nowhere = "127.0.0.1:1"

// A task that nobody serves holds up sessions, for as long as they like.
func TestDeadTask(t *testing.T) {
	lis := listen(t)
	spec := cluster.Spec{"ps": {nowhere}, "worker": {lis.Addr().String()}}
	w := serve(t, cluster.Config{Cluster: spec, Job: "worker", Listener: lis})
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 1)
	s := open(t, g, w.Target(), session.With(session.Config{Timeout: 200 * time.Millisecond}))
	if _, err := s.Run(t.Context(), nil, x); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("a session that waits for a dead task: %v, want a DeadlineExceeded error", err)
	}
	filtered := open(t, g, w.Target(), session.DeviceFilters("/job:worker"))
	if _, err := filtered.Run(t.Context(), nil, x); err != nil {
		t.Errorf("a session that does not want the dead task: %v", err)
	}
}

func TestDeadServer(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	s := open(t, g, "grpc://"+nowhere, session.With(session.Config{Timeout: 100 * time.Millisecond}))
	if _, err := s.Run(t.Context(), nil, ops.Scalar[float32](g, 1)); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("a step on a dead server: %v, want a DeadlineExceeded error", err)
	}
}

// A client may be there before its server.
func TestClientComesFirst(t *testing.T) {
	lis := listen(t)
	addr := lis.Addr().String()
	lis.Close()
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 5)
	s := open(t, g, "grpc://"+addr)
	ended := make(chan error, 1)
	go func() { _, err := s.Run(context.Background(), nil, x); ended <- err }()
	again, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	serve(t, cluster.Config{Cluster: cluster.Spec{"local": {addr}}, Job: "local", Listener: again})
	if err := <-ended; err != nil {
		t.Errorf("the step: %v", err)
	}
}
