package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, qint8, quint8, qint16, quint16, qint32}"
	conversion := core.OpDef{
		Name: "Cast", Traits: core.Elementwise, In: "x: SrcT", Out: "y: DstT", Attrs: "SrcT: type; DstT: type; Truncate: bool = false",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(castGrad), Kernels: core.AnyType(cast),
	}
	core.Register(conversion)
	conversion.Name, conversion.Grad, conversion.NoGrad = "_HostCast", nil, core.NoGradientDefined // around transfers that TensorFlow's master compresses
	core.Register(conversion)
	core.Register(core.OpDef{
		Name: "Bitcast", Traits: core.View, In: "input: T", Out: "output: type", Attrs: "T: " + types + "; type: " + types,
		Shape: bitcastShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(bitcast),
	})
}

// CastOpts are the optional attributes of Cast: Truncate cuts the mantissa of
// floating-point numbers off instead of rounding.
type CastOpts struct{ Truncate bool }

// Apply sets the attributes.
func (o CastOpts) Apply(s *tf.Spec) { s.Set("Truncate", o.Truncate) }

// Cast returns the elements of x converted to type d. The result has the shape
// of x. Floating-point numbers become integers by truncation towards zero,
// integers wrap around, complex numbers lose their imaginary part, and all but
// 0 become true. x and the result are of numbers, quantized ones included, or
// bools; 8-bit floating-point numbers are made only from floating-point ones,
// and 4-bit integers go with integers alone. Other pairs of different types
// fail the step with UNIMPLEMENTED. Its options are [CastOpts].
func Cast(x tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("Cast", tf.Join(opts, tf.Attr("DstT", d)), x)
}

// Bitcast returns the memory of x as elements of type d. If d is smaller than
// x's type the result has one dimension more, if it is larger, one less. x and
// the result are of numbers, real, complex or quantized. If d is larger, the
// last dimension of x has to hold as many elements as make one of d; other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func Bitcast(x tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("Bitcast", tf.Join(opts, tf.Attr("type", d)), x)
}

// castGrad casts back where both types can carry gradients.
func castGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	src, dst := op.Type("SrcT"), op.Type("DstT")
	carries := func(d tf.DType) bool { return mantissas[d] > 0 || d.IsComplex() }
	if !carries(src) || !carries(dst) {
		return tf.Grads(tf.Output{})
	}
	return tf.Grads(Cast(dy[0], src))
}

func cast(n *core.Node) (core.Kernel, error) {
	src, dst := n.Type("SrcT").Base(), n.Type("DstT").Base()
	if n.Bool("_bits") && hasBytes(src) && hasBytes(dst) {
		return reread(dst), nil
	}
	if src == dst {
		return forward(n)
	}
	if !castable(src, dst) {
		return nil, tf.Errorf(tf.Unimplemented, "Cast %s to %s is not supported", src.CName(), dst.CName())
	}
	cut := truncation(n.Bool("Truncate"), src, dst)
	loop := castLoop(src, dst)
	if cut != nil {
		loop = nil
	}
	return &core.ElementKernel{Shape: core.SameAsInput, Loop: loop, Compute: func(c *core.OpContext) error {
		x := c.Input(0)
		y, err := c.Alloc(0, dst, x.Shape())
		if err != nil {
			return err
		}
		if cut != nil {
			x = cut(x)
		}
		c.ParallelFor(x.Len(), elementGrain, func(lo, hi int) {
			castPart(y, x, lo, hi)
		})
		return nil
	}}, nil
}

func hasBytes(d tf.DType) bool {
	_, small := float8s[d]
	return small || d == tf.Uint8
}

// reread makes the bytes of its input those of type dst, which Bitcast does not take if it is
// one of floating-point numbers of 8 bits.
func reread(dst tf.DType) core.Compute {
	return func(c *core.OpContext) error {
		x := c.Input(0)
		y, err := c.Alloc(0, dst, x.Shape())
		if err == nil {
			copy(core.Data[uint8](y), core.Data[uint8](x))
		}
		return err
	}
}

// castLoop converts elements of plain types; nil for others.
func castLoop(src, dst tf.DType) core.Loop {
	from, to := viewsOf[src], viewsOf[dst]
	if from == nil || to == nil {
		return nil
	}
	return func(z []byte, in []core.Operand) { elementwise.Cast(to(z), from(in[0].Data)) }
}

// viewsOf says as slices of which type castLoop sees memory.
var viewsOf = map[tf.DType]func([]byte) any{
	tf.Float32: viewOf[float32], tf.Float64: viewOf[float64], tf.Float16: viewOf[tf.Half], tf.BFloat16: viewOf[tf.BF16], tf.Bool: viewOf[bool],
	tf.Int8: viewOf[int8], tf.Int16: viewOf[int16], tf.Int32: viewOf[int32], tf.Int64: viewOf[int64],
	tf.Uint8: viewOf[uint8], tf.Uint16: viewOf[uint16], tf.Uint32: viewOf[uint32], tf.Uint64: viewOf[uint64],
}

func viewOf[T tf.Elem](b []byte) any { return core.Elements[T](b) }

// castable reports whether Cast makes elements of type src ones of type dst,
// which TensorFlow does for types of 8 bits and less only where it has to.
// Quantized types count as the integers that hold them.
func castable(src, dst tf.DType) bool {
	if rangesOf[src] == nil || rangesOf[dst] == nil {
		return false
	}
	_, tiny := float8s[dst]
	switch {
	case tiny:
		return src.IsFloat()
	case hasFourBits(src):
		return integral(dst)
	case hasFourBits(dst):
		return integral(src)
	}
	return true
}

func hasFourBits(d tf.DType) bool { return d == tf.Int4 || d == tf.Uint4 }

func integral(d tf.DType) bool { return !d.IsFloat() && !d.IsComplex() && d != tf.Bool }

// mantissas holds the number of explicit mantissa bits of floating-point types.
var mantissas = map[tf.DType]int{tf.Float64: 52, tf.Float32: 23, tf.Float16: 10, tf.BFloat16: 7}

// truncation returns what clears the mantissa bits that dst has no room for,
// so that the conversion has nothing to round; nil if nothing is to be done. NaN
// stays: without these bits it may be an infinity. As in TensorFlow, float64 is
// rounded to bfloat16 all the same.
func truncation(wanted bool, src, dst tf.DType) func(*core.Tensor) *core.Tensor {
	keep, ok := mantissas[dst]
	drop := mantissas[src] - keep
	if !wanted || !ok || drop <= 0 || src == tf.Float64 && dst == tf.BFloat16 {
		return nil
	}
	return func(x *core.Tensor) *core.Tensor {
		x = x.Clone()
		switch src {
		case tf.Float64:
			kernel.Map(core.Data[float64](x), core.Data[float64](x), func(v float64) float64 {
				if v != v {
					return v
				}
				return math.Float64frombits(math.Float64bits(v) >> drop << drop)
			})
		case tf.Float32:
			kernel.Map(core.Data[float32](x), core.Data[float32](x), func(v float32) float32 {
				if v != v {
					return v
				}
				return math.Float32frombits(math.Float32bits(v) >> drop << drop)
			})
		}
		return x
	}
}

func bitcastShape(c *core.Infer) error {
	s, err := bitcastTo(c.In(0), c.Type("T"), c.Type("type"))
	c.Set(0, s)
	return err
}

// bitcastTo returns the shape that elements of type from, of shape s, have as
// elements of type to.
func bitcastTo(s tf.Shape, from, to tf.DType) (tf.Shape, error) {
	in, out := from.Size(), to.Size()
	switch {
	case s == nil || in == out:
		return s, nil
	case in > out:
		return append(s.Clone(), in/out), nil
	}
	last := len(s) - 1
	if last < 0 || s[last] >= 0 && s[last] != out/in {
		return nil, tf.Errorf(tf.InvalidArgument, "Cannot bitcast from %s to %s: shape %s", from.CName(), to.CName(), s.String())
	}
	return s[:last].Clone(), nil
}

func bitcast(n *core.Node) (core.Kernel, error) {
	from, to := n.Type("T").Base(), n.Type("type").Base()
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		s, err := bitcastTo(x.Shape(), from, to)
		if err != nil {
			return err
		}
		c.Set(0, core.TensorOf(to, s, x.Buffer().Ref()))
		return nil
	}), nil
}
