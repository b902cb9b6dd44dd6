package text

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ReduceJoin", In: "inputs: string; reduction_indices: int32", Out: "output: string",
		Attrs: "keep_dims: bool = false; separator: string = ''",
		Shape: reduceJoinShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(reduceJoin),
	})
}

// ReduceJoinOpts are the optional attributes of ReduceJoin: whether dimensions
// stay, with size 1, and what comes between the strings.
type ReduceJoinOpts struct {
	KeepDims  bool
	Separator string
}

// Apply sets the attributes.
func (o ReduceJoinOpts) Apply(s *tf.Spec) {
	s.Set("keep_dims", o.KeepDims)
	s.Set("separator", o.Separator)
}

// ReduceJoin joins the strings of x along the dimensions that axes, int32,
// lists; the first that is listed varies fastest. Negative axes count from the
// end; without axes the strings stay as they are, and with KeepDims joined
// dimensions have size 1. The join of no strings is empty. An axis that x does
// not have is refused when the graph is built with INVALID_ARGUMENT, and with
// OUT_OF_RANGE where it is known only in the step; an axis that is listed
// twice with INVALID_ARGUMENT in the step. Its options are [ReduceJoinOpts].
func ReduceJoin(x, axes tf.Output, opts ...tf.Option) tf.Output {
	return apply("ReduceJoin", opts, x, axes)
}

func reduceJoinShape(c *core.Infer) error {
	x, keep := c.In(0), c.Bool("keep_dims")
	axes, known := c.ConstInts(1)
	if r := len(c.In(1)); r > 1 {
		return invalid("Shape must be at most rank 1 but is rank %d", r)
	}
	if x == nil {
		return nil
	}
	if !known {
		if keep {
			c.Set(0, unknownSizes(len(x)))
		}
		return nil
	}
	joined := core.Make[bool](len(x))
	for _, a := range axes {
		if a < -len(x) || a >= len(x) {
			return invalid("Invalid reduction dimension %d for input with %d dimensions.", a, len(x))
		}
		joined[(a+len(x))%len(x)] = true
	}
	c.Set(0, joinedShape(x, joined, keep))
	return nil
}

func unknownSizes(rank int) tf.Shape {
	s := make(tf.Shape, rank)
	for i := range s {
		s[i] = -1
	}
	return s
}

// joinedShape returns what x becomes when the marked dimensions are joined.
func joinedShape(x tf.Shape, joined []bool, keep bool) tf.Shape {
	s := tf.Shape{}
	for i, d := range x {
		switch {
		case !joined[i]:
			s = append(s, d)
		case keep:
			s = append(s, 1)
		}
	}
	return s
}

func reduceJoin(n *core.Node) (core.Kernel, error) {
	keep, sep := n.Bool("keep_dims"), n.Str("separator")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		axes, joined, err := joinAxes(c.Input(1), x.Rank())
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.String, joinedShape(x.Shape(), joined, keep))
		if err != nil {
			return err
		}
		if x.Len() == 0 { // what is joined may have any size
			clear(core.Data[string](out))
			return nil
		}
		joinAll(c, core.Data[string](out), axes, joined, sep)
		return nil
	}), nil
}

func joinAll(c *core.OpContext, y []string, axes []int, joined []bool, sep string) {
	var kept []int
	for i, j := range joined {
		if !j {
			kept = append(kept, i)
		}
	}
	x := c.Input(0)
	slices.Reverse(axes)
	in, from, within := core.Data[string](x), offsets(x.Shape(), kept), offsets(x.Shape(), axes)
	c.ParallelFor(len(y), max(1, grain/len(within)), func(lo, hi int) {
		parts := core.Make[string](len(within))
		for i := lo; i < hi; i++ {
			for k, at := range within {
				parts[k] = in[from[i]+at]
			}
			y[i] = core.Join(parts, sep)
		}
	})
}

// joinAxes reads the dimensions to join and marks them.
func joinAxes(t *core.Tensor, rank int) (axes []int, joined []bool, err error) {
	joined = make([]bool, rank)
	for _, a := range core.Data[int32](t) {
		axis := int(a)
		if axis < -rank || axis >= rank {
			return nil, nil, tf.Errorf(tf.OutOfRange, "Invalid reduction dimension %d for input with %d dimension(s)", a, rank)
		}
		if axis < 0 {
			axis += rank
		}
		if joined[axis] {
			return nil, nil, invalid("Duplicate reduction dimension %d", a)
		}
		joined[axis] = true
		axes = append(axes, axis)
	}
	return axes, joined, nil
}

// offsets lists how far from the first element those lie that differ from it in
// the given dimensions only, the first of which varies slowest.
func offsets(s tf.Shape, axes []int) []int {
	out := []int{0}
	for _, a := range axes {
		stride, next := s[a+1:].NumElements(), core.Make[int](len(out) * s[a])[:0]
		for _, o := range out {
			for i := range s[a] {
				next = append(next, o+i*stride)
			}
		}
		out = next
	}
	return out
}
