package queue

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "dtype: numbertype; shape: shape; container: string = ''; shared_name: string = ''; reduction_type: {'MEAN', 'SUM'} = 'MEAN'"
	dense, sparse := func() gradients { return &denseSum{} }, func() gradients { return &sparseSum{} }
	register("ConditionalAccumulator", "handle: Ref(string)", attrs, pairShape, newAccumulator(dense))
	register("SparseConditionalAccumulator", "handle: Ref(string)", attrs, pairShape, newAccumulator(sparse))
	core.Register(core.OpDef{
		Name: "ResourceConditionalAccumulator", Traits: core.Parameter, Out: "handle: resource", Attrs: attrs, Stateful: true,
		Shape: pairShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(newAccumulator(dense)),
	})
	for prefix, handle := range map[string]string{"": "handle: Ref(string)", "Resource": "handle: resource"} {
		accumulatorOp(prefix+"AccumulatorApplyGradient", handle+"; local_step: int64; gradient: dtype", "", "dtype: numbertype", scalarInput, applyGradient)
		accumulatorOp(prefix+"AccumulatorTakeGradient", handle+"; num_required: int32", "average: dtype", "dtype: numbertype", scalarInput, takeGradient)
		accumulatorOp(prefix+"AccumulatorSetGlobalStep", handle+"; new_global_step: int64", "", "", scalarInput, setGlobalStep)
		accumulatorOp(prefix+"AccumulatorNumAccumulated", handle, "num_accumulated: int32", "", core.ScalarShape, numAccumulated)
	}
	accumulatorOp("SparseAccumulatorApplyGradient", "handle: Ref(string); local_step: int64; gradient_indices: int64; gradient_values: dtype; gradient_shape: int64",
		"", "dtype: numbertype; has_known_shape: bool", scalarInput, applyGradient)
	accumulatorOp("SparseAccumulatorTakeGradient", "handle: Ref(string); num_required: int32", "indices: int64; values: dtype; shape: int64",
		"dtype: numbertype", scalarInput, takeGradient)
}

func accumulatorOp(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Stateful: in[len("handle: "):][:1] == "r",
		Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
	})
}

// scalarInput wants a scalar beside the handle.
func scalarInput(c *core.Infer) error {
	_, err := c.Rank(1, 0)
	return err
}

// AccumulatorOpts are the optional attributes of accumulators. Those of equal
// container and shared name, on one device, are one.
type AccumulatorOpts struct {
	Container, SharedName string
	Sum                   bool // give out the sum of gradients instead of their mean
}

// Apply sets the attributes.
func (o AccumulatorOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
	if o.Sum {
		s.Set("reduction_type", "SUM")
	}
}

// ResourceConditionalAccumulator adds an accumulator of dense gradients of
// type d, one of the floating-point types, and a shape that may be partly
// known. The types are float16, float32 and float64; others are refused with
// NOT_FOUND in the step. Its options are [AccumulatorOpts].
func ResourceConditionalAccumulator(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	return accumulatorOf(g, "ResourceConditionalAccumulator", d, shape, opts)
}

// ConditionalAccumulator is ResourceConditionalAccumulator with a handle of
// the first generation, as TensorFlow's optimizers use it. The types are those
// of ResourceConditionalAccumulator. Other types of numbers are refused with
// NOT_FOUND in the step, types that are none with INVALID_ARGUMENT when the
// graph is built. Its options are [AccumulatorOpts].
func ConditionalAccumulator(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	return accumulatorOf(g, "ConditionalAccumulator", d, shape, opts)
}

// SparseConditionalAccumulator adds an accumulator of gradients that are
// slices. The types are float16, float32 and float64; others are refused with
// NOT_FOUND in the step. The first size of shape is the number of rows that a
// slice may name. Its options are [AccumulatorOpts].
func SparseConditionalAccumulator(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	return accumulatorOf(g, "SparseConditionalAccumulator", d, shape, opts)
}

func accumulatorOf(g *tf.Graph, op string, d tf.DType, shape tf.Shape, opts []tf.Option) tf.Output {
	return tf.Apply(g, op, nil, tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", shape))...).Output(0)
}

// generation returns the name of an op on accumulators for a kind of handle.
func generation(handle tf.Output, op string) string {
	if handle.DType() == tf.Resource {
		return "Resource" + op
	}
	return op
}

// AccumulatorApplyGradient adds a gradient that was computed at localStep to
// an accumulator of either generation. If the accumulator is at a later step,
// the gradient is dropped. localStep is an int64 scalar. A step that is no
// scalar is refused with INVALID_ARGUMENT, when the graph is built if its
// shape is known, else in the step; so are, in the step, a gradient of another
// type than the accumulator's and one whose shape does not fit, or differs
// from that of gradients before it.
func AccumulatorApplyGradient(handle, localStep, gradient tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, generation(handle, "AccumulatorApplyGradient"), []tf.Output{handle, localStep, gradient}, opts...)
}

// AccumulatorTakeGradient waits for numRequired gradients and returns the mean
// of all that there are, of type d. The accumulator is at the next step then.
// numRequired is an int32 scalar of at least 1; other numbers, and a d that is
// not the accumulator's type, are refused with INVALID_ARGUMENT in the step.
// With Sum in its options the accumulator gives out the sum instead of the
// mean.
func AccumulatorTakeGradient(handle, numRequired tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, generation(handle, "AccumulatorTakeGradient"), []tf.Output{handle, numRequired}, tf.Join(opts, tf.Attr("dtype", d))...).Output(0)
}

// AccumulatorSetGlobalStep sets the step of an accumulator. The step is an
// int64 scalar; another shape is refused with INVALID_ARGUMENT, when the graph
// is built if it is known, else in the step.
func AccumulatorSetGlobalStep(handle, step tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, generation(handle, "AccumulatorSetGlobalStep"), []tf.Output{handle, step}, opts...)
}

// AccumulatorNumAccumulated returns how many gradients an accumulator has. The
// result is an int32 scalar. A handle without an accumulator is refused with
// NOT_FOUND in the step, a resource handle of another kind with
// INVALID_ARGUMENT.
func AccumulatorNumAccumulated(handle tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, generation(handle, "AccumulatorNumAccumulated"), []tf.Output{handle}, opts...).Output(0)
}

// SparseAccumulatorApplyGradient adds the slices values at the rows indices,
// which are in order, of a gradient of the given shape; an empty vector if
// that is not known. indices and shape are int64 vectors, and values has a row
// for each index. Other shapes, a row that the accumulator's shape does not
// have, and slices that do not fit it are refused with INVALID_ARGUMENT in the
// step. If the accumulator is at a later step, the gradient is dropped.
func SparseAccumulatorApplyGradient(handle, localStep, indices, values, shape tf.Output, opts ...tf.Option) *tf.Operation {
	known := tf.Attr("has_known_shape", !shape.Shape().Equal(tf.Shape{0}))
	return tf.Apply(nil, "SparseAccumulatorApplyGradient", []tf.Output{handle, localStep, indices, values, shape}, tf.Join(opts, known)...)
}

// SparseAccumulatorTakeGradient is AccumulatorTakeGradient for slices. Each is
// the mean of the gradients that have it. shape is an int64 vector, whose
// first size is -1 if the accumulator's shape does not tell it. Errors are
// those of AccumulatorTakeGradient.
func SparseAccumulatorTakeGradient(handle, numRequired tf.Output, d tf.DType, opts ...tf.Option) (indices, values, shape tf.Output) {
	o := tf.Apply(nil, "SparseAccumulatorTakeGradient", []tf.Output{handle, numRequired}, tf.Join(opts, tf.Attr("dtype", d))...)
	return o.Output(0), o.Output(1), o.Output(2)
}
