package dense_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"gorgonia.org/tensor"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/dense"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func counted(shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(tensor.Range(tensor.Float32, 0, tensor.Shape(shape).TotalSize())))
}

// sliced cuts d as gorgonia does, nil for a whole axis.
func sliced(t *testing.T, d *tensor.Dense, s ...tensor.Slice) *tensor.Dense {
	t.Helper()
	v, err := d.Slice(s...)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*tensor.Dense)
}

func transposed(t *testing.T, d *tensor.Dense, axes ...int) *tensor.Dense {
	t.Helper()
	if err := d.T(axes...); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFrom(t *testing.T) {
	for name, c := range map[string]struct {
		d    *tensor.Dense
		want string
	}{
		"rows":       {counted(2, 3), "float32[2,3]{0, 1, 2, 3, 4, 5}"},
		"row":        {sliced(t, counted(3, 4), tensor.S(1, 2), nil), "float32[4]{4, 5, 6, 7}"},
		"column":     {sliced(t, counted(3, 4), nil, tensor.S(1)), "float32[3]{1, 5, 9}"},
		"block":      {sliced(t, counted(3, 4), tensor.S(1, 3), tensor.S(1, 3)), "float32[2,2]{5, 6, 9, 10}"},
		"element":    {sliced(t, counted(3, 4), tensor.S(1), tensor.S(2)), "float32[]{6}"},
		"transposed": {transposed(t, counted(2, 3)), "float32[3,2]{0, 3, 1, 4, 2, 5}"},
		"permuted":   {transposed(t, counted(2, 1, 3), 2, 0, 1), "float32[3,2,1]{0, 3, 1, 4, 2, 5}"},
		"columns":    {tensor.New(tensor.WithShape(2, 3), tensor.AsFortran([]float64{1, 2, 3, 4, 5, 6})), "float64[2,3]{1, 2, 3, 4, 5, 6}"},
		"int":        {tensor.New(tensor.WithShape(2), tensor.WithBacking([]int{-1, 1 << 40})), "int64[2]{-1, 1099511627776}"},
		"uint":       {tensor.New(tensor.FromScalar(uint(7))), "uint64[]{7}"},
		"bool":       {tensor.New(tensor.WithShape(2), tensor.WithBacking([]bool{true, false})), "bool[2]{true, false}"},
		"scalar":     {tensor.New(tensor.FromScalar(3.5)), "float64[]{3.5}"},
		"complex":    {tensor.New(tensor.WithShape(1), tensor.WithBacking([]complex64{1i})), "complex64[1]{(0+1i)}"},
		"empty":      {tensor.New(tensor.WithShape(0, 3), tensor.Of(tensor.Int32)), "int32[0,3]{}"},
		"strings":    {sliced(t, tensor.New(tensor.WithShape(4), tensor.WithBacking([]string{"a", "b", "c", "d"})), tensor.S(1, 3)), `string[2]{"b", "c"}`},
	} {
		got, err := dense.From(c.d)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: got %v, %v, want %s", name, got, err, c.want)
		}
	}
}

// TestFromAnyLayout cuts and transposes at random and compares each element with
// what gorgonia finds by its coordinates.
func TestFromAnyLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		d := counted(1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(4))
		if r.IntN(2) == 0 {
			d = transposed(t, d, r.Perm(3)...)
		}
		cut := make([]tensor.Slice, 3)
		for i := range cut {
			from := r.IntN(d.Shape()[i])
			cut[i] = tensor.S(from, from+1+r.IntN(d.Shape()[i]-from))
		}
		d = sliced(t, d, cut...)
		if d.Dims() == 2 && r.IntN(2) == 0 {
			d = transposed(t, d)
		}
		compareElements(t, d)
	}
}

func compareElements(t *testing.T, d *tensor.Dense) {
	t.Helper()
	got, err := dense.From(d)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Shape().Equal(tf.Shape(d.Shape())) {
		t.Fatalf("shape %v became %v", d.Shape(), got.Shape())
	}
	if d.IsScalar() {
		return
	}
	for i := range got.Len() {
		at, rest := make([]int, d.Dims()), i
		for k := d.Dims() - 1; k >= 0; k-- {
			at[k], rest = rest%d.Shape()[k], rest/d.Shape()[k]
		}
		if want, err := d.At(at...); err != nil || got.At(i) != want {
			t.Fatalf("%v: element %v is %v, want %v (%v)", d.Info(), at, got.At(i), want, err)
		}
	}
}

func TestMasked(t *testing.T) {
	masked := func(mask ...bool) *tensor.Dense {
		return tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]int{1, 2, 3, 4}), tensor.WithMask(mask))
	}
	if _, err := dense.From(masked(true, false, false, false)); err == nil || !strings.Contains(err.Error(), "must be given values where it has none") {
		t.Error(err)
	}
	got, err := dense.Filled(transposed(t, masked(false, true, false, true)), -1)
	if err != nil || got.String() != "int64[2,2]{1, 3, -1, -1}" {
		t.Error(got, err)
	}
	if _, err := dense.Filled(masked(true, false, false, false), 1.5); err == nil || !strings.Contains(err.Error(), "must be of its type: the tensor's is int, the value's float64") {
		t.Error(err)
	}
	if got, err := dense.Filled(counted(2), nil); err != nil || got.String() != "float32[2]{0, 1}" {
		t.Error("without a mask:", got, err)
	}
}

func TestRefused(t *testing.T) {
	if _, err := dense.From(nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if _, err := dense.Filled(nil, 1); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if _, err := dense.From(tensor.New(tensor.WithShape(1), tensor.WithBacking([]uintptr{1}))); err == nil || !strings.Contains(err.Error(), "gorgonia's type uintptr") {
		t.Error(err)
	}
	for _, c := range []struct {
		t    *tf.Tensor
		want string
	}{
		{(*tf.Tensor)(core.NewTensor(tf.Float16, tf.Shape{2})), "none in half precision, got a tensor of type float16"},
		{(*tf.Tensor)(core.NewTensor(tf.Variant, tf.Shape{2})), "got a tensor of type variant"},
		{(*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{2, 0})), "must have elements, got shape [2,0]"},
		{nil, "a tensor must not be nil"},
	} {
		if _, err := dense.To(c.t); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestThereAndBack goes by gorgonia with every type it has; strings outlive
// collections, which those that gorgonia itself allocates do not.
func TestThereAndBack(t *testing.T) {
	for _, d := range []tf.DType{tf.Bool, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64, tf.Float32, tf.Float64, tf.Complex64, tf.Complex128, tf.String} {
		for _, shape := range []tf.Shape{{}, {1}, {2, 3}} {
			in := (*tf.Tensor)(core.NewTensor(d, shape))
			if d == tf.String {
				for i := range tf.Data[string](in) {
					tf.Data[string](in)[i] = fmt.Sprint("string ", i)
				}
			}
			g, err := dense.To(in)
			if err != nil {
				t.Fatal(d, shape, err)
			}
			runtime.GC()
			out, err := dense.From(g)
			if err != nil || out.String() != in.String() {
				t.Errorf("%v became %v, %v", in, out, err)
			}
		}
	}
}

// TestFeedIsShared feeds a view by its memory and a transposed one by a copy.
func TestFeedIsShared(t *testing.T) {
	d := counted(4, 3)
	view, err := dense.Feed{Dense: sliced(t, d, tensor.S(1, 3), nil)}.AsTensor()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := unsafe.SliceData(tf.Data[float32](view)), &d.Data().([]float32)[3]; got != want {
		t.Error("a view of whole rows was copied")
	}
	if own, err := dense.From(d); err != nil || unsafe.SliceData(tf.Data[float32](own)) == &d.Data().([]float32)[0] {
		t.Error("From must copy", err)
	}
}

func Example() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float64, tf.Shape{3, 2})
	y := x.MatMul(ops.Const(g, []float64{10, 1}, 2, 1))
	s, err := session.New(g)
	if err != nil {
		panic(err)
	}
	defer s.Close()

	d := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	_ = d.T() // lazily: the memory stays as it is
	out, err := s.Run(context.Background(), session.Feeds{x: dense.Feed{Dense: d}}, y)
	if err != nil {
		panic(err)
	}
	product, err := dense.To(out[0])
	fmt.Println(product.Shape(), product.Data(), err)
	// Output: (3, 1) [14 25 36] <nil>
}
