package uniform_test

import (
	"fmt"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
)

// Numbers stand for (q - zero point)*scale; here there is a scale for each row.
func ExampleNumbers() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 10, 20}, 2, 2)
	scales, zeros := ops.Const(g, []float32{0.5, 5}), ops.Const(g, []int32{0, 1})
	by := uniform.Numbers{Min: -128, Max: 127, PerAxis: true, Axis: 0}
	q := uniform.UniformQuantize(x, scales, zeros, tf.QInt8, by)
	for _, y := range []tf.Output{q.Values, uniform.UniformDequantize(q, by)} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// qint8[2,2]{2, 4, 3, 5} <nil>
	// float32[2,2]{1, 2, 10, 20} <nil>
}

// The product of matrices of 8 bits has 32 bits, in a scale of its own.
func ExampleOf() {
	g := eager.New()
	half, zero := ops.Scalar[float32](g, 0.5), ops.Scalar[int32](g, 0)
	short, long := uniform.Numbers{Min: -128, Max: 127}, uniform.Numbers{Min: math.MinInt32, Max: math.MaxInt32}
	var x uniform.Quantized = uniform.UniformQuantize(ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), half, zero, tf.QInt8, short)
	y := uniform.UniformQuantizedDot(x, x, ops.Scalar[float32](g, 0.25), zero, uniform.Of{Left: short, Right: short, Out: long})
	for _, y := range []tf.Output{y.Values, uniform.UniformDequantize(y, long)} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// qint32[2,2]{28, 40, 60, 88} <nil>
	// float32[2,2]{7, 10, 15, 22} <nil>
}

// A convolution of images whose channels come last, as in the rest of Gorge,
// moves by two columns.
func ExampleConvOpts() {
	g := eager.New()
	one, zero := ops.Scalar[float32](g, 1), ops.Scalar[int32](g, 0)
	short := uniform.Numbers{Min: -128, Max: 127}
	filter := uniform.UniformQuantize(ops.Const(g, []float32{1, 10}, 1, 2, 1, 1), one, zero, tf.QInt8, short)
	o := uniform.ConvOpts{Strides: []int{1, 2}, Dimensions: uniform.Dimensions{
		InputBatch: 0, InputSpatial: []int{1, 2}, InputFeature: 3,
		KernelSpatial: []int{0, 1}, KernelInput: 2, KernelOutput: 3,
		OutputBatch: 0, OutputSpatial: []int{1, 2}, OutputFeature: 3,
	}}
	x := ops.Const(g, []float32{1, 2, 3, 4}, 1, 1, 4, 1)
	v, err := uniform.UniformQuantizedConvolutionHybrid(x, filter, "VALID", short, o).Value()
	fmt.Printf("%v %.1f %v\n", v.Shape(), tf.Data[float32](v), err)
	// Output: [1,1,2,1] [21.1 43.0] <nil>
}
