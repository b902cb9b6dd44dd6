package cluster_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// chain is a graph of n nodes one after the other.
func chain(n int) (*tf.Graph, tf.Output) {
	g := tf.NewGraph()
	y := ops.Placeholder(g, tf.Float32, tf.Shape{})
	x := y
	for range n {
		y = ops.Sin(y)
	}
	return g, ops.Mul(y, x)
}

// local is a server that is a cluster by itself.
func local(t *testing.T) cluster.Config {
	t.Helper()
	lis := listen(t)
	c := cluster.Local(lis.Addr().String())
	c.Listener = lis
	return c
}

// TestPlanningEndsWithItsClient: master and worker stop planning when the client's
// deadline has come; the server goes on to serve others, and stops at once.
func TestPlanningEndsWithItsClient(t *testing.T) {
	s := serve(t, local(t))
	g, y := chain(100_000)
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	_, err := open(t, g, s.Target()).Run(ctx, session.Feeds{g.Operations()[0].Output(0): tf.Scalar(float32(1))}, y)
	if err != nil && tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("at the deadline: %v", err)
	}
	start := time.Now()
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the server took %v to stop", took)
	}
}

// TestServerLimits: the limits of a server count for its clients.
func TestServerLimits(t *testing.T) {
	c := local(t)
	c.Limits = session.Limits{Nodes: 100}
	s := serve(t, c)
	g, y := chain(100)
	_, err := open(t, g, s.Target()).Run(t.Context(), session.Feeds{g.Operations()[0].Output(0): tf.Scalar(float32(1))}, y)
	if tf.CodeOf(err) != tf.ResourceExhausted || !strings.Contains(err.Error(), "a graph must have at most 100 nodes (limit max_nodes), this one has 102") {
		t.Errorf("got %v", err)
	}
}
