package training_test

import (
	"context"
	"math/rand/v2"
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

// TestSparseRowsOneByOne: an update of many rows, some of which come again, gives the same
// bits as updates of one row each, for rows of one element, short rows and long ones.
func TestSparseRowsOneByOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 2, 5, 40} {
		for _, op := range []string{"ResourceSparseApplyAdagrad", "ResourceSparseApplyMomentum", "ResourceSparseApplyAdagradV2"} {
			for _, d := range []tf.DType{tf.Float32, tf.Float64, tf.Float16} {
				const n, count = 900, 3000
				index, grad := make([]int32, count), make([]float32, count*width)
				for i := range index {
					index[i] = int32(r.IntN(n) * r.IntN(n) / n) // small ones come often
				}
				for i := range grad {
					grad[i] = r.Float32() - 0.5
				}
				want, wantSlot := sparselyUpdated(t, op, d, n, width, index, grad, 1)
				got, gotSlot := sparselyUpdated(t, op, d, n, width, index, grad, count)
				if !slices.Equal(got, want) || !slices.Equal(gotSlot, wantSlot) {
					t.Errorf("%s of %v, rows of %d: other bits than row by row", op, d, width)
				}
			}
		}
	}
}

// sparselyUpdated updates a variable of n rows by so many rows of the gradient at a time,
// and returns it and its slot. AdagradV2 has the variable itself as its slot.
func sparselyUpdated(t *testing.T, op string, d tf.DType, n, width int, index []int32, grad []float32, each int) (v, slot []float32) {
	t.Helper()
	g := tf.NewGraph()
	cast := func(x tf.Output) tf.Output { return ops.Cast(x, d) }
	filled := func(name string, v float32) *tf.Variable {
		return tf.NewVariable(cast(ops.Fill([]int{n, width}, ops.Scalar(g, v))), tf.VariableOptions{Name: name})
	}
	x, acc := filled("x", 1), filled("acc", 0.1)
	if op == "ResourceSparseApplyAdagradV2" {
		acc = x
	}
	rows, ids := ops.Placeholder(g, tf.Float32, tf.Shape{each, width}), ops.Placeholder(g, tf.Int32, tf.Shape{each})
	scalar := func(v float32) tf.Output { return cast(ops.Scalar(g, v)) }
	in := []tf.Output{x.Handle(), acc.Handle(), scalar(0.1), cast(rows), ids}
	switch op {
	case "ResourceSparseApplyMomentum":
		in = append(in, scalar(0.9))
	case "ResourceSparseApplyAdagradV2":
		in = slices.Insert(in, 3, scalar(0.01))
	}
	step := tf.Apply(g, op, in)
	values := []tf.Output{ops.Cast(x.Value(), tf.Float32), ops.Cast(acc.Value(), tf.Float32)}
	s, err := session.New(g, session.With(session.Config{Threads: 4}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(index); i += each {
		feeds := session.Feeds{rows: fed(t, grad[i*width:(i+each)*width], each, width), ids: fed(t, index[i:i+each], each)}
		if _, err := s.Run(ctx, feeds, step); err != nil {
			t.Fatal(err)
		}
	}
	return fetched(t, s, values[0]), fetched(t, s, values[1])
}

func fed[T tf.Elem](t *testing.T, v []T, shape ...int) *tf.Tensor {
	t.Helper()
	x, err := tf.FromSlice(v, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func fetched(t *testing.T, s *session.Session, x tf.Output) []float32 {
	t.Helper()
	v, err := session.Fetch[float32](context.Background(), s, nil, x)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
