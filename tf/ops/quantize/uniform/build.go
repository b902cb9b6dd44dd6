package uniform

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/quantize" // numbers come from and go to
)

// grain is the least number of elements worth a task of their own.
const grain = 16 << 10

// byType holds the kernels of an op by the value of its type attribute.
type byType = map[tf.DType]core.NewKernel

// quantum lists the integers that quantized types are stored as.
type quantum interface{ int8 | uint8 | int32 }

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// levels declares the attributes that say what numbers an operand has.
func levels(prefix string) string {
	return prefix + "quantization_axis: int = -1; " + prefix + "quantization_min_val: int; " + prefix + "quantization_max_val: int"
}

// Numbers say which quantized numbers there are of an operand: those from Min to
// Max. With PerAxis each index of dimension Axis has a scale and zero point of
// its own.
type Numbers struct {
	Min, Max int
	PerAxis  bool
	Axis     int
}

// Of sets the attributes of the operand called prefix, "" for the only one.
func (n Numbers) of(prefix string) tf.Option { return numbersOption{n, prefix} }

type numbersOption struct {
	Numbers
	prefix string
}

// Apply sets the attributes.
func (o numbersOption) Apply(s *tf.Spec) {
	axis := -1
	if o.PerAxis {
		axis = o.Axis
	}
	s.Set(o.prefix+"quantization_axis", axis)
	s.Set(o.prefix+"quantization_min_val", o.Min)
	s.Set(o.prefix+"quantization_max_val", o.Max)
}

// A Quantized is quantized numbers with their scales and zero points.
type Quantized struct{ Values, Scales, ZeroPoints tf.Output }

// runs describes a tensor as n slices along its axis: of outer times inner
// elements each. A tensor without an axis is one slice.
type runs struct{ outer, n, inner int }

func runsOf(s tf.Shape, axis int) runs {
	if axis < 0 {
		return runs{1, 1, s.NumElements()}
	}
	return runs{s[:axis].NumElements(), s[axis], s[axis+1:].NumElements()}
}

// each calls f for runs [lo, hi) of the elements of a slice.
func (r runs) each(c *core.OpContext, f func(slice, lo, hi int)) {
	if r.inner <= 0 {
		return // any number of slices may have no elements
	}
	if r.outer*r.n == 1 {
		c.ParallelFor(r.inner, grain, func(lo, hi int) { f(0, lo, hi) })
		return
	}
	c.ParallelFor(r.outer*r.n, max(1, grain/max(1, r.inner)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i%r.n, i*r.inner, (i+1)*r.inner)
		}
	})
}

// axisOf reads a quantization axis.
func axisOf(n *core.Node, name string) (int, error) {
	axis := n.Int(name)
	if axis < -1 {
		return 0, invalid("%s must be >= -1, given: %d", name, axis)
	}
	return axis, nil
}

// A scaling is how numbers stand for others: a scale and a zero point for each
// slice, or one for all.
type scaling struct {
	scales []float32
	zeros  []int32
	shape  tf.Shape
}

// at returns scale and zero point of a slice.
func (s scaling) at(slice int) (float32, int32) {
	if len(s.shape) == 0 {
		slice = 0
	}
	return s.scales[slice], s.zeros[slice]
}

// positive reports whether all scales are above 0.
func (s scaling) positive() bool {
	for _, v := range s.scales {
		if !(v > 0) {
			return false
		}
	}
	return true
}

// scalingAt returns the scaling that inputs i and i+1 are, for numbers of shape
// data.
func scalingAt(c *core.OpContext, i int, data tf.Shape, axis int) (scaling, error) {
	scales, zeros := c.Input(i).Shape(), c.Input(i+1).Shape()
	const both = "but given %[1]sscales shape %[2]s and zero_points shape %[3]s"
	switch {
	case !scales.Equal(zeros):
		return scaling{}, invalid("scales and zero_points shape must be same, "+both, "", scales.String(), zeros.String())
	case axis < -1 || axis >= len(data):
		return scaling{}, invalid("quantization_axis must be -1 or in range [0, input.rank), but given %d", axis)
	case axis == -1 && len(scales) != 0:
		return scaling{}, invalid("If quantization_axis is -1, scales and zero_points must be scalar tensors, "+both, "", scales.String(), zeros.String())
	case axis >= 0 && (len(scales) != 1 || scales[0] != data[axis]):
		return scaling{}, invalid("If quantization_axis is not -1, scales and zero_points must be a tensor of rank 1 and the size must be equal to the input.dim_size(quantization_axis), but given quantization_axis %d, scales shape %s and zero_points shape %s", axis, scales.String(), zeros.String())
	}
	return scalingOf(c, i), nil
}

// scalingOf returns the scaling that inputs i and i+1 are, unchecked.
func scalingOf(c *core.OpContext, i int) scaling {
	return scaling{core.Data[float32](c.Input(i)), core.Data[int32](c.Input(i + 1)), c.Input(i).Shape()}
}

// rounded converts a floating-point number as x86 does: what does not fit
// becomes the least number.
func rounded(x float32) int32 {
	if x >= -1<<31 && x < 1<<31 {
		return int32(x)
	}
	return numeric.Lowest[int32]()
}
