package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Tensors are put together along a new dimension, the first by default.
func ExamplePack() {
	g := eager.New()
	x, y := ops.Const(g, []int32{1, 2, 3}), ops.Const(g, []int32{4, 5, 6})
	v, err := ops.Pack([]tf.Output{x, y}).Value()
	fmt.Println(v, err)
	v, err = ops.Pack([]tf.Output{x, y}, ops.AxisOpts{Axis: 1}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2,3]{1, 2, 3, 4, 5, 6} <nil>
	// int32[3,2]{1, 4, 2, 5, 3, 6} <nil>
}

// An index that is out of range is an error, or reads zeros.
func ExampleGatherNd() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4}, 2, 2)
	at := ops.Const(g, []int32{1, 0, 0, 5}, 2, 2)
	_, err := ops.GatherNd(x, at).Value()
	fmt.Println(tf.CodeOf(err))
	v, err := ops.GatherNd(x, at, ops.BadIndicesOpts{Policy: "IGNORE"}).Value()
	fmt.Println(v, err)
	// Output:
	// INVALID_ARGUMENT
	// int32[2]{3, 0} <nil>
}

// Diagonals 0 and 1 of a matrix: the shorter one is padded at the side to
// which it is not aligned.
func ExampleMatrixDiagPartV3() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	diagonals, padding := ops.Const(g, []int32{0, 1}), ops.Scalar[int32](g, 0)
	for _, align := range []string{"RIGHT_LEFT", "LEFT_RIGHT"} {
		v, err := ops.MatrixDiagPartV3(x, diagonals, padding, ops.DiagAlignOpts{Align: align}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2,3]{0, 2, 6, 1, 5, 9} <nil>
	// int32[2,3]{2, 6, 0, 1, 5, 9} <nil>
}

// Without Init the contents are arbitrary.
func ExampleEmpty() {
	g := eager.New()
	v, err := ops.Empty(ops.Const(g, []int32{2, 2}), tf.Float32, ops.EmptyOpts{Init: true}).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{0, 0, 0, 0} <nil>
}

// With BatchDims each row of the indices looks elements up in the row of
// params that belongs to it.
func ExampleGatherV2() {
	g := eager.New()
	params := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	indices := ops.Const(g, []int32{2, 0}, 2, 1)
	axis := ops.Scalar[int32](g, 1)
	v, err := ops.GatherV2(params, indices, axis).Value() // columns 2 and 0 of both rows
	fmt.Println(v, err)
	v, err = ops.GatherV2(params, indices, axis, ops.GatherOpts{BatchDims: 1}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2,2,1]{3, 1, 6, 4} <nil>
	// int32[2,1]{3, 4} <nil>
}

// The classes become the last dimension, or another one.
func ExampleOneHotOpts() {
	g := eager.New()
	x := ops.Const(g, []int32{2, 0})
	on, off := ops.Scalar[int32](g, 1), ops.Scalar[int32](g, 0)
	v, err := ops.OneHot(x, 3, on, off).Value()
	fmt.Println(v, err)
	v, err = ops.OneHot(x, 3, on, off, ops.OneHotOpts{Axis: 0}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2,3]{0, 0, 1, 1, 0, 0} <nil>
	// int32[3,2]{0, 1, 0, 0, 1, 0} <nil>
}

// Paddings are pairs of integers, or a tensor that is computed.
func ExamplePaddings() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2}, 1, 2)
	v, err := ops.Pad(x, [][2]int{{0, 1}, {2, 0}}).Value() // a row below, two columns before
	fmt.Println(v, err)
	v, err = ops.Pad(x, ops.Const(g, []int32{0, 1, 2, 0}, 2, 2)).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2,4]{0, 0, 1, 2, 0, 0, 0, 0} <nil>
	// int32[2,4]{0, 0, 1, 2, 0, 0, 0, 0} <nil>
}

// The first elements of each sequence are reversed, as many as its length
// says. BatchDim is the dimension that tells the sequences apart.
func ExampleReverseSequence() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	v, err := ops.ReverseSequence(x, ops.Const(g, []int32{2, 3}), 1).Value() // rows are sequences
	fmt.Println(v, err)
	v, err = ops.ReverseSequence(x, ops.Const(g, []int32{2, 1, 2}), 0, ops.ReverseSequenceOpts{BatchDim: 1}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2,3]{2, 1, 3, 6, 5, 4} <nil>
	// int32[2,3]{4, 2, 6, 1, 5, 3} <nil>
}

// Sizes are int32 unless another type is asked for.
func ExampleShape() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	v, err := ops.Shape(x).Value()
	fmt.Println(v, err)
	v, err = ops.Size(x, ops.ShapeOpts{OutType: tf.Int64}).Value()
	fmt.Println(v, err)
	// Output:
	// int32[2]{2, 3} <nil>
	// int64[]{6} <nil>
}

// Indices have to ascend unless it is said that they may not; then the last of
// equal ones counts.
func ExampleSparseToDense() {
	g := eager.New()
	at, values := ops.Const(g, []int32{3, 0, 3}), ops.Const(g, []int32{1, 2, 3})
	size, rest := ops.Const(g, []int32{5}), ops.Scalar[int32](g, -1)
	_, err := ops.SparseToDense(at, size, values, rest).Value()
	fmt.Println(tf.CodeOf(err))
	v, err := ops.SparseToDense(at, size, values, rest, ops.SparseToDenseOpts{Unordered: true}).Value()
	fmt.Println(v, err)
	// Output:
	// INVALID_ARGUMENT
	// int32[5]{2, -1, -1, 3, -1} <nil>
}

// All dimensions of size 1 go, or only those that are listed.
func ExampleSqueeze() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2}, 1, 2, 1)
	fmt.Println(ops.Squeeze(x, nil).Shape(), ops.Squeeze(x, []int{-1}).Shape())
	// Output: [2] [1,2]
}

// A program that names the op itself lists the dimensions by SqueezeOpts.
func ExampleSqueezeOpts() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2}, 1, 2, 1)
	v, err := tf.Apply(g, "Squeeze", []tf.Output{x}, ops.SqueezeOpts{SqueezeDims: []int{0}}).Output(0).Value()
	fmt.Println(v, err)
	// Output: int32[2,1]{1, 2} <nil>
}

// x[:, -1] in Python: bit 0 of BeginMask and EndMask leaves both ends of the
// first dimension open, bit 1 of ShrinkAxisMask takes one column.
func ExampleStridedSlice() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6}, 2, 3)
	o := ops.StridedSliceOpts{BeginMask: 1 << 0, EndMask: 1 << 0, ShrinkAxisMask: 1 << 1}
	v, err := ops.StridedSlice(x, []int{0, -1}, []int{0, 0}, []int{1, 1}, o).Value()
	fmt.Println(v, err)
	v, err = ops.StridedSlice(x, []int{0, 2}, []int{2, 0}, []int{1, -1}).Value() // x[0:2, 2:0:-1]
	fmt.Println(v, err)
	// Output:
	// int32[2]{3, 6} <nil>
	// int32[2,2]{3, 2, 6, 5} <nil>
}
