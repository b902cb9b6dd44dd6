package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "QuantizedConv2D", In: "input: Tinput; filter: Tfilter; min_input: float; max_input: float; min_filter: float; max_filter: float", Out: "output: out_type; min_output: float; max_output: float",
		Attrs: "Tinput: " + quantizedTypes + "; Tfilter: " + quantizedTypes + "; out_type: " + quantizedTypes + " = DT_QINT32; " + convAttrs,
		Shape: withSpan(2, shapeOf("Conv2D")), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tinput", byType{tf.QUint8: quantizedConvOf}),
	})
}

const convAttrs = "strides: list(int); padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1]"

// QuantizedConv2D returns images [batch height width channels] convolved with
// filters [height width channels outputs], both of 8 bits without sign, in 32
// bits. The strides of height and width have to be equal. Filters with sign
// are those of QuantizedConv2DWith. Padding is "SAME" or "VALID". Images that
// are not quint8, and filters that are neither quint8 nor qint8, are refused
// with NOT_FOUND in the step. Images or filters of other than four dimensions
// or without elements, channels that differ, unequal strides, dilations and
// results without pixels are refused with INVALID_ARGUMENT in the step.
func QuantizedConv2D(x, filter Quantized, strides []int, padding string, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizedConv2D", tf.Join(opts, tf.Attr("strides", strides), tf.Attr("padding", padding)), x.Values, filter.Values, x.Min, x.Max, filter.Min, filter.Max)
}

// A window says how filters move over images.
type window struct {
	stride int
	same   bool
}

func windowOf(n *core.Node) (window, error) {
	if err := n.CheckInt32s("strides", "dilations"); err != nil {
		return window{}, err
	}
	s, d := n.Ints("strides"), n.Ints("dilations")
	switch {
	case len(s) != 4:
		return window{}, invalid("Sliding window strides field must specify 4 dimensions")
	case s[1] != s[2]:
		return window{}, invalid("Current implementation only supports equal length strides in the row and column dimensions.")
	case s[0] != 1 || s[3] != 1:
		return window{}, invalid("Current implementation does not yet support strides in the batch and depth dimensions.")
	case len(d) != 4:
		return window{}, invalid("Dilations field must specify 4 dimensions")
	case d[1] != 1 || d[2] != 1:
		return window{}, invalid("Current implementation only supports dilated rate as 1 in the row and column dimensions.")
	case d[0] != 1 || d[3] != 1:
		return window{}, invalid("Current implementation does not yet support dilations in the batch and depth dimensions.")
	}
	return window{s[1], n.Str("padding") == "SAME"}, nil
}

// along returns the number of windows of size k along a dimension of size in,
// and where the first one begins: before the images, or, as TensorFlow has it
// where steps are wide, behind their first positions.
func (w window) along(in, k int) (out, first int, err error) {
	if w.stride <= 0 {
		return 0, 0, invalid("Stride must be > 0, but got %d", w.stride)
	}
	if w.same {
		out = (in + w.stride - 1) / w.stride
	} else if out = (in - k + w.stride) / w.stride; out < 0 {
		return 0, 0, invalid("Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", out, in, k, w.stride)
	}
	if out == 0 {
		return 0, 0, invalid("output_width must be strictly positive")
	}
	over := (out-1)*w.stride + k - in
	if !w.same {
		over++
	}
	return out, -(over / 2), nil
}

// convArgs checks the inputs of a convolution.
func convArgs(c *core.OpContext) error {
	x, filter := c.Input(0).Shape(), c.Input(1).Shape()
	for _, d := range x {
		if d == 0 {
			return invalid("Invalid input: Shapes dimension cannot be 0.")
		}
	}
	switch {
	case len(x) != 4:
		return invalid("input must be rank 4 but is rank %d", len(x))
	case len(filter) != 4:
		return invalid("filter must be rank 4 but is rank %d", len(filter))
	}
	if err := (scalarNames{2, []string{"min_input", "max_input", "min_filter", "max_filter"}, "%s must be rank 0 but is rank %d"}).check(c); err != nil {
		return err
	}
	switch {
	case x[3] != filter[2]:
		return invalid("input and filter must have the same depth: %d vs %d", x[3], filter[2])
	case filter.NumElements() == 0: // ends the process in TensorFlow
		return invalid("filter patch must contain at least one element")
	}
	return nil
}

// quantizedConvOf makes the kernel for filters without sign, or, as oneDNN
// computes it, with sign.
func quantizedConvOf(n *core.Node) (core.Kernel, error) {
	if n.Type("Tfilter") == tf.QInt8 {
		return only(fusedConvOf(tf.QUint8, &convFusion{}), bytesTo32("Tfilter", tf.QInt8))(n)
	}
	return only(quantizedConv, bytesTo32("Tfilter", tf.QUint8))(n)
}

func quantizedConv(n *core.Node) (core.Kernel, error) {
	w, err := windowOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		if err := convArgs(c); err != nil {
			return err
		}
		x, filter := c.Input(0), c.Input(1)
		spanX, spanFilter := spanAt(c, 2), spanAt(c, 4)
		v, skip, err := w.conv(x.Shape(), filter.Shape())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, tf.Shape{v.Batch, v.Out[1], v.Out[2], v.OutC})
		if err != nil {
			return err
		}
		images := bytesAt[uint8](x, spanX)
		images.Data = skipped(images.Data, x.Shape(), skip)
		conv.Convolve8(c.ParallelFor, v, core.Data[int32](out), images, bytesAt[uint8](filter, spanFilter))
		return setSpan(c, productSpan(level[uint8](spanX), level[uint8](spanFilter)))
	}), nil
}

// conv describes a convolution, of images without their first skip rows and
// columns.
func (w window) conv(x, filter tf.Shape) (v *conv.Conv, skip [2]int, err error) {
	v = &conv.Conv{Batch: x[0], InC: x[3], OutC: filter[3], Groups: 1}
	v.Window = sliding.Window{In: [3]int{1}, Out: [3]int{1}, Kernel: [3]int{1}, Stride: [3]int{1, w.stride, w.stride}, Dilation: [3]int{1, 1, 1}}
	for i := range skip {
		out, first, err := w.along(x[1+i], filter[i])
		if err != nil {
			return nil, skip, err
		}
		skip[i] = max(0, first)
		v.In[1+i], v.Out[1+i], v.Kernel[1+i], v.Pad[1+i] = x[1+i]-skip[i], out, filter[i], max(0, -first)
	}
	return v, skip, nil
}

// skipped returns images of shape s without their first rows and columns.
func skipped(x []uint8, s tf.Shape, skip [2]int) []uint8 {
	if skip == [2]int{} {
		return x
	}
	var out []uint8
	line := s[2] * s[3]
	for i := range s[0] * s[1] {
		if i%s[1] >= skip[0] {
			out = append(out, x[i*line+skip[1]*s[3]:(i+1)*line]...)
		}
	}
	return out
}
