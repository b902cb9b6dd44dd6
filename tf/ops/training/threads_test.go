package training_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSparseRowsOnThreads: rows that come many times are updated in order, whatever
// the number of threads.
func TestSparseRowsOnThreads(t *testing.T) {
	const n, width, count = 200, 8, 20000
	index, grad := make([]int32, count), make([]float32, count*width)
	for i := range index {
		index[i] = int32(i * i % 37)
	}
	for i := range grad {
		grad[i] = float32(i%13) - 6
	}
	run := func(threads int) []float32 {
		g := tf.NewGraph()
		filled := func(name string, v float32) *tf.Variable {
			return tf.NewVariable(ops.Fill([]int{n, width}, ops.Scalar(g, v)), tf.VariableOptions{Name: name})
		}
		v, slot := filled("v", 1), filled("slot", 0.1)
		step := tf.Apply(g, "ResourceSparseApplyAdagrad", []tf.Output{v.Handle(), slot.Handle(), ops.Scalar(g, float32(0.1)), ops.Const(g, grad, count, width), ops.Const(g, index, count)})
		s, err := session.New(g, session.With(session.Config{Threads: threads}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx := context.Background()
		for _, f := range []tf.Fetchable{tf.InitializeAll(g), step} {
			if _, err := s.Run(ctx, nil, f); err != nil {
				t.Fatal(err)
			}
		}
		out, err := session.Fetch[float32](ctx, s, nil, v.Value())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	one := run(1)
	if four := run(4); !slices.Equal(four, one) {
		t.Error("four threads give other bits than one")
	}
	for row := range n {
		if changed := one[row*width+1] != 1; changed != slices.Contains(index, int32(row)) {
			t.Errorf("row %d changed: %v", row, changed)
		}
	}
}
