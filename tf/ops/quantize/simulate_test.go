package quantize_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addSimulations()
	addSimulationGrads()
	addBadSimulations()
}

// at returns the address of v.
func at[T any](v T) *T { return &v }

type simulation func(x, lo, hi tf.Output, opts ...tf.Option) tf.Output

func (f simulation) with(o quantize.SimulateOpts) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], in[1], in[2], o)} }
}

func addSimulations() {
	const deprecated = "TensorFlow has it in old graphs only"
	v3 := func(x, lo, hi tf.Output, opts ...tf.Option) tf.Output {
		return quantize.QuantizeAndDequantizeV3(x, lo, hi, ops.ConstValue(x.Graph(), optest.Scalar(int32(6))), opts...)
	}
	x, lo, hi := within(-4.3, 5.7, 2, 3, 4), scalar(-3.1), scalar(4.9)
	byAxis := tensors{x, vec(-3, -2, -5), vec(4, 1, 2.5)}
	for _, op := range []struct {
		name string
		f    simulation
	}{{"QuantizeAndDequantizeV2", quantize.QuantizeAndDequantizeV2}, {"QuantizeAndDequantizeV3", v3}, {"QuantizeAndDequantizeV4", quantize.QuantizeAndDequantizeV4}} {
		notByAxis := "TensorFlow wants scalars"
		if op.name == "QuantizeAndDequantizeV3" {
			notByAxis = ""
		}
		for _, s := range []sample{
			{In: tensors{x, lo, hi}, F: op.f.with(quantize.SimulateOpts{RangeGiven: at(true)})},
			{Name: "found", In: tensors{x, lo, hi}, F: op.f.with(quantize.SimulateOpts{RangeGiven: at(false), NarrowRange: true})},
			{Name: "unsigned", In: tensors{x, lo, hi}, F: op.f.with(quantize.SimulateOpts{RangeGiven: at(true), Unsigned: true})},
			{Name: "narrow", In: tensors{x, lo, hi}, F: op.f.with(quantize.SimulateOpts{RangeGiven: at(true), NarrowRange: true})},
			{Name: "axis", In: byAxis, F: op.f.with(quantize.SimulateOpts{RangeGiven: at(true), Axis: at(1)}), NoGolden: notByAxis},
		} {
			s.Op, s.Rough = op.name, stepped
			addSamples(s)
		}
	}
	half := within(-2, 2, 17)
	addSamples(
		sample{Op: "QuantizeAndDequantizeV2", Name: "half up", In: tensors{half, scalar(-4), scalar(3.5)}, F: simulation(quantize.QuantizeAndDequantizeV2).with(quantize.SimulateOpts{RangeGiven: at(true), NumBits: 4, RoundHalfUp: true}), Rough: stepped},
		sample{Op: "QuantizeAndDequantizeV2", Name: "axis found", In: tensors{x, vec(0, 0, 0, 0), vec(1, 1, 1, 1)}, F: simulation(quantize.QuantizeAndDequantizeV2).with(quantize.SimulateOpts{Axis: at(2)}), Rough: stepped},
		sample{Op: "QuantizeAndDequantize", In: tensors{x}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{quantize.QuantizeAndDequantize(in[0])}
		}, NoGolden: deprecated, Rough: stepped},
		sample{Op: "QuantizeAndDequantize", Name: "given", In: tensors{x}, F: applied("QuantizeAndDequantize", tf.Attr("range_given", true), tf.Attr("input_min", float32(-2)), tf.Attr("input_max", float32(1.5))), NoGolden: deprecated, Rough: stepped})
}

func addSimulationGrads() {
	const op = "QuantizeAndDequantizeV4Grad"
	grad := func(o ...tf.Option) function {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			dx, lo, hi := quantize.QuantizeAndDequantizeV4Grad(in[0], in[1], in[2], in[3], o...)
			return []tf.Output{dx, lo, hi}
		}
	}
	x, dy := within(-4.3, 5.7, 2, 3, 4), within(-1, 2, 2, 3, 4)
	addSamples(
		sample{Op: op, In: tensors{dy, x, scalar(-2), scalar(3.3)}, F: grad()},
		sample{Op: op, Name: "axis", In: tensors{dy, x, vec(-3, -2, -5), vec(4, 1, 2.5)}, F: grad(tf.Attr("axis", 1))})
	bad(op, applied(op), tensors{dy, x, scalar(-2), scalar(3.3)}, map[string]swap{"sizes": {0, within(-1, 1, 2, 3)}})
}

func addBadSimulations() {
	x := within(-4, 5, 2, 3)
	given := tf.Attr("range_given", true)
	for _, op := range []string{"QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"} {
		bad(op, applied(op, given), tensors{x, scalar(-2), scalar(3)}, map[string]swap{"range": {2, scalar(-2.5)}, "min": {1, vec(-2)}, "max": {2, vec(3)}})
		bad(op, applied(op, tf.Attr("num_bits", 62)), tensors{x, scalar(-2), scalar(3)}, map[string]swap{"bits": {1, scalar(-1)}})
	}
	op := "QuantizeAndDequantizeV3"
	bits := optest.Scalar(int32(8))
	bad(op, applied(op), tensors{x, scalar(-2), scalar(3), bits}, map[string]swap{"range": {2, scalar(-2.5)}, "bits": {3, optest.Scalar(int32(62))}, "no bits": {3, optest.Scalar(int32(0))}})
	bad(op, applied(op, tf.Attr("axis", 1)), tensors{x, vec(-2, -3, -1), vec(3, 2, 1), bits}, map[string]swap{"short min": {1, vec(-2, -3)}, "short max": {2, vec(1)}, "scalar min": {1, scalar(-2)}})
}
