package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Slice", In: "input: T; begin: Index; size: Index", Out: "output: T", Attrs: "T: type; Index: {int32, int64}",
		Shape: sliceShape, Grad: tf.GradFunc(sliceGrad),
		Kernels: byCell(slice[uint8], slice[uint16], slice[uint32], slice[uint64], slice[complex128],
			slice[string], slice[core.ResourceHandle], slice[core.VariantValue]).on("T", wideQuantized, smallFloats),
	})
}

// Slice returns the block of x that begins at begin and has the given size, a
// vector in which -1 means up to the end. x holds numbers, bool, strings,
// resource handles or variants; begin and size are int32 or int64, of one
// type, and have one element for each dimension of x. Another number of
// elements is refused with INVALID_ARGUMENT, when the graph is built if it is
// known, else in the step. A block that does not lie within x is refused with
// INVALID_ARGUMENT in the step; a negative begin does not count from the end.
func Slice[B, S tf.Ints](x tf.Output, begin B, size S, opts ...tf.Option) tf.Output {
	return apply("Slice", opts, x, author.AsInts(x, begin), author.AsInts(x, size))
}

func sliceShape(c *core.Infer) error {
	s, begin := c.In(0), c.ConstShape(1)
	size, known := c.ConstInts(2)
	if !known {
		size = c.ConstShape(2) // a -1 in it may stand for any size
	}
	switch {
	case s == nil && size != nil:
		s = unknownDims(len(size))
	case s == nil && begin != nil:
		s = unknownDims(len(begin))
	case s == nil:
		return nil
	}
	if size != nil && len(size) != len(s) || begin != nil && len(begin) != len(s) {
		return tf.Errorf(tf.InvalidArgument, "begin and size must have an element for each dimension of %v", s)
	}
	out := unknownDims(len(s))
	for i := range size {
		switch {
		case size[i] >= 0:
			out[i] = size[i]
		case known && size[i] == -1 && begin != nil && s[i] >= 0 && begin[i] >= 0 && begin[i] <= s[i]:
			out[i] = s[i] - begin[i]
		}
	}
	c.Set(0, out)
	return nil
}

// A blockRoom is where a kernel lets what describes a block be, on its stack, unless there are
// more dimensions than that.
type blockRoom struct{ begin, size, from, to [roomRank]int }

// sliceBlock reads begin and size and checks that the block lies within s. What it returns is
// in the room, as far as it fits.
func sliceBlock(room *blockRoom, s tf.Shape, beginT, sizeT *core.Tensor) (begin []int, size tf.Shape, err error) {
	if beginT.Rank() != 1 || sizeT.Rank() != 1 || beginT.Len() != len(s) || sizeT.Len() != len(s) {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected begin and size arguments to be 1-D tensors of size %d, but got shapes %s and %s instead.",
			len(s), beginT.Shape().String(), sizeT.Shape().String())
	}
	if begin, err = appendInts(room.begin[:0], beginT); err != nil {
		return nil, nil, err
	}
	if size, err = appendInts(room.size[:0], sizeT); err != nil {
		return nil, nil, err
	}
	for i, b := range begin {
		if size[i] == -1 {
			size[i] = s[i] - b
		}
		if s[i] == 0 && (b != 0 || size[i] != 0) {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected begin[%d] == 0 (got %d) and size[%d] == 0 (got %d) when input.dim_size(%d) == 0", i, b, i, size[i], i)
		}
		if b < 0 || b > s[i] {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected begin[%d] in [0, %d], but got %d", i, s[i], b)
		}
		if size[i] < 0 || size[i] > s[i]-b {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected size[%d] in [0, %d], but got %d", i, s[i]-b, size[i])
		}
	}
	return begin, size, nil
}

func slice[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		var room blockRoom
		x := c.Input(0)
		begin, size, err := sliceBlock(&room, x.Shape(), c.Input(1), c.Input(2))
		if err != nil {
			return err
		}
		if size.Equal(x.Shape()) {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.Alloc(0, d, size)
		if err != nil || out.Len() == 0 {
			return err
		}
		from := layout.View{Steps: layout.AppendStrides(room.from[:0], x.Shape())}
		to := layout.View{Steps: layout.AppendStrides(room.to[:0], size)}
		for i, b := range begin {
			from.Offset += b * from.Steps[i]
		}
		layout.CopyView(c.ParallelFor, cells[C](out), to, cells[C](x), from, size)
		return nil
	}), nil
}

// sliceGrad puts zeros around the gradient.
func sliceGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, begin := op.Input(0), op.Input(1)
	d := op.Type("Index")
	column := Pack([]tf.Output{Rank(x), intScalar(x, tf.Int32, 1)})
	after := Sub(Sub(shapeValue(x, d), shapeValue(op.Output(0), d)), begin)
	paddings := ConcatV2([]tf.Output{Reshape(begin, column), Reshape(after, column)}, intScalar(x, tf.Int32, 1))
	return tf.Grads(Pad(dy[0], paddings), tf.Output{}, tf.Output{})
}
