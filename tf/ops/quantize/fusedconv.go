package quantize

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A convFusion is an op that convolves images with filters of 8 bits and does
// more to the result. Its ranges have 0 in the middle; those of filters may be
// given for each output. TensorFlow's own code for all of these is oneDNN's.
type convFusion struct {
	name                    string
	bias, sum, relu, to8    bool
	depthwise               bool
	images                  []tf.DType // that it takes
	out                     tf.DType
	anyBias                 bool     // float32 or whole numbers
	summand                 tf.DType // of 8 bits
	noPaddings, plainRanges bool     // details of its signature
}

var (
	bytesOnly = []tf.DType{tf.QUint8}
	bothBytes = []tf.DType{tf.QInt8, tf.QUint8}
)

var convFusions = []convFusion{
	{name: "QuantizedConv2DPerChannel", images: bytesOnly, out: tf.QInt32, noPaddings: true},
	{name: "QuantizedConv2DAndRelu", relu: true, images: bytesOnly, out: tf.QInt32},
	{name: "QuantizedConv2DAndRequantize", to8: true, images: bytesOnly, out: tf.QInt8, plainRanges: true},
	{name: "QuantizedConv2DAndReluAndRequantize", relu: true, to8: true, images: bytesOnly, out: tf.QUint8},
	{name: "QuantizedConv2DWithBias", bias: true, images: bothBytes, out: tf.QInt32},
	{name: "QuantizedConv2DWithBiasAndRelu", bias: true, relu: true, images: bothBytes, out: tf.QInt32},
	{name: "QuantizedConv2DWithBiasAndRequantize", bias: true, anyBias: true, to8: true, images: bothBytes, out: tf.QInt8},
	{name: "QuantizedConv2DWithBiasAndReluAndRequantize", bias: true, anyBias: true, relu: true, to8: true, images: bothBytes, out: tf.QUint8},
	{name: "QuantizedConv2DWithBiasSumAndRelu", bias: true, sum: true, relu: true, images: bytesOnly, out: tf.QInt32},
	{name: "QuantizedConv2DWithBiasSumAndReluAndRequantize", bias: true, anyBias: true, sum: true, summand: tf.QUint8, relu: true, to8: true, images: bytesOnly, out: tf.QUint8},
	{name: "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize", bias: true, anyBias: true, sum: true, summand: tf.QInt8, relu: true, to8: true, images: bytesOnly, out: tf.QUint8},
	{name: "QuantizedDepthwiseConv2D", depthwise: true, images: bytesOnly, out: tf.QInt32, noPaddings: true},
	{name: "QuantizedDepthwiseConv2DWithBias", depthwise: true, bias: true, images: bytesOnly, out: tf.QInt32, noPaddings: true},
	{name: "QuantizedDepthwiseConv2DWithBiasAndRelu", depthwise: true, bias: true, relu: true, images: bytesOnly, out: tf.QInt32},
	{name: "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize", depthwise: true, bias: true, anyBias: true, relu: true, to8: true, images: bytesOnly, out: tf.QUint8},
}

func init() {
	for i := range convFusions {
		f := &convFusions[i]
		kernels := byType{}
		for _, d := range f.images {
			kernels[d] = only(fusedConvOf(d, f), f.types())
		}
		core.Register(core.OpDef{
			Name: f.name, In: f.inputs(), Out: "output: out_type; min_output: float; max_output: float", Attrs: f.attrs(),
			Shape: f.shape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("Tinput", kernels),
		})
	}
}

// A Then says what is done to the sums of products of a convolution or of
// matrices. The zero outputs stand for nothing.
type Then struct {
	Bias tf.Output // is added: for each output, float32 or, where the result has 8 bits, of 32 bits in steps of the sums
	// Summand is added too: float32, or of 8 bits where the result has 8 bits.
	Summand Quantized
	Relu    bool
	// Min and Max are the range of a result of 8 bits: with Relu without sign.
	// Without them it has 32 bits.
	Min, Max tf.Output
}

// name returns what TensorFlow calls the op that does this.
func (t Then) name(op string) string {
	none := tf.Output{}
	if t.Bias != none {
		op += "WithBias"
	}
	if t.Summand.Values != none {
		if t.Summand.Values.DType() == tf.QInt8 {
			op += "Signed"
		}
		op += "Sum"
	}
	if t.Relu {
		op += "AndRelu"
	}
	if t.Min != none {
		op += "AndRequantize"
	}
	return op
}

// inputs returns the op's inputs after the first two.
func (t Then) inputs(ranges ...tf.Output) (in []tf.Output) {
	for _, x := range append(append([]tf.Output{t.Bias}, ranges...), t.Min, t.Max, t.Summand.Values, t.Summand.Min, t.Summand.Max) {
		if x != (tf.Output{}) {
			in = append(in, x)
		}
	}
	return in
}

// QuantizedConv2DWith returns images of 8 bits convolved with filters of 8
// bits with sign, and what is then done to the sums. Both ranges have 0 in the
// middle; that of the filter may be given for each output. The op is the one
// of TensorFlow's whose name lists what is done, as
// QuantizedConv2DWithBiasAndRelu. Images [batch height width channels] and
// filters [height width channels outputs] of other than four dimensions,
// channels that differ, a bias without an element for each output, and a
// summand of another shape than the result are refused with INVALID_ARGUMENT
// in the step, strides of batch or depth with UNIMPLEMENTED. Types that have
// no kernel are refused with NOT_FOUND.
func QuantizedConv2DWith(x, filter Quantized, strides []int, padding string, then Then, opts ...tf.Option) Quantized {
	return convolvedWith("QuantizedConv2D", x, filter, strides, padding, then, opts)
}

// QuantizedConv2DPerChannel is QuantizedConv2DWith with nothing more to be
// done. Images are quint8, the result is qint32. Types and errors are
// otherwise those of QuantizedConv2DWith.
func QuantizedConv2DPerChannel(x, filter Quantized, strides []int, padding string, opts ...tf.Option) Quantized {
	return convolvedWith("QuantizedConv2DPerChannel", x, filter, strides, padding, Then{}, opts)
}

// QuantizedDepthwiseConv2DWith is QuantizedConv2DWith for filters [height
// width channels multiplier] that each see one channel. Images are quint8.
// Errors are those of QuantizedConv2DWith.
func QuantizedDepthwiseConv2DWith(x, filter Quantized, strides []int, padding string, then Then, opts ...tf.Option) Quantized {
	return convolvedWith("QuantizedDepthwiseConv2D", x, filter, strides, padding, then, opts)
}

func convolvedWith(op string, x, filter Quantized, strides []int, padding string, then Then, opts []tf.Option) Quantized {
	in := append([]tf.Output{x.Values, filter.Values}, then.inputs(x.Min, x.Max, filter.Min, filter.Max)...)
	return quantizedOf(then.name(op), tf.Join(opts, tf.Attr("strides", strides), tf.Attr("padding", padding)), in...)
}

// types are the types of the kernels, beside that of images.
func (f *convFusion) types() map[string]tf.DType {
	types := map[string]tf.DType{"Tfilter": tf.QInt8, "out_type": f.out}
	if f.summand != tf.Invalid {
		types["Tsummand"] = f.summand
	}
	return types
}

func (f *convFusion) inputs() string {
	in := []string{"input: Tinput", "filter: Tfilter"}
	switch {
	case f.anyBias:
		in = append(in, "bias: Tbias")
	case f.bias:
		in = append(in, "bias: float")
	}
	in = append(in, "min_input: float", "max_input: float", "min_filter: float", "max_filter: float")
	if f.to8 {
		in = append(in, "min_freezed_output: float", "max_freezed_output: float")
	}
	switch {
	case f.summand != tf.Invalid:
		in = append(in, "summand: Tsummand", "min_summand: float", "max_summand: float")
	case f.sum:
		in = append(in, "summand: float")
	}
	return strings.Join(in, "; ")
}

func (f *convFusion) attrs() string {
	out := map[tf.DType]string{tf.QInt32: "DT_QINT32", tf.QInt8: "DT_QINT8", tf.QUint8: "DT_QUINT8"}[f.out]
	a := []string{"Tinput: " + quantizedTypes, "Tfilter: " + quantizedTypes}
	if f.anyBias {
		a = append(a, "Tbias: {float, qint32}")
	}
	if f.summand != tf.Invalid {
		a = append(a, "Tsummand: "+quantizedTypes)
	}
	a = append(a, "out_type: "+quantizedTypes+" = "+out, convAttrs)
	if !f.noPaddings {
		a = append(a, "padding_list: list(int) = []")
	}
	return strings.Join(a, "; ")
}

// first returns the number of the input that is the least image element's value;
// those of the other ranges follow.
func (f *convFusion) first() int {
	if f.bias {
		return 3
	}
	return 2
}

// shape is the op's shape function. TensorFlow's says nothing of the ranges of
// depthwise convolutions.
func (f *convFusion) shape(c *core.Infer) error {
	if err := f.imagesShape(c); err != nil || f.depthwise {
		return err
	}
	return f.rangeShapes(c)
}

func (f *convFusion) imagesShape(c *core.Infer) error {
	op := "Conv2D"
	if f.depthwise {
		op = "DepthwiseConv2dNative"
	}
	if err := shapeOf(op)(c); err != nil {
		return err
	}
	if padded(c.Node) {
		c.Set(0, tf.Shape{-1, -1, -1, -1})
	}
	return nil
}

func (f *convFusion) rangeShapes(c *core.Infer) error {
	if f.bias {
		if _, err := c.Rank(2, 1); err != nil {
			return err
		}
	}
	at := f.first()
	for _, i := range []int{at, at + 1} {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	channels := c.In(at + 3)
	for _, i := range []int{at + 2, at + 3} {
		if s := c.In(i); len(s) > 1 || f.plainRanges && len(s) > 0 {
			return invalid("Shape must be at most rank 1 but is rank %d", len(s))
		}
	}
	if f.to8 {
		for _, i := range []int{at + 4, at + 5} {
			if _, err := c.Rank(i, 0); err != nil {
				return err
			}
		}
		channels = tf.Shape{}
	}
	c.Set(1, channels)
	c.Set(2, channels)
	return nil
}

// padded reports whether a node has paddings of its own.
func padded(n *core.Node) bool {
	for _, p := range n.Ints("padding_list") {
		if p != 0 {
			return true
		}
	}
	return false
}

// A slide says how filters move over images, along height and width.
type slide struct {
	stride, hole, before, after [2]int // holes are dilations of the filter
	same, explicit              bool
}

func slideOf(n *core.Node, paddings string) (*slide, error) {
	s, d, p := n.Ints("strides"), n.Ints("dilations"), n.Ints(paddings)
	switch {
	case len(s) != 4:
		return nil, invalid("Sliding window strides field must specify 4 or 5 dimensions")
	case s[0] != 1 || s[3] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Current implementation does not yet support strides in the batch and depth dimensions.")
	case len(d) != 4:
		return nil, invalid("Sliding window dilations field must specify 4 dimensions")
	case d[0] != 1 || d[3] != 1:
		return nil, invalid("Current implementation does not yet support dilations in the batch and depth dimensions.")
	case d[1] <= 0 || d[2] <= 0 || max(d[1], d[2]) > 1<<31-1:
		return nil, invalid("Dilated rates should be larger than 0.")
	case s[1] <= 0 || s[2] <= 0 || max(s[1], s[2]) > 1<<31-1:
		return nil, invalid("Stride must be > 0, but got %d", min(s[1], s[2]))
	}
	w := &slide{stride: [2]int{s[1], s[2]}, hole: [2]int{d[1], d[2]}, same: n.Str("padding") == "SAME"}
	return w, w.pad(p)
}

// pad reads explicit paddings: before and after each dimension.
func (w *slide) pad(p []int) error {
	for _, v := range p {
		w.explicit = w.explicit || v != 0
		if v < 0 || v > 1<<31-1 {
			return invalid("All elements of explicit_paddings must be nonnegative")
		}
	}
	switch {
	case !w.explicit:
		return nil
	case len(p) != 8:
		return invalid("explicit_paddings attribute must contain 8 values, but got: %d", len(p))
	case p[0]|p[1]|p[6]|p[7] != 0:
		return invalid("Nonzero explicit padding in the batch or depth dimensions is not supported")
	}
	w.before, w.after = [2]int{p[2], p[4]}, [2]int{p[3], p[5]}
	return nil
}

// along returns the number of windows of size k along dimension i, of size in,
// and the padding before the first one.
func (w *slide) along(i, in, k int) (out, before int, err error) {
	step, size := w.stride[i], (k-1)*w.hole[i]+1
	if w.same && !w.explicit {
		out = (in + step - 1) / step
		return out, max(0, (out-1)*step+size-in) / 2, nil
	}
	in += w.before[i] + w.after[i]
	if out = (in - size + step) / step; out < 0 {
		return 0, 0, invalid("Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", out, in, size, step)
	}
	return out, w.before[i], nil
}

// conv describes the convolution of images and filters of these shapes.
func (w *slide) conv(x, filter tf.Shape, depthwise bool) (*conv.Conv, error) {
	switch {
	case len(x) != 4:
		return nil, invalid("input must be 4-dimensional%s", x.String())
	case len(filter) != 4:
		return nil, invalid("filter must be 4-dimensional: %s", filter.String())
	case filter.NumElements() == 0:
		return nil, invalid("filter must not have zero elements (i.e. all dimensions must be non-zero)")
	case x[3] != filter[2]:
		return nil, invalid("input and filter must have the same depth: %d vs %d", x[3], filter[2])
	}
	v := &conv.Conv{Batch: x[0], InC: x[3], OutC: filter[3], Groups: 1}
	if depthwise {
		v.Groups, v.OutC = x[3], filter[2]*filter[3]
	}
	v.Window = sliding.Window{In: [3]int{1}, Out: [3]int{1}, Kernel: [3]int{1}, Stride: [3]int{1, w.stride[0], w.stride[1]}, Dilation: [3]int{1, w.hole[0], w.hole[1]}}
	for i := range 2 {
		out, before, err := w.along(i, x[1+i], filter[i])
		if err != nil {
			return nil, err
		}
		v.In[1+i], v.Out[1+i], v.Kernel[1+i], v.Pad[1+i] = x[1+i], out, filter[i], before
	}
	return v, nil
}
