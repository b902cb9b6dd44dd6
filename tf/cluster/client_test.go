package cluster_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestTargets(t *testing.T) {
	for target, want := range map[string]string{
		"grpc://":             "host:port",
		"grpc://localhost":    "host:port",
		"grpc://a:1,b:2":      "host:port",
		"grpc://localhost:-1": "65535",
	} {
		_, err := session.New(tf.NewGraph(), session.Target(target))
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("target %q: %v, want InvalidArgument: ...%s...", target, err, want)
		}
	}
}

// The graph may grow between steps, and steps may run at once.
func TestSessionExtends(t *testing.T) {
	s := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	c := open(t, g, s.Target())
	y := x
	for i := range 4 {
		y = ops.Add(y, x)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				got, err := session.Fetch[float32](context.Background(), c, session.Feeds{x: tf.Scalar[float32](3)}, y)
				if want := float32(3 * (i + 2)); err != nil || got[0] != want {
					t.Errorf("%d times 3 = %v, %v, want %v", i+2, got, err, want)
				}
			})
		}
		wg.Wait()
	}
}

// An error names the program's line, though the server knows only the node.
func TestErrorNamesLine(t *testing.T) {
	s := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	_, err := open(t, g, s.Target()).Run(t.Context(), nil, v.Value())
	var e *tf.Error
	if !errors.As(err, &e) || e.Code != tf.FailedPrecondition || e.Node != "v/Read/ReadVariableOp" || !strings.HasPrefix(e.Pos, "client_test.go:") {
		t.Errorf("reading a variable without a value = %#v, want FailedPrecondition at v/Read/ReadVariableOp and this file", err)
	}
}

// Sessions share the variables of the servers; isolated ones do not.
func TestSessionsShare(t *testing.T) {
	s := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	a, b := open(t, g, s.Target()), open(t, g, s.Target())
	alone := open(t, g, s.Target(), session.With(session.Config{Isolate: true}))
	if _, err := a.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	if got, err := session.Fetch[float32](t.Context(), b, nil, v.Value()); err != nil || got[0] != 1 {
		t.Errorf("another session reads %v, %v", got, err)
	}
	if _, err := alone.Run(t.Context(), nil, v.Value()); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("an isolated session reads it: %v", err)
	}
}

func TestSessionCloses(t *testing.T) {
	s := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	wait := tf.Apply(g, "TestWait", nil)
	c := open(t, g, s.Target())
	ended := make(chan error, 1)
	go func() { _, err := c.Run(context.Background(), nil, wait); ended <- err }()
	<-waiting
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if err := <-ended; tf.CodeOf(err) != tf.Canceled {
		t.Errorf("the step = %v, want a Canceled error", err)
	}
	if _, err := c.Run(t.Context(), nil, wait); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("a step afterwards = %v, want a FailedPrecondition error", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// A step's caller may give up.
func TestCallerGivesUp(t *testing.T) {
	s := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	wait := tf.Apply(g, "TestWait", nil)
	c := open(t, g, s.Target())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { _, err := c.Run(ctx, nil, wait); ended <- err }()
	<-waiting
	cancel()
	if err := <-ended; tf.CodeOf(err) != tf.Canceled {
		t.Errorf("the step = %v, want a Canceled error", err)
	}
}

// A server that has restarted does not know the session; the error says so.
func TestServerRestarts(t *testing.T) {
	first := serve(t, cluster.Local("127.0.0.1:0"))
	g := tf.NewGraph(tf.Strict())
	x := ops.Scalar[float32](g, 1)
	c := open(t, g, first.Target())
	if _, err := c.Run(t.Context(), nil, x); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	serve(t, cluster.Local(strings.TrimPrefix(first.Target(), "grpc://")))
	_, err := c.Run(t.Context(), nil, x)
	for tf.CodeOf(err) == tf.Unavailable { // on the connection to the first, whose end the client is yet to notice
		_, err = c.Run(t.Context(), nil, x)
	}
	if tf.CodeOf(err) != tf.Aborted {
		t.Errorf("a step after the restart = %v, want an Aborted error", err)
	}
}
