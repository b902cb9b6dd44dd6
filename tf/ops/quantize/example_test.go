package quantize_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// Numbers are rounded as if they were quantized to few bits.
func ExampleFakeQuantWithMinMaxArgs() {
	g := eager.New()
	x := ops.Const(g, []float32{-1, 0.4, 1.2, 9})
	for _, o := range []quantize.FakeQuantOpts{{NumBits: 2}, {NumBits: 2, NarrowRange: true}} {
		v, err := quantize.FakeQuantWithMinMaxArgs(x, 0, 6, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[4]{0, 0, 2, 6} <nil>
	// float32[4]{0, 0, 0, 6} <nil>
}

// In mode Scaled 0 stays 0, and the range is made symmetric.
func ExampleQuantizeV2() {
	g := eager.New()
	x := ops.Const(g, []float32{-1, 0, 0.5, 2})
	low, high := ops.Scalar[float32](g, -1), ops.Scalar[float32](g, 2)
	o := quantize.QuantizeOpts{Mode: quantize.Scaled, NarrowRange: true}
	y, from, to := quantize.QuantizeV2(x, low, high, tf.QInt8, o)
	for _, y := range []tf.Output{y, from, to, quantize.Dequantize(y, from, to, o)} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// qint8[4]{-64, 0, 32, 127} <nil>
	// float32[]{-2} <nil>
	// float32[]{2} <nil>
	// float32[4]{-1.007874, 0, 0.503937, 2} <nil>
}

// Quantized numbers travel with the range that they stand for.
func ExampleQuantized() {
	g := eager.New()
	low, high := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 255)
	var x quantize.Quantized
	x.Values, x.Min, x.Max = quantize.QuantizeV2(ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), low, high, tf.QUint8)
	y := quantize.QuantizedMatMul(x, x)
	v, err := y.Values.Value()
	fmt.Println(v, err)
	y = quantize.QuantizeDownAndShrinkRange(y) // to 8 bits
	v, err = quantize.Dequantize(y.Values, y.Min, y.Max).Value()
	fmt.Println(v, err)
	// Output:
	// qint32[2,2]{7, 10, 15, 22} <nil>
	// float32[2,2]{6.970588, 9.970589, 15, 21.970589} <nil>
}

// What is done to the sums of a product: a bias, no negative numbers, and a
// result of 8 bits without sign in the range from 0 to 255. It is off by one:
// sums are rounded in steps of both ranges.
func ExampleThen() {
	g := eager.New()
	low, high := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 255)
	var a, b quantize.Quantized
	a.Values, a.Min, a.Max = quantize.QuantizeV2(ops.Const(g, []float32{1, 2}, 1, 2), low, high, tf.QUint8)
	one, scaled := ops.Scalar[float32](g, 127), quantize.QuantizeOpts{Mode: quantize.Scaled}
	b.Values, b.Min, b.Max = quantize.QuantizeV2(ops.Const(g, []float32{10, -20, 30, -40}, 2, 2), ops.Neg(one), one, tf.QInt8, scaled)
	then := quantize.Then{Bias: ops.Const(g, []float32{5, 5}), Relu: true, Min: low, Max: high}
	y := quantize.QuantizedMatMulWith(a, b, then)
	v, err := y.Values.Value()
	fmt.Println(v, err)
	// Output: quint8[1,2]{76, 0} <nil>
}

// Channels, two at least, are normalized by means and variances that are
// quantized too.
func ExampleBatchNorm() {
	g := eager.New()
	low, high := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 255)
	eightBits := func(x tf.Output) (q quantize.Quantized) {
		q.Values, q.Min, q.Max = quantize.QuantizeV2(x, low, high, tf.QUint8)
		return q
	}
	by := quantize.BatchNorm{
		Mean: eightBits(ops.Const(g, []float32{4, 8})), Variance: eightBits(ops.Const(g, []float32{4, 4})),
		Beta: eightBits(ops.Const(g, []float32{1, 1})), Gamma: eightBits(ops.Const(g, []float32{1, 1})), Epsilon: 1e-6,
	}
	x := eightBits(ops.Const(g, []float32{4, 8, 6, 12}, 1, 1, 2, 2))
	y := quantize.QuantizedBatchNormWithGlobalNormalization(x, by)
	y = quantize.QuantizeDownAndShrinkRange(y) // to 8 bits
	v, err := quantize.Dequantize(y.Values, y.Min, y.Max).Value()
	fmt.Println(v, err)
	// Output: float32[1,1,2,2]{1.0000814, 1.0000814, 2.0001628, 3.0002441} <nil>
}

// Each channel of an image is normalized by itself, in a range that is given.
func ExampleQuantizedInstanceNorm() {
	g := eager.New()
	var x quantize.Quantized
	low, high := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 255)
	x.Values, x.Min, x.Max = quantize.QuantizeV2(ops.Const(g, []float32{10, 20, 10, 20}, 1, 2, 2, 1), low, high, tf.QUint8)
	y := quantize.QuantizedInstanceNorm(x, quantize.InstanceNormOpts{Min: -2, Max: 2})
	v, err := quantize.Dequantize(y.Values, y.Min, y.Max).Value()
	fmt.Printf("%.1f %v\n", tf.Data[float32](v), err)
	// Output: [-1.0 1.0 -1.0 1.0] <nil>
}

// Where pixels of two sizes meet: at the first corners, or at all corners.
func ExampleQuantizedResizeBilinear() {
	g := eager.New()
	low, high := ops.Scalar[float32](g, 0), ops.Scalar[float32](g, 255)
	var x quantize.Quantized
	x.Values, x.Min, x.Max = quantize.QuantizeV2(ops.Const(g, []float32{0, 6}, 1, 1, 2, 1), low, high, tf.QUint8)
	for _, align := range []bool{false, true} {
		y := quantize.QuantizedResizeBilinear(x, ops.Const(g, []int32{1, 4}), quantize.ResizeOpts{AlignCorners: align})
		v, err := y.Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// quint8[1,1,4,1]{0, 3, 6, 6} <nil>
	// quint8[1,1,4,1]{0, 2, 4, 6} <nil>
}

// A range of three bits is that of the numbers themselves, or a given one.
func ExampleSimulateOpts() {
	g := eager.New()
	x := ops.Const(g, []float32{-1, 0.3, 0.8})
	low, high := ops.Scalar[float32](g, -3), ops.Scalar[float32](g, 3)
	for _, given := range []bool{false, true} {
		o := quantize.SimulateOpts{NumBits: 3, NarrowRange: true, RangeGiven: &given}
		v, err := quantize.QuantizeAndDequantizeV2(x, low, high, o).Value()
		fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	}
	// Output:
	// [-1.000 0.333 0.667] <nil>
	// [-1.000 0.000 1.000] <nil>
}
