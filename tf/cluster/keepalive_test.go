package cluster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// How peers are watched in these tests.
const hurriedTime, hurriedTimeout = 100 * time.Millisecond, 300 * time.Millisecond

// hidden starts a ps and a worker whose other callers reach them through links of
// their own, and returns these.
func hidden(t *testing.T, noLinks bool) (ps, worker *link) {
	t.Helper()
	ps, worker = newLink(t), newLink(t)
	behindPS, behindWorker := listen(t), listen(t)
	c := cluster.Config{
		Cluster: cluster.Spec{"ps": {ps.address()}, "worker": {worker.address()}}, NoLinks: noLinks, KeepAlive: hurriedTime, KeepAliveTimeout: hurriedTimeout,
	}
	c.Job, c.Listener = "ps", behindPS
	serve(t, c)
	ps.lead(behindPS.Addr().String())
	c.Job, c.Listener = "worker", behindWorker
	serve(t, c)
	worker.lead(behindWorker.Addr().String())
	return ps, worker
}

// slowStep is one that the ps never ends, and the worker waits for.
func slowStep() (g *tf.Graph, quick, slow tf.Output) {
	g = tf.NewGraph(tf.Strict())
	quick = ops.Identity(ops.Scalar[float32](g, 2, tf.OnDevice("/job:ps")), tf.OnDevice("/job:worker"))
	x := tf.Apply(g, "TestWait", nil, tf.OnDevice("/job:ps")).Output(0)
	return g, quick, ops.Identity(x, tf.OnDevice("/job:worker"))
}

// silenced runs a step without a deadline, lets a task's connections swallow all
// once it is under way, and returns how the step ends.
func silenced(t *testing.T, noLinks bool, which func(ps, worker *link) *link) error {
	t.Helper()
	ps, worker := hidden(t, noLinks)
	g, quick, slow := slowStep()
	s := open(t, g, "grpc://"+worker.address(), session.KeepAlive(hurriedTime, hurriedTimeout))
	for range 3 { // by gRPC, and then by links if there are some
		if _, err := s.Run(t.Context(), nil, quick); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { _, err := s.Run(t.Context(), nil, slow); ended <- err }()
	<-waiting
	l := which(ps, worker)
	t.Cleanup(l.cut) // before the servers stop
	l.hush()
	start := time.Now()
	err := <-ended
	if d := time.Since(start); d > 10*time.Second { // others are waited for for 15
		t.Errorf("it took %v", d)
	}
	if _, err := s.Run(t.Context(), nil, quick); tf.CodeOf(err) != tf.Unavailable {
		t.Errorf("the next step: %v, want Unavailable", err)
	}
	return err
}

// TestSilentMaster: a step of a client ends when the master's connection swallows
// everything, and so do later ones.
func TestSilentMaster(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		err := silenced(t, noLinks, func(_, worker *link) *link { return worker })
		if tf.CodeOf(err) != tf.Unavailable || !strings.Contains(err.Error(), "has not answered for") {
			t.Errorf("without links %v: %v", noLinks, err)
		}
	}
}

// TestSilentWorker: a step ends when a worker's connection swallows everything.
// The error says which worker that is.
func TestSilentWorker(t *testing.T) {
	for _, noLinks := range []bool{false, true} {
		err := silenced(t, noLinks, func(ps, _ *link) *link { return ps })
		if tf.CodeOf(err) != tf.Unavailable || !strings.Contains(err.Error(), "has not answered for") || !strings.Contains(err.Error(), "/job:ps/replica:0/task:0") {
			t.Errorf("without links %v: %v", noLinks, err)
		}
	}
}

// TestLongStep: a step may take much longer than a silence.
func TestLongStep(t *testing.T) {
	_, worker := hidden(t, true)
	g, _, slow := slowStep()
	s := open(t, g, "grpc://"+worker.address(), session.KeepAlive(hurriedTime, hurriedTimeout))
	const long = 3 * (2*hurriedTime + hurriedTimeout)
	start := time.Now()
	_, _, err := s.RunWithOptions(t.Context(), session.RunOptions{Timeout: long}, nil, slow)
	<-waiting
	if d := time.Since(start); tf.CodeOf(err) != tf.DeadlineExceeded || d < long-hurriedTime {
		t.Errorf("after %v: %v, want DeadlineExceeded after %v", d, err, long)
	}
}
