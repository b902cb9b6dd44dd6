package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	comparison("Less", elementwise.LessLanes, orderedTests(elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less, elementwise.Less))
	comparison("LessEqual", elementwise.LessEqualLanes, orderedTests(elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual, elementwise.LessEqual))
	comparison("Greater", elementwise.GreaterLanes, orderedTests(elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater, elementwise.Greater))
	comparison("GreaterEqual", elementwise.GreaterEqualLanes, orderedTests(elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual, elementwise.GreaterEqual))
	equality("Equal", elementwise.EqualLanes, false, byType{
		tf.Bool: zipKernel(test(elementwise.Equal[bool])), tf.String: zipKernel(test(elementwise.Equal[string])),
		tf.Complex64: zipKernel(test(elementwise.Equal[complex64])), tf.Complex128: zipKernel(test(elementwise.Equal[complex128])),
	}, orderedTests(elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal, elementwise.Equal))
	equality("NotEqual", elementwise.NotEqualLanes, true, byType{
		tf.Bool: zipKernel(test(elementwise.NotEqual[bool])), tf.String: zipKernel(test(elementwise.NotEqual[string])),
		tf.Complex64: zipKernel(test(elementwise.NotEqual[complex64])), tf.Complex128: zipKernel(test(elementwise.NotEqual[complex128])),
	}, orderedTests(elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual, elementwise.NotEqual))
}

// test returns the loops of a comparison.
func test[T any](f func(z []bool, x, y []T)) elementwise.Loops[bool, T] {
	return elementwise.Loops[bool, T]{Zip: f}
}

// orderedTests returns the kernels of a comparison of real numbers.
func orderedTests(f32 func(z []bool, x, y []float32), f64 func(z []bool, x, y []float64),
	i8 func(z []bool, x, y []int8), i16 func(z []bool, x, y []int16), i32 func(z []bool, x, y []int32), i64 func(z []bool, x, y []int64),
	u8 func(z []bool, x, y []uint8), u16 func(z []bool, x, y []uint16), u32 func(z []bool, x, y []uint32), u64 func(z []bool, x, y []uint64)) byType {
	return byType{
		tf.Float32: zipKernel(test(f32)), tf.Float64: zipKernel(test(f64)),
		tf.Float16: zipKernel(elementwise.WidenLoopsTo[bool, tf.Half](test(f32))), tf.BFloat16: zipKernel(elementwise.WidenLoopsTo[bool, tf.BF16](test(f32))),
		tf.Int8: zipKernel(test(i8)), tf.Int16: zipKernel(test(i16)), tf.Int32: zipKernel(test(i32)), tf.Int64: zipKernel(test(i64)),
		tf.Uint8: zipKernel(test(u8)), tf.Uint16: zipKernel(test(u16)), tf.Uint32: zipKernel(test(u32)), tf.Uint64: zipKernel(test(u64)),
	}
}

func comparison(name string, lanes machine.Lanes, kernels byType) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise | core.Cheap, In: "x: T; y: T", Out: "z: bool", Attrs: "T: realnumbertype",
		Shape: core.BroadcastShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", inLanes(tf.Float32, lanes, kernels)),
	})
}

// equality declares Equal or NotEqual. Operands whose shapes do not fit
// together are different, if the program says that this is no error.
func equality(name string, lanes machine.Lanes, different bool, sets ...byType) {
	all := inLanes(tf.Float32, lanes, merge(sets...))
	for q, plain := range map[tf.DType]tf.DType{tf.QInt8: tf.Int8, tf.QInt16: tf.Int16, tf.QInt32: tf.Int32, tf.QUint8: tf.Uint8, tf.QUint16: tf.Uint16} {
		all[q] = all[plain]
	}
	for d, k := range all {
		all[d] = tolerant(k, different)
	}
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise | core.Cheap, In: "x: T; y: T", Out: "z: bool", Attrs: "T: type; incompatible_shape_error: bool = true",
		Shape: equalityShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", all),
	})
}

func equalityShape(c *core.Infer) error {
	if _, fit := tf.BroadcastShapes(c.In(0), c.In(1)); !fit && !c.Bool("incompatible_shape_error") {
		c.Set(0, nil)
		return nil
	}
	return core.BroadcastShape(c)
}

// tolerant makes kernels answer different for operands that do not fit.
func tolerant(k core.NewKernel, different bool) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		compare, err := k(n)
		if err != nil || n.Bool("incompatible_shape_error") {
			return compare, err
		}
		zip, _ := core.AsCompute(compare)
		return core.Compute(func(c *core.OpContext) error {
			if _, fit := tf.BroadcastShapes(c.Input(0).Shape(), c.Input(1).Shape()); fit {
				return zip(c)
			}
			c.Set(0, core.Scalar(different))
			return nil
		}), nil
	}
}

// Less returns x < y. x and y hold real numbers of one type and broadcast; the
// result is bool, and false where either is NaN. Shapes that do not broadcast
// are refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func Less(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Less", opts, x, y) }

// LessEqual returns x <= y. x and y hold real numbers of one type and
// broadcast; the result is bool, and false where either is NaN. Shapes that do
// not broadcast are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func LessEqual(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LessEqual", opts, x, y) }

// Greater returns x > y. x and y hold real numbers of one type and broadcast;
// the result is bool, and false where either is NaN. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func Greater(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Greater", opts, x, y) }

// GreaterEqual returns x >= y. x and y hold real numbers of one type and
// broadcast; the result is bool, and false where either is NaN. Shapes that do
// not broadcast are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func GreaterEqual(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("GreaterEqual", opts, x, y)
}

// EqualOpts are the optional attributes of Equal and NotEqual.
type EqualOpts struct {
	// UnfitDiffer makes operands whose shapes do not fit together different,
	// which is an error otherwise.
	UnfitDiffer bool
}

// Apply sets the attributes.
func (o EqualOpts) Apply(s *tf.Spec) { s.Set("incompatible_shape_error", !o.UnfitDiffer) }

// Equal returns x == y. x and y have one type, numbers, bools or strings, and
// broadcast; the result is bool. NaN is not equal to itself. Shapes that do not
// broadcast are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step; with UnfitDiffer the result is then the scalar
// false. Its options are [EqualOpts].
func Equal(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Equal", opts, x, y) }

// NotEqual returns x != y. x and y have one type, numbers, bools or strings,
// and broadcast; the result is bool. NaN differs from itself. Shapes that do
// not broadcast are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step; with UnfitDiffer the result is then the
// scalar true. Its options are [EqualOpts].
func NotEqual(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("NotEqual", opts, x, y) }

func init() {
	logical("LogicalAnd", elementwise.And, (*machine.Code).And)
	logical("LogicalOr", elementwise.Or, (*machine.Code).Or)
	core.Register(core.OpDef{
		Name: "LogicalNot", Traits: core.Involution | core.Elementwise | core.Cheap, In: "x: bool", Out: "y: bool",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(withLanes(elementwise.NotLanes, mapKernel(elementwise.Not))),
	})
}

func logical(name string, f func(z, x, y []bool), lanes func(c *machine.Code, x, y machine.Value) machine.Value) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise | core.Cheap, In: "x: bool; y: bool", Out: "z: bool",
		Shape: core.BroadcastShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(withLanes(elementwise.TestLanes(lanes), zipKernel(zip(f)))),
	})
}

// LogicalAnd reports where both x and y hold. x, y and the result are bool; x
// and y broadcast. Shapes that do not broadcast are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func LogicalAnd(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalAnd", opts, x, y) }

// LogicalOr reports where x or y holds. x, y and the result are bool; x and y
// broadcast. Shapes that do not broadcast are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step.
func LogicalOr(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalOr", opts, x, y) }

// LogicalNot reports where x does not hold. x is bool; the result has its
// shape. Other types are refused with INVALID_ARGUMENT when the graph is
// built.
func LogicalNot(x tf.Output, opts ...tf.Option) tf.Output { return apply("LogicalNot", opts, x) }

func init() {
	core.Register(core.OpDef{
		Name: "ApproximateEqual", In: "x: T; y: T", Out: "z: bool", Attrs: "T: {" + reducibleTypes + "}; tolerance: float = 0.00001",
		Shape: core.MergedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{tf.Float32: approximateEqual[float32], tf.Float64: approximateEqual[float64]}),
	})
}

// ApproximateEqualOpts are the optional attributes of ApproximateEqual. 0 stands for
// TensorFlow's tolerance, 1e-5: no numbers differ by less than 0.
type ApproximateEqualOpts struct{ Tolerance float32 }

// Apply sets the attributes.
func (o ApproximateEqualOpts) Apply(s *tf.Spec) {
	if o.Tolerance != 0 {
		s.Set("tolerance", o.Tolerance)
	}
}

// ApproximateEqual reports where x and y differ by less than a tolerance, 1e-5
// if not given. x and y are of float32 or float64 and have one shape, which the
// bool result has, too; other types of numbers fail the step with NOT_FOUND.
// NaN, and infinities even if they are equal, do not count as equal. Different
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. Its options are [ApproximateEqualOpts].
func ApproximateEqual(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("ApproximateEqual", opts, x, y)
}

func approximateEqual[T interface {
	numeric.Float
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	tolerance := T(n.Float("tolerance"))
	return core.Compute(func(c *core.OpContext) error {
		x, y := c.Input(0), c.Input(1)
		if !slices.Equal(x.Shape(), y.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "x and y must be of the same shape. x shape: %s. y shape: %s", x.Shape().String(), y.Shape().String())
		}
		out, err := c.Alloc(0, tf.Bool, x.Shape())
		if err != nil {
			return err
		}
		kernel.Zip2(core.Data[bool](out), core.Data[T](x), core.Data[T](y), func(a, b T) bool { return max(a-b, b-a) < tolerance })
		return nil
	}), nil
}
