package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func init() {
	const step = "its handles last for a step: see the tests of TensorArrays and stacks"
	for _, v := range []string{"", "V2", "V3"} {
		for _, op := range strings.Fields("TensorArray TensorArrayGrad TensorArrayWrite TensorArrayRead TensorArrayGather TensorArrayScatter TensorArrayConcat TensorArraySplit TensorArraySize TensorArrayClose") {
			optest.Unsampled(op+v, step)
		}
	}
	for _, op := range strings.Fields("TensorArrayGradWithShape TensorArrayPack TensorArrayUnpack") {
		optest.Unsampled(op, step)
	}
}

// fetchAll runs a graph for the given outputs.
func fetchAll(t *testing.T, g *tf.Graph, xs ...tf.Output) ([]*tf.Tensor, error) {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list := make([]tf.Fetchable, len(xs))
	for i, x := range xs {
		list[i] = x
	}
	return s.Run(t.Context(), nil, list...)
}

func newArray(g *tf.Graph, n int32, o ops.TensorArrayOpts) ops.TensorArray {
	return ops.NewTensorArray(ops.Scalar(g, n), tf.Float64, o)
}

func TestTensorArray(t *testing.T) {
	g := tf.NewGraph()
	i := func(v int32) tf.Output { return ops.Scalar(g, v) }
	row := func(v ...float64) tf.Output { return ops.Const(g, v) }
	a := newArray(g, 3, ops.TensorArrayOpts{KeepAfterRead: true}).Write(i(0), row(1, 2)).Write(i(1), row(3, 4)).Write(i(2), row(5, 6))
	b := newArray(g, 2, ops.TensorArrayOpts{}).Unstack(ops.Const(g, []float64{1, 2, 3, 4}, 2, 2))
	c := newArray(g, 0, ops.TensorArrayOpts{DynamicSize: true, AnyShape: true}).Split(row(1, 2, 3), ops.Const(g, []int64{1, 0, 2}))
	got, err := fetchAll(t, g, a.Read(i(1)), a.Stack(), a.Gather(ops.Const(g, []int32{2, 0})), a.Concat(), b.Stack(), c.Read(i(2)), c.Size())
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][]float64{{3, 4}, {1, 2, 3, 4, 5, 6}, {5, 6, 1, 2}, {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4}, {2, 3}} {
		tftest.Elements(t, (*tf.Tensor)(got[k]), want)
	}
	if n := tf.Data[int32](got[6])[0]; n != 3 {
		t.Errorf("size %d", n)
	}
}

// Elements of known shape that were not written are zeros.
func TestUnwrittenElements(t *testing.T) {
	g := tf.NewGraph()
	a := newArray(g, 2, ops.TensorArrayOpts{ElementShape: tf.Shape{2}})
	got, err := fetchAll(t, g, a.Write(ops.Scalar[int32](g, 1), ops.Const(g, []float64{1, 2})).Stack())
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, (*tf.Tensor)(got[0]), []float64{0, 0, 1, 2})
}

func TestTensorArrayErrors(t *testing.T) {
	loose := ops.TensorArrayOpts{AnyShape: true}
	for want, build := range map[string]func(g *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output{
		"Tried to write to index 3 but array is not resizeable and size is: 2": func(_ *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Write(i(3), x).Flow()
		},
		"because it has already been written to.": func(_ *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Write(i(0), x).Write(i(0), x).Flow()
		},
		"Could not read index 0 twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).": func(g *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output {
			a = a.Write(i(0), x)
			first := a.Read(i(0))
			var second tf.Output
			g.ControlDependencies([]*tf.Operation{first.Operation()}, func() { second = a.Read(i(0)) })
			return second
		},
		"Tried to read from index 2 but array size is: 2": func(_ *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, _ tf.Output) tf.Output {
			return a.Read(i(2))
		},
		"Could not read from TensorArray index 1.  Furthermore, the element shape is not fully defined: <unknown>.": func(_ *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, _ tf.Output) tf.Output {
			return a.Read(i(1))
		},
		"Max scatter index must be < array size (5 vs. 2)": func(g *tf.Graph, a ops.TensorArray, _ func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Scatter(ops.Const(g, []int32{0, 5}), x).Flow()
		},
		"Expected len(indices) == values.shape[0], but saw: 1 vs. 2": func(g *tf.Graph, a ops.TensorArray, _ func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Scatter(ops.Const(g, []int32{0}), x).Flow()
		},
		"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is 3": func(g *tf.Graph, a ops.TensorArray, _ func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Split(x, ops.Const(g, []int64{1, 2})).Flow()
		},
		"TensorArray's size is not equal to the size of lengths (2 vs. 1)": func(g *tf.Graph, a ops.TensorArray, _ func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Split(x, ops.Const(g, []int64{2})).Flow()
		},
		"TensorArray has inconsistent shapes.  Index 0 has shape: [2] but index 1 has shape: []": func(g *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Write(i(0), x).Write(i(1), ops.Scalar(g, 1.0)).Stack()
		},
		"Concat saw a scalar shape at index 0 but requires at least vectors.": func(g *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) tf.Output {
			return a.Write(i(0), ops.Scalar(g, 1.0)).Write(i(1), x).Concat()
		},
		"has already been closed.": func(g *tf.Graph, a ops.TensorArray, i func(int32) tf.Output, x tf.Output) (y tf.Output) {
			g.ControlDependencies([]*tf.Operation{a.Close()}, func() { y = a.Write(i(0), x).Flow() })
			return y
		},
	} {
		g := tf.NewGraph()
		i := func(v int32) tf.Output { return ops.Scalar(g, v) }
		y := build(g, newArray(g, 2, loose), i, ops.Const(g, []float64{1, 2}))
		if _, err := fetchAll(t, g, y); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What is written several times has a gradient that is summed; every way of
// writing and reading has one.
func TestTensorArrayGradients(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float64{2, 3})
	i := func(v int32) tf.Output { return ops.Scalar(g, v) }
	keep := ops.TensorArrayOpts{KeepAfterRead: true}
	a := newArray(g, 2, keep).Write(i(0), x).Write(i(1), ops.Square(x))
	y := ops.Mul(a.Read(i(0)), a.Read(i(1))).Sum().Add(a.Stack().Sum()).Add(a.Concat().Sum()) // x³ + 2(x + x²)
	b := newArray(g, 2, keep).Unstack(ops.Square(x))
	y = y.Add(ops.Mul(b.Read(i(0)), b.Read(i(0)))) // x₀⁴
	gs, err := tf.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fetchAll(t, g, gs[0])
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, (*tf.Tensor)(got[0]), []float64{3*4 + 2 + 4*2 + 4*8, 3*9 + 2 + 4*3})
}

func TestRowLoops(t *testing.T) {
	for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		t.Run(name, func(t *testing.T) {
			x := ops.Const(g, []float64{1, 2, 3, 4, 5, 6}, 3, 2)
			zero := ops.Const(g, []float64{0, 0})
			sum := func(before, rows []tf.Output) []tf.Output {
				return []tf.Output{before[0].Add(before[0]).Add(rows[0])}
			}
			list := []tf.Output{x}
			for want, y := range map[string][]tf.Output{
				"[3,2]{1, 4, 9, 16, 25, 36}": ops.MapFn(func(r []tf.Output) []tf.Output { return []tf.Output{ops.Square(r[0])} }, list, []tf.DType{tf.Float64}),
				"[3,2]{1, 2, 5, 8, 15, 22}":  ops.Scan(sum, list, []tf.Output{zero}),
				"[2]{15, 22}":                ops.FoldL(sum, list, []tf.Output{zero}),
				"[2]{27, 34}":                ops.FoldR(sum, list, []tf.Output{zero}),
			} {
				v, err := valueOf(t, y[0])
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimPrefix(v.String(), "float64"); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	}
}

func valueOf(t *testing.T, x tf.Output) (*tf.Tensor, error) {
	t.Helper()
	if x.Err() == nil && x.Graph().IsEager() {
		return x.Value()
	}
	v, err := fetchAll(t, x.Graph(), x)
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

func TestJacobian(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float64{2, 3})
	j, err := ops.Jacobian(ops.Mul(x, ops.Square(x)), x)
	if err != nil {
		t.Fatal(err)
	}
	h, err := ops.Hessians(ops.Mul(x, ops.Square(x)).Sum(), x)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fetchAll(t, g, j[0], h[0])
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, (*tf.Tensor)(got[0]), []float64{12, 0, 0, 27})
	tftest.Elements(t, (*tf.Tensor)(got[1]), []float64{12, 0, 0, 18})
}

// TestJacobianOfVariables: by the handle of a variable they are those by its value.
func TestJacobianOfVariables(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Const(g, []float64{2, 3}), tf.VariableOptions{})
	y := ops.Mul(v.Value(), ops.Square(v.Value()))
	j, err := ops.Jacobian(y, v.Handle())
	if err != nil {
		t.Fatal(err)
	}
	h, err := ops.Hessians(y.Sum(), v.Handle())
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, v.Initializer()); err != nil {
		t.Fatal(err)
	}
	got, err := s.Run(t.Context(), nil, j[0], h[0])
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, got[0], []float64{12, 0, 0, 27})
	tftest.Elements(t, got[1], []float64{12, 0, 0, 18})
}

// Rows of a value that nothing else reads are cut from it and not copied. What is done
// to one of them in place reaches no other one, nor a value that is still read.
func TestRowsCutFromAValue(t *testing.T) {
	const n, row = 5, 2048
	for _, alsoRead := range []bool{false, true} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{n, row})
		value := ops.Mul(x, ops.Scalar[float32](g, 2))
		a := ops.NewTensorArray(ops.Scalar(g, int32(n)), tf.Float32, ops.TensorArrayOpts{}).Unstack(value)
		var all []tf.Output
		for i := range n {
			r := a.Read(ops.Scalar(g, int32(i)))
			all = append(all, ops.Exp(ops.Neg(r)), ops.Identity(r))
		}
		if alsoRead {
			all = append(all, value)
		}
		all = append(all, ops.NewTensorArray(ops.Scalar(g, int32(n)), tf.Float32, ops.TensorArrayOpts{}).Unstack(ops.Neg(x)).Read(ops.Scalar(g, int32(n-1))))
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		in := make([]float32, n*row)
		for i := range in {
			in[i] = float32(i%97) / 64
		}
		for range 3 {
			v, err := tf.FromSlice(in, n, row)
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Run(t.Context(), session.Feeds{x: v}, fetchables(all)...)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j, y := range tf.Data[float32](out[2*i+1]) {
					if want := 2 * in[i*row+j]; y != want {
						t.Fatalf("also read %v: row %d element %d is %v, want %v", alsoRead, i, j, y, want)
					}
				}
			}
			if alsoRead {
				for i, y := range tf.Data[float32](out[2*n]) {
					if y != 2*in[i] {
						t.Fatalf("the value itself has %v at %d, want %v", y, i, 2*in[i])
					}
				}
			}
			for j, y := range tf.Data[float32](out[len(out)-1]) {
				if want := -in[(n-1)*row+j]; y != want {
					t.Fatalf("the last row has %v at %d, want %v", y, j, want)
				}
			}
		}
		s.Close()
	}
}

func fetchables(xs []tf.Output) (out []tf.Fetchable) {
	for _, x := range xs {
		out = append(out, x)
	}
	return out
}
