package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const format = "; data_format: {'NHWC', 'NCHW'} = 'NHWC'"
	core.Register(core.OpDef{
		Name: "BiasAdd", Traits: core.Elementwise | core.Cheap | core.Adds, In: "value: T; bias: T", Out: "output: T", Attrs: "T: {" + reducibleTypes + "}" + format,
		Shape: biasAddShape, Grad: tf.GradFunc(biasAddGrad), Kernels: core.ByType("T", biasAddKernels()),
	})
	core.Register(core.OpDef{
		Name: "BiasAddV1", Traits: core.Elementwise | core.Cheap, In: "value: T; bias: T", Out: "output: T", Attrs: "T: {" + reducibleTypes + "}",
		Shape: biasAddShape, Grad: tf.GradFunc(biasAddV1Grad), Kernels: core.ByType("T", biasAddKernels()),
	})
	core.Register(core.OpDef{
		Name: "BiasAddGrad", Traits: core.SumsRows, In: "out_backprop: T", Out: "output: T", Attrs: "T: {" + reducibleTypes + "}" + format,
		Shape: biasAddGradShape, Grad: tf.GradFunc(biasAddGradGrad), Kernels: core.ByType("T", biasAddGradKernels()),
	})
}

// BiasOpts are the optional attributes of BiasAdd and BiasAddGrad.
type BiasOpts struct {
	// DataFormat "NCHW" says that channels are dimension 1, not the last one.
	DataFormat string
}

// Apply sets the attributes.
func (o BiasOpts) Apply(s *tf.Spec) {
	if o.DataFormat != "" {
		s.Set("data_format", o.DataFormat)
	}
}

// BiasAdd adds a vector to every row of x: to its last dimension, or to
// dimension 1 in format NCHW. x has two dimensions or more, bias has as many
// elements as that dimension; both hold numbers of one type, real or complex,
// which the result keeps with the shape of x. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Quantized types fail the step with NOT_FOUND.
// Its options are [BiasOpts].
func BiasAdd(x, bias tf.Output, opts ...tf.Option) tf.Output {
	return apply("BiasAdd", opts, x, bias)
}

// BiasAddV1 is BiasAdd without formats. The vector is added to the last
// dimension of x. Types and errors are those of BiasAdd.
func BiasAddV1(x, bias tf.Output, opts ...tf.Option) tf.Output {
	return apply("BiasAddV1", opts, x, bias)
}

// BiasAddGrad sums dy over all dimensions but that of the bias. The result is a
// vector with as many elements as that dimension, the last one or, in format
// NCHW, dimension 1. dy holds numbers, real or complex; fewer than two
// dimensions are refused with INVALID_ARGUMENT, when the graph is built if the
// rank is known, else in the step. Its options are [BiasOpts].
func BiasAddGrad(dy tf.Output, opts ...tf.Option) tf.Output { return apply("BiasAddGrad", opts, dy) }

// channelAxis returns the dimension of a tensor of this rank that biases are
// for.
func channelAxis(n *core.Node, rank int) int {
	if n.Str("data_format") == "NCHW" {
		return 1
	}
	return rank - 1
}

func biasAddShape(c *core.Infer) error {
	bias, err := c.Rank(1, 1)
	if err != nil {
		return err
	}
	x := c.In(0).Clone()
	if x == nil {
		return nil
	}
	if len(x) < 2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2 but is rank %d: input value has shape %v", len(x), x)
	}
	axis := channelAxis(c.Node, len(x))
	d, ok := mergedDim(x[axis], bias[0])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal: value has %d channels, bias %d", x[axis], bias[0])
	}
	x[axis] = d
	c.Set(0, x)
	return nil
}

func biasAddGradShape(c *core.Infer) error {
	x := c.In(0)
	if x == nil {
		c.Set(0, tf.Shape{-1})
		return nil
	}
	if len(x) < 2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2 but is rank %d: input out_backprop has shape %v", len(x), x)
	}
	c.Set(0, tf.Shape{x[channelAxis(c.Node, len(x))]})
	return nil
}

func biasAddKernels() byType {
	return byType{
		tf.Float32: biasAdd(elementwise.AddLoops[float32]()), tf.Float64: biasAdd(elementwise.AddLoops[float64]()),
		tf.Float16: biasAdd(elementwise.WidenLoops[tf.Half](elementwise.AddLoops[float32]())), tf.BFloat16: biasAdd(elementwise.WidenLoops[tf.BF16](elementwise.AddLoops[float32]())),
		tf.Int8: biasAdd(elementwise.AddLoops[int8]()), tf.Int16: biasAdd(elementwise.AddLoops[int16]()), tf.Int32: biasAdd(elementwise.AddLoops[int32]()), tf.Int64: biasAdd(elementwise.AddLoops[int64]()),
		tf.Uint8: biasAdd(elementwise.AddLoops[uint8]()), tf.Uint16: biasAdd(elementwise.AddLoops[uint16]()), tf.Uint32: biasAdd(elementwise.AddLoops[uint32]()), tf.Uint64: biasAdd(elementwise.AddLoops[uint64]()),
		tf.Complex64: biasAdd(elementwise.AddLoops[complex64]()), tf.Complex128: biasAdd(elementwise.AddLoops[complex128]()),
	}
}

func biasAdd[T tf.Elem](l elementwise.Loops[T, T]) core.NewKernel {
	loop := zipLoop(l)
	return func(n *core.Node) (core.Kernel, error) {
		var plans broadcastPlans
		return &core.ElementKernel{Shape: biasedShape, Loop: loop, Repeats: l.ScalarY != nil, Lanes: l.Lanes, Compute: func(c *core.OpContext) error {
			x, bias := c.Input(0), c.Input(1)
			s := x.Shape()
			if err := checkBias(n, s, bias.Shape()); err != nil {
				return err
			}
			b, err := plans.get(s, biasShape(n, s, bias.Shape()))
			if err != nil {
				return err
			}
			xs, bs := core.Data[T](x), core.Data[T](bias)
			out, err := c.AllocFrom(0, 0, x.DType(), s)
			if err != nil {
				return err
			}
			elementwise.ZipBroadcast(c.ParallelFor, b, core.Data[T](out), xs, bs, l)
			return nil
		}}, nil
	}
}

// biasedShape is the shape of a sum, to which biases are broadcast.
func biasedShape(n *core.Node, in []tf.Shape) (tf.Shape, error) {
	if err := checkBias(n, in[0], in[1]); err != nil {
		return nil, err
	}
	in[1] = biasShape(n, in[0], in[1])
	return in[0], nil
}

// biasShape returns the shape in which biases are broadcast to x.
func biasShape(n *core.Node, x, bias tf.Shape) tf.Shape {
	behind := len(x) - 1 - channelAxis(n, len(x))
	if behind == 0 {
		return bias
	}
	s := make(tf.Shape, 1+behind)
	kernel.Fill(s, 1)
	s[0] = bias[0]
	return s
}

func checkBias(n *core.Node, x, bias tf.Shape) error {
	switch {
	case len(x) < 2:
		return tf.Errorf(tf.InvalidArgument, "Input tensor must be at least 2D: %s", x.String())
	case len(bias) != 1:
		return tf.Errorf(tf.InvalidArgument, "Biases must be 1D: %s", bias.String())
	case bias[0] != x[channelAxis(n, len(x))]:
		return tf.Errorf(tf.InvalidArgument, "Must provide as many biases as the last dimension of the input tensor: %s vs. %s", bias.String(), x.String())
	}
	return nil
}

func biasAddGradKernels() byType {
	sum := folding(reduction.SumFold[float32]())
	return byType{
		tf.Float32: channelSum(sum), tf.Float64: channelSum(folding(reduction.SumFold[float64]())),
		tf.Float16: channelSum(inFloat32Fold[tf.Half](sum, nil)), tf.BFloat16: channelSum(inFloat32Fold[tf.BF16](sum, nil)),
		tf.Int8: channelSum(folding(reduction.SumFold[int8]())), tf.Int16: channelSum(folding(reduction.SumFold[int16]())),
		tf.Int32: channelSum(folding(reduction.SumFold[int32]())), tf.Int64: channelSum(folding(reduction.SumFold[int64]())),
		tf.Uint8: channelSum(folding(reduction.SumFold[uint8]())), tf.Uint16: channelSum(folding(reduction.SumFold[uint16]())),
		tf.Uint32: channelSum(folding(reduction.SumFold[uint32]())), tf.Uint64: channelSum(folding(reduction.SumFold[uint64]())),
		tf.Complex64: channelSum(folding(reduction.SumFold[complex64]())), tf.Complex128: channelSum(folding(reduction.SumFold[complex128]())),
	}
}

func channelSum[T tf.Elem](f reduce[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			s := x.Shape()
			if len(s) < 2 {
				return tf.Errorf(tf.InvalidArgument, "Input tensor must be at least 2D: %s", s.String())
			}
			axis := channelAxis(n, len(s))
			reduced := make([]bool, len(s))
			kernel.Fill(reduced, true)
			reduced[axis] = false
			out, err := c.Alloc(0, x.DType(), tf.Shape{s[axis]})
			if err != nil {
				return err
			}
			f(c, reduction.NewReduction(s, reduced), core.Data[T](out), core.Data[T](x))
			return nil
		}), nil
	}
}

func biasAddGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(dy[0], BiasAddGrad(dy[0], BiasOpts{op.Str("data_format")}))
}

func biasAddV1Grad(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
	zero, one := intScalar(dy[0], tf.Int32, 0), intScalar(dy[0], tf.Int32, 1)
	axes := Range(nil, zero, Sub(Rank(dy[0]), one), one)
	return tf.Grads(dy[0], Sum(dy[0], axes))
}

// biasAddGradGrad repeats dy over the dimensions that were summed.
func biasAddGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(0)
	shape, channels := sizes(x), Shape(dy[0])
	end := Size(shape)
	axis := Sub(end, intScalar(shape, tf.Int32, 1))
	if op.Str("data_format") == "NCHW" {
		axis = intScalar(shape, tf.Int32, 1)
	}
	at := Reshape(axis, intVec(shape, tf.Int32, 1))
	zero, one := intVec(shape, tf.Int32, 0), intVec(shape, tf.Int32, 1)
	before := Slice(shape, zero, at)
	behind := Slice(shape, AddV2(at, one), intVec(shape, tf.Int32, -1))
	join := func(a, b, c tf.Output) tf.Output {
		return apply("ConcatV2", nil, a, b, c, intScalar(shape, tf.Int32, 0))
	}
	expanded := Reshape(dy[0], join(OnesLike(before), channels, OnesLike(behind)))
	return tf.Grads(Tile(expanded, join(before, one, behind)))
}
