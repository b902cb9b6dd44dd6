package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestPositionsAreTheProgramsOwn looks at operations that the library adds on
// the program's behalf, some levels down.
func TestPositionsAreTheProgramsOwn(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{-1, 3})
	at := line(1)
	y := layers.Dense(x, 2, layers.Relu)
	for y.Operation().OpName() != "Placeholder" {
		if pos := y.Operation().Pos(); pos != at {
			t.Errorf("%v was added at %s, want %s", y.Operation(), pos, at)
		}
		y = y.Operation().Input(0)
	}
	v := tf.NewVariable(constant(g, tf.Scalar(1.0)), tf.VariableOptions{})
	at = line(1)
	gs, err := tf.Gradients(ops.Mul(v.Value(), v.Value()), v.Handle())
	if err != nil || gs[0].Operation().Pos() != at {
		t.Errorf("a gradient was added at %s, want %s (%v)", gs[0].Operation().Pos(), at, err)
	}
}

func TestPositionsInClosures(t *testing.T) {
	g := tf.NewGraph()
	var op *tf.Operation
	at := ""
	g.Scope("s", func() {
		at = line(1)
		op = noOp(g)
	})
	// noOp is a function of the tests, and so the program's innermost.
	if !strings.HasPrefix(op.Pos(), "graph_test.go:") || !strings.HasPrefix(at, "callers_test.go:") {
		t.Errorf("added at %s, called at %s", op.Pos(), at)
	}
}

func TestCopiedPositions(t *testing.T) {
	op := noOp(tf.NewGraph())
	n := &core.Node{Name: "derived"}
	if n.Pos() != "" {
		t.Errorf("a node of nobody's is at %s", n.Pos())
	}
	if n.CopyPos(&op.Node); n.Pos() != op.Pos() {
		t.Errorf("got %s, want %s", n.Pos(), op.Pos())
	}
}
