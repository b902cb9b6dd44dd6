package quantize_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

const stepped = "it is a staircase"

func init() {
	addFakeArgs()
	addFakeVars()
	addFakeChannels()
	addBadFakes()
}

func addFakeArgs() {
	x, dy := within(-9, 8, 3, 7), within(-1, 2, 3, 7)
	for name, o := range map[string]struct {
		lo, hi float32
		quantize.FakeQuantOpts
	}{
		"": {-6, 6, quantize.FakeQuantOpts{}}, "narrow": {-3.7, 5.1, quantize.FakeQuantOpts{NarrowRange: true}}, "few bits": {-1.3, 7, quantize.FakeQuantOpts{NumBits: 3}},
		"positive": {0.5, 5, quantize.FakeQuantOpts{}}, "negative": {-5, -1, quantize.FakeQuantOpts{}}, "many bits": {-4, 4.5, quantize.FakeQuantOpts{NumBits: 16}},
	} {
		addSamples(
			sample{Op: "FakeQuantWithMinMaxArgs", Name: name, In: tensors{x}, Rough: stepped, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
				return []tf.Output{quantize.FakeQuantWithMinMaxArgs(in[0], o.lo, o.hi, o.FakeQuantOpts)}
			}},
			sample{Op: "FakeQuantWithMinMaxArgsGradient", Name: name, In: tensors{dy, x}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
				return []tf.Output{quantize.FakeQuantWithMinMaxArgsGradient(in[0], in[1], o.lo, o.hi, o.FakeQuantOpts)}
			}})
	}
}

// fakeVars returns the functions of the samples of FakeQuantWithMinMaxVars and
// its gradient.
func fakeVars(o ...tf.Option) (forward, back function) {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{quantize.FakeQuantWithMinMaxVars(in[0], in[1], in[2], o...)}
		}, func(_ *tf.Graph, in []tf.Output) []tf.Output {
			dx, lo, hi := quantize.FakeQuantWithMinMaxVarsGradient(in[0], in[1], in[2], in[3], o...)
			return []tf.Output{dx, lo, hi}
		}
}

func addFakeVars() {
	x, dy := within(-9, 8, 3, 7), within(-1, 2, 3, 7)
	for name, c := range map[string]struct {
		lo, hi float32
		o      quantize.FakeQuantOpts
	}{
		"": {-6, 6, quantize.FakeQuantOpts{}}, "narrow": {-3.7, 5.1, quantize.FakeQuantOpts{NarrowRange: true}}, "few bits": {-1.3, 7, quantize.FakeQuantOpts{NumBits: 2}}, "empty": {0, 0, quantize.FakeQuantOpts{}},
	} {
		forward, back := fakeVars(c.o)
		addSamples(
			sample{Op: "FakeQuantWithMinMaxVars", Name: name, In: tensors{x, scalar(c.lo), scalar(c.hi)}, F: forward, Rough: stepped},
			sample{Op: "FakeQuantWithMinMaxVarsGradient", Name: name, In: tensors{dy, x, scalar(c.lo), scalar(c.hi)}, F: back})
	}
}

func addFakeChannels() {
	const op = "FakeQuantWithMinMaxVarsPerChannel"
	forward := func(o quantize.FakeQuantOpts) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{quantize.FakeQuantWithMinMaxVarsPerChannel(in[0], in[1], in[2], o)}
		}
	}
	back := func(o quantize.FakeQuantOpts) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			dx, lo, hi := quantize.FakeQuantWithMinMaxVarsPerChannelGradient(in[0], in[1], in[2], in[3], o)
			return []tf.Output{dx, lo, hi}
		}
	}
	lo, hi := vec(-6, 0, -3, -1), vec(5, 0, 2.2, 0)
	for name, s := range map[string][]int{"": {2, 4}, "vector": {4}, "images": {1, 2, 3, 4}} {
		x, dy := within(-9, 8, s...), within(-1, 2, s...)
		addSamples(
			sample{Op: op, Name: name, In: tensors{x, lo, hi}, F: forward(quantize.FakeQuantOpts{}), Rough: stepped},
			sample{Op: op, Name: name + " narrow", In: tensors{x, lo, hi}, F: forward(quantize.FakeQuantOpts{NumBits: 4, NarrowRange: true}), Rough: stepped},
			sample{Op: op + "Gradient", Name: name, In: tensors{dy, x, lo, hi}, F: back(quantize.FakeQuantOpts{})})
	}
}

func addBadFakes() {
	x := within(-9, 8, 3, 4)
	addSamples(
		optest.Failing("FakeQuantWithMinMaxArgs", "bits", applied("FakeQuantWithMinMaxArgs", tf.Attr("num_bits", 1)), x),
		optest.Failing("FakeQuantWithMinMaxArgs", "range", applied("FakeQuantWithMinMaxArgs", tf.Attr("min", float32(3)), tf.Attr("max", float32(2.5))), x),
		optest.Failing("FakeQuantWithMinMaxArgsGradient", "sizes", applied("FakeQuantWithMinMaxArgsGradient"), x, within(-9, 8, 3, 5)))
	bad("FakeQuantWithMinMaxVars", applied("FakeQuantWithMinMaxVars"), tensors{x, scalar(-1), scalar(1)}, map[string]swap{"min": {1, vec(-1)}, "max": {2, vec(1)}})
	bad("FakeQuantWithMinMaxVars", applied("FakeQuantWithMinMaxVars", tf.Attr("num_bits", 17)), tensors{x, scalar(-1), scalar(1)}, map[string]swap{"bits": {1, scalar(-2)}})
	bad("FakeQuantWithMinMaxVarsGradient", applied("FakeQuantWithMinMaxVarsGradient"), tensors{x, x, scalar(-1), scalar(1)},
		map[string]swap{"min": {2, vec(-1)}, "max": {3, vec(1)}, "sizes": {0, within(-9, 8, 4, 3)}})
	lo, hi := vec(-1, -2, -3, -4), vec(1, 2, 3, 4)
	bad("FakeQuantWithMinMaxVarsPerChannel", applied("FakeQuantWithMinMaxVarsPerChannel"), tensors{x, lo, hi},
		map[string]swap{"min": {1, vec(-1)}, "max": {2, vec(1)}, "scalar min": {1, scalar(1)}, "scalar max": {2, scalar(1)}})
	bad("FakeQuantWithMinMaxVarsPerChannelGradient", applied("FakeQuantWithMinMaxVarsPerChannelGradient"), tensors{x, x, lo, hi},
		map[string]swap{"min": {2, vec(-1)}, "max": {3, vec(1)}, "sizes": {0, within(-9, 8, 4, 3)}})
}

// TestFakeThreads wants equal bits whatever the threads.
func TestFakeThreads(t *testing.T) {
	x, lo, hi := within(-9, 8, 200, 300), within(-6, -1, 300), within(1, 5, 300)
	optest.Threads(t,
		sample{Op: "FakeQuantWithMinMaxArgs", In: tensors{x}, F: applied("FakeQuantWithMinMaxArgs")},
		sample{Op: "FakeQuantWithMinMaxVarsPerChannelGradient", In: tensors{x, x, lo, hi}, F: applied("FakeQuantWithMinMaxVarsPerChannelGradient")},
		sample{Op: "QuantizeAndDequantizeV2", In: tensors{x, lo, hi}, F: applied("QuantizeAndDequantizeV2", tf.Attr("axis", 1), tf.Attr("range_given", true))})
}
