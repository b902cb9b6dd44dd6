package cluster_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(taskVariable); task != "" {
		serveTask(task)
		return
	}
	leaktest.Main(m)
}

func init() {
	core.Register(core.OpDef{
		Name: "TestWait", Out: "never: float", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(wait),
	})
}

// waiting hears of each node that begins to wait, and gave up that the step of
// one has been cancelled.
var (
	waiting = make(chan struct{}, 16)
	gaveUp  = make(chan struct{}, 1)
)

// wait is the kernel of an op that waits until its step is cancelled.
func wait(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		waiting <- struct{}{}
		context.AfterFunc(c.StepContext(), func() {
			select {
			case gaveUp <- struct{}{}:
			default:
			}
			done(&tf.Error{Code: tf.Canceled, Msg: "no more waiting", Derived: true})
		})
	}), nil
}

// listen opens a port of this machine that nobody else has.
func listen(t testing.TB) net.Listener {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return lis
}

// A running cluster, its servers by "job:task".
type running struct {
	spec    cluster.Spec
	servers map[string]*cluster.Server
}

// start starts a server for each task of jobs: how many tasks each job has.
func start(t testing.TB, jobs map[string]int) *running {
	t.Helper()
	return startAlike(t, jobs, cluster.Config{})
}

// startAlike is start for servers that have more in common.
func startAlike(t testing.TB, jobs map[string]int, c cluster.Config) *running {
	t.Helper()
	r := &running{spec: cluster.Spec{}, servers: map[string]*cluster.Server{}}
	listeners := map[string][]net.Listener{}
	for job, n := range jobs {
		for range n {
			lis := listen(t)
			listeners[job] = append(listeners[job], lis)
			r.spec[job] = append(r.spec[job], lis.Addr().String())
		}
	}
	for job := range jobs {
		for i, lis := range listeners[job] {
			c.Cluster, c.Job, c.Task, c.Listener = r.spec, job, i, lis
			r.servers[taskKey(job, i)] = serve(t, c)
		}
	}
	return r
}

func taskKey(job string, task int) string { return job + ":" + string(rune('0'+task)) }

// serve starts a server, which is stopped when the test ends.
func serve(t testing.TB, c cluster.Config) *cluster.Server {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.DiscardHandler
	}
	s, err := cluster.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, g *tf.Graph, target string, opts ...session.Option) *session.Session {
	t.Helper()
	// Under another name than that of the server in this process: calls are to
	// go through the network.
	target = strings.Replace(target, "127.0.0.1", "localhost", 1)
	s, err := session.New(g, append(opts, session.Target(target))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
