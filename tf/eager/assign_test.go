package eager_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestAssignedShapes sees that a variable keeps the shape that it was declared
// with, as in a graph that is not eager, and that the operation has the error.
func TestAssignedShapes(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	assign := []func(tf.Output, ...tf.Option) *tf.Operation{v.Assign, v.AssignAdd, v.AssignSub}
	for _, x := range []tf.Output{ops.Const(g, []float32{1, 2, 3}), ops.Scalar[float32](g, 1), ops.Const(g, []float32{1, 2}, 1, 2)} {
		for _, f := range assign {
			err := f(x).Err()
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "variable v has [2], the value "+x.Shape().String()) {
				t.Errorf("%v: %v", x, err)
			}
		}
	}
	add := eager.NewFunc(g, "add", func(in []tf.Output, _ ...any) []tf.Output {
		v.AssignAdd(in[0])
		return in
	})
	if _, err := add.Call([]tf.Output{ops.Const(g, []float32{1})})[0].Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if err := v.Assign(ops.Const(g, []float32{5, 6})).Err(); err != nil {
		t.Error(err)
	}
	if got := tf.Data[float32](value(t, v.Value())); !slices.Equal(got, []float32{5, 6}) {
		t.Error(got)
	}
}
