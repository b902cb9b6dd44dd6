package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// The positions of maxima count through the pixels and channels of an image,
// or with IncludeBatchInIndex through the whole batch.
func ExampleMaxPoolWithArgmax() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 4, 3, 8, 7, 5, 6}, 2, 2, 2, 1)
	window := []int{1, 2, 2, 1}
	for _, o := range []ops.ArgmaxOpts{{}, {IncludeBatchInIndex: true, Targmax: tf.Int32}} {
		_, at := ops.MaxPoolWithArgmax(x, window, window, "VALID", o)
		v, err := at.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[2,1,1,1]{2, 0} <nil>
	// int32[2,1,1,1]{2, 4} <nil>
}

// Training normalizes a batch by its own mean and variance and returns them,
// inference by those that are given.
func ExampleFusedBatchNormV3() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 3, 5, 7}, 1, 2, 2, 1)
	scale, offset := ops.Const(g, []float32{1}), ops.Const(g, []float32{0})
	mean, variance := ops.Const(g, []float32{1}), ops.Const(g, []float32{4})
	trained := ops.FusedBatchNormV3(x, scale, offset, ops.Const(g, []float32{}), ops.Const(g, []float32{}))
	m, err := trained[1].Value()
	fmt.Println(m, err)
	inferred := ops.FusedBatchNormV3(x, scale, offset, mean, variance, ops.BatchNormOpts{Inference: true, Epsilon: 1e-9})
	y, err := inferred[0].Value()
	fmt.Println(y, err)
	// Output:
	// float32[1]{4} <nil>
	// float32[1,2,2,1]{0, 1, 2, 3} <nil>
}

// The bias of each channel is added, in the last dimension or, for NCHW, in
// dimension 1.
func ExampleBiasAdd() {
	g := eager.New()
	x, bias := ops.Const(g, []float32{1, 2, 3, 4}, 1, 2, 1, 2), ops.Const(g, []float32{10, 20})
	for _, format := range []string{"NHWC", "NCHW"} {
		v, err := ops.BiasAdd(x, bias, ops.BiasOpts{DataFormat: format}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,2,1,2]{11, 22, 13, 24} <nil>
	// float32[1,2,1,2]{11, 12, 23, 24} <nil>
}

// Pixels of a block become images of a batch, and back.
func ExampleSpaceToBatch() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4}, 1, 2, 2, 1)
	none := ops.Const(g, []int32{0, 0, 0, 0}, 2, 2)
	y := ops.SpaceToBatch(x, none, 2)
	v, err := y.Value()
	fmt.Println(v, err)
	v, err = ops.BatchToSpace(y, none, 2).Value()
	fmt.Println(v, err)
	// Output:
	// int32[4,1,1,1]{1, 2, 3, 4} <nil>
	// int32[1,2,2,1]{1, 2, 3, 4} <nil>
}

// A program that names the op itself sets the attribute by BlockSizeOpts; the
// functions take the size as an argument.
func ExampleBlockSizeOpts() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4}, 1, 2, 2, 1)
	none := ops.Const(g, []int32{0, 0, 0, 0}, 2, 2)
	v, err := tf.Apply(g, "SpaceToBatch", []tf.Output{x, none}, ops.BlockSizeOpts{BlockSize: 2}).Output(0).Value()
	fmt.Println(v, err)
	// Output: int32[4,1,1,1]{1, 2, 3, 4} <nil>
}

// Conv is for any number of dimensions. Here a sequence is convolved with a
// filter whose two elements are two steps apart.
func ExampleConv() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4}, 1, 1, 4, 1) // batch, height, width, channels
	filter := ops.Const(g, []float32{1, 10}, 1, 2, 1, 1) // height, width, in, out
	strides := []int{1, 1, 1, 1}
	v, err := ops.Conv(x, filter, strides, "VALID").Value()
	fmt.Println(v, err)
	v, err = ops.Conv(x, filter, strides, "VALID", ops.ConvOpts{Dilations: []int{1, 1, 2, 1}}).Value()
	fmt.Println(v, err)
	// Output:
	// float32[1,1,3,1]{21, 32, 43} <nil>
	// float32[1,1,2,1]{31, 42} <nil>
}

// Padding EXPLICIT adds as many zeros before and behind each dimension as are
// given.
func ExampleWindowOpts() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3}, 1, 1, 3, 1)
	filter := ops.Const(g, []float32{1, 10}, 1, 2, 1, 1)
	o := ops.WindowOpts{ExplicitPaddings: []int{0, 0, 0, 0, 2, 0, 0, 0}} // 2 columns before the image
	v, err := ops.Conv2D(x, filter, []int{1, 1, 1, 1}, "EXPLICIT", o).Value()
	fmt.Println(v, err)
	// Output: float32[1,1,4,1]{0, 10, 21, 32} <nil>
}

// Where a dimension goes, and what a list with an entry for each dimension
// becomes, when another order of dimensions is chosen.
func ExampleDataFormatOpts() {
	g := eager.New()
	o := ops.DataFormatOpts{Src: "NHWC", Dst: "NCHW"} // the default
	channels := ops.Scalar[int32](g, 3)
	v, err := ops.DataFormatDimMap(channels, o).Value()
	fmt.Println(v, err)
	shape := ops.Const(g, []int32{8, 28, 32, 3})
	v, err = ops.DataFormatVecPermute(shape, o).Value()
	fmt.Println(v, err)
	// Output:
	// int32[]{1} <nil>
	// int32[4]{8, 3, 28, 32} <nil>
}

// Windows of one or two pixels make six columns of nine. With Deterministic
// the seeds decide which windows, and those are the same in each run.
func ExampleFractionalMaxPool() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 1, 9, 1)
	o := ops.FractionalPoolOpts{Deterministic: true, Seed: 1, Seed2: 2}
	y, _, columns := ops.FractionalMaxPool(x, []float32{1, 1, 1.5, 1}, o)
	for _, y := range []tf.Output{y, columns} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,6,1]{1, 3, 4, 5, 7, 9} <nil>
	// int64[7]{0, 1, 3, 4, 5, 7, 9} <nil>
}

// An image is enlarged, padded and convolved in one operation.
func ExampleFusedResizeAndPadConv2D() {
	g := eager.New()
	x := ops.Const(g, []float32{0, 6}, 1, 1, 2, 1)
	size := ops.Const(g, []int32{1, 4})
	paddings := ops.Const(g, []int32{0, 0, 0, 0, 1, 1, 0, 0}, 4, 2)
	same := ops.Const(g, []float32{1}, 1, 1, 1, 1)
	for _, align := range []bool{false, true} {
		o := ops.FusedResizeAndPadOpts{AlignCorners: align}
		v, err := ops.FusedResizeAndPadConv2D(x, size, paddings, same, ops.Reflect, []int{1, 1, 1, 1}, "VALID", o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,6,1]{3, 0, 3, 6, 6, 6} <nil>
	// float32[1,1,6,1]{2, 0, 2, 4, 6, 4} <nil>
}

// Each channel is divided by the root of 1 plus the squares of the channels
// around it: of itself alone with radius 0, of its neighbours too with 1.
func ExampleLRN() {
	g := eager.New()
	x := ops.Const(g, []float32{2, 1, 2, 0}, 1, 1, 1, 4)
	for radius := range 2 {
		v, err := ops.LRN(x, ops.LRNOpts{DepthRadius: &radius}).Value()
		fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	}
	// Output:
	// [0.894 0.707 0.894 0.000] <nil>
	// [0.816 0.316 0.816 0.000] <nil>
}

// Alpha is the slope on the left side of zero.
func ExampleLeakyRelu() {
	g := eager.New()
	x := ops.Const(g, []float32{-10, 10})
	v, err := ops.LeakyRelu(x).Value()
	fmt.Println(v, err)
	v, err = ops.LeakyRelu(x, ops.LeakyReluOpts{Alpha: 0.5}).Value()
	fmt.Println(v, err)
	// Output:
	// float32[2]{-2, 10} <nil>
	// float32[2]{-5, 10} <nil>
}

// Each block of 2×2 pixels becomes the channels of one pixel, and back.
func ExampleSpaceToDepth() {
	g := eager.New()
	x := ops.Const(g, []int32{1, 2, 3, 4, 5, 6, 7, 8}, 1, 2, 4, 1)
	o := ops.SpaceToDepthOpts{DataFormat: "NHWC"} // the default
	y := ops.SpaceToDepth(x, 2, o)
	v, err := y.Value()
	fmt.Println(v, err)
	v, err = ops.DepthToSpace(y, 2, o).Value()
	fmt.Println(v, err)
	// Output:
	// int32[1,1,2,4]{1, 2, 5, 6, 3, 4, 7, 8} <nil>
	// int32[1,2,4,1]{1, 2, 3, 4, 5, 6, 7, 8} <nil>
}
