package train_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/stage"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestUpdatesBesideSnapshots: an update of variables whose values are held elsewhere, as
// an asynchronous save holds them, gives the same bits as one in place, and the values
// that are held stay.
func TestUpdatesBesideSnapshots(t *testing.T) {
	optimizers := []train.Optimizer{
		train.GradientDescent{LearningRate: 0.1}, train.Momentum{LearningRate: 0.1, Momentum: 0.9}, train.Adam{LearningRate: 0.01},
		train.Adagrad{LearningRate: 0.1}, train.RMSProp{LearningRate: 0.01}, train.FTRL{LearningRate: 0.1},
	}
	for _, o := range optimizers {
		for _, d := range []tf.DType{tf.Float32, tf.Float64, tf.Float16} {
			for _, sparse := range []bool{false, true} {
				held, plain := trajectory(t, o, d, sparse, true), trajectory(t, o, d, sparse, false)
				for i := range plain {
					if !bytes.Equal(held[i], plain[i]) {
						t.Errorf("%T of %v, sparse %v: value %d differs from that of updates in place", o, d, sparse, i)
					}
				}
			}
		}
	}
}

// trajectory returns the bytes of all variables after each of some steps, and with hold,
// in which each step runs while the values before it are held, checks those.
func trajectory(t *testing.T, o train.Optimizer, d tf.DType, sparse, hold bool) (all [][]byte) {
	t.Helper()
	const width = 13
	rows := int32(4001) // more than a piece, and no multiple of anything
	if d == tf.Float32 && !sparse {
		rows = 22_001 // written past the caches
	}
	g := tf.NewGraph()
	first := ops.Reshape(ops.Cast(ops.FloorMod(ops.Range(g, 0, rows*width, 1), ops.Scalar(g, int32(17))), d), ops.Const(g, []int32{rows, width}))
	v := tf.NewVariable(first, tf.VariableOptions{Name: "v"})
	x := v.Value()
	if sparse {
		x = ops.ResourceGather(v.Handle(), ops.Const(g, []int32{3, 4000, 3, 77}), d)
	}
	op := train.Minimize(o, x.Square().Sum(), train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})
	var values []tf.Output
	var types []tf.DType
	for _, w := range tf.Variables(g, tf.GlobalVariables) {
		values, types = append(values, w.Read()), append(types, w.DType())
	}
	area := stage.Opts{SharedName: "held"}
	keep, kept := stage.Stage(values, area), stage.Unstage(g, types, area)
	s := begin(t, g, true)
	run := func(fetches ...tf.Fetchable) []*tf.Tensor {
		t.Helper()
		out, err := s.Run(t.Context(), nil, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	fetch := func(of []tf.Output) (out [][]byte) {
		var f []tf.Fetchable
		for _, x := range of {
			f = append(f, x)
		}
		for _, x := range run(f...) {
			out = append(out, bytes.Clone((*core.Tensor)(x).Buffer().Bytes()))
		}
		return out
	}
	for step := range 3 {
		before := fetch(values)
		if hold {
			run(keep)
		}
		run(op)
		if hold {
			for i, b := range fetch(kept) {
				if !bytes.Equal(b, before[i]) {
					t.Errorf("%T of %v, sparse %v, step %d: a value that is held has changed", o, d, sparse, step)
				}
			}
		}
		all = append(all, fetch(values)...)
	}
	return all
}

// TestFailedUpdateBesideSnapshot: an update that fails leaves a value that is held, and
// the variable, as they are.
func TestFailedUpdateBesideSnapshot(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}), tf.VariableOptions{Name: "v"})
	by := ops.Placeholder(g, tf.Float32, nil)
	add := ops.AssignAddVariableOp(v.Handle(), by)
	area := stage.Opts{SharedName: "held"}
	keep, kept := stage.Stage([]tf.Output{v.Read()}, area), stage.Unstage(g, []tf.DType{tf.Float32}, area)
	now := v.Read()
	s := begin(t, g, true)
	if _, err := s.Run(t.Context(), nil, keep); err != nil {
		t.Fatal(err)
	}
	wrong, err := tf.FromSlice([]float32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), map[tf.Output]tf.Value{by: wrong}, add); !says(err, tf.InvalidArgument, "shapes must be equal") {
		t.Error(err)
	}
	out, err := s.Run(t.Context(), nil, now, kept[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range out {
		if got := fmt.Sprint(tf.Data[float32](x)); got != "[1 2 3]" {
			t.Error(got)
		}
	}
}
