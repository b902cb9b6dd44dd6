package quantize_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addArithmetic()
	addBadArithmetic()
	addBias()
	addActivations()
	addMatMul()
	addBadMatMul()
}

// spread returns numbers of a quantized type all over its range.
func spread(d tf.DType, s ...int) *core.Tensor {
	t := core.NewTensor(d, append(tf.Shape{}, s...))
	for i := range t.Len() {
		v := uint32(i)*2654435761 + 12345
		switch d {
		case tf.QUint8:
			core.Data[uint8](t)[i] = uint8(v >> 24)
		case tf.QInt8:
			core.Data[int8](t)[i] = int8(v >> 24)
		case tf.QInt32:
			core.Data[int32](t)[i] = int32(v) / 3
		}
	}
	return t
}

// ranged returns numbers of a quantized type and the bounds of their range.
func ranged(d tf.DType, lo, hi float32, s ...int) tensors {
	return tensors{spread(d, s...), scalar(lo), scalar(hi)}
}

// two makes the function of an op on two operands, the inputs of a sample.
func two(f func(x, y quantize.Quantized) quantize.Quantized) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(f(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, quantize.Quantized{Values: in[3], Min: in[4], Max: in[5]}))
	}
}

// one makes the function of an op on one operand.
func one(f func(x quantize.Quantized) quantize.Quantized) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(f(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}))
	}
}

func parts(q quantize.Quantized) []tf.Output { return []tf.Output{q.Values, q.Min, q.Max} }

// ranges are some that have 0 and some that do not.
var ranges = map[string][2]float32{"around 0": {-1.5, 6}, "above": {2, 7.25}, "below": {-3, -1}, "from 0": {0, 10}}

func arithmetic() map[string]function {
	return map[string]function{
		"QuantizedAdd": two(func(x, y quantize.Quantized) quantize.Quantized { return quantize.QuantizedAdd(x, y) }),
		"QuantizedMul": two(func(x, y quantize.Quantized) quantize.Quantized { return quantize.QuantizedMul(x, y) }),
	}
}

func addArithmetic() {
	for op, f := range arithmetic() {
		for name, r := range ranges {
			for shapes, s := range map[string][2][]int{"equal": {{2, 3, 5}, {2, 3, 5}}, "rows": {{3, 5}, {5}}, "long second": {{1, 4}, {6, 4}}, "scalar": {{}, {3, 4}}, "one": {{7}, {1}}, "ones": {{1}, {1, 1}}, "none": {{0}, {1}}} {
				in := append(ranged(tf.QUint8, r[0], r[1], s[0]...), ranged(tf.QUint8, -2, 4.5, s[1]...)...)
				addSamples(sample{Op: op, Name: shapes + " " + name, In: in, F: f, Types: optest.OnlyOwn})
			}
		}
	}
}

func addBadArithmetic() {
	for op, f := range arithmetic() {
		in := append(ranged(tf.QUint8, -1, 2, 2, 3, 4), ranged(tf.QUint8, 0, 2, 2, 3, 4)...)
		swaps := map[string]swap{
			"min": {1, vec(1, 2)}, "max": {2, vec(1)}, "second min": {4, vec(1)}, "second max": {5, vec(1)}, "order": {1, scalar(3)}, "second order": {5, scalar(-1)},
			"shape": {3, spread(tf.QUint8, 3, 3)}, "middle": {3, spread(tf.QUint8, 2, 1, 4)},
		}
		bad(op, f, in, swaps)
	}
}

func addBias() {
	f := two(func(x, y quantize.Quantized) quantize.Quantized { return quantize.QuantizedBiasAdd(x, y) })
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		for name, r := range ranges {
			in := append(ranged(d, r[0], r[1], 2, 3, 7), ranged(d, -20, 90, 7)...)
			addSamples(sample{Op: "QuantizedBiasAdd", Name: d.String() + " " + name, In: in, F: f, Types: optest.OnlyOwn})
		}
	}
	in := append(ranged(tf.QUint8, -1, 1, 2, 3), ranged(tf.QUint8, -1, 1, 3)...)
	bad("QuantizedBiasAdd", f, in, map[string]swap{
		"min": {1, vec(1)}, "max": {2, vec(1)}, "bias min": {4, vec(1)}, "bias max": {5, vec(1)},
		"vector": {0, spread(tf.QUint8, 3)}, "bias": {3, spread(tf.QUint8, 1, 3)}, "short": {3, spread(tf.QUint8, 2)},
	})
	addSamples(optest.Failing("QuantizedBiasAdd", "nothing", f, append(ranged(tf.QUint8, -1, 1, 2, 0), ranged(tf.QUint8, -1, 1, 0)...)...))
}

func addActivations() {
	for op, f := range map[string]function{
		"QuantizedRelu":  one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizedRelu(x) }),
		"QuantizedRelu6": one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizedRelu6(x) }),
	} {
		for name, r := range ranges {
			for _, d := range []tf.DType{tf.QUint8, tf.QInt32} {
				addSamples(sample{Op: op, Name: d.String() + " " + name, In: ranged(d, r[0], r[1], 3, 9), F: f, Types: optest.OnlyOwn})
			}
		}
		bad(op, f, ranged(tf.QUint8, -1, 1, 3), map[string]swap{"min": {1, vec(1)}, "max": {2, vec(1, 2)}})
	}
	optest.Unsampled("QuantizedReluX", "TensorFlow has no kernel")
}

func matMul(o ...tf.Option) function {
	return two(func(x, y quantize.Quantized) quantize.Quantized { return quantize.QuantizedMatMul(x, y, o...) })
}

func addMatMul() {
	for name, r := range ranges {
		for trans, s := range map[string][2][]int{"plain": {{4, 5}, {5, 3}}, "a": {{5, 4}, {5, 3}}, "b": {{4, 5}, {3, 5}}, "both": {{5, 4}, {3, 5}}} {
			in := append(ranged(tf.QUint8, r[0], r[1], s[0]...), ranged(tf.QUint8, -2, 4.5, s[1]...)...)
			o := []tf.Option{tf.Attr("transpose_a", trans == "a" || trans == "both"), tf.Attr("transpose_b", trans == "b" || trans == "both")}
			addSamples(sample{Op: "QuantizedMatMul", Name: trans + " " + name, In: in, F: matMul(o...), Types: optest.OnlyOwn})
		}
	}
	long := append(ranged(tf.QUint8, 0, 1, 2, 700), ranged(tf.QUint8, -1, 0, 700, 2)...)
	addSamples(sample{Op: "QuantizedMatMul", Name: "long", In: long, F: matMul(), Types: optest.OnlyOwn})
}

func addBadMatMul() {
	in := append(ranged(tf.QUint8, -1, 1, 2, 3), ranged(tf.QUint8, -1, 1, 3, 2)...)
	bad("QuantizedMatMul", matMul(), in, map[string]swap{
		"min": {1, vec(-1)}, "max": {2, vec(1, 2)}, "second min": {4, vec(1, 2)}, "second max": {5, vec(1, 2)}, "order": {1, scalar(3)}, "second order": {5, scalar(-1)},
		"cube": {0, spread(tf.QUint8, 1, 2, 3)}, "vector": {3, spread(tf.QUint8, 3)}, "depth": {3, spread(tf.QUint8, 4, 2)},
	})
}

func TestThreads(t *testing.T) {
	big := append(ranged(tf.QUint8, -1, 3, 300, 200), ranged(tf.QUint8, -2, 1, 200)...)
	optest.Threads(t,
		sample{Op: "QuantizedAdd", In: big, F: arithmetic()["QuantizedAdd"]},
		sample{Op: "QuantizedRelu", In: big[:3], F: one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizedRelu(x) })},
	)
}
