package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// arrayUses compute a number from x, float64 [3 2], by arrays.
var arrayUses = map[string]func(x tf.Output) tf.Output{
	"MapFn": func(x tf.Output) tf.Output {
		f := func(r []tf.Output) []tf.Output { return []tf.Output{r[0].Square(), r[0].Cast(tf.Int32)} }
		y := ops.MapFn(f, []tf.Output{x}, []tf.DType{tf.Float64, tf.Int32})
		return y[0].Mul(y[1].Cast(tf.Float64)).Sum()
	},
	"Scan": func(x tf.Output) tf.Output {
		f := func(before, r []tf.Output) []tf.Output { return []tf.Output{before[0].Mul(r[0])} }
		return ops.Scan(f, []tf.Output{x}, []tf.Output{ops.Const(x.Graph(), []float64{1, 1})})[0].Sum()
	},
	"FoldL": func(x tf.Output) tf.Output {
		f := func(before, r []tf.Output) []tf.Output { return []tf.Output{before[0].Mul(r[0]).Add(r[0])} }
		return ops.FoldL(f, []tf.Output{x}, []tf.Output{ops.Const(x.Graph(), []float64{1, 1})})[0].Sum()
	},
	"while": func(x tf.Output) tf.Output {
		g := x.Graph()
		zero := ops.Scalar(g, int32(0))
		in := ops.NewTensorArray(ops.Scalar(g, int32(3)), tf.Float64, ops.TensorArrayOpts{}).Unstack(x)
		out := ops.NewTensorArray(zero, tf.Float64, ops.TensorArrayOpts{DynamicSize: true, ElementShape: tf.Shape{2}})
		end := tf.While([]tf.Output{zero, out.Flow()}, func(v []tf.Output) tf.Output { return v[0].Less(int32(3)) }, func(v []tf.Output) []tf.Output {
			return []tf.Output{v[0].Add(int32(1)), out.WithFlow(v[1]).Write(v[0], in.Read(v[0]).Square()).Flow()}
		})
		return out.WithFlow(end[1]).Stack().Square().Sum()
	},
	"gather": func(x tf.Output) tf.Output {
		g := x.Graph()
		a := ops.NewTensorArray(ops.Scalar(g, int32(4)), tf.Float64, ops.TensorArrayOpts{ElementShape: tf.Shape{2}, KeepAfterRead: true})
		a = a.Scatter(ops.Const(g, []int32{2, 0, 1}), x.Square())
		return a.Gather(ops.Const(g, []int32{3, 2, 2, 1})).Square().Sum().Add(a.Size().Cast(tf.Float64))
	},
	"concat": func(x tf.Output) tf.Output {
		a := ops.NewTensorArray(ops.Scalar(x.Graph(), int32(2)), tf.Float64, ops.TensorArrayOpts{AnyShape: true, KeepAfterRead: true})
		a = a.Split(x.Square(), ops.Const(x.Graph(), []int64{1, 2}))
		return a.Concat().Square().Sum().Add(a.Read(ops.Scalar(x.Graph(), int32(1))).Sum())
	},
}

// TestArraysOnTapes: what arrays compute, and gradients through them, are those of a graph
// for sessions on a tape, in a function, and in a function whose call is on a tape.
func TestArraysOnTapes(t *testing.T) {
	rows := []float64{1, 2, 3, 4, 5, 6}
	for name, use := range arrayUses {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			x := ops.Const(g, rows, 3, 2)
			y := use(x)
			d, err := tf.Gradients(y, x)
			if err != nil {
				t.Fatal(err)
			}
			want, err := fetchAll(t, g, y, d[0])
			if err != nil {
				t.Fatal(err)
			}
			g = eager.New()
			x = ops.Const(g, rows, 3, 2)
			f := eager.NewFunc(g, "f", func(args []tf.Output, _ ...any) []tf.Output { return []tf.Output{use(args[0])} })
			for _, call := range []func(x tf.Output) tf.Output{use, func(x tf.Output) tf.Output { return f.Call([]tf.Output{x})[0] }} {
				var y tf.Output
				tape := eager.Record(g, func() { y = call(x) })
				d, err := tape.Gradients(y, x)
				if err != nil {
					t.Fatal(err)
				}
				for i, out := range []tf.Output{y, d[0]} {
					got, err := out.Value()
					if err != nil {
						t.Fatal(err)
					}
					tftest.Equal(t, got, (*tf.Tensor)(want[i]), tftest.Within(1e-12, 0))
				}
			}
		})
	}
}

// TestListArrayErrors: arrays of eager graphs keep to the rules of arrays where their
// sizes are known, and say what they do not have.
func TestListArrayErrors(t *testing.T) {
	g := eager.New()
	i := func(v int32) tf.Output { return ops.Scalar(g, v) }
	x := ops.Const(g, []float64{1, 2})
	a := func() ops.TensorArray { return newArray(g, 2, ops.TensorArrayOpts{AnyShape: true}) }
	for want, y := range map[string]tf.Output{
		"Trying to modify element 3 in a list with 2 elements.":                     a().Write(i(3), x).Flow(),
		"Trying to access element 2 in a list with 2 elements.":                     a().Read(i(2)),
		"Trying to read an uninitialized tensor but element_shape is not fully":     a().Read(i(1)),
		"Max scatter index must be < array size (5 vs. 2)":                          a().Scatter(ops.Const(g, []int32{0, 5}), x).Flow(),
		"Max scatter index must be < array size (2 vs. 2)":                          a().Unstack(ops.Const(g, []float64{1, 2, 3})).Flow(),
		"TensorArray's size is not equal to the size of lengths (2 vs. 1)":          a().Split(x, ops.Const(g, []int64{2})).Flow(),
		"TensorArray dtype is float64 but Op is trying to write dtype int32.":       a().Write(i(0), i(1)).Flow(),
		"The num_elements to reserve must be a non negative number, but got -1":     newArray(g, -1, ops.TensorArrayOpts{}).Flow(),
		"in an eager graph gradients are taken on a tape, which eager.Record makes": a().Grad("gradients", a().Flow()).Flow(),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "_test.go:") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := a().Close().Err(); err != nil {
		t.Error(err)
	}
	raw := func() (y tf.Output) {
		u := arrayUse{g, strings.Fields(arrayVersions["3"])}
		h, flow := u.array(1)
		return u.apply(readArray, h, i(0), u.put(writeArray, h, i(0), x, flow)).Output(0)
	}
	var y tf.Output
	tape := eager.Record(g, func() { y = raw() })
	if _, err := tape.Gradients(y, x); err == nil || !strings.Contains(err.Error(), "lists, which ops.NewTensorArray makes in an eager graph, and not through TensorArrayReadV3") {
		t.Error(err)
	}
}
