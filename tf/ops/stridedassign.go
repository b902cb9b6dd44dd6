package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		rest  = "begin: Index; end: Index; strides: Index; value: T"
		attrs = "T: type; Index: {int32, int64}; begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0"
	)
	kernels := func(k core.NewKernel) core.KernelSet {
		return core.ByType("T", sameFor(k, slices.Concat(objectTypes, wideQuantized, smallFloats)...))
	}
	core.Register(core.OpDef{
		Name: "StridedSliceAssign", In: "ref: Ref(T); " + rest, Out: "output_ref: Ref(T)", Attrs: attrs,
		Shape: stridedAssignShape, NoGrad: core.NoGradientDefined, Kernels: kernels(stridedAssign),
	})
	core.Register(core.OpDef{
		Name: "ResourceStridedSliceAssign", In: "ref: resource; " + rest, Attrs: attrs, Stateful: true,
		Shape: stridedAssignShape, NoGrad: core.NoGradientDefined, Kernels: kernels(stridedAssign),
	})
	core.Register(core.OpDef{
		Name: "TensorStridedSliceUpdate", In: "input: T; " + rest, Out: "output: T", Attrs: attrs,
		Shape: stridedAssignShape, Grad: tf.GradFunc(stridedUpdateGrad), Kernels: kernels(stridedUpdate),
	})
}

// StridedSliceAssign sets the elements of the reference variable ref that
// StridedSlice would take to value, broadcast to their shape. It returns ref.
// begin, end and strides are vectors of int32 or int64, of one length, and
// value has the type of ref. The step fails with INVALID_ARGUMENT for what
// StridedSlice refuses and for a value that does not broadcast, and with
// FAILED_PRECONDITION if the variable has no value.
func StridedSliceAssign(ref, begin, end, strides, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("StridedSliceAssign", opts, ref, begin, end, strides, value)
}

// ResourceStridedSliceAssign sets the elements of the variable behind handle
// that StridedSlice would take to value, broadcast to their shape. begin, end
// and strides are vectors of int32 or int64, of one length. The step fails
// with INVALID_ARGUMENT for what StridedSlice refuses, for a value that does
// not broadcast, and for one of another type than the variable, and with
// FAILED_PRECONDITION if the variable has no value.
func ResourceStridedSliceAssign(handle, begin, end, strides, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "ResourceStridedSliceAssign", []tf.Output{handle, begin, end, strides, value}, opts...)
}

// TensorStridedSliceUpdate returns x with the elements that StridedSlice would
// take replaced by value, broadcast to their shape. The result has the shape
// and type of x, and value has its type. begin, end and strides are vectors of
// int32 or int64, of one length. The step fails with INVALID_ARGUMENT for what
// StridedSlice refuses and for a value that does not broadcast.
func TensorStridedSliceUpdate(x, begin, end, strides, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorStridedSliceUpdate", opts, x, begin, end, strides, value)
}

func stridedAssignShape(c *core.Infer) error {
	if c.NumOut() > 0 {
		c.Set(0, c.In(0))
	}
	return nil
}

// assignSlice sets the slice of t that the inputs describe to input 4.
func assignSlice(c *core.OpContext, t *core.Tensor, mask sliceMask) error {
	value := c.Input(4)
	if t.DType() != value.DType() {
		return tf.Errorf(tf.InvalidArgument, "l-value dtype %s does not match r-value dtype %s", t.DType().CName(), value.DType().CName())
	}
	spec, err := stridedInputs(c, mask)
	if err != nil {
		return err
	}
	p, err := spec.plan(t.Shape())
	if err != nil {
		return err
	}
	if p.final.NumElements() == 0 {
		return nil // TensorFlow does not look at the value's shape
	}
	b, ok := elementwise.NewBroadcastTo(p.final, value.Shape())
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Cannot broadcast input shape %s into final shape %s", value.Shape().String(), p.final.String())
	}
	setSlice[t.DType()](c, t, value, p, b)
	return nil
}

// setSlice holds, by type, what puts value, broadcast by b, where p says.
var setSlice = newSetSlice()

type sliceSetter func(c *core.OpContext, t, value *core.Tensor, p *stridedPlan, b *elementwise.Broadcast)

func newSetSlice() map[tf.DType]sliceSetter {
	by := map[tf.DType]sliceSetter{tf.String: setSliceOf[string], tf.Resource: setSliceOf[core.ResourceHandle], tf.Variant: setSliceOf[core.VariantValue]}
	bySize := map[int]sliceSetter{1: setSliceOf[uint8], 2: setSliceOf[uint16], 4: setSliceOf[uint32], 8: setSliceOf[uint64], 16: setSliceOf[complex128]}
	for _, d := range slices.Concat(plainTypes, wideQuantized, smallFloats) {
		by[d] = bySize[d.Size()]
	}
	return by
}

func setSliceOf[C cell](c *core.OpContext, t, value *core.Tensor, p *stridedPlan, b *elementwise.Broadcast) {
	src := cells[C](value)
	if value.Len() != p.final.NumElements() {
		src = core.Make[C](p.final.NumElements())
		elementwise.CopyBroadcast(c.ParallelFor, b, src, cells[C](value))
	}
	layout.CopyView(cells[C](t), p.view(t.Shape()), src, layout.Dense(p.block), p.block)
}

func stridedAssign(n *core.Node) (core.Kernel, error) {
	mask := sliceMaskOf(n)
	return core.Compute(func(c *core.OpContext) error {
		ref, err := VariableAt(c, 0)
		if err != nil {
			return err
		}
		if len(c.Out) > 0 {
			c.Out[0].Ref = ref
		}
		return changeWhole(c, ref, func(t *core.Tensor) error {
			if t == nil {
				return uninitialized(c, 0)
			}
			return assignSlice(c, t, mask)
		})
	}), nil
}

func stridedUpdate(n *core.Node) (core.Kernel, error) {
	d, mask := n.Type("T"), sliceMaskOf(n)
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		out, err := c.AllocFrom(0, 0, d, x.Shape())
		if err != nil {
			return err
		}
		move(out, x)(0, 0, x.Len())
		return assignSlice(c, out, mask)
	}), nil
}

// stridedUpdateGrad: what was replaced has no influence, and value has that of
// where it went.
func stridedUpdateGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	in, masks := op.Inputs(), masksOf(op)
	dv := StridedSlice(dy[0], in[1], in[2], in[3], masks)
	dx := TensorStridedSliceUpdate(dy[0], in[1], in[2], in[3], ZerosLike(dv), masks)
	return tf.Grads(dx, tf.Output{}, tf.Output{}, tf.Output{}, undoBroadcast(dv, in[4]))
}

// undoBroadcast adds up dz along the dimensions in which x was broadcast.
func undoBroadcast(dz, x tf.Output) tf.Output {
	if s := x.Shape(); s.Known() && s.Equal(dz.Shape()) {
		return dz
	}
	sx := sizes(x)
	rx, _ := BroadcastGradientArgs(sx, sizes(dz))
	return Reshape(Sum(dz, rx), sx)
}
