package quantize_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

// quantizedTypes are all types of quantized numbers.
var quantizedTypes = []tf.DType{tf.QInt8, tf.QUint8, tf.QInt16, tf.QUint16, tf.QInt32}

func init() {
	addQuantize()
	addBadQuantize()
	addDequantize()
	addBadDequantize()
}

func quantized(d tf.DType, o quantize.QuantizeOpts) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		y, lo, hi := quantize.QuantizeV2(in[0], in[1], in[2], d, o)
		return []tf.Output{y, lo, hi}
	}
}

func addQuantize() {
	x := within(-3, 4, 3, 2, 4) // no element at the bounds: the greatest of 32 bits overflows in TensorFlow
	in, axis := tensors{x, scalar(-5), scalar(6)}, tensors{x, vec(-5, -4.5), vec(6, 5)}
	for _, d := range quantizedTypes {
		for name, c := range map[string]struct {
			in tensors
			o  quantize.QuantizeOpts
		}{
			"combined": {in, quantize.QuantizeOpts{}}, "first": {in, quantize.QuantizeOpts{Mode: quantize.MinFirst}}, "scaled": {in, quantize.QuantizeOpts{Mode: quantize.Scaled}},
			"even": {in, quantize.QuantizeOpts{Mode: quantize.Scaled, RoundHalfToEven: true}}, "narrow": {in, quantize.QuantizeOpts{Mode: quantize.Scaled, NarrowRange: true}},
			"axis": {axis, quantize.QuantizeOpts{Axis: at(1)}}, "scaled axis": {axis, quantize.QuantizeOpts{Mode: quantize.Scaled, Axis: at(1)}},
			"positive": {tensors{x, scalar(1), scalar(1.001)}, quantize.QuantizeOpts{EnsureMinimumRange: at(float32(0.3))}},
		} {
			if d == tf.QInt32 && name == "positive" {
				continue
			}
			addSamples(sample{Op: "QuantizeV2", Name: d.String() + " " + name, In: c.in, F: quantized(d, c.o), Types: optest.OnlyOwn})
		}
	}
}

func addBadQuantize() {
	const op = "QuantizeV2"
	x := within(-3, 4, 2, 3)
	plain := quantized(tf.QInt8, quantize.QuantizeOpts{})
	bad(op, plain, tensors{x, scalar(-1), scalar(1)}, map[string]swap{"range": {1, scalar(2)}, "min": {1, vec(1, 2)}, "max": {2, vec(1, 2)}})
	axis := quantized(tf.QInt8, quantize.QuantizeOpts{Axis: at(1)})
	bad(op, axis, tensors{x, vec(-1, -2, -3), vec(1, 2, 3)}, map[string]swap{"short min": {1, vec(-1)}, "short max": {2, vec(1)}, "scalar min": {1, scalar(-1)}, "axis": {0, within(-3, 4, 3)}})
	addSamples(
		optest.Failing(op, "even", quantized(tf.QInt8, quantize.QuantizeOpts{RoundHalfToEven: true}), x, scalar(-1), scalar(1)),
		optest.Failing(op, "first by axis", quantized(tf.QInt8, quantize.QuantizeOpts{Mode: quantize.MinFirst, Axis: at(1)}), x, vec(-1, -2, -3), vec(1, 2, 3)))
}

// numbers returns some of a quantized type, its bounds among them, but for the
// greatest of 32 bits: TensorFlow lets it overflow.
func numbers(d tf.DType) *core.Tensor {
	t := core.NewTensor(d, tf.Shape{2, 3})
	switch d {
	case tf.QInt8:
		copy(core.Data[int8](t), []int8{-128, -127, 0, 3, 99, 127})
	case tf.QUint8:
		copy(core.Data[uint8](t), []uint8{0, 1, 77, 128, 254, 255})
	case tf.QInt16:
		copy(core.Data[int16](t), []int16{-32768, -300, 0, 3, 999, 32767})
	case tf.QUint16:
		copy(core.Data[uint16](t), []uint16{0, 1, 7777, 32768, 65534, 65535})
	default:
		copy(core.Data[int32](t), []int32{math.MinInt32, -3000000, 0, 3, 99999999, math.MaxInt32 - 200})
	}
	return t
}

func dequantized(d tf.DType, o ...tf.Option) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{quantize.Dequantize(ops.ConstValue(g, numbers(d)), in[0], in[1], o...)}
	}
}

func addDequantize() {
	lo, hi := scalar(-5), scalar(6)
	for _, d := range quantizedTypes {
		for name, o := range map[string][]tf.Option{
			"combined": {}, "first": {tf.Attr("mode", quantize.MinFirst)}, "scaled": {tf.Attr("mode", quantize.Scaled)},
			"narrow": {tf.Attr("mode", quantize.Scaled), tf.Attr("narrow_range", true)}, "bfloat16": {tf.Attr("dtype", tf.BFloat16)},
		} {
			addSamples(sample{Op: "Dequantize", Name: d.String() + " " + name, In: tensors{lo, hi}, F: dequantized(d, o...), Types: optest.OnlyOwn})
		}
		for _, mode := range []string{quantize.MinCombined, quantize.Scaled} {
			addSamples(sample{Op: "Dequantize", Name: d.String() + " axis " + mode, In: tensors{vec(-5, -2), vec(3, 4)}, F: dequantized(d, tf.Attr("axis", 0), tf.Attr("mode", mode)), Types: optest.OnlyOwn})
		}
	}
	// What a product of matrices gives: numbers far below the bounds.
	small := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{quantize.Dequantize(in[0], in[1], in[2], tf.Attr("mode", quantize.MinFirst))}
	}
	addSamples(sample{Op: "Dequantize", Name: "small numbers of 32 bits", In: tensors{wholeBias(-6317, 13264, 5, 0), scalar(-1188918.375), scalar(1188918.375)}, F: small, Types: optest.OnlyOwn})
}

func addBadDequantize() {
	const op = "Dequantize"
	addSamples(
		optest.Failing(op, "min", dequantized(tf.QInt8), vec(1, 2), scalar(3)),
		optest.Failing(op, "max", dequantized(tf.QInt8), scalar(-1), vec(1, 2)),
		optest.Failing(op, "short", dequantized(tf.QInt8, tf.Attr("axis", 1)), vec(1, 2), vec(1, 2)),
		optest.Failing(op, "first by axis", dequantized(tf.QInt8, tf.Attr("axis", 1), tf.Attr("mode", quantize.MinFirst)), vec(1, 2, 3), vec(1, 2, 3)),
		optest.Failing(op, "bfloat16", dequantized(tf.QInt8, tf.Attr("dtype", tf.BFloat16), tf.Attr("mode", quantize.Scaled)), scalar(-1), scalar(1)))
}

// TestThereAndBack wants numbers to come back to half a step.
func TestThereAndBack(t *testing.T) {
	x := within(-5, 6, 40)
	for _, mode := range []string{quantize.MinCombined, quantize.MinFirst, quantize.Scaled} {
		for _, d := range []tf.DType{tf.QInt8, tf.QUint8, tf.QInt16, tf.QUint16} {
			if mode == quantize.Scaled && (d == tf.QUint8 || d == tf.QUint16) {
				continue // has no numbers below 0
			}
			g := eager.New()
			o := tf.Attr("mode", mode)
			y, lo, hi := quantize.QuantizeV2(ops.ConstValue(g, x), ops.ConstValue(g, scalar(-5)), ops.ConstValue(g, scalar(6)), d, o)
			back, err := quantize.Dequantize(y, lo, hi, o).Value()
			if err != nil {
				t.Fatal(err)
			}
			if diff := optest.Differ((*core.Tensor)(back), x, 0.05); diff != "" {
				t.Errorf("%s of %v: %s", mode, d, diff)
			}
		}
	}
}
