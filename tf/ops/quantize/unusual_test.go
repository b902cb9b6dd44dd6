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

// TestUnusualGradients: an infinite gradient makes that of each bound infinite or
// NaN. In a range that is turned around a value counts for both bounds if it is
// below the one and above the other. Both as in TensorFlow 2.21.
func TestUnusualGradients(t *testing.T) {
	g := eager.New()
	vec := func(v ...float32) tf.Output { return ops.Const(g, v, len(v)) }
	inf := float32(math.Inf(1))
	for name, c := range map[string]struct {
		dy, x    tf.Output
		lo, hi   float32
		min, max string
	}{
		"infinite inside": {vec(1, inf), vec(0.5, 0), -1, 2, "NaN", "NaN"},
		"infinite below":  {vec(1, inf), vec(0.5, -9), -1, 2, "+Inf", "NaN"},
		"turned around":   {vec(1, 2), vec(0, 5), 65504, 2, "3", "2"},
	} {
		_, lo, hi := quantize.FakeQuantWithMinMaxVarsGradient(c.dy, c.x, ops.Scalar(g, c.lo), ops.Scalar(g, c.hi), quantize.FakeQuantOpts{NumBits: 2})
		for of, want := range map[tf.Output]string{lo: c.min, hi: c.max} {
			v, err := of.Value()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := fmt.Sprint(tf.Data[float32](v)[0]); got != want {
				t.Errorf("%s: got %s, want %s", name, got, want)
			}
		}
	}
}

// TestUnusualRange: a bound that is NaN makes no range.
func TestUnusualRange(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2}, 2)
	out := quantize.QuantizeAndDequantizeV3(x, ops.Scalar(g, float32(math.NaN())), ops.Scalar(g, float32(2)), ops.Scalar(g, int32(8)))
	if _, err := out.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}

// TestRangesThatAreNotNumbers: numbers of a range that is not finite become 0 in qint8,
// and what they have of it begins at 0, as in TensorFlow 2.21.
func TestRangesThatAreNotNumbers(t *testing.T) {
	g := eager.New()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	values := ops.Cast(ops.Const(g, []int32{-5, 0, 7}), tf.QInt32)
	for _, r := range [][2]float32{{nan, 1}, {-1, nan}, {-inf, inf}, {-inf, 1}, {inf, inf}} {
		x := quantize.Quantized{Values: values, Min: ops.Scalar(g, r[0]), Max: ops.Scalar(g, r[1])}
		y := quantize.Requantize(x, ops.Scalar(g, float32(-1)), ops.Scalar(g, float32(1)), tf.QInt8)
		v, err := ops.Cast(y.Values, tf.Int32).Value()
		if err != nil || fmt.Sprint(tf.Data[int32](v)) != "[0 0 0]" {
			t.Errorf("%v: got %v, %v, want zeros", r, v, err)
		}
		if r[0] == r[1] {
			continue
		}
		low, _ := quantize.RequantizationRange(x)
		if v, err := low.Value(); err != nil || tf.Data[float32](v)[0] != 0 {
			t.Errorf("the range of %v: got %v, %v, want 0", r, v, err)
		}
	}
}

// TestQuantizedByBoundsThatAreNaN: such a bound counts as 0. What is then quantized, and
// the range, are those of TensorFlow 2.21.
func TestQuantizedByBoundsThatAreNaN(t *testing.T) {
	g, nan := eager.New(), float32(math.NaN())
	x := ops.Const(g, []float32{-3, 0, 0.5, 2}, 4)
	for _, c := range []struct {
		d      tf.DType
		mode   string
		lo, hi float32
		want   string
	}{
		{tf.QUint8, quantize.MinCombined, nan, 1, "[0 0 128 255] 0 1"},
		{tf.QUint8, quantize.MinCombined, 0, nan, "[0 0 0 0] 0 0"},
		{tf.QUint8, quantize.MinCombined, -1, nan, "[0 255 255 255] -1 0"},
		{tf.QUint8, quantize.MinFirst, nan, 1, ""},
		{tf.QUint8, quantize.MinFirst, 0, nan, ""},
		{tf.QUint8, quantize.Scaled, nan, 1, "[0 0 128 255] 0 1"},
		{tf.QInt8, quantize.MinCombined, nan, 1, "[-128 -128 -1 127] 0 1"},
		{tf.QInt8, quantize.MinCombined, nan, nan, "[0 0 0 0] 0 0"},
		{tf.QInt8, quantize.MinFirst, nan, 1, "[-128 -128 0 127] 0 1"},
		{tf.QInt8, quantize.MinFirst, nan, nan, "[-128 -128 -128 -128] 0 0"},
		{tf.QInt16, quantize.MinCombined, -1, nan, "[-32768 32767 32767 32767] -1 0"},
		{tf.QInt16, quantize.Scaled, nan, 1, "[-32768 0 16384 32767] -1.0000305 1"},
	} {
		y, lo, hi := quantize.QuantizeV2(x, ops.Scalar(g, c.lo), ops.Scalar(g, c.hi), c.d, quantize.QuantizeOpts{Mode: c.mode})
		v, err := ops.Cast(y, tf.Int32).Value()
		if c.want == "" {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%v, %s, %v to %v: got %v, %v, want INVALID_ARGUMENT", c.d, c.mode, c.lo, c.hi, v, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		least, _ := lo.Value()
		most, _ := hi.Value()
		if got := fmt.Sprint(tf.Data[int32](v), tf.Data[float32](least)[0], tf.Data[float32](most)[0]); got != c.want {
			t.Errorf("%v, %s, %v to %v: got %s, want %s", c.d, c.mode, c.lo, c.hi, got, c.want)
		}
	}
}
