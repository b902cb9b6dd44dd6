package ops

import (
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
	core.Register(core.OpDef{
		Name: "StridedSliceAssign", In: "ref: Ref(T); " + rest, Out: "output_ref: Ref(T)", Attrs: attrs,
		Shape: stridedAssignShape, NoGrad: core.NoGradientDefined, Kernels: stridedAssignKernels(),
	})
	core.Register(core.OpDef{
		Name: "ResourceStridedSliceAssign", In: "ref: resource; " + rest, Attrs: attrs, Stateful: true,
		Shape: stridedAssignShape, NoGrad: core.NoGradientDefined, Kernels: stridedAssignKernels(),
	})
	core.Register(core.OpDef{
		Name: "TensorStridedSliceUpdate", In: "input: T; " + rest, Out: "output: T", Attrs: attrs,
		Shape: stridedAssignShape, Grad: tf.GradFunc(stridedUpdateGrad), Kernels: byCell(stridedUpdate[uint8], stridedUpdate[uint16], stridedUpdate[uint32], stridedUpdate[uint64], stridedUpdate[complex128],
			stridedUpdate[string], stridedUpdate[core.ResourceHandle], stridedUpdate[core.VariantValue]).on("T", wideQuantized, smallFloats),
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

func stridedAssignKernels() core.KernelSet {
	return byCell(stridedAssign[uint8], stridedAssign[uint16], stridedAssign[uint32], stridedAssign[uint64], stridedAssign[complex128],
		stridedAssign[string], stridedAssign[core.ResourceHandle], stridedAssign[core.VariantValue]).on("T", wideQuantized, smallFloats)
}

// assignSlice sets the slice of t that the inputs describe to input 4, whose kind of cell C is.
func assignSlice[C cell](c *core.OpContext, t *core.Tensor, mask sliceMask) error {
	value := c.Input(4)
	if t.DType() != value.DType() {
		return tf.Errorf(tf.InvalidArgument, "l-value dtype %s does not match r-value dtype %s", t.DType().CName(), value.DType().CName())
	}
	var room stridedRoom
	p, err := stridedInputs(c, mask, &room, t.Shape())
	if err != nil {
		return err
	}
	if p.final.NumElements() == 0 {
		return nil // TensorFlow does not look at the value's shape
	}
	src := cells[C](value)
	if !value.Shape().Equal(p.final) {
		b, ok := elementwise.NewBroadcastTo(p.final.Clone(), value.Shape())
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Cannot broadcast input shape %s into final shape %s", value.Shape().String(), p.final.String())
		}
		src = broadcastCells(c, b, src)
	}
	layout.CopyView(c.ParallelFor, cells[C](t), p.view(&room, t.Shape()), src, p.dense(&room), p.block)
	return nil
}

// broadcastCells returns src as b repeats it.
func broadcastCells[C cell](c *core.OpContext, b *elementwise.Broadcast, src []C) []C {
	if b.Len == len(src) {
		return src
	}
	out := core.Make[C](b.Len)
	elementwise.CopyBroadcast(c.ParallelFor, b, out, src)
	return out
}

func stridedAssign[C cell](n *core.Node) (core.Kernel, error) {
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
			return assignSlice[C](c, t, mask)
		})
	}), nil
}

func stridedUpdate[C cell](n *core.Node) (core.Kernel, error) {
	d, mask := n.Type("T"), sliceMaskOf(n)
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		out, err := c.AllocFrom(0, 0, d, x.Shape())
		if err != nil {
			return err
		}
		copy(cells[C](out), cells[C](x))
		return assignSlice[C](c, out, mask)
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
