package clampedsum_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/docs/clampedsum"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func ExampleClampedSum() {
	g := eager.New()
	x := ops.Const(g, []float32{0.5, 2, -3})
	z, err := clampedsum.ClampedSum(x, x, 1.5).Value()
	fmt.Println(z, err)
	// Output: float32[3]{1, 1.5, -1.5} <nil>
}

func init() {
	limited := func(limit float64) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{clampedsum.ClampedSum(in[0], in[1], limit)}
		}
	}
	x, y := optest.Vec[float32](0.5, 2, -3), optest.Vec[float32](0.25, 1, 1)
	optest.Add(
		optest.Sample{Op: "ExampleClampedSum", In: []*core.Tensor{x, y}, F: limited(1.5), Want: []*core.Tensor{optest.Vec[float32](0.75, 1.5, -1.5)}},
		optest.Sample{Op: "ExampleClampedSum", Name: "shapes", In: []*core.Tensor{x, optest.Vec[float32](1)}, F: limited(1), Fails: true,
			Refused: "x and y must have the same shape", Types: optest.OnlyOwn},
	)
}

// TestOps runs the samples in a session, eagerly, with unknown shapes, with wrong
// inputs and against difference quotients. It fails for an op without a sample.
func TestOps(t *testing.T) { optest.Run(t, nil) }

func TestGradient(t *testing.T) {
	x, err := tf.FromSlice([]float64{0.5, 2, -3, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	tftest.Gradients(t, eager.New(), func(in []tf.Output) tf.Output {
		return clampedsum.ClampedSum(in[0], in[0], 1.5)
	}, x)
}

func TestRefuses(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{1, 2, 3})
	if err := clampedsum.ClampedSum(x, y, 1).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("shapes that differ: %v", err)
	}
	e := eager.New()
	z := ops.Const(e, []float32{1})
	if _, err := clampedsum.ClampedSum(z, z, -1).Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a negative limit: %v", err)
	}
}
