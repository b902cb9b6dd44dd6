package cluster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// remotely calls f, which takes one number, on the ps from the worker.
func remotely(g *tf.Graph, x tf.Output, f func(x tf.Output) tf.Output) (y tf.Output) {
	fn := tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return []tf.Output{f(in[0])} })
	g.Device("/job:worker/task:0", func() {
		y = ops.RemoteCall(ops.Scalar(g, "/job:ps/task:0"), fn, []tf.Output{x})[0]
	})
	return y
}

// TestRemoteCall: a function runs on another task, where its variables are.
func TestRemoteCall(t *testing.T) {
	r := start(t, map[string]int{"ps": 1, "worker": 1})
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	var v *tf.Variable
	g.Device("/job:ps/task:0", func() { v = tf.NewVariable(ops.Scalar[float32](g, 10), tf.VariableOptions{Name: "v"}) })
	y := remotely(g, x, func(x tf.Output) tf.Output { v.AssignAdd(x); return v.Read() })
	bad := remotely(g, x, func(x tf.Output) tf.Output { return ops.CheckNumerics(x, "remote") })
	s := open(t, g, r.servers["worker:0"].Target())
	if _, err := s.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar[float32](2)}, y)
		if err != nil {
			t.Fatal(err)
		}
		if want := float32(12 + 2*i); value(t, (*core.Tensor)(got[0])) != want {
			t.Errorf("call %d gives %v, want %v", i, got[0], want)
		}
	}
	inf := tf.Scalar(float32(1))
	tf.Data[float32](inf)[0] /= 0 * tf.Data[float32](inf)[0]
	_, err := s.Run(t.Context(), session.Feeds{x: inf}, bad)
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "remote : Tensor had Inf") || !strings.Contains(err.Error(), "/job:ps/") {
		t.Errorf("got %v", err)
	}
}

// TestRemoteCallEnds: what runs on another task ends with the step, or with
// that task.
func TestRemoteCallEnds(t *testing.T) {
	r := start(t, map[string]int{"ps": 1, "worker": 1})
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := remotely(g, x, func(tf.Output) tf.Output { return tf.Apply(g, "TestWait", nil).Output(0) })
	s := open(t, g, r.servers["worker:0"].Target())
	for _, end := range []func(cancel func()){func(cancel func()) { cancel() }, func(func()) { r.servers["ps:0"].Stop() }} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		go func() { <-waiting; end(cancel) }()
		_, err := s.Run(ctx, session.Feeds{x: tf.Scalar[float32](1)}, y)
		cancel()
		if c := tf.CodeOf(err); c != tf.Canceled && c != tf.Unavailable && c != tf.Aborted {
			t.Errorf("got %v", err)
		}
	}
}

// TestRemoteCallNowhere: a target that the cluster does not have.
func TestRemoteCallNowhere(t *testing.T) {
	r := start(t, map[string]int{"worker": 1})
	g := tf.NewGraph()
	x := ops.Scalar[float32](g, 1)
	s := open(t, g, r.servers["worker:0"].Target())
	for target, want := range map[string]tf.Code{"/job:none/task:0": tf.NotFound, "/job:worker/task:0/device:CPU:7": tf.InvalidArgument, "no device": tf.InvalidArgument} {
		fn := tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return in })
		y := ops.RemoteCall(ops.Scalar(g, target), fn, []tf.Output{x})[0]
		if _, err := s.Run(t.Context(), nil, y); tf.CodeOf(err) != want {
			t.Errorf("%s: got %v, want %v", target, err, want)
		}
	}
}
