package cluster_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// faults says how many tasks are killed; GORGE_FAULTS asks for more.
func faults(t *testing.T) int {
	t.Helper()
	text := os.Getenv("GORGE_FAULTS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const (
	limit = 4 * time.Second  // of a session
	hang  = 60 * time.Second // what takes so long after a limit does not end at all
)

// counting is a step over three tasks: a variable on the ps grows by what one
// worker sends, and the other one doubles it.
type counting struct {
	g      *tf.Graph
	v      *tf.Variable
	x, out tf.Output
}

func newCounting() *counting {
	c := &counting{g: tf.NewGraph(tf.Strict())}
	c.v = tf.NewVariable(ops.Const(c.g, make([]float32, 5000)), tf.VariableOptions{Name: "v", Device: "/job:ps"})
	c.x = ops.Placeholder(c.g, tf.Float32, tf.Shape{})
	grown := ops.AddV2(c.v.Value(), ops.Identity(c.x, tf.OnDevice("/job:worker/task:1")), tf.OnDevice("/job:ps"))
	c.out = ops.Mul(grown, ops.Scalar[float32](c.g, 2), tf.OnDevice("/job:worker/task:0"))
	return c
}

// steps runs n steps and returns the first error. No step may hang.
func (c *counting) steps(t *testing.T, s *session.Session, n int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit+hang)
	defer cancel()
	if _, err := s.Run(ctx, nil, c.v.Initializer()); err != nil {
		return inTime(t, ctx, err)
	}
	for k := range n {
		got, err := session.Fetch[float32](ctx, s, session.Feeds{c.x: tf.Scalar(float32(k))}, c.out)
		if err != nil {
			return inTime(t, ctx, err)
		}
		if got[0] != float32(2*k) || got[4999] != got[0] {
			t.Errorf("step %d gives %v, want %d", k, got[0], 2*k)
		}
	}
	return nil
}

// inTime checks that something has ended by itself.
func inTime(t *testing.T, ctx context.Context, err error) error {
	t.Helper()
	if ctx.Err() != nil {
		t.Fatalf("a step hung beyond its limit: %v", err)
	}
	return err
}

// interrupted reports whether an error is one that TensorFlow's programs take
// for a task that is gone, or for time that is up.
func interrupted(err error) bool {
	switch tf.CodeOf(err) {
	case tf.Unavailable, tf.Aborted, tf.DeadlineExceeded:
		return true
	}
	return false
}

// Tasks are killed at any point of a session's life: steps end in time, with an
// error that says what a program can do about it, and when the task is back, a
// new session works.
func TestKilledTasks(t *testing.T) {
	all := processes(t)
	r := rand.New(rand.NewPCG(1, 9))
	target := "grpc://" + all["worker:0"].address() // whose master is used
	for n := range faults(t) {
		victim := all[[]string{"ps:0", "worker:0", "worker:1"}[n%3]]
		after := 1 + r.IntN(50)
		c := newCounting()
		s := open(t, c.g, target, session.With(session.Config{Timeout: limit}))
		victim.arm(after, victim.killer())
		if err := c.steps(t, s, 20); err != nil && !interrupted(err) {
			t.Errorf("fault %d, %q killed after %d messages: %v, want Unavailable, Aborted or DeadlineExceeded", n, victim.task, after, err)
		}
		s.Close()
		victim.again()
		works(t, target)
	}
}

// works waits until sessions work again: others may still be finding out that a
// task has another life.
func works(t *testing.T, target string) {
	t.Helper()
	deadline := time.Now().Add(hang)
	for {
		c := newCounting()
		s := open(t, c.g, target, session.With(session.Config{Timeout: limit}))
		err := c.steps(t, s, 2)
		s.Close()
		if err == nil {
			return
		}
		if !interrupted(err) || time.Now().After(deadline) {
			t.Fatalf("a session after the task is back: %v", err)
		}
	}
}

// linked starts a cluster of a ps and a worker in this process, the ps behind a
// link, and returns the worker's target.
func linked(t *testing.T) (*link, string) {
	t.Helper()
	l, ps, worker := newLink(t), listen(t), listen(t)
	spec := cluster.Spec{"ps": {l.address()}, "worker": {worker.Addr().String()}}
	serve(t, cluster.Config{Cluster: spec, Job: "ps", Listener: ps})
	l.lead(ps.Addr().String())
	return l, serve(t, cluster.Config{Cluster: spec, Job: "worker", Listener: worker}).Target()
}

// A peer that accepts connections and never answers holds up neither new
// sessions nor steps for longer than their limit.
func TestSilentTask(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 2, tf.OnDevice("/job:ps"))
	slow := ops.AddV2(tf.Apply(g, "TestWait", nil, tf.OnDevice("/job:ps")).Output(0), x, tf.OnDevice("/job:worker"))
	short := session.With(session.Config{Timeout: time.Second})
	l, target := linked(t)
	s := open(t, g, target)
	if _, err := s.Run(t.Context(), nil, x); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	for limit, begun := time.Second, false; !begun; limit *= 2 {
		go func() {
			_, _, err := s.RunWithOptions(t.Context(), session.RunOptions{Timeout: limit}, nil, slow)
			ended <- err
		}()
		select {
		case <-waiting:
			begun = true
		case err := <-ended:
			t.Logf("a step of %v did not get to its node: %v", limit, err)
		}
	}
	l.hush()
	if err := <-ended; tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("a step whose peer fell silent: %v, want DeadlineExceeded", err)
	}
	if _, err := open(t, g, target, short).Run(t.Context(), nil, x); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("a new session with a silent peer: %v, want DeadlineExceeded", err)
	}
	l.cut()
}

// A connection that breaks in the middle of a step ends it with Unavailable.
func TestBrokenConnection(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	x := tf.Apply(g, "TestWait", nil, tf.OnDevice("/job:ps")).Output(0)
	y := ops.Identity(x, tf.OnDevice("/job:worker"))
	l, target := linked(t)
	s := open(t, g, target)
	ended := make(chan error, 1)
	go func() { _, err := s.Run(t.Context(), nil, y); ended <- err }()
	<-waiting
	l.cut()
	if err := <-ended; tf.CodeOf(err) != tf.Unavailable {
		t.Errorf("a step whose connection broke: %v, want Unavailable", err)
	}
}

// The steps of a client that vanishes end on all tasks.
func TestClientVanishes(t *testing.T) {
	c := start(t, map[string]int{"ps": 1, "worker": 1})
	g := tf.NewGraph(tf.Strict())
	x := tf.Apply(g, "TestWait", nil, tf.OnDevice("/job:ps"), tf.Name("wait")).Output(0)
	ops.Identity(x, tf.OnDevice("/job:worker"), tf.Name("never"))
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(t)
	l.lead(strings.TrimPrefix(c.servers["worker:0"].Target(), "grpc://"))
	conn, err := rpc.Dial(l.address(), rpc.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	m := rpc.NewMasterClient(conn)
	made, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: def})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := m.RunStep(t.Context(), &pb.RunStepRequest{SessionHandle: made.GetSessionHandle(), Fetch: []string{"never:0"}, RequestId: requestid.New()})
		ended <- err
	}()
	<-waiting
	select {
	case <-gaveUp: // of another test's step
	default:
	}
	l.cut()
	select {
	case <-gaveUp:
	case <-time.After(hang):
		t.Error("the step goes on at the ps though its client is gone")
	}
	if err := <-ended; tf.CodeOf(err) != tf.Unavailable {
		t.Errorf("what the client hears: %v, want Unavailable", err)
	}
}

// Sessions leave nothing behind: neither memory nor goroutines.
func TestSessionsLeaveNothing(t *testing.T) {
	sessions := 300
	if os.Getenv("GORGE_FAULTS") != "" {
		sessions = 1000
	}
	servers := start(t, map[string]int{"ps": 1, "worker": 2}).servers
	target := strings.Replace(servers["worker:0"].Target(), "127.0.0.1", "localhost", 1) // by the network
	life := func(n int) {
		c := newCounting()
		s, err := session.New(c.g, session.With(session.Config{Target: target, Timeout: time.Minute, Isolate: n%2 == 0}))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.steps(t, s, 3), s.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var heap [2]int64
	var goroutines [2]int
	for half := range 2 {
		for n := range sessions / 2 {
			life(n)
		}
		heap[half], goroutines[half] = live()
	}
	const most, some = 6 << 20, 10
	for end := time.Now().Add(hang); (heap[1]-heap[0] > most || goroutines[1] > goroutines[0]+some) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond) // the last ones may still be cleaned up
		heap[1], goroutines[1] = live()
	}
	if grown := heap[1] - heap[0]; grown > most {
		t.Errorf("%d sessions leave %d bytes behind", sessions/2, grown)
	}
	if goroutines[1] > goroutines[0]+some {
		t.Errorf("%d goroutines after %d sessions, %d after twice as many", goroutines[0], sessions/2, goroutines[1])
	}
}

func live() (heap int64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), runtime.NumGoroutine()
}
