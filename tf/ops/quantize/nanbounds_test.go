package quantize_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// text writes values, quantized or not, with their range.
func text(t *testing.T, outs ...tf.Output) (s string) {
	t.Helper()
	for _, o := range outs {
		if o.DType() != tf.Float32 {
			o = ops.Cast(o, tf.Int32)
		}
		v, err := o.Value()
		if err != nil {
			t.Fatal(err)
		}
		if v.DType() == tf.Int32 {
			s += fmt.Sprint(tf.Data[int32](v))
		} else {
			s += fmt.Sprint(tf.Data[float32](v))
		}
	}
	return s
}

// TestOneBoundThatIsNaN: among several bounds one that is NaN does not count, or counts
// alone. What it leaves of the others is as in TensorFlow 2.21.
func TestOneBoundThatIsNaN(t *testing.T) {
	g, nan := eager.New(), float32(math.NaN())
	of := func(d tf.DType, v []int32, lo, hi float32, s ...int) quantize.Quantized {
		return quantize.Quantized{Values: ops.Cast(ops.Const(g, v, s...), d), Min: ops.Scalar(g, lo), Max: ops.Scalar(g, hi)}
	}
	all := func(q quantize.Quantized) string { return text(t, q.Values, q.Min, q.Max) }
	pair := func(d tf.DType, lo, hi float32) string {
		return all(quantize.QuantizedConcat(ops.Scalar(g, int32(0)), []quantize.Quantized{of(d, []int32{1, 2, 100}, -2, 2), of(d, []int32{5}, lo, hi)}))
	}
	bias := of(tf.QUint8, []int32{0, 5, 120}, -2, 2)
	x := of(tf.QInt8, []int32{1, 2, 100}, -1, nan)
	for name, c := range map[string][2]string{
		"Dequantize":          {text(t, quantize.Dequantize(x.Values, x.Min, x.Max, quantize.QuantizeOpts{Mode: quantize.Scaled})), "[0.0078125 0.015625 0.78125]"},
		"QuantizedConcat max": {pair(tf.QUint8, -1, nan), "[1 2 100 0][-2][2]"},
		"QuantizedConcat min": {pair(tf.QInt32, nan, 1), "[1 2 100 -2147483648][-2][2]"},
		"QuantizedBiasAdd":    {all(quantize.QuantizedBiasAdd(of(tf.QUint8, []int32{1, 2, 100}, nan, 1, 1, 3), bias)), "[2147451008 2147452294 2147481849][-131072][131072]"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %s, want %s", name, c[0], c[1])
		}
	}
}

// TestChannelBoundsThatAreNaN is TestOneBoundThatIsNaN for ranges of channels.
func TestChannelBoundsThatAreNaN(t *testing.T) {
	g, nan := eager.New(), float32(math.NaN())
	images := ops.Cast(ops.Const(g, []int32{-1000, 5, 1 << 30, -(1 << 29)}, 1, 2, 1, 2), tf.QInt32)
	channels := func(lo, hi []float32) quantize.Quantized {
		return quantize.Quantized{Values: images, Min: ops.Const(g, lo), Max: ops.Const(g, hi)}
	}
	ranged := func(q quantize.Quantized, clip float32) string {
		lo, hi := quantize.RequantizationRangePerChannel(q, clip)
		return text(t, lo, hi)
	}
	to := func(q quantize.Quantized, hi float32) string {
		return text(t, quantize.RequantizePerChannel(q, ops.Scalar[float32](g, -1), ops.Scalar(g, hi), tf.QUint8).Values)
	}
	noMax, noMin := channels([]float32{-1, -1}, []float32{nan, 2}), channels([]float32{nan, -1}, []float32{1, 2})
	whole := channels([]float32{-1, -1}, []float32{1, 2})
	for name, c := range map[string][2]string{
		"range of no max":     {ranged(noMax, 100), "[-0.5][0.5]"},
		"range of no min":     {ranged(noMin, 100), "[-0.5][0.5]"},
		"range without clip":  {ranged(whole, nan), "[-0.5][0.5]"},
		"requantized, no max": {to(noMax, 2), "[0 0 64 0]"},
		"requantized to none": {to(whole, nan), "[0 0 128 0]"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: got %s, want %s", name, c[0], c[1])
		}
	}
}

// TestReluOfNoRange: 0 and 6 are the least number of 32 bits in a range that is NaN, as in
// TensorFlow 2.21.
func TestReluOfNoRange(t *testing.T) {
	g, nan := eager.New(), float32(math.NaN())
	values := ops.Cast(ops.Const(g, []int32{0, 5, 120}), tf.QInt32)
	for _, r := range [][2]float32{{nan, 1}, {-1, nan}} {
		x := quantize.Quantized{Values: values, Min: ops.Scalar(g, r[0]), Max: ops.Scalar(g, r[1])}
		if got := text(t, quantize.QuantizedRelu(x).Values); got != "[0 5 120]" {
			t.Errorf("QuantizedRelu, %v: got %s, want what there was", r, got)
		}
		if got := text(t, quantize.QuantizedRelu6(x).Values); got != "[-2147483648 -2147483648 -2147483648]" {
			t.Errorf("QuantizedRelu6, %v: got %s, want the least numbers", r, got)
		}
	}
}
