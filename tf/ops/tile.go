package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Tile", Traits: core.RepeatsInput, In: "input: T; multiples: Tmultiples", Out: "output: T", Attrs: "T: type; Tmultiples: {int32, int64} = int32",
		Shape: tileShape, Grad: tf.GradFunc(tileGrad),
		Kernels: tileKernels(),
	})
}

func tileKernels() core.KernelSet {
	k := byCell(tile[uint8], tile[uint16], tile[uint32], tile[uint64], tile[complex128],
		tile[string], nil, tile[core.VariantValue]).on("T")
	delete(k.By, tf.Resource)
	return k
}

// Tile returns x repeated multiples[i] times along dimension i. x holds
// numbers, bool, strings or variants, and multiples is a vector of int32 or
// int64 with one element for each dimension of x; a multiple of 0 makes the
// result empty. Another number of multiples is refused with INVALID_ARGUMENT,
// when the graph is built if it is known, else in the step, and negative
// multiples in the step.
func Tile[M tf.Ints](x tf.Output, multiples M, opts ...tf.Option) tf.Output {
	return apply("Tile", opts, x, author.AsInts(x, multiples))
}

func tileShape(c *core.Infer) error {
	in, m := c.In(0), c.ConstShape(1)
	switch {
	case in == nil && m == nil:
		return nil
	case in == nil:
		c.Set(0, unknownDims(len(m)))
		return nil
	case m == nil:
		c.Set(0, unknownDims(len(in)))
		return nil
	case len(in) != len(m):
		return tf.Errorf(tf.InvalidArgument, "multiples must have one element for each dimension: input %v, %d multiples", in, len(m))
	}
	out := unknownDims(len(in))
	for i, d := range in {
		if d >= 0 && m[i] >= 0 {
			out[i] = d * m[i]
		}
	}
	c.Set(0, out)
	return nil
}

// tileGrad splits each dimension in (multiple, size) and sums the first parts.
func tileGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, m := op.Input(0), op.Input(1)
	d := op.Type("Tmultiples")
	shape := shapeValue(x, d)
	pairs := Transpose(Pack([]tf.Output{m, shape}), intVec(x, tf.Int32, 1, 0))
	split := Reshape(pairs, intVec(x, tf.Int32, -1))
	axes := Range(nil, intScalar(x, tf.Int32, 0), Size(split), intScalar(x, tf.Int32, 2))
	return tf.Grads(Reshape(reduceSum(Reshape(dy[0], split), axes, false), shape), tf.Output{})
}

func tile[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x, mt := c.Input(0), c.Input(1)
		if mt.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "Expected multiples to be 1-D, but got shape %s", mt.Shape().String())
		}
		if mt.Len() != x.Rank() {
			return tf.Errorf(tf.InvalidArgument, "Expected multiples argument to be a vector of length %d but got length %d", x.Rank(), mt.Len())
		}
		m, err := intsOf(mt)
		if err != nil {
			return err
		}
		s, err := tiled(x.Shape(), m)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, d, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		layout.Tile(c.ParallelFor, cells[C](out), cells[C](x), x.Shape(), m)
		return nil
	}), nil
}

// tiled returns the shape of tensor s repeated m times.
func tiled(s tf.Shape, m []int) (tf.Shape, error) {
	out := make(tf.Shape, len(s))
	for i, k := range m {
		if k < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Expected multiples[%d] >= 0, but got %d", i, k)
		}
		if (tf.Shape{s[i], k}).NumElements() < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Encountered overflow when multiplying %d with %d, dimension %d of %v", s[i], k, i, s)
		}
		out[i] = s[i] * k
	}
	return out, nil
}
