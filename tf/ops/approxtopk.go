package ops

import (
	"math"
	"math/bits"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ApproxTopK", In: "input: T", Out: "values: T; indices: int32",
		Attrs: "k: int >= 0; reduction_dimension: int = -1; recall_target: float = 0.95; is_max_k: bool = true; " +
			"reduction_input_size_override: int = -1; aggregate_to_topk: bool = true; T: {half, bfloat16, float}",
		Shape: approxTopKShape, Grad: tf.GradFunc(approxTopKGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: approxTopK(asItself[float32]()), tf.Float16: approxTopK(asFloat32[tf.Half]()), tf.BFloat16: approxTopK(asFloat32[tf.BF16]()),
		}),
	})
}

// ApproxTopKOpts are the optional attributes of ApproxTopK, for accelerators
// that find the greatest elements sooner if some of them may be missed.
type ApproxTopKOpts struct {
	RecallTarget float32 // the share to be found; 0 stands for TensorFlow's 0.95
	// Dimension is the one to look along; nil stands for the last.
	Dimension *int
	// Least asks for the least elements instead of the greatest.
	Least bool
	// KeepAll returns as many elements as an accelerator leaves over before it
	// chooses the k best of them.
	KeepAll bool
}

// Apply sets the attributes.
func (o ApproxTopKOpts) Apply(s *tf.Spec) {
	if o.RecallTarget != 0 {
		s.Set("recall_target", o.RecallTarget)
	}
	if o.Dimension != nil {
		s.Set("reduction_dimension", *o.Dimension)
	}
	s.Set("is_max_k", !o.Least)
	s.Set("aggregate_to_topk", !o.KeepAll)
}

// ApproxTopK returns the k greatest elements along a dimension of x, the best
// first, and their indices. On a CPU none is missed. The attributes are for
// the approximate method of Chern et al. (NeurIPS 2022, arXiv:2206.14286). x
// holds float16, bfloat16 or float32 numbers and has one dimension or more.
// Both results have its shape, but for the dimension looked along, which has
// size k; the indices are int32. A scalar x, a dimension that x does not
// have, one of fewer than k elements, and a recall target outside (0, 1] are
// refused with INVALID_ARGUMENT. Its options are [ApproxTopKOpts].
func ApproxTopK(x tf.Output, k int, opts ...tf.Option) (values, indices tf.Output) {
	out := outputs(2, "ApproxTopK", tf.Join(opts, tf.Attr("k", k)), x)
	return out[0], out[1]
}

func approxTopKShape(c *core.Infer) error {
	s := c.In(0).Clone()
	if s == nil {
		return nil
	}
	if len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 1 but is rank 0: input is a scalar")
	}
	k, recall := c.Int("k"), c.Float("recall_target")
	d := approxAxis(c.Node, len(s))
	switch {
	case d < 0 || d >= len(s):
		return tf.Errorf(tf.InvalidArgument, "Invalid reduction dimension: %d. Must be within the range of [%d, %d]", c.Int("reduction_dimension"), -len(s), len(s)-1)
	case s[d] < k:
		return tf.Errorf(tf.InvalidArgument, "input must have last dimension >= k = %d but was %d", k, s[d])
	case !(recall > 0 && recall <= 1):
		return tf.Errorf(tf.InvalidArgument, "Invalid recall target: %v. Valid value range in : [0, 1.0].", recall)
	}
	s[d] = approxSize(c.Node, s[d], len(s))
	c.Set(0, s)
	c.Set(1, s)
	return nil
}

// approxAxis returns the dimension to look along, which may not be there.
func approxAxis(n *core.Node, rank int) int {
	d := n.Int("reduction_dimension")
	if d < 0 {
		d += rank
	}
	return d
}

// approxSize returns how many of n elements the results have.
func approxSize(node *core.Node, n, rank int) int {
	k := node.Int("k")
	if node.Bool("aggregate_to_topk") {
		return k
	}
	return min(n, candidatesOfTopK(n, k, rank, float64(node.Float("recall_target")), node.Int("reduction_input_size_override")))
}

// candidatesOfTopK returns how many of n elements an accelerator leaves over if
// it need not choose among the last: TensorFlow's formula, made of the tiles
// that such a machine has.
func candidatesOfTopK(n, k, rank int, recall float64, override int) int {
	tile := 128
	if rank == 1 {
		tile = 1024
	}
	switch {
	case n <= tile || recall == 1:
		return n
	case k == 1:
		return tile
	}
	size := n
	if override >= 0 {
		size = override
	}
	least := min(max(int(float64(1-k)/math.Log(recall)), tile), n)
	halvings := bits.Len(uint(size/least)) - 1
	if halvings <= 0 {
		return n
	}
	halvings = min(halvings, bits.Len(uint(n/tile-1)))
	tiles := (n + tile - 1) / tile
	return (tiles + 1<<halvings - 1) >> halvings * tile
}

// approxTopK finds all of the best. TensorFlow's own kernel looks for the
// greatest along the last dimension only, and leaves the others to compilers.
func approxTopK(k computedIn[float32]) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		in := c.Input(0)
		s := in.Shape().Clone()
		axis := approxAxis(c.Node, len(s))
		switch {
		case len(s) == 0:
			return tf.Errorf(tf.InvalidArgument, "input must be >= 1-D, got shape []")
		case axis < 0 || axis >= len(s):
			return tf.Errorf(tf.InvalidArgument, "Invalid reduction dimension: %d. Must be within the range of [%d, %d]", c.Node.Int("reduction_dimension"), -len(s), len(s)-1)
		case s[axis] < c.Node.Int("k"):
			return tf.Errorf(tf.InvalidArgument, "input must have at least k columns. Had %d, needed %d", s[axis], c.Node.Int("k"))
		}
		s[axis] = approxSize(c.Node, s[axis], len(s))
		values, z, err := k.alloc(c, 0, in.DType(), s)
		if err != nil {
			return err
		}
		indices, err := c.Alloc(1, tf.Int32, s)
		if err != nil {
			return err
		}
		bestAlong(c, z, core.Data[int32](indices), k.load(c, in), in.Shape(), axis, s[axis])
		k.finish(values, z)
		return nil
	})
}

// bestAlong finds the best m elements along an axis of x, whose lines it makes
// rows for that.
func bestAlong(c *core.OpContext, values []float32, indices []int32, x []float32, s tf.Shape, axis, m int) {
	n, inner := s[axis], s[axis+1:].NumElements()
	outer := s[:axis].NumElements()
	rows := core.Borrow[float32](c, len(x))
	layout.TransposeNumbers(c.ParallelFor, layout.NewTransposition([]int{outer, n, inner}, []int{0, 2, 1}), rows, x)
	least := !c.Node.Bool("is_max_k")
	if least {
		elementwise.Neg(rows, rows)
	}
	best, at := core.Borrow[float32](c, outer*inner*m), core.Borrow[int64](c, outer*inner*m)
	reduction.TopK(c.ParallelFor, best, at, rows, n, m)
	if least {
		elementwise.Neg(best, best)
	}
	where := core.Make[int32](len(at))
	elementwise.Cast(where, at)
	back := layout.NewTransposition([]int{outer, inner, m}, []int{0, 2, 1})
	layout.TransposeNumbers(c.ParallelFor, back, values, best)
	layout.TransposeNumbers(c.ParallelFor, back, indices, where)
}

// approxTopKGrad puts the gradients where the values came from: it sums them up
// by line and index.
func approxTopKGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x := op.Input(0)
	shape := Shape(x)
	zero, one := intScalar(x, tf.Int32, 0), intScalar(x, tf.Int32, 1)
	rank := Size(shape)
	axis := intScalar(x, tf.Int32, op.Int("reduction_dimension"))
	last := FloorMod(axis, rank)
	dims := Range(nil, zero, rank, one)
	rest := apply("ListDiff", nil, dims, ExpandDims(last, zero))
	forth := ConcatV2([]tf.Output{rest, ExpandDims(last, zero)}, zero)
	lines := Transpose(dy[0], forth)
	n := pick(shape, last)
	k := pick(Shape(dy[0]), last)
	count := intVec(x, tf.Int32, -1)
	width := ConcatV2([]tf.Output{count, ExpandDims(k, zero)}, zero)
	at := Reshape(Transpose(op.Output(1), forth), width)
	g := Reshape(lines, width)
	height := pick(Shape(at), zero)
	starts := ExpandDims(Mul(Range(nil, zero, height, one), n), one)
	flat := apply("UnsortedSegmentSum", nil, Reshape(g, count), Reshape(AddV2(at, starts), count), Mul(height, n))
	dx := Transpose(Reshape(flat, pick(shape, forth)), apply("InvertPermutation", nil, forth))
	return tf.Grads(dx)
}
