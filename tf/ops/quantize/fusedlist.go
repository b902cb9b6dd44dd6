package quantize

import (
	lists "slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// _FusedQuantizedConv2D and its like are what TensorFlow's optimizer makes of
// quantized convolutions and what follows them, which attribute fused_ops lists.
func init() {
	attrs := "Tinput: " + quantizedTypes + " = DT_QUINT8; Tfilter: " + quantizedTypes + " = DT_QINT8; Tbias: {float, qint32} = DT_QINT32; Tsummand: {float, quint8, qint8, qint32}; " +
		"out_type: " + quantizedTypes + " = DT_QINT32; Tdevice_inputs: list(type) >= 0 = []; Thost_inputs: list(type) >= 0; Tdevice_outputs: list(type) >= 0 = []; Thost_outputs: list(type) >= 0; " +
		"data_format: string = 'NHWC'; strides: list(int); is_filter_const: bool = true; is_bias_const: bool = true; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; " +
		"dilations: list(int) = [1, 1, 1, 1]; fused_ops: list(string) = []; alpha: float = 0.0"
	for name, depthwise := range map[string]bool{"_FusedQuantizedConv2D": false, "_FusedQuantizedDepthwiseConv2D": true} {
		core.Register(core.OpDef{
			Name: name, In: "device_inputs: Tdevice_inputs; host_inputs: Thost_inputs", Out: "device_outputs: Tdevice_outputs; host_outputs: Thost_outputs", Attrs: attrs,
			Shape: listedShape(depthwise), Expensive: true, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("Tinput", byType{
				tf.QUint8: only(listedConv(fusedConv[uint8], depthwise), map[string]tf.DType{"Tfilter": tf.QInt8}),
				tf.QInt8:  only(listedConv(fusedConv[int8], depthwise), map[string]tf.DType{"Tfilter": tf.QInt8}),
			}),
		})
	}
}

// listedFusions are the values that fused_ops may have.
var listedFusions = []string{
	"", "BiasAdd", "Relu", "Requantize", "BiasAdd,Relu", "BiasAdd,Requantize", "Relu,Requantize", "BiasAdd,Relu,Requantize", "BiasAdd,Sum,Relu", "BiasAdd,Sum,Relu,Requantize",
}

// listed returns the inputs that a node has by its fused_ops, and their types.
func listed(n *core.Node) (in convInputs, types []tf.DType) {
	fused := n.Strs("fused_ops")
	in = convInputs{bias: -1, summand: -1, result: -1, summed: -1}
	types = []tf.DType{n.Type("Tinput"), n.Type("Tfilter")}
	if lists.Contains(fused, "BiasAdd") {
		in.bias, types = len(types), append(types, n.Type("Tbias"))
	}
	summand := n.Type("Tsummand")
	if lists.Contains(fused, "Sum") {
		in.summand, types = len(types), append(types, summand)
	}
	in.image, in.filter = len(types), len(types)+2
	types = append(types, tf.Float32, tf.Float32, tf.Float32, tf.Float32)
	if in.summand >= 0 && (summand == tf.QInt8 || summand == tf.QUint8) {
		in.summed, types = len(types), append(types, tf.Float32, tf.Float32)
	}
	if lists.Contains(fused, "Requantize") {
		in.result, types = len(types), append(types, tf.Float32, tf.Float32)
	}
	return in, types
}

// checkListed checks what a node lists.
func checkListed(n *core.Node) error {
	fused, out := n.Strs("fused_ops"), n.Type("out_type")
	list := strings.Join(fused, ",")
	in, types := listed(n)
	bytes := out == tf.QInt8 || out == tf.QUint8
	switch {
	case !lists.Contains(listedFusions, list) || strings.Count(list, ",")+1 != max(1, len(fused)): // "Relu,Requantize" is no name
		return invalid("Unsupported QuantizedConv fusion: [%s]", list)
	case in.result >= 0 && !bytes:
		return invalid("QuantizedConv: unsupported output type when Requantize is fused.")
	case in.summand < 0 && n.Type("Tsummand") != out:
		return invalid("QuantizedConv: incorrect summand data type. When Sum is not fused, Tsummand attribute must have same value as out_type.")
	case in.result < 0 && out != tf.QInt32: // ends the process in TensorFlow
		return invalid("QuantizedConv: out_type must be qint32 when Requantize is not fused, got %v", out)
	case n.Str("data_format") != "NHWC":
		return tf.Errorf(tf.Unimplemented, "QuantizedConv: data_format must be NHWC, got %s", n.Str("data_format"))
	case !lists.Equal(n.InTypes, types):
		return invalid("QuantizedConv fusion [%s] has inputs of types %v, got %v", list, types, n.InTypes)
	case !lists.Equal(n.OutTypes, []tf.DType{out, tf.Float32, tf.Float32}):
		return invalid("QuantizedConv has outputs of types [%v float float], got %v", out, n.OutTypes)
	}
	return nil
}

func listedShape(depthwise bool) func(*core.Infer) error {
	f := convFusion{depthwise: depthwise}
	return func(c *core.Infer) error {
		if err := checkListed(c.Node); err != nil {
			return err
		}
		if err := f.imagesShape(c); err != nil {
			return err
		}
		in, _ := listed(c.Node)
		for i := in.image; i < c.NumIn(); i++ {
			if s := c.In(i); len(s) > 1 || len(s) > 0 && i != in.filter && i != in.filter+1 {
				return invalid("Shape must be at most rank 1 but is rank %d", len(s))
			}
		}
		s := c.In(in.filter + 1)
		if in.result >= 0 {
			s = tf.Shape{}
		}
		c.Set(1, s)
		c.Set(2, s)
		return nil
	}
}

func listedConv(kernelOf func(*slide, fusedConvOpts) core.Kernel, depthwise bool) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if err := checkListed(n); err != nil {
			return nil, err
		}
		w, err := slideOf(n, "explicit_paddings")
		if err != nil {
			return nil, err
		}
		in, _ := listed(n)
		return kernelOf(w, fusedConvOpts{in, depthwise, lists.Contains(n.Strs("fused_ops"), "Relu")}), nil
	}
}
