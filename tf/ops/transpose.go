package ops

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const permAttrs = "T: type; Tperm: {int32, int64} = int32"
	core.Register(core.OpDef{
		Name: "Transpose", In: "x: T; perm: Tperm", Out: "y: T", Attrs: permAttrs,
		Shape: transposeShape, Grad: tf.GradFunc(transposeGrad),
		Kernels: byCell(transpose[uint8], transpose[uint16], transpose[uint32], transpose[uint64], transpose[complex128],
			transpose[string], transpose[core.ResourceHandle], transpose[core.VariantValue]).on("T", smallFloats),
	})
	core.Register(core.OpDef{
		Name: "InvertPermutation", In: "x: T", Out: "y: T", Attrs: "T: {int32, int64} = int32",
		Shape: invertShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", byType{tf.Int32: invertPermutation[int32], tf.Int64: invertPermutation[int64]}),
	})
}

// Transpose returns x with its dimensions in another order: dimension i of the
// result is dimension perm[i] of x. x holds numbers, bool, strings, resource
// handles or variants, and perm, int32 or int64, names each dimension once;
// negative numbers count from the end. Any other perm is refused with
// INVALID_ARGUMENT, when the graph is built if perm and the rank of x are
// known, else in the step.
func Transpose[P tf.Ints](x tf.Output, perm P, opts ...tf.Option) tf.Output {
	return apply("Transpose", opts, x, author.AsInts(x, perm))
}

// InvertPermutation returns the permutation that undoes x: y[x[i]] = i. x is a
// vector of int32 or int64, and y has its shape and type. Another rank is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step, and elements that repeat or do not lie within the vector in the
// step.
func InvertPermutation(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("InvertPermutation", opts, x)
}

func transposeShape(c *core.Infer) error {
	s := c.In(0)
	if perm := c.In(1); s == nil && len(perm) == 1 && perm[0] >= 0 {
		c.Set(0, unknownDims(perm[0]))
		return nil
	}
	if s == nil {
		return nil
	}
	perm, ok := c.ConstInts(1)
	if !ok {
		if len(s) <= 1 {
			c.Set(0, s)
			return nil
		}
		c.Set(0, unknownDims(len(s)))
		return nil
	}
	perm, err := checkPerm(perm, len(s))
	if err != nil {
		return err
	}
	c.Set(0, permuted(s, perm))
	return nil
}

func permuted(s tf.Shape, perm []int) tf.Shape {
	out := make(tf.Shape, len(s))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// checkPerm returns perm, which must name each of rank dimensions once, with
// negative numbers counted from the end.
func checkPerm(perm []int, rank int) ([]int, error) {
	if len(perm) != rank {
		return nil, tf.Errorf(tf.InvalidArgument, "transpose expects a vector of size %d. But input(1) is a vector of size %d", rank, len(perm))
	}
	out, seen := make([]int, rank), make([]bool, rank)
	for i, p := range perm {
		q, ok := wrapAxis(p, rank)
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "%d is out of range [0 .. %d)", p, rank)
		}
		out[i], seen[q] = q, true
	}
	for i := range seen {
		if !seen[i] {
			return nil, tf.Errorf(tf.InvalidArgument, "%d is missing from {%s}.", i, joinInts(perm, ","))
		}
	}
	return out, nil
}

func joinInts(v []int, sep string) string {
	parts := make([]string, len(v))
	for i, x := range v {
		parts[i] = strconv.Itoa(x)
	}
	return strings.Join(parts, sep)
}

func transposeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Transpose(dy[0], InvertPermutation(op.Input(1))), tf.Output{})
}

func transpose[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if c.Input(1).Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "perm must be rank 1, got shape %s", c.Input(1).Shape().String())
		}
		perm, err := intsOf(c.Input(1))
		if err != nil {
			return err
		}
		if perm, err = checkPerm(perm, x.Rank()); err != nil {
			return err
		}
		s := permuted(x.Shape(), perm)
		if keepsOrder(x.Shape(), perm) {
			c.ForwardShape(0, 0, s)
			return nil
		}
		out, err := c.Alloc(0, d, s)
		if err != nil || out.Len() == 0 {
			return err
		}
		layout.Transpose(c.ParallelFor, layout.NewTransposition(x.Shape(), perm), cells[C](out), cells[C](x))
		return nil
	}), nil
}

// keepsOrder reports whether perm leaves the elements in place: dimensions of
// more than one element stay in order.
func keepsOrder(s tf.Shape, perm []int) bool {
	last := -1
	for _, p := range perm {
		if s[p] == 1 {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

func invertShape(c *core.Infer) error {
	s, err := c.Rank(0, 1)
	c.Set(0, s)
	return err
}

func invertPermutation[I numeric.Index](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "invert_permutation expects a 1D vector.")
		}
		out, err := c.Alloc(0, d, x.Shape())
		if err != nil {
			return err
		}
		return invert(core.Data[I](out), core.Data[I](x))
	}), nil
}

// invert sets y to the inverse of perm. An element of y that is -1 is still free.
func invert[I numeric.Index](y, perm []I) error {
	kernel.Fill(y, -1)
	for i, p := range perm {
		switch {
		case p < 0 || int(p) >= len(y):
			return tf.Errorf(tf.InvalidArgument, "%d is not between 0 and %d", p, len(perm))
		case y[p] >= 0:
			return tf.Errorf(tf.InvalidArgument, "%d is duplicated in the input.", p)
		}
		y[p] = I(i)
	}
	return nil
}
