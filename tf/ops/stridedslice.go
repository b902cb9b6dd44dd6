package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const masks = "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0"
	core.Register(core.OpDef{
		Name: "StridedSlice", In: "input: T; begin: Index; end: Index; strides: Index", Out: "output: T",
		Attrs: "T: type; Index: {int16, int32, int64}; " + masks,
		Shape: stridedSliceShape, Grad: tf.GradFunc(stridedSliceGrad),
		Kernels: byCell(stridedSlice[uint8], stridedSlice[uint16], stridedSlice[uint32], stridedSlice[uint64], stridedSlice[complex128],
			stridedSlice[string], stridedSlice[core.ResourceHandle], stridedSlice[core.VariantValue]).on("T", wideQuantized, smallFloats),
	})
	core.Register(core.OpDef{
		Name: "StridedSliceGrad", In: "shape: Index; begin: Index; end: Index; strides: Index; dy: T", Out: "output: T",
		Attrs: "T: type; Index: {int32, int64}; " + masks,
		Shape: func(c *core.Infer) error { c.Set(0, c.ConstShape(0)); return nil }, Grad: tf.GradFunc(stridedSliceGradGrad),
		Kernels: byCell(unslice[uint8], unslice[uint16], unslice[uint32], unslice[uint64], unslice[complex128],
			unslice[string], unslice[core.ResourceHandle], unslice[core.VariantValue]).on("T", wideQuantized, smallFloats),
	})
}

// StridedSliceOpts are the optional attributes of StridedSlice, one bit for
// each entry of begin, end and strides: BeginMask and EndMask leave the entry
// open, EllipsisMask makes it stand for all dimensions not mentioned,
// NewAxisMask for a new dimension of size 1, ShrinkAxisMask for a single index.
type StridedSliceOpts struct{ BeginMask, EndMask, EllipsisMask, NewAxisMask, ShrinkAxisMask int }

// Apply sets the attributes.
func (o StridedSliceOpts) Apply(s *tf.Spec) {
	s.Set("begin_mask", o.BeginMask)
	s.Set("end_mask", o.EndMask)
	s.Set("ellipsis_mask", o.EllipsisMask)
	s.Set("new_axis_mask", o.NewAxisMask)
	s.Set("shrink_axis_mask", o.ShrinkAxisMask)
}

// StridedSlice returns elements begin, begin+stride, ... before end of each
// dimension, as Python's x[begin:end:stride] does. x holds numbers, bool,
// strings, resource handles or variants. begin, end and strides are vectors of
// int16, int32 or int64, of one length below 32; negative numbers count from
// the end, and a range is cut to the dimension. A stride of 0, more entries
// than dimensions, more than one ellipsis and a single index out of range are
// refused with INVALID_ARGUMENT, when the graph is built if the shape of x and
// the vectors are known, else in the step. Its options are [StridedSliceOpts].
func StridedSlice[B, E, S tf.Ints](x tf.Output, begin B, end E, strides S, opts ...tf.Option) tf.Output {
	return apply("StridedSlice", opts, x, author.AsInts(x, begin), author.AsInts(x, end), author.AsInts(x, strides))
}

// StridedSliceGrad returns zeros of the given shape with dy where StridedSlice
// would take elements from. shape, begin, end and strides are vectors of one
// type, int32 or int64. The step fails with INVALID_ARGUMENT for a negative
// size, for what StridedSlice refuses, and for a dy that has not the shape of
// that slice. Its options are [StridedSliceOpts].
func StridedSliceGrad(shape, begin, end, strides, dy tf.Output, opts ...tf.Option) tf.Output {
	return apply("StridedSliceGrad", opts, shape, begin, end, strides, dy)
}

func stridedSliceShape(c *core.Infer) error {
	strides, ok := c.ConstInts(3)
	if c.In(0) == nil || !ok {
		return nil
	}
	spec := stridedSpec{strides: strides, mask: sliceMaskOf(c.Node)}
	begin, ok1 := c.ConstInts(1)
	end, ok2 := c.ConstInts(2)
	if ok1 && ok2 && len(begin) == len(strides) && len(end) == len(strides) {
		spec.begin, spec.end = begin, end
		if begin == nil {
			spec.begin, spec.end = []int{}, []int{}
		}
	}
	p, err := spec.plan(&stridedRoom{}, c.In(0))
	if err != nil {
		return err
	}
	c.Set(0, p.final)
	return nil
}

// stridedInputs plans the slice of a tensor of shape x that begin, end and strides, inputs 1
// to 3, describe.
func stridedInputs(c *core.OpContext, m sliceMask, room *stridedRoom, x tf.Shape) (p stridedPlan, err error) {
	const most = 32 // bits of a mask
	b, e, s := c.Input(1), c.Input(2), c.Input(3)
	if b.Rank() != 1 || e.Rank() != 1 || s.Rank() != 1 || b.Len() != s.Len() || e.Len() != s.Len() || s.Len() >= most {
		return p, tf.Errorf(tf.InvalidArgument, "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, %s, and %s instead.",
			b.Shape().String(), e.Shape().String(), s.Shape().String())
	}
	spec := stridedSpec{mask: m}
	if spec.begin, err = appendInts(room.begin[:0], b); err != nil {
		return p, err
	}
	if spec.end, err = appendInts(room.end[:0], e); err != nil {
		return p, err
	}
	if spec.strides, err = appendInts(room.strides[:0], s); err != nil {
		return p, err
	}
	return spec.plan(room, x)
}

// dense returns the view of the slice itself.
func (p *stridedPlan) dense(room *stridedRoom) layout.View {
	return layout.View{Steps: layout.AppendStrides(room.to[:0], p.block)}
}

// view returns where in a tensor of shape s the elements of the slice lie.
func (p *stridedPlan) view(room *stridedRoom, s tf.Shape) layout.View {
	v := layout.View{Steps: layout.AppendStrides(room.at[:0], s)}
	for i, d := range p.dims {
		v.Offset += d.begin * v.Steps[i]
		v.Steps[i] *= d.stride
	}
	return v
}

func stridedSlice[C cell](n *core.Node) (core.Kernel, error) {
	d, mask := n.Type("T"), sliceMaskOf(n)
	return core.Compute(func(c *core.OpContext) error {
		var room stridedRoom
		x := c.Input(0)
		p, err := stridedInputs(c, mask, &room, x.Shape())
		if err != nil {
			return err
		}
		if p.whole(x.Shape()) {
			c.ForwardShape(0, 0, p.final)
			return nil
		}
		out, err := c.Alloc(0, d, p.final)
		if err != nil || out.Len() == 0 {
			return err
		}
		layout.CopyView(c.ParallelFor, cells[C](out), p.dense(&room), cells[C](x), p.view(&room, x.Shape()), p.block)
		return nil
	}), nil
}

// whole reports whether the slice takes all elements in order.
func (p *stridedPlan) whole(s tf.Shape) bool {
	for _, d := range p.dims {
		if d.stride < 0 {
			return false
		}
	}
	return p.block.Equal(s)
}

func unslice[C cell](n *core.Node) (core.Kernel, error) {
	d, mask := n.Type("T"), sliceMaskOf(n)
	return core.Compute(func(c *core.OpContext) error {
		s, err := shapeOf(c.Input(0), "shape")
		if err != nil {
			return err
		}
		if err := checkSizes(s); err != nil {
			return err
		}
		var room stridedRoom
		p, err := stridedInputs(c, mask, &room, s)
		if err != nil {
			return err
		}
		dy := c.Input(4)
		if !dy.Shape().Equal(p.final) {
			return tf.Errorf(tf.InvalidArgument, "shape of dy was %s instead of %s", dy.Shape().String(), p.final.String())
		}
		out, err := c.Alloc(0, d, s)
		if err != nil {
			return err
		}
		clearCells(out)
		if dy.Len() > 0 {
			layout.CopyView(c.ParallelFor, cells[C](out), p.view(&room, s), cells[C](dy), p.dense(&room), p.block)
		}
		return nil
	}), nil
}

func masksOf(op *tf.Operation) StridedSliceOpts {
	m := sliceMaskOf(&op.Node)
	return StridedSliceOpts{m.begin, m.end, m.ellipsis, m.newAxis, m.shrinkAxis}
}

func stridedSliceGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	in := op.Inputs()
	d := op.Type("Index")
	if d == tf.Int16 { // StridedSliceGrad does not take it
		d = tf.Int32
	}
	args := []tf.Output{shapeValue(in[0], d), castTo(in[1], d), castTo(in[2], d), castTo(in[3], d)}
	dx := StridedSliceGrad(args[0], args[1], args[2], args[3], dy[0], masksOf(op))
	return tf.Grads(dx, tf.Output{}, tf.Output{}, tf.Output{})
}

func stridedSliceGradGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	in := op.Inputs()
	none := tf.Output{}
	return tf.Grads(none, none, none, none, StridedSlice(dy[0], in[1], in[2], in[3], masksOf(op)))
}
