package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	fakeBits = "num_bits: int = 8; narrow_range: bool = false"
	fakeArgs = "min: float = -6.0; max: float = 6.0; " + fakeBits
	fakeVars = "inputs: float; min: float; max: float"
	fakeBack = "backprops_wrt_input: float; backprop_wrt_min: float; backprop_wrt_max: float"
)

func init() {
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxArgs", In: "inputs: float", Out: "outputs: float", Attrs: fakeArgs,
		Shape: core.UnchangedShape, Grad: tf.GradFunc(fakeArgsGrad), Kernels: core.AnyType(fakeKernel(fixedRange, fakeForward)),
	})
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxArgsGradient", In: "gradients: float; inputs: float", Out: "backprops: float", Attrs: fakeArgs,
		Shape: core.MergedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fakeKernel(fixedRange, fakeGate)),
	})
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxVars", In: fakeVars, Out: "outputs: float", Attrs: fakeBits,
		Shape: fakeShape(0, 0), Grad: tf.GradFunc(fakeVarsGrad), Kernels: core.AnyType(fakeKernel(scalarRange, fakeForward)),
	})
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxVarsGradient", In: "gradients: float; " + fakeVars, Out: fakeBack, Attrs: fakeBits,
		Shape: fakeShape(1, 0), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fakeKernel(scalarRange, fakeBackward)),
	})
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxVarsPerChannel", In: fakeVars, Out: "outputs: float", Attrs: fakeBits,
		Shape: fakeShape(0, 1), Grad: tf.GradFunc(fakeChannelsGrad), Kernels: core.AnyType(fakeKernel(channelRanges, fakeForward)),
	})
	core.Register(core.OpDef{
		Name: "FakeQuantWithMinMaxVarsPerChannelGradient", In: "gradients: float; " + fakeVars, Out: fakeBack, Attrs: fakeBits,
		Shape: fakeShape(1, 1), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(fakeKernel(channelRanges, fakeBackward)),
	})
}

// FakeQuantOpts are the optional attributes of all ops that simulate
// quantization with a range.
type FakeQuantOpts struct {
	NumBits int // 2 to 16; 0 stands for 8
	// NarrowRange leaves out the least of the quantized numbers.
	NarrowRange bool
}

// Apply sets the attributes.
func (o FakeQuantOpts) Apply(s *tf.Spec) {
	if o.NumBits != 0 {
		s.Set("num_bits", o.NumBits)
	}
	s.Set("narrow_range", o.NarrowRange)
}

// FakeQuantWithMinMaxArgs returns x rounded as quantizing it, with min and
// max as bounds, does. The bounds are moved a little so that 0 stays 0. The
// method is that of Jacob et al. (CVPR 2018, arXiv:1712.05877). x is float32,
// and the result has its shape. Numbers of bits other than 2 to 16, and a min
// that is not less than max, are refused with INVALID_ARGUMENT in the step.
// Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxArgs(x tf.Output, min, max float32, opts ...tf.Option) tf.Output {
	return apply("FakeQuantWithMinMaxArgs", tf.Join(opts, tf.Attr("min", min), tf.Attr("max", max)), x)
}

// FakeQuantWithMinMaxArgsGradient returns dy where x lies within the bounds,
// else 0. Both are float32 and of one shape; different shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxArgsGradient(dy, x tf.Output, min, max float32, opts ...tf.Option) tf.Output {
	return apply("FakeQuantWithMinMaxArgsGradient", tf.Join(opts, tf.Attr("min", min), tf.Attr("max", max)), dy, x)
}

// FakeQuantWithMinMaxVars is FakeQuantWithMinMaxArgs with scalar tensors for
// bounds, which have gradients too. The method is that of Jacob et al. (CVPR
// 2018, arXiv:1712.05877). Bounds that are both 0 make the result 0. Bounds
// that are no scalars are refused with INVALID_ARGUMENT, when the graph is
// built if their shapes are known, else in the step; numbers of bits other
// than 2 to 16 in the step. Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxVars(x, min, max tf.Output, opts ...tf.Option) tf.Output {
	return apply("FakeQuantWithMinMaxVars", opts, x, min, max)
}

// FakeQuantWithMinMaxVarsGradient returns the gradients for x and the bounds.
// dx is dy where x lies within the bounds, else 0; dmin and dmax, scalars, are
// the sums of dy where x lies below and above them. Different shapes of dy and
// x, and bounds that are no scalars, are refused with INVALID_ARGUMENT in the
// step, the latter when the graph is built if their shapes are known.
// Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxVarsGradient(dy, x, min, max tf.Output, opts ...tf.Option) (dx, dmin, dmax tf.Output) {
	op := tf.Apply(nil, "FakeQuantWithMinMaxVarsGradient", []tf.Output{dy, x, min, max}, opts...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// FakeQuantWithMinMaxVarsPerChannel is FakeQuantWithMinMaxVars with bounds,
// vectors, for each index of the last dimension of x. Bounds by channel are
// those of Krishnamoorthi (arXiv:1806.08342). A scalar x, and bounds that are
// no vectors as long as its last dimension, are refused with INVALID_ARGUMENT
// in the step; other ranks of the bounds when the graph is built if they are
// known. Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxVarsPerChannel(x, min, max tf.Output, opts ...tf.Option) tf.Output {
	return apply("FakeQuantWithMinMaxVarsPerChannel", opts, x, min, max)
}

// FakeQuantWithMinMaxVarsPerChannelGradient returns the gradients for x and
// the bounds. dmin and dmax are vectors, as the bounds are. Errors are those
// of FakeQuantWithMinMaxVarsPerChannel, and INVALID_ARGUMENT in the step if dy
// has not the shape of x. Its options are [FakeQuantOpts].
func FakeQuantWithMinMaxVarsPerChannelGradient(dy, x, min, max tf.Output, opts ...tf.Option) (dx, dmin, dmax tf.Output) {
	op := tf.Apply(nil, "FakeQuantWithMinMaxVarsPerChannelGradient", []tf.Output{dy, x, min, max}, opts...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// fakeShape gives output 0 the shape of input x, and others that of the bounds,
// of the given rank.
func fakeShape(x, rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		for i := 1; i < 3; i++ {
			s, err := c.Rank(x+i, rank)
			if err != nil {
				return err
			}
			if i < c.NumOut() {
				c.Set(i, s)
			}
		}
		c.Set(0, c.In(x))
		return nil
	}
}

// A nudged is a range that has been moved so that 0 is one of the quantized
// numbers. The empty range at 0 lets everything be 0.
type nudged struct {
	min, max, scale float32
	inverse, zero   float32 // of the scale, and the quantized number of 0
	empty           bool
}

// nudge moves a range for quantized numbers from low to high.
func nudge(min, max, low, high float32) nudged {
	if min == 0 && max == 0 {
		return nudged{empty: true}
	}
	scale := (max - min) / (high - low)
	zero := low - min/scale
	switch {
	case zero < low:
		zero = low
	case zero > high:
		zero = high
	default:
		zero = float32(math.Round(float64(zero)))
	}
	r := nudged{min: (low - zero) * scale, max: (high - zero) * scale, scale: scale, inverse: 1 / scale}
	r.zero = floor(-r.min*r.inverse + 0.5)
	return r
}

// within returns x or the nearest bound.
func (r *nudged) within(x float32) float32 { return max(min(x, r.max), r.min) }

// A ranger finds the ranges of a node that runs: one, or one for each channel.
// Input x is what is quantized.
type ranger func(c *core.OpContext, x int, low, high float32) ([]nudged, error)

// fakeKernel returns the kernel that computes run with the ranges of input 0,
// or of input 1 where input 0 is a gradient.
func fakeKernel(ranges ranger, run func(c *core.OpContext, x int, r []nudged) error) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		bits, low := n.Int("num_bits"), float32(0)
		if bits < 2 || bits > 16 {
			return nil, invalid("num_bits must be between 2 and 16, inclusive")
		}
		if lo, hi := n.Float("min"), n.Float("max"); n.Attr("min") != nil && !(lo < hi) {
			return nil, invalid("min has to be smaller than max, was: %v >= %v", lo, hi)
		}
		if n.Bool("narrow_range") {
			low = 1
		}
		x := 0
		if n.Def.Inputs[0].Name == "gradients" {
			x = 1
		}
		return core.Compute(func(c *core.OpContext) error {
			if x == 1 && !c.Input(0).Shape().Equal(c.Input(1).Shape()) {
				return sizesDiffer(c)
			}
			r, err := ranges(c, x, low, float32(int(1)<<bits-1))
			if err != nil {
				return err
			}
			return run(c, x, r)
		}), nil
	}
}

// sizesDiffer says that gradient and input are not of one shape.
func sizesDiffer(c *core.OpContext) error {
	if len(c.Out) > 1 {
		return invalid("gradient and input must be the same size")
	}
	return invalid("Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != input 1: %s",
		c.Node.Name, c.Node.OpName(), c.Input(0).Shape().String(), c.Input(1).Shape().String())
}

func fixedRange(c *core.OpContext, _ int, low, high float32) ([]nudged, error) {
	return []nudged{nudge(c.Node.Float("min"), c.Node.Float("max"), low, high)}, nil
}

func scalarRange(c *core.OpContext, x int, low, high float32) ([]nudged, error) {
	lo, hi := c.Input(x+1), c.Input(x+2)
	for i, t := range []*core.Tensor{lo, hi} {
		if t.Rank() != 0 {
			return nil, invalid("`%s` must be rank 0 but is rank %d", []string{"min", "max"}[i], t.Rank())
		}
	}
	return []nudged{nudge(core.Data[float32](lo)[0], core.Data[float32](hi)[0], low, high)}, nil
}

func channelRanges(c *core.OpContext, x int, low, high float32) ([]nudged, error) {
	s := c.Input(x).Shape()
	if len(s) == 0 {
		return nil, invalid("Shape must be at least rank 1 but is rank 0")
	}
	n := s[len(s)-1]
	for i, name := range []string{"min", "max"} {
		t := c.Input(x + 1 + i)
		if t.Rank() != 1 {
			return nil, invalid("`%s` must be rank 1 but is rank %d", name, t.Rank())
		}
		if t.Len() != n {
			return nil, invalid("%s has incorrect size, expected %d was %d", name, n, t.Len())
		}
	}
	lo, hi := core.Data[float32](c.Input(x+1)), core.Data[float32](c.Input(x+2))
	out := core.Make[nudged](n)
	for i := range out {
		out[i] = nudge(lo[i], hi[i], low, high)
	}
	return out, nil
}

// rows calls f for the elements of t, as rows of n.
func rows(c *core.OpContext, t *core.Tensor, n int, f func(lo, hi int)) {
	c.ParallelFor(t.Len()/max(1, n), max(1, grain/max(1, n)), func(lo, hi int) { f(lo*n, hi*n) })
}

func fakeForward(c *core.OpContext, x int, r []nudged) error {
	in := c.Input(x)
	out, err := c.AllocFrom(x, 0, tf.Float32, in.Shape())
	if err != nil {
		return err
	}
	src, dst := core.Data[float32](in), core.Data[float32](out)
	rows(c, in, len(r), func(lo, hi int) {
		if len(r) == 1 {
			r[0].round(dst[lo:hi], src[lo:hi])
			return
		}
		roundChannels(dst[lo:hi], src[lo:hi], r)
	})
	return nil
}

// rounded returns what is left of x after quantization.
func (r *nudged) rounded(x float32) float32 {
	if r.empty {
		return 0
	}
	return floor(float32((r.within(x)-r.min)*r.inverse)-r.zero+0.5) * r.scale
}

func floor(x float32) float32 { return float32(math.Floor(float64(x))) }

// inside reports whether x lies within the range: the empty one has no bounds.
func (r *nudged) inside(x float32) bool { return r.empty || x >= r.min && x <= r.max }

// fakeGate makes output 0 the gradient where the input lies within its range.
func fakeGate(c *core.OpContext, _ int, r []nudged) error {
	dy, x := core.Data[float32](c.Input(0)), core.Data[float32](c.Input(1))
	out, err := c.Alloc(0, tf.Float32, c.Input(1).Shape())
	if err != nil {
		return err
	}
	dx := core.Data[float32](out)
	rows(c, out, len(r), func(lo, hi int) {
		if len(r) == 1 {
			r[0].gate(dx[lo:hi], dy[lo:hi], x[lo:hi])
			return
		}
		for i := lo; i < hi; {
			for k := range r {
				if dx[i] = dy[i]; !r[k].inside(x[i]) {
					dx[i] *= 0
				}
				i++
			}
		}
	})
	return nil
}

// likeFake returns the attributes that op shares with its gradient.
func likeFake(op *tf.Operation) []tf.Option {
	return []tf.Option{tf.Attr("num_bits", op.Int("num_bits")), tf.Attr("narrow_range", op.Bool("narrow_range"))}
}

func fakeArgsGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(FakeQuantWithMinMaxArgsGradient(dy[0], op.Input(0), op.Float("min"), op.Float("max"), likeFake(op)...))
}

func fakeVarsGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx, lo, hi := FakeQuantWithMinMaxVarsGradient(dy[0], op.Input(0), op.Input(1), op.Input(2), likeFake(op)...)
	return tf.Grads(dx, lo, hi)
}

func fakeChannelsGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx, lo, hi := FakeQuantWithMinMaxVarsPerChannelGradient(dy[0], op.Input(0), op.Input(1), op.Input(2), likeFake(op)...)
	return tf.Grads(dx, lo, hi)
}
