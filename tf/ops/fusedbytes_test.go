package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addFusedBytes()
	addBadFusedBytes()
}

// bytesOf returns numbers of 8 bits.
func bytesOf(d tf.DType, s ...int) *core.Tensor {
	t := core.NewTensor(d, append(tf.Shape{}, s...))
	for i := range core.Data[int8](t) {
		core.Data[int8](t)[i] = int8(uint32(i) * 2654435761 >> 24)
	}
	return t
}

// fusedBytes makes the function of a _FusedConv2D of numbers of 8 bits.
func fusedBytes(fused []string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := append(opts[:len(opts):len(opts)], tf.Name("fused"), tf.Attr("fused_ops", fused), tf.Attr("num_args", 2), tf.Attr("num_host_args", 2), tf.Attr("TArgs", []tf.DType{tf.Float32, in[0].DType()}))
		return []tf.Output{tf.Apply(g, "_FusedConv2D", in, o...).Output(0)}
	}
}

func addFusedBytes() {
	bias, one, each := optest.Vec[float32](0.5, -20, 3.25, 100), optest.Scalar[float32](0.011), optest.Vec[float32](0.01, 0.02, 0.003, 0.5)
	for _, d := range []tf.DType{tf.Int8, tf.QInt8} {
		x, w, side, none := bytesOf(d, 2, 5, 6, 3), bytesOf(d, 2, 3, 3, 4), bytesOf(d, 2, 5, 6, 4), bytesOf(d, 0)
		for name, fused := range map[string][]string{"plain": {"BiasAdd"}, "Relu": {"BiasAdd", "Relu"}} {
			for what, in := range map[string][]*core.Tensor{
				"": {x, w, bias, none, one, optest.Scalar[float32](0)}, " side": {x, w, bias, side, each, optest.Scalar[float32](0.37)}, " no side": {x, w, bias, side, each, optest.Scalar[float32](0)},
			} {
				addSamples(sample{Op: "_FusedConv2D", Name: d.String() + " " + name + what, In: in, F: fusedBytes(fused, moved(steps1, "SAME")...), Types: onlyOwn})
			}
		}
	}
}

func addBadFusedBytes() {
	x, w, bias, one := bytesOf(tf.Int8, 1, 4, 4, 2), bytesOf(tf.Int8, 2, 2, 2, 3), optest.Vec[float32](1, 2, 3), optest.Scalar[float32](1)
	in := []*core.Tensor{x, w, bias, bytesOf(tf.Int8, 0), one, optest.Scalar[float32](0)}
	for name, f := range map[string]func(*tf.Graph, []tf.Output) []tf.Output{
		"nothing of bytes": fusedBytes([]string{}, moved(steps1, "SAME")...), "activation of bytes": fusedBytes([]string{"BiasAdd", "Elu"}, moved(steps1, "SAME")...),
	} {
		addSamples(optest.Failing("_FusedConv2D", name, f, in...))
	}
	ours := func(name string, i int, t *core.Tensor) {
		changed := append([]*core.Tensor{}, in...)
		changed[i] = t
		s := optest.Failing("_FusedConv2D", name+" of bytes", fusedBytes([]string{"BiasAdd"}, moved(steps1, "SAME")...), changed...)
		s.NoGolden = "TensorFlow reads past the end"
		addSamples(s)
	}
	ours("bias", 2, optest.Vec[float32](1, 2))
	ours("side", 3, bytesOf(tf.Int8, 5))
	ours("scale", 4, optest.Vec[float32](1, 2))
	ours("side scale", 5, optest.Vec[float32](1, 2))
}
