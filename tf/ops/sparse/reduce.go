package sparse

import (
	"iter"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	sums := func(sparse bool) byType {
		return byType{
			tf.Float32: reduction(sparse, sum[float32]), tf.Float64: reduction(sparse, sum[float64]),
			tf.Float16: reduction(sparse, sum[float32]), tf.BFloat16: reduction(sparse, sum[float32]),
			tf.Int8: reduction(sparse, sum[int8]), tf.Int16: reduction(sparse, sum[int16]), tf.Int32: reduction(sparse, sum[int32]), tf.Int64: reduction(sparse, sum[int64]),
			tf.Uint8: reduction(sparse, sum[uint8]), tf.Uint16: reduction(sparse, sum[uint16]), tf.Uint32: reduction(sparse, sum[uint32]), tf.Uint64: reduction(sparse, sum[uint64]),
			tf.Complex64: reduction(sparse, sum[complex64]), tf.Complex128: reduction(sparse, sum[complex128]),
		}
	}
	greatest := func(sparse bool) byType {
		return byType{
			tf.Float32: reduction(sparse, greater[float32]), tf.Float64: reduction(sparse, greater[float64]),
			tf.Float16: reduction(sparse, greater[float32]), tf.BFloat16: reduction(sparse, greater[float32]),
			tf.Int8: reduction(sparse, greater[int8]), tf.Int16: reduction(sparse, greater[int16]), tf.Int32: reduction(sparse, greater[int32]), tf.Int64: reduction(sparse, greater[int64]),
			tf.Uint8: reduction(sparse, greater[uint8]), tf.Uint16: reduction(sparse, greater[uint16]), tf.Uint32: reduction(sparse, greater[uint32]), tf.Uint64: reduction(sparse, greater[uint64]),
		}
	}
	reduce("SparseReduceSum", "numbertype", reduceSumGrad, sums)
	reduce("SparseReduceMax", "realnumbertype", nil, greatest)
}

// reduce registers an op and its form with a sparse result.
func reduce(name, types string, grad tf.GradFunc, kernels func(sparse bool) byType) {
	const in = "input_indices: int64; input_values: T; input_shape: int64; reduction_axes: int32"
	attrs := "keep_dims: bool = false; T: " + types
	d := core.OpDef{Name: name, In: in, Out: "output: T", Attrs: attrs, Shape: reduceShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels(false))}
	if grad == nil {
		d.NoGrad = core.NoGradientDefined
	}
	core.Register(d)
	core.Register(core.OpDef{
		Name: name + "Sparse", In: in, Out: "output_indices: int64; output_values: T; output_shape: int64", Attrs: attrs,
		Shape: func(c *core.Infer) error { setSparse(c, 0, -1); return nil }, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels(true)),
	})
}

// ReduceOpts is the optional attribute of reductions: KeepDims leaves a size of
// 1 where an axis was reduced.
type ReduceOpts struct{ KeepDims bool }

// Apply sets the attributes.
func (o ReduceOpts) Apply(s *tf.Spec) { s.Set("keep_dims", o.KeepDims) }

// SparseReduceSum returns the sums of the values of t along axes, an int32
// scalar or vector, as a dense tensor. The axes may be negative. t has any
// integer, floating-point or complex type, which the result keeps; where
// there is no value the sum is 0. Parts that do not fit together and axes out
// of range fail with INVALID_ARGUMENT in the step, or when the graph is built
// if shape and axes are constant; indices out of bounds fail with INTERNAL if
// they lead out of the result. Its options are [ReduceOpts].
func SparseReduceSum(t Tensor, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseReduceSum", opts, append(flat(t), axes)...)
}

// SparseReduceMax is SparseReduceSum for the greatest values; where there is
// no value it is zero. t has any integer or floating-point type. Shapes and
// errors are those of SparseReduceSum. Its options are [ReduceOpts].
func SparseReduceMax(t Tensor, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("SparseReduceMax", opts, append(flat(t), axes)...)
}

// SparseReduceSumSparse is SparseReduceSum with a sparse result. It is in
// order. Parts that do not fit together and axes out of range fail with
// INVALID_ARGUMENT in the step. Its options are [ReduceOpts].
func SparseReduceSumSparse(t Tensor, axes tf.Output, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "SparseReduceSumSparse", append(flat(t), axes), opts...))
}

// SparseReduceMaxSparse is SparseReduceMax with a sparse result. It is in
// order. Parts that do not fit together and axes out of range fail with
// INVALID_ARGUMENT in the step. Its options are [ReduceOpts].
func SparseReduceMaxSparse(t Tensor, axes tf.Output, opts ...tf.Option) Tensor {
	return tensorOf(tf.Apply(nil, "SparseReduceMaxSparse", append(flat(t), axes), opts...))
}

func reduceShape(c *core.Infer) error {
	s := c.ConstShape(2)
	axes, ok := c.ConstInts(3)
	if s == nil || !ok {
		return nil
	}
	kept, out, err := keptDims(s, axes, c.Bool("keep_dims"))
	if kept != nil || err == nil {
		c.Set(0, out)
	}
	return err
}

// keptDims returns the dimensions of s that are not reduced and the shape of
// the result.
func keptDims(s tf.Shape, axes []int, keep bool) (kept []int, out tf.Shape, err error) {
	reduced := make([]bool, len(s))
	for _, a := range axes {
		if a < -len(s) || a >= len(s) {
			return nil, nil, invalid("Invalid reduction dimension %d, for input with %d dimensions.", a, len(s))
		}
		reduced[(a+len(s))%len(s)] = true
	}
	out = tf.Shape{}
	for k, d := range s {
		switch {
		case !reduced[k]:
			kept, out = append(kept, k), append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return kept, out, nil
}

// reduceSumGrad gathers the gradient at the indices that the values went to.
func reduceSumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	at, shape, axes := op.Input(0), op.Input(2), op.Input(3)
	g := at.Graph()
	rank, zero, one := ops.Size(shape), ops.Scalar(g, int32(0)), ops.Scalar(g, int32(1))
	axes = ops.Reshape(axes, ops.Const(g, []int32{-1}))
	axes = ops.FloorMod(ops.Add(axes, rank), rank)
	dims := []tf.Output{ops.Range(nil, zero, rank, one), axes}
	kept := ops.DynamicStitch(dims, []tf.Output{shape, ops.Fill(ops.Shape(axes), ops.Scalar(g, int64(1)))})
	from := ops.FloorDiv(at, ops.FloorDiv(shape, kept))
	return tf.Grads(tf.Output{}, ops.GatherNd(ops.Reshape(dy[0], kept), from), tf.Output{}, tf.Output{})
}

func sum[T number](a, b T) T { return a + b }

// A reduced is a sparse tensor to be reduced.
type reduced struct {
	*coo
	kept []int    // dimensions that are not reduced
	out  tf.Shape // of the result
	keep bool
}

func reduction[T number](sparse bool, join func(a, b T) T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		keep := n.Bool("keep_dims")
		return core.Compute(func(c *core.OpContext) error {
			r, err := newReduced(c, keep)
			if err != nil {
				return err
			}
			if sparse {
				return reduceToSparse(c, r, join)
			}
			return reduceToDense(c, r, join)
		}), nil
	}
}

func newReduced(c *core.OpContext, keep bool) (*reduced, error) {
	shape, axes := c.Input(2), c.Input(3)
	if shape.Rank() != 1 {
		return nil, invalid("Expected input_shape to be a vector; got shape: %s", shape.Shape().String())
	}
	if axes.Rank() > 1 {
		return nil, invalid("Expected reduction_axes to be a scalar or a vector; got shape: %s", axes.Shape().String())
	}
	v, err := axes.Ints()
	if err != nil {
		return nil, err
	}
	s, err := shape.Ints()
	if err != nil {
		return nil, err
	}
	kept, out, err := keptDims(s, v, keep)
	if err != nil {
		return nil, err
	}
	t, err := inputCOO(c, 0)
	return &reduced{t, kept, out, keep}, err
}

// reduceToDense joins each value to the element that it goes to.
func reduceToDense[T number](c *core.OpContext, r *reduced, join func(a, b T) T) error {
	out, store, err := result[T](c, 0, r.values.DType(), r.out)
	if err != nil {
		return err
	}
	clear(out)
	begun := make([]bool, len(out))
	for i, v := range values[T](r.values) {
		place := 0
		for _, k := range r.kept {
			place = place*r.shape[k] + int(r.index(i)[k])
		}
		if place < 0 || place >= len(out) {
			return tf.Errorf(tf.Internal, "Obtained a write index of %d which is outside of bounds of [0, %d)", place, len(out))
		}
		if begun[place] {
			v = join(out[place], v)
		}
		out[place], begun[place] = v, true
	}
	store()
	return nil
}

// reduceToSparse joins the values of each group, in the order of the indices.
func reduceToSparse[T number](c *core.OpContext, r *reduced, join func(a, b T) T) error {
	groups := r.project()
	order := groups.order()
	if order == nil {
		order = slices.Collect(numbersTo(r.n))
	}
	x := values[T](r.values)
	var out union[T]
	for k, i := range order {
		if k > 0 && slices.Equal(groups.index(i), groups.index(order[k-1])) {
			last := len(out.values) - 1
			out.values[last] = join(out.values[last], x[i])
			continue
		}
		out.add(r.resultIndex(groups.index(i)), x[i])
	}
	if err := out.write(c, r.values.DType(), len(r.out)); err != nil {
		return err
	}
	return allocShape(c, 2, r.out)
}

// numbersTo yields 0 to n-1.
func numbersTo(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// project returns the indices of r without the dimensions that are reduced.
func (r *reduced) project() *coo {
	p := &coo{rank: len(r.kept), n: r.n}
	for _, k := range r.kept {
		p.shape = append(p.shape, r.shape[k])
	}
	for i := range r.n {
		for _, k := range r.kept {
			p.at = append(p.at, r.index(i)[k])
		}
	}
	return p
}

// resultIndex returns the index in the result for one without the reduced
// dimensions.
func (r *reduced) resultIndex(at []int64) []int64 {
	if !r.keep {
		return at
	}
	out := make([]int64, r.rank)
	for i, k := range r.kept {
		out[k] = at[i]
	}
	return out
}
