package main

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestMethodsAndFunctions: a method that is written by hand gives what the function
// of package ops gives.
func TestMethodsAndFunctions(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, -2, 3, 4, 4, -2}, 2, 3)
	v, on, two := ops.Const(g, []int32{7, 1, 7, 5}), ops.Const(g, []bool{true, false, true}), ops.Scalar[float32](g, 2)
	ids, images := ops.Const(g, []int32{1, 0}), ops.Const(g, make([]float32, 32), 2, 4, 4, 1)
	filter := ops.Const(g, make([]float32, 9), 3, 3, 1, 1)
	values, indices := v.Unique()
	wantValues, wantIndices := ops.Unique(v)
	parts, wantParts := x.DynamicPartition(ids, 2), ops.DynamicPartition(x, ids, 2)
	for _, c := range []struct {
		what      string
		got, want tf.Output
	}{
		{"DynamicShape", x.DynamicShape(), ops.Shape(x)},
		{"Rank", x.Rank(), ops.Rank(x)},
		{"Size", x.Size(), ops.Size(x)},
		{"Conv2D", images.Conv2D(filter, []int{1, 2, 2, 1}, "SAME"), ops.Conv2D(images, filter, []int{1, 2, 2, 1}, "SAME")},
		{"DynamicPartition, part 0", parts[0], wantParts[0]},
		{"DynamicPartition, part 1", parts[1], wantParts[1]},
		{"Pad", x.Pad([][2]int{{1, 0}, {0, 2}}), ops.Pad(x, [][2]int{{1, 0}, {0, 2}})},
		{"Reverse", x.Reverse(1), ops.Reverse(x, []int{1})},
		{"Select", on.Select(x, 0.5), ops.SelectV2(on, x, ops.Scalar[float32](g, 0.5))},
		{"Select of a number first", on.Select(2, x), ops.SelectV2(on, two, x)},
		{"Unique, values", values, wantValues},
		{"Unique, indices", indices, wantIndices},
		{"SegmentSum", x.SegmentSum(ops.Const(g, []int32{0, 0})), ops.SegmentSum(x, ops.Const(g, []int32{0, 0}))},
		{"UnsortedSegmentSum", x.UnsortedSegmentSum(ids, 3), ops.UnsortedSegmentSum(x, ids, ops.Scalar[int32](g, 3))},
		{"Xor", on.Xor(true), ops.LogicalXor(on, ops.Const(g, []bool{true, true, true}))},
		{"EuclideanNorm", x.EuclideanNorm(0), ops.EuclideanNorm(x, []int{0})},
		{"Sum that keeps", x.Sum(-1, tf.KeepDims), ops.Sum(x, []int{-1}, ops.ReduceOpts{KeepDims: true})},
		{"Max of all that keeps", x.Max(tf.KeepDims), ops.Max(x, []int{0, 1}, ops.ReduceOpts{KeepDims: true})},
		{"All that keeps", on.All(tf.KeepDims, 0), ops.All(on, []int{0}, ops.ReduceOpts{KeepDims: true})},
	} {
		got, err := c.got.Value()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		want, err := c.want.Value()
		if err != nil {
			t.Errorf("%s: the function: %v", c.what, err)
			continue
		}
		if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || got.String() != want.String() {
			t.Errorf("%s: got %v, the function gives %v", c.what, got, want)
		}
	}
}

// TestKeepDims: in graphs, too, of unknown rank, and without a write to the caller's axes.
func TestKeepDims(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3})
	if y := x.Mean(1, tf.KeepDims); !y.Shape().Equal(tf.Shape{-1, 1}) {
		t.Errorf("shape %v (%v)", y.Shape(), y.Err())
	}
	axes := []int{tf.KeepDims, 0}
	if y := x.Sum(axes...); !y.Shape().Equal(tf.Shape{1, 3}) || !slices.Equal(axes, []int{tf.KeepDims, 0}) {
		t.Errorf("shape %v of axes %v (%v)", y.Shape(), axes, y.Err())
	}
	if y := ops.Placeholder(g, tf.Float32, nil).Sum(tf.KeepDims); y.Err() != nil || !y.Operation().Bool("keep_dims") {
		t.Errorf("of unknown rank: %v", y.Err())
	}
}

// TestRefusedByMethods: mistakes are said in words of the methods.
func TestRefusedByMethods(t *testing.T) {
	g := eager.New()
	on := ops.Const(g, []bool{true})
	var none tf.Output
	for what, y := range map[string]tf.Output{
		"Select of numbers alone": on.Select(1, 2), "Select of none": none.Select(on, on), "Pad of none": none.Pad([][2]int{{1, 1}}),
		"Xor with a number": on.Xor(1), "Reverse twice": on.Reverse(0, 0), "Pad beyond the rank": on.Pad([][2]int{{1, 1}, {1, 1}}),
		"Unique of none": first(none.Unique()), "a part of none": none.DynamicPartition(on, 1)[0], "Sum of none": none.Sum(tf.KeepDims),
	} {
		if y.Err() == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}

func first(x, _ tf.Output) tf.Output { return x }

// TestGradientsOfKept: gradients of a reduction that keeps its dimensions.
func TestGradientsOfKept(t *testing.T) {
	x, err := tf.FromSlice([]float64{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Gradients(t, eager.New(), func(in []tf.Output) tf.Output { return in[0].Div(in[0].Square().Sum(1, tf.KeepDims)) }, x)
}
