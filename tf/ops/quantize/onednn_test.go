package quantize_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
	"github.com/gorge-tf/gorge/tf/optest"
)

// Golden values of this file come from TensorFlow with oneDNN, which alone has
// code for most of these ops: TF_ENABLE_ONEDNN_OPTS=1 python golden.py ...

func init() {
	addFusedConv()
	addBadFusedConv()
	addFusedMatMul()
	addConcatV2()
	addListed()
	addMaxPool3D()
	// Without oneDNN TensorFlow cuts means off; with it, as it is shipped, it rounds.
	addSamples(poolSamples("QuantizedAvgPool", quantize.QuantizedAvgPool)...)
	badPools("QuantizedAvgPool", quantize.QuantizedAvgPool)
}

// then makes the function of a sample whose inputs are images, a filter, and
// what is to be done: biases, a summand, a range.
func then(of func(x, w quantize.Quantized, then quantize.Then) quantize.Quantized, bias, summand, summandRange, to8, relu bool) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		x, w := quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, quantize.Quantized{Values: in[3], Min: in[4], Max: in[5]}
		t, rest := quantize.Then{Relu: relu}, in[6:]
		if bias {
			t.Bias, rest = rest[0], rest[1:]
		}
		if to8 {
			t.Min, t.Max, rest = rest[0], rest[1], rest[2:]
		}
		if summand {
			t.Summand.Values = rest[0]
		}
		if summandRange {
			t.Summand.Min, t.Summand.Max = rest[1], rest[2]
		}
		return parts(of(x, w, t))
	}
}

func fusedConv(strides []int, padding string, o ...tf.Option) func(x, w quantize.Quantized, then quantize.Then) quantize.Quantized {
	return func(x, w quantize.Quantized, then quantize.Then) quantize.Quantized {
		return quantize.QuantizedConv2DWith(x, w, strides, padding, then, o...)
	}
}

func fusedDepthwise(x, w quantize.Quantized, then quantize.Then) quantize.Quantized {
	return quantize.QuantizedDepthwiseConv2DWith(x, w, []int{1, 1, 1, 1}, "SAME", then)
}

// wholeBias are biases in steps of sums.
func wholeBias(v ...int32) *core.Tensor {
	t := core.NewTensor(tf.QInt32, tf.Shape{len(v)})
	copy(core.Data[int32](t), v)
	return t
}

func addFusedConv() {
	plain, unit := fusedConv([]int{1, 1, 1, 1}, "VALID"), []int{1, 1, 1, 1}
	images := func(d tf.DType) tensors {
		return append(ranged(d, -0.4, 2.5, 2, 5, 6, 3), ranged(tf.QInt8, -1.3, 1, 2, 2, 3, 4)...)
	}
	each := func(d tf.DType) tensors { // a range for each output
		in := images(d)
		in[4], in[5] = vec(-1.3, -0.4, -1, -0.1), vec(1, 0.2, 2, 0.1)
		return in
	}
	bias, whole, lo, hi := vec(0.51, -1.7, 0, 3), wholeBias(5100, -20000, 3, 0), scalar(-3), scalar(4.1)
	add := func(op, name string, in tensors, f function) {
		addSamples(sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Static: "oneDNN's filters are constants"})
	}
	add("QuantizedConv2D", "signed filter", images(tf.QUint8), then(plain, false, false, false, false, false))
	add("QuantizedConv2D", "strides", images(tf.QUint8), then(fusedConv([]int{1, 2, 3, 1}, "SAME"), false, false, false, false, false))
	add("QuantizedConv2D", "dilated", images(tf.QUint8), then(fusedConv(unit, "SAME", tf.Attr("dilations", []int{1, 2, 3, 1})), false, false, false, false, false))
	add("QuantizedConv2DPerChannel", "", each(tf.QUint8), two(func(x, w quantize.Quantized) quantize.Quantized {
		return quantize.QuantizedConv2DPerChannel(x, w, unit, "SAME")
	}))
	add("QuantizedConv2DAndRelu", "", each(tf.QUint8), then(plain, false, false, false, false, true))
	add("QuantizedConv2DAndRelu", "padded", images(tf.QUint8), then(fusedConv(unit, "VALID", tf.Attr("padding_list", []int{0, 0, 1, 2, 3, 0, 0, 0})), false, false, false, false, true))
	add("QuantizedConv2DAndRequantize", "", append(images(tf.QUint8), lo, hi), then(plain, false, false, false, true, false))
	add("QuantizedConv2DAndReluAndRequantize", "", append(each(tf.QUint8), lo, hi), then(plain, false, false, false, true, true))
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		add("QuantizedConv2DWithBias", d.String(), append(each(d), bias), then(plain, true, false, false, false, false))
		add("QuantizedConv2DWithBiasAndRelu", d.String(), append(images(d), bias), then(plain, true, false, false, false, true))
		for name, b := range map[string]*core.Tensor{"": bias, " whole": whole} {
			add("QuantizedConv2DWithBiasAndRequantize", d.String()+name, append(each(d), b, lo, hi), then(plain, true, false, false, true, false))
			add("QuantizedConv2DWithBiasAndReluAndRequantize", d.String()+name, append(images(d), b, lo, hi), then(plain, true, false, false, true, true))
		}
	}
	channels := ranged(tf.QInt8, -1.3, 1, 2, 2, 3, 2)
	six := vec(0.5, 0, -1, 2, 0.25, -0.125)
	depthwise := func(more ...*core.Tensor) tensors {
		return append(append(ranged(tf.QUint8, -0.4, 2.5, 2, 5, 6, 3), channels...), more...)
	}
	add("QuantizedDepthwiseConv2D", "", depthwise(), then(fusedDepthwise, false, false, false, false, false))
	add("QuantizedDepthwiseConv2DWithBias", "", depthwise(six), then(fusedDepthwise, true, false, false, false, false))
	add("QuantizedDepthwiseConv2DWithBiasAndRelu", "", depthwise(six), then(fusedDepthwise, true, false, false, false, true))
	for name, b := range map[string]*core.Tensor{"": six, "whole": wholeBias(5100, -20000, 3, 0, 1, -700)} {
		add("QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", name, depthwise(b, lo, hi), then(fusedDepthwise, true, false, false, true, true))
	}
	addSummed(plain, images(tf.QUint8), bias, lo, hi)
}

// addSummed adds samples with summands, for which TensorFlow's process ends.
func addSummed(conv func(x, w quantize.Quantized, then quantize.Then) quantize.Quantized, images tensors, bias, lo, hi *core.Tensor) {
	add := func(op string, in tensors, f function) {
		addSamples(sample{Op: op, In: append(append(tensors{}, images...), in...), F: f, Types: optest.OnlyOwn, NoGolden: "TensorFlow's process ends"})
	}
	s := []int{2, 4, 5, 4}
	add("QuantizedConv2DWithBiasSumAndRelu", tensors{bias, within(-3, 4, s...)}, then(conv, true, true, false, false, true))
	add("QuantizedConv2DWithBiasSumAndReluAndRequantize", tensors{bias, lo, hi, spread(tf.QUint8, s...), scalar(0), scalar(3)}, then(conv, true, true, true, true, true))
	add("QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", tensors{bias, lo, hi, spread(tf.QInt8, s...), scalar(-3), scalar(3)}, then(conv, true, true, true, true, true))
}

func addBadFusedConv() {
	f := then(fusedConv([]int{1, 1, 1, 1}, "VALID"), true, false, false, false, false)
	in := append(append(ranged(tf.QUint8, -0.4, 2.5, 1, 3, 3, 2), ranged(tf.QInt8, -1, 1, 2, 2, 2, 3)...), vec(1, 2, 3))
	for name, w := range map[string]swap{
		"cube": {0, spread(tf.QUint8, 3, 3, 2)}, "filter": {3, spread(tf.QInt8, 2, 2, 2)}, "no filter": {3, spread(tf.QInt8, 2, 2, 2, 0)}, "depth": {3, spread(tf.QInt8, 2, 2, 3, 3)}, "size": {3, spread(tf.QInt8, 7, 2, 2, 3)},
		"min": {1, vec(1)}, "max": {2, vec(1)}, "ranges": {4, vec(1, 2, 3)}, "no ranges": {4, vec()}, "bias": {6, vec(1, 2)},
	} {
		changed := append(tensors{}, in...)
		changed[w.i] = w.t
		s := optest.Failing("QuantizedConv2DWithBias", name, f, changed...)
		s.NoGolden = "oneDNN refuses filters that are not constants, and its process ends for other shapes"
		addSamples(s)
	}
}

func addFusedMatMul() {
	in := append(ranged(tf.QUint8, -0.7, 2.5, 7, 40), ranged(tf.QInt8, -1.3, 1, 40, 5)...)
	bias, whole, lo, hi := vec(0.51, -1.7, 0, 3, 0.3), wholeBias(5100, -20000, 3, 0, -77), scalar(-3), scalar(4.1)
	product := func(a, b quantize.Quantized, then quantize.Then) quantize.Quantized {
		return quantize.QuantizedMatMulWith(a, b, then)
	}
	add := func(op, name string, f function, more ...*core.Tensor) {
		addSamples(sample{Op: op, Name: name, In: append(append(tensors{}, in...), more...), F: f, Types: optest.OnlyOwn, Static: "oneDNN's matrices are constants"})
	}
	add("QuantizedMatMulWithBiasAndRelu", "", then(product, true, false, false, false, true), bias)
	for name, b := range map[string]*core.Tensor{"": bias, "whole": whole} {
		add("QuantizedMatMulWithBias", name, then(product, true, false, false, false, false), b)
		add("QuantizedMatMulWithBiasAndRequantize", name, then(product, true, false, false, true, false), b, lo, hi)
		add("QuantizedMatMulWithBiasAndReluAndRequantize", name, then(product, true, false, false, true, true), b, lo, hi)
		for _, mode := range []string{quantize.MinFirst, quantize.Scaled} {
			add("QuantizedMatMulWithBiasAndDequantize", name+mode, dequantizedProduct(mode), b, lo, hi)
		}
	}
	f := then(product, true, false, false, false, false)
	for name, w := range map[string]swap{"vector": {0, spread(tf.QUint8, 3)}, "depth": {3, spread(tf.QInt8, 4, 5)}, "min": {1, vec(1)}, "bias": {6, vec(1, 2)}} {
		changed := append(append(tensors{}, in...), bias)
		changed[w.i] = w.t
		s := optest.Failing("QuantizedMatMulWithBias", name, f, changed...)
		s.NoGolden = "TensorFlow's process ends"
		addSamples(s)
	}
}

func dequantizedProduct(mode string) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		a, b := quantize.Quantized{Values: in[0], Min: in[1], Max: in[2]}, quantize.Quantized{Values: in[3], Min: in[4], Max: in[5]}
		return []tf.Output{quantize.QuantizedMatMulWithBiasAndDequantize(a, b, quantize.Then{Bias: in[6], Min: in[7], Max: in[8]}, tf.Attr("input_quant_mode", mode))}
	}
}

func addConcatV2() {
	const op = "QuantizedConcatV2"
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		var all []quantize.Quantized
		for i := 1; i < len(in); i += 3 {
			all = append(all, quantize.Quantized{Values: in[i], Min: in[i+1], Max: in[i+2]})
		}
		return parts(quantize.QuantizedConcatV2(all, in[0]))
	}
	of := func(axis *core.Tensor, at int, d tf.DType, s []int, r ...[2]float32) tensors {
		in := tensors{axis}
		for i, b := range r {
			own := append([]int{}, s...)
			own[at] += i
			in = append(in, ranged(d, b[0], b[1], own...)...)
		}
		return in
	}
	cube, images := []int{2, 3, 2}, []int{1, 2, 3, 2}
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		for name, in := range map[string]tensors{
			"cubes": of(optest.Scalar(int32(1)), 1, d, cube, [2]float32{-1, 1}, [2]float32{0, 7}), "equal cubes": of(optest.Scalar(int32(-1)), 2, d, cube, [2]float32{-1, 1}, [2]float32{-1, 1}),
			"images": of(optest.Scalar(int32(3)), 3, d, images, [2]float32{-1, 1}, [2]float32{2, 7}, [2]float32{0, 1}), "equal images": of(optest.Scalar(int32(2)), 2, d, images, [2]float32{-1, 1}, [2]float32{-1, 1}),
		} {
			addSamples(sample{Op: op, Name: d.String() + " " + name, In: in, F: f, Types: optest.OnlyOwn, Static: "oneDNN's ops take the place of TensorFlow's only there"})
		}
	}
	in := of(optest.Scalar(int32(1)), 1, tf.QUint8, cube, [2]float32{-1, 1}, [2]float32{0, 7})
	for name, w := range map[string]swap{
		"axis": {0, optest.I32(1, 2)}, "far axis": {0, optest.Scalar(int32(3))}, "min": {2, vec(1)}, "max": {6, vec(1)}, "rank": {4, spread(tf.QUint8, 2, 3)}, "size": {4, spread(tf.QUint8, 2, 3, 3)},
	} {
		changed := append(tensors{}, in...)
		changed[w.i] = w.t
		s := optest.Failing(op, name, f, changed...)
		s.NoGolden = "other words of oneDNN's"
		addSamples(s)
	}
}

// listedConv makes the function of a fused convolution whose inputs are those of
// a sample.
func listedConv(op string, summand tf.DType, out tf.DType, o ...tf.Option) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		types := make([]tf.DType, len(in))
		for i, x := range in {
			types[i] = x.DType()
		}
		own := []tf.Option{
			tf.Name("fused"), tf.Attr("Tinput", types[0]), tf.Attr("Tfilter", types[1]), tf.Attr("Tsummand", summand), tf.Attr("out_type", out), tf.Attr("strides", []int{1, 1, 1, 1}),
			tf.Attr("Thost_inputs", types), tf.Attr("Thost_outputs", []tf.DType{out, tf.Float32, tf.Float32}),
		}
		return tf.Apply(g, op, in, append(own, o...)...).Outputs()
	}
}

func addListed() {
	bias, whole, six, lo, hi := vec(0.51, -1.7, 0, 3), wholeBias(5100, -20000, 3, 0), vec(0.5, 0, -1, 2, 0.25, -0.125), scalar(-3), scalar(4.1)
	fused := func(padding string, ops ...string) []tf.Option {
		return []tf.Option{tf.Attr("padding", padding), tf.Attr("fused_ops", ops), tf.Attr("Tbias", tf.Float32)}
	}
	const conv, depthwise = "_FusedQuantizedConv2D", "_FusedQuantizedDepthwiseConv2D"
	bounds := tensors{scalar(-0.4), scalar(2.5), vec(-1.3, -0.4, -1, -0.1), vec(1, 0.2, 2, 0.1)}
	in := func(d tf.DType, more ...*core.Tensor) tensors {
		return append(append(tensors{spread(d, 2, 5, 6, 3), spread(tf.QInt8, 2, 2, 3, 4)}, more...), bounds...)
	}
	add := func(op, name string, in tensors, f function) {
		addSamples(sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Static: "oneDNN's filters are constants"})
	}
	explicit := append(fused("EXPLICIT", "Relu"), tf.Attr("explicit_paddings", []int{0, 0, 1, 2, 3, 0, 0, 0}))
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		add(conv, d.String(), in(d), listedConv(conv, tf.QInt32, tf.QInt32, fused("SAME")...))
		add(conv, d.String()+" bias", in(d, bias), listedConv(conv, tf.QInt32, tf.QInt32, fused("VALID", "BiasAdd")...))
		add(conv, d.String()+" explicit", in(d), listedConv(conv, tf.QInt32, tf.QInt32, explicit...))
		for _, out := range []tf.DType{tf.QUint8, tf.QInt8} {
			add(conv, d.String()+" to "+out.String(), append(in(d, bias), lo, hi), listedConv(conv, out, out, fused("VALID", "BiasAdd", "Relu", "Requantize")...))
			add(conv, d.String()+" whole to "+out.String(), append(in(d, whole), lo, hi), listedConv(conv, out, out, append(fused("VALID", "BiasAdd", "Requantize"), tf.Attr("Tbias", tf.QInt32))...))
		}
	}
	add(depthwise, "", append(tensors{spread(tf.QUint8, 2, 5, 6, 3), spread(tf.QInt8, 2, 2, 3, 2), six}, scalar(-0.4), scalar(2.5), scalar(-1), scalar(1)), listedConv(depthwise, tf.QInt32, tf.QInt32, fused("SAME", "BiasAdd", "Relu")...))
	summand := append(append(tensors{}, in(tf.QUint8, bias, spread(tf.QInt8, 2, 4, 5, 4))...), scalar(-3), scalar(3), lo, hi)
	addSamples(sample{Op: conv, Name: "summand", In: summand, F: listedConv(conv, tf.QInt8, tf.QUint8, fused("VALID", "BiasAdd", "Sum", "Relu", "Requantize")...), Types: optest.OnlyOwn, NoGolden: "TensorFlow's process ends"})
}

func addMaxPool3D() {
	f := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return tf.Apply(g, "_QuantizedMaxPool3D", in, tf.Name("pooled"), tf.Attr("ksize", []int{1, 2, 2, 3, 1}), tf.Attr("strides", []int{1, 1, 2, 1, 1}), tf.Attr("padding", "SAME")).Outputs()
	}
	for _, d := range []tf.DType{tf.QUint8, tf.QInt8} {
		addSamples(sample{Op: "_QuantizedMaxPool3D", Name: d.String(), In: ranged(d, -1, 3, 2, 3, 5, 4, 2), F: f, Types: optest.OnlyOwn})
	}
}
