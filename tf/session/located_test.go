package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// failing is a backend whose steps fail at a node.
type failing struct{ node string }

func (f failing) Run(context.Context, *session.Call) ([]*core.Tensor, error) {
	return nil, &tf.Error{Code: tf.Unavailable, Node: f.node, Msg: "connection refused"}
}

func (failing) Close() error { return nil }

func init() {
	session.RegisterFactory("failing", func(_ *tf.Graph, c session.Config) (session.Backend, error) {
		return failing{strings.TrimPrefix(c.Target, "failing://")}, nil
	})
}

// TestNodesOfTransfers: an error of a transfer has the line of the operation whose output
// crosses, by whichever name a master or a worker gave to the node that sends it.
func TestNodesOfTransfers(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Scalar(g, float32(1), tf.Name("a/x"))
	ops.Scalar(g, float32(1), tf.Name("a/y_S3"))
	for node, found := range map[string]bool{
		"a/x": true, "a/x_S17": true, "a/x_G2": true, "a/x_S17_G2": true, "a/x/_26": true, "a/x/_26_S1": true, "a/y_S3": true, "a/y_S4": false, "a/x_T1": false, "_S1": false,
	} {
		s, err := session.New(g, session.Target("failing://"+node))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), nil, x)
		if got := strings.Contains(err.Error(), "located_test.go:"); got != found {
			t.Errorf("%s: %v", node, err)
		}
	}
}
