package quantize

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		out   = "activations: out_type; min_activations: float; max_activations: float"
		types = "Tinput: " + quantizedTypes + "; out_type: " + quantizedTypes + " = DT_QUINT8"
	)
	for name, most := range map[string]float32{"QuantizedRelu": noMost, "QuantizedRelu6": 6} {
		core.Register(core.OpDef{
			Name: name, In: "features: Tinput; min_features: float; max_features: float", Out: out, Attrs: types,
			Shape: withSpan(1, core.UnchangedShape), NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("Tinput", byType{tf.QUint8: quantizedRelu[uint8](tf.QUint8, most), tf.QInt32: quantizedRelu[int32](tf.QInt32, most)}),
		})
	}
	core.Register(core.OpDef{
		Name: "QuantizedReluX", In: "features: Tinput; max_value: float; min_features: float; max_features: float", Out: out, Attrs: types,
		Shape: withSpan(1, core.UnchangedShape), NoGrad: core.NoGradientDefined, // TensorFlow has no kernel either
	})
}

// noMost says that there is no upper bound.
const noMost = -1

// QuantizedRelu returns x with 0 for what is less, in numbers of 8 bits
// without sign or of 32 bits, and the same range. The values are quint8 or
// qint32; others are refused with NOT_FOUND in the step. The result has their
// shape. Bounds that are no scalars are refused with INVALID_ARGUMENT.
func QuantizedRelu(x Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedRelu", tf.Join(opts, tf.Attr("out_type", x.Values.DType())), x.Values, x.Min, x.Max)
}

// QuantizedRelu6 is QuantizedRelu with 6 for what is more. Types and errors
// are those of QuantizedRelu.
func QuantizedRelu6(x Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedRelu6", tf.Join(opts, tf.Attr("out_type", x.Values.DType())), x.Values, x.Min, x.Max)
}

func quantizedRelu[Q quantum](d tf.DType, most float32) core.NewKernel {
	scalars := inRank0(1, "min_input", "max_input")
	return only(func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			if err := scalars.check(c); err != nil {
				return err
			}
			r := spanAt(c, 1)
			lo, hi := quantized[Q](0, r), Q(highest64[Q]())
			if most != noMost {
				hi = quantized[Q](most, r)
			}
			x := c.Input(0)
			out, err := c.AllocFrom(0, 0, d, x.Shape())
			if err != nil {
				return err
			}
			from, to := core.Data[Q](x), core.Data[Q](out)
			c.ParallelFor(len(to), grain, func(i, j int) { bound(to[i:j], from[i:j], lo, hi) })
			return setSpan(c, r)
		}), nil
	}, map[string]tf.DType{"out_type": d})
}
