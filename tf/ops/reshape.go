package ops

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Reshape", Traits: core.View | core.Reshapes, In: "tensor: T; shape: Tshape", Out: "output: T", Attrs: "T: type; Tshape: {int32, int64} = int32",
		Shape: reshapeShape, Grad: tf.GradFunc(reshapeGrad), Kernels: core.AnyType(reshape),
	})
	core.Register(core.OpDef{
		Name: "ExpandDims", Traits: core.View, In: "input: T; dim: Tdim", Out: "output: T", Attrs: "T: type; Tdim: {int32, int64} = int32",
		Shape: expandDimsShape, Grad: tf.GradFunc(likeInputGrad), Kernels: core.AnyType(expandDims),
	})
	core.Register(core.OpDef{
		Name: "Squeeze", Traits: core.View, In: "input: T", Out: "output: T", Attrs: "T: type; squeeze_dims: list(int) >= 0 = []",
		Shape: squeezeShape, Grad: tf.GradFunc(likeInputGrad), Kernels: core.AnyType(squeeze),
	})
	core.Register(core.OpDef{
		Name: "EnsureShape", Traits: core.View | core.Awaited, In: "input: T", Out: "output: T", Attrs: "shape: shape; T: type",
		Shape: ensureShapeShape, Grad: tf.GradFunc(ensureShapeGrad), Kernels: core.AnyType(ensureShape),
	})
}

// Reshape returns the elements of x in another shape, a vector of sizes of
// which one may be -1: as many as are left. x has any type. Sizes for another
// number of elements, a second -1 and other negative sizes are refused with
// INVALID_ARGUMENT, when the graph is built if they and the shape of x are
// known, else in the step. The step also refuses 254 sizes or more, and a
// tensor of sizes with two dimensions or more.
func Reshape[S tf.Ints](x tf.Output, shape S, opts ...tf.Option) tf.Output {
	return apply("Reshape", opts, x, author.AsInts(x, shape))
}

// ExpandDims returns x with a dimension of size 1 put in at axis, which
// counts from the end if it is negative (-1 is after the last dimension). x
// has any type. An axis that is not in [-rank-1, rank] is refused with
// INVALID_ARGUMENT, when the graph is built if it and the rank are known,
// else in the step, as is a tensor of more than one axis.
func ExpandDims[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("ExpandDims", opts, x, author.AsInt(x, axis))
}

// SqueezeOpts are the optional attributes of the op Squeeze: which dimensions to
// take away. The function Squeeze takes them as an argument.
type SqueezeOpts struct{ SqueezeDims []int }

// Apply sets the attributes.
func (o SqueezeOpts) Apply(s *tf.Spec) { s.Set("squeeze_dims", o.SqueezeDims) }

// Squeeze returns x without its dimensions of size 1: those that axes names,
// all of them if it names none. Negative axes count from the end. x has any
// type. An axis out of range, or of another size than 1, is refused with
// INVALID_ARGUMENT, when the graph is built if the shape of x is known, else
// in the step. Its options are [SqueezeOpts].
func Squeeze(x tf.Output, axes []int, opts ...tf.Option) tf.Output {
	if len(axes) > 0 {
		opts = tf.Join(opts, SqueezeOpts{axes})
	}
	return apply("Squeeze", opts, x)
}

// EnsureShape returns x, whose shape must turn out to be compatible with s.
// Sizes in s that may be any are -1; a nil s allows all. x has any type. A
// shape that is not compatible is refused with INVALID_ARGUMENT, when the
// graph is built if it is known, else in the step.
func EnsureShape(x tf.Output, s tf.Shape, opts ...tf.Option) tf.Output {
	return apply("EnsureShape", tf.Join(opts, tf.Attr("shape", s)), x)
}

func reshapeShape(c *core.Infer) error {
	want := c.ConstShape(1)
	if want == nil {
		c.Set(0, nil)
		return nil
	}
	if in := c.In(0); in.Known() && c.Const(1) != nil {
		s, err := resolveReshape(in, want.Clone())
		c.Set(0, s)
		return err
	}
	c.Set(0, openWildcard(want, c.In(0)))
	return nil
}

// openWildcard is what is known of a reshape of x to want while not all sizes
// are: a partly known want may also hold a -1 that stands for "unknown".
func openWildcard(want, x tf.Shape) tf.Shape {
	out := slices.Clone(want)
	open, known := -1, 1
	for i, d := range out {
		if d < 0 {
			if open >= 0 {
				return out
			}
			open = i
			continue
		}
		known *= d
	}
	if n := x.NumElements(); open >= 0 && n >= 0 && known > 0 && n%known == 0 {
		out[open] = n / known
	}
	return out
}

// resolveReshape returns the shape of a tensor of shape in that is reshaped to want. One size
// of want may be -1: it is computed from the others.
func resolveReshape(in, want tf.Shape) (tf.Shape, error) {
	open, err := wildcard(want)
	if err != nil {
		return nil, err
	}
	if tooMany(want) {
		return nil, tf.Errorf(tf.InvalidArgument, "Shape %s has too many elements", strings.ReplaceAll(fmt.Sprint(slices.Clone([]int(want))), " ", ", "))
	}
	if open >= 0 {
		if want[open], err = missingSize(in, want); err != nil {
			return nil, err
		}
	}
	if n := want.NumElements(); n != in.NumElements() {
		return nil, tf.Errorf(tf.InvalidArgument, "Input to reshape is a tensor with %d values, but the requested shape has %d", in.NumElements(), n)
	}
	return want, nil
}

// tooMany reports whether there are more elements than can be counted, up to the
// first 0. A -1 counts as 1.
func tooMany(s tf.Shape) bool {
	n := uint64(1)
	for _, d := range s {
		if d == 0 {
			return false
		}
		if d < 0 {
			continue
		}
		over, product := bits.Mul64(n, uint64(d))
		if n = product; over > 0 || n > math.MaxInt64 {
			return true
		}
	}
	return false
}

// wildcard returns which size of want is -1, or -1 if none is.
func wildcard(want tf.Shape) (int, error) {
	open := -1
	for i, d := range want {
		switch {
		case d == -1 && open >= 0:
			return 0, tf.Errorf(tf.InvalidArgument, "Only one input size may be -1, not both %d and %d", open, i)
		case d == -1:
			open = i
		case d < 0:
			return 0, tf.Errorf(tf.InvalidArgument, "Size %d must be non-negative, not %d", i, d)
		}
	}
	return open, nil
}

// missingSize returns what the -1 in want stands for. Where want has sizes of
// zero, those of both shapes are left out of account.
func missingSize(in, want tf.Shape) (int, error) {
	var rest tf.Shape
	for _, d := range want {
		if d > 0 {
			rest = append(rest, d)
		}
	}
	ignore := slices.Contains(want, 0)
	var have tf.Shape
	for _, d := range in {
		if d != 0 || !ignore {
			have = append(have, d)
		}
	}
	n, known := append(tf.Shape{}, have...).NumElements(), append(tf.Shape{}, rest...).NumElements()
	if known <= 0 || len(have) == len(in) && n%known != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Input to reshape is a tensor with %d values, but the requested shape requires a multiple of %d", in.NumElements(), known)
	}
	return n / known, nil
}

// mostDims bounds the dimensions that a reshape may give.
const mostDims = 254

func reshape(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		var room [roomRank]int
		want, err := legacyVector(room[:0], c.Input(1))
		if err != nil {
			return err
		}
		if len(want) >= mostDims {
			return tf.Errorf(tf.InvalidArgument, "too many dimensions: must be < %d, but received %d", mostDims, len(want))
		}
		s, err := resolveReshape(c.Input(0).Shape(), want)
		if err != nil {
			return err
		}
		c.ForwardShape(0, 0, s)
		return nil
	}), nil
}

// legacyVector appends to dst sizes, a vector or, as old graphs have it, a scalar.
func legacyVector(dst tf.Shape, t *core.Tensor) (tf.Shape, error) {
	if t.Rank() > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "sizes input must be 1-D, not %s", t.Shape().String())
	}
	v, err := appendInts(dst, t)
	return v, err
}

// reshapeGrad needs no run-time shape if at most one size is unknown.
func reshapeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	s := op.Input(0).Shape()
	unknown := 0
	for _, d := range s {
		if d < 0 {
			unknown++
		}
	}
	if s != nil && unknown == 1 && !slices.Contains(s, 0) {
		return tf.Grads(Reshape(dy[0], intVec(dy[0], tf.Int32, s...)), tf.Output{})
	}
	return tf.Grads(Reshape(dy[0], shapeValue(op.Input(0), tf.Int32)), tf.Output{})
}

// likeInputGrad gives the gradient the shape of input 0.
func likeInputGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dxs := make([]tf.Gradient, len(op.Inputs()))
	dxs[0] = tf.Dense(Reshape(dy[0], shapeValue(op.Input(0), tf.Int32)))
	return dxs
}

// shapeValue is the shape of x as a vector: a constant where it is known, as
// TensorFlow's client makes it.
func shapeValue(x tf.Output, d tf.DType) tf.Output {
	if s := x.Shape(); s.Known() {
		return intVec(x, d, s...)
	}
	return Shape(x, ShapeOpts{OutType: d})
}

func expandDimsShape(c *core.Infer) error {
	s := c.In(0)
	axis, ok := c.ConstInts(1)
	switch {
	case s == nil:
		c.Set(0, nil)
		return nil
	case !ok || len(axis) != 1:
		c.Set(0, unknownDims(len(s)+1))
		return nil
	}
	out, err := expanded(s, axis[0])
	c.Set(0, out)
	return err
}

// expanded returns s with a 1 put in at axis.
func expanded(s tf.Shape, axis int) (tf.Shape, error) {
	at, ok := wrapAxis(axis, len(s)+1)
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "Tried to expand dim index %d for tensor with %d dimensions.", axis, len(s))
	}
	return slices.Insert(slices.Clone(s), at, 1), nil
}

func expandDims(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		axis, err := scalarInt(c.Input(1), "'dim'")
		if err != nil {
			return tf.Errorf(tf.InvalidArgument, "'dim' must be a tensor with a single value")
		}
		s, err := expanded(c.Input(0).Shape(), axis)
		if err != nil {
			return err
		}
		c.ForwardShape(0, 0, s)
		return nil
	}), nil
}

func squeezeShape(c *core.Infer) error {
	s, dims := c.In(0), c.Ints("squeeze_dims")
	if s == nil || (len(dims) == 0 && !s.Known()) {
		return nil
	}
	out, err := squeezed(s, dims)
	c.Set(0, out)
	return err
}

// squeezed returns s without dimensions dims, or without all that are 1.
// Unknown sizes among dims count as 1.
func squeezed(s tf.Shape, dims []int) (tf.Shape, error) {
	drop := make([]bool, len(s))
	for _, d := range dims {
		i, ok := wrapAxis(d, len(s))
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "Tried to squeeze dim index %d for tensor with %d dimensions.", d, len(s))
		}
		if s[i] >= 0 && s[i] != 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Can not squeeze dim[%d], expected a dimension of 1, got %d", i, s[i])
		}
		drop[i] = true
	}
	out := tf.Shape{}
	for i, d := range s {
		if !drop[i] && (len(dims) > 0 || d != 1) {
			out = append(out, d)
		}
	}
	return out, nil
}

func squeeze(n *core.Node) (core.Kernel, error) {
	dims := n.Ints("squeeze_dims")
	return core.Compute(func(c *core.OpContext) error {
		s, err := squeezed(c.Input(0).Shape(), dims)
		if err != nil {
			return err
		}
		c.ForwardShape(0, 0, s)
		return nil
	}), nil
}

func ensureShapeShape(c *core.Infer) error {
	s, ok := c.In(0).Merge(c.ShapeAttr("shape"))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "the shape must be compatible with %v, got %v", c.ShapeAttr("shape"), c.In(0))
	}
	c.Set(0, s)
	return nil
}

func ensureShapeGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy...) }

func ensureShape(n *core.Node) (core.Kernel, error) {
	want := n.ShapeAttr("shape")
	return core.Compute(func(c *core.OpContext) error {
		if s := c.Input(0).Shape(); !want.Compatible(s) {
			return tf.Errorf(tf.InvalidArgument, "Shape of tensor %s %s is not compatible with expected shape %s.", cmp.Or(n.Source(0), n.Name), s.String(), want.String())
		}
		c.Forward(0, 0)
		return nil
	}), nil
}
