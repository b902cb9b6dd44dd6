package quantize_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addRequantize()
	addRequantizationRange()
	addChannels()
}

func requantized(d tf.DType) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(quantize.Requantize(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, in[3], in[4], d))
	}
}

func addRequantize() {
	shrunk := one(func(x quantize.Quantized) quantize.Quantized { return quantize.QuantizeDownAndShrinkRange(x) })
	for name, r := range ranges {
		in := ranged(tf.QInt32, r[0], r[1], 5, 9)
		addSamples(sample{Op: "QuantizeDownAndShrinkRange", Name: name, In: in, F: shrunk, Types: optest.OnlyOwn})
		for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
			addSamples(
				sample{Op: "Requantize", Name: d.String() + " " + name, In: append(in, scalar(-2), scalar(6.5)), F: requantized(d), Types: optest.OnlyOwn},
				sample{Op: "Requantize", Name: d.String() + " no width " + name, In: append(in, scalar(0), scalar(0)), F: requantized(d), Types: optest.OnlyOwn})
		}
	}
	bad("QuantizeDownAndShrinkRange", shrunk, ranged(tf.QInt32, -1, 1, 3), map[string]swap{"min": {1, vec(1)}, "max": {2, vec(1)}})
	bad("Requantize", requantized(tf.QUint8), append(ranged(tf.QInt32, -1, 1, 3), scalar(-1), scalar(1)), map[string]swap{
		"min": {1, vec(1)}, "max": {2, vec(1)}, "new min": {3, vec(1)}, "new max": {4, vec(1)}, "above 0": {3, scalar(0.25)}, "order": {4, scalar(-1.5)},
	})
}

func addRequantizationRange() {
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		lo, hi := quantize.RequantizationRange(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]})
		return []tf.Output{lo, hi}
	}
	for name, r := range ranges {
		addSamples(sample{Op: "RequantizationRange", Name: name, In: ranged(tf.QInt32, r[0], r[1], 5, 9), F: f, Types: optest.OnlyOwn})
	}
	bad("RequantizationRange", f, ranged(tf.QInt32, -1, 1, 3), map[string]swap{"min": {1, vec()}, "max": {2, vec()}})
}

func addChannels() {
	x, lo, hi := spread(tf.QInt32, 2, 3, 2, 4), vec(-1, -2, -0.5, 0), vec(1, 3, 0.25, 7)
	of := func(clip float32) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			lo, hi := quantize.RequantizationRangePerChannel(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, clip)
			return []tf.Output{lo, hi}
		}
	}
	const op = "RequantizationRangePerChannel"
	addSamples(sample{Op: op, In: tensors{x, lo, hi}, F: of(100), Types: optest.OnlyOwn}, sample{Op: op, Name: "clipped", In: tensors{x, lo, hi}, F: of(1.5), Types: optest.OnlyOwn})
	bad(op, of(6), tensors{x, lo, hi}, map[string]swap{"min": {1, vec(1)}, "empty": {0, spread(tf.QInt32, 0, 3, 2, 4)}, "cube": {0, spread(tf.QInt32, 3, 2, 4)}, "channels": {0, spread(tf.QInt32, 1, 3, 2, 3)}})
	to := func(d tf.DType) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(quantize.RequantizePerChannel(quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, in[3], in[4], d))
		}
	}
	in := tensors{x, lo, hi, scalar(-1.5), scalar(2)}
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		addSamples(sample{Op: "RequantizePerChannel", Name: d.String(), In: in, F: to(d), Types: optest.OnlyOwn})
	}
	bad("RequantizePerChannel", to(tf.QInt8), in, map[string]swap{"cube": {0, spread(tf.QInt32, 3, 2, 4)}, "max": {2, vec(1)}, "new min": {3, vec(1, 2)}, "above 0": {3, scalar(0.5)}})
}
