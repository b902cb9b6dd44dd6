package ragged

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "RaggedGather", In: "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits; params_dense_values: Tvalues; indices: Tindices",
		Out:   "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits; output_dense_values: Tvalues",
		Attrs: "Tvalues: type; Tindices: {int32, int64}; Tsplits: {int32, int64} = int64; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0",
		Shape: gatherShape, Grad: tf.GradFunc(gatherGrad), Kernels: core.ByType("Tvalues", sameFor(gather)),
	})
}

// RaggedGather returns the rows of a ragged tensor, given as row splits and
// values, that indices name; every dimension of indices but the first adds one
// to the splits. Rank is that of indices. The splits are int32 or int64
// vectors, the indices int32 or int64, the values have one dimension or more
// and any type but resource and variant. Splits of other shapes and indices of
// another rank are refused with INVALID_ARGUMENT, when the graph is built if
// the shapes are known, else in the step; so are, in the step, an index that
// no row has, splits that are empty, not sorted, or point past the values, and
// int32 splits where the result needs larger numbers.
func RaggedGather(splits []tf.Output, values, indices tf.Output, rank int, opts ...tf.Option) (outSplits []tf.Output, outValues tf.Output) {
	in := append(append([]tf.Output{}, splits...), values, indices)
	n := len(splits) + rank - 1
	op := tf.Apply(nil, "RaggedGather", in, tf.Join(opts, tf.Attr("PARAMS_RAGGED_RANK", len(splits)), tf.Attr("OUTPUT_RAGGED_RANK", n))...)
	n = author.Results(op, n)
	for i := range n {
		outSplits = append(outSplits, op.Output(i))
	}
	return outSplits, op.Output(n)
}

func gatherShape(c *core.Infer) error {
	n, out := c.Int("PARAMS_RAGGED_RANK"), c.Int("OUTPUT_RAGGED_RANK")
	if err := splitsRank(c, n); err != nil {
		return err
	}
	if s := c.In(n + 1); s != nil && len(s)-1+n != out {
		return invalid("Shape must be rank %d but is rank %d", out-n+1, len(s))
	}
	for i := range out {
		c.Set(i, tf.Shape{-1})
	}
	if s := c.In(n); len(s) > 0 {
		c.Set(out, append(tf.Shape{-1}, s[1:]...))
	}
	return nil
}

// gatherGrad gives the gradients of values back to where these were taken from.
func gatherGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	grads := make([]tf.Gradient, len(op.Inputs()))
	n := len(grads) - 2
	values, indices := op.Input(n), op.Input(n+1)
	bounds := op.Input(0)
	for i := 1; i < n; i++ {
		bounds = ops.Gather(op.Input(i), bounds, 0)
	}
	g := values.Graph()
	flat := ops.Reshape(indices, ops.Const(g, []int32{-1}))
	begin, end := ops.Const(g, []int32{1}), ops.Const(g, []int32{-1})
	_, rows := RaggedRange(ops.Gather(bounds, flat, 0), ops.Gather(ops.Slice(bounds, begin, end), flat, 0), one(bounds), SplitsOpts{bounds.DType()})
	grads[n] = tf.Sparse(tf.IndexedSlices{Values: dy[len(dy)-1], Indices: rows, DenseShape: ops.Shape(values)})
	return grads
}

// one returns 1 in the type of x, int32 or int64.
func one(x tf.Output) tf.Output {
	if x.DType() == tf.Int32 {
		return ops.Scalar(x.Graph(), int32(1))
	}
	return ops.Scalar(x.Graph(), int64(1))
}

func gather(n *core.Node) (core.Kernel, error) {
	rank, out, d := n.Int("PARAMS_RAGGED_RANK"), n.Int("OUTPUT_RAGGED_RANK"), n.Type("Tsplits")
	return core.Compute(func(c *core.OpContext) error {
		splits, err := splitsOf(c, rank)
		if err != nil {
			return err
		}
		values, indices := c.Input(rank), c.Input(rank+1)
		at, err := checkGather(c, splits, values, indices)
		if err != nil {
			return err
		}
		if indices.Rank()-1+rank != out {
			return invalid("OUTPUT_RAGGED_RANK must be %d for indices of rank %d, got %d", indices.Rank()-1+rank, indices.Rank(), out)
		}
		g := &gathered{splits: splits, out: outerSplits(indices.Shape(), out)}
		g.reserve(at, indices.Rank()-1)
		for _, i := range at {
			g.take(i, indices.Rank()-1)
		}
		for i, s := range g.out {
			if err := allocInts(c, i, d, s); err != nil {
				return err
			}
		}
		return g.writeValues(c, out, values)
	}), nil
}

// checkGather checks the inputs and returns the indices.
func checkGather(c *core.OpContext, splits [][]int, values, indices *core.Tensor) ([]int, error) {
	at, err := indices.Ints()
	if err != nil {
		return nil, err
	}
	for i, v := range at {
		if n := len(splits[0]) - 1; v < 0 || v >= n {
			return nil, invalid("indices%s = %d is not in [0, %d)", position(indices.Shape(), i), v, n)
		}
	}
	if values.Rank() == 0 {
		return nil, invalid("params.rank must be nonzero")
	}
	for dim, s := range splits {
		if c.Input(dim).Rank() != 1 {
			return nil, invalid("Invalid ragged splits: ragged splits must be rank 1 but is rank %d", c.Input(dim).Rank())
		}
		most := values.Dim(0)
		if dim+1 < len(splits) {
			most = max(len(splits[dim+1])-1, 0) // none at all are refused for that
		}
		if err := checkGatherSplits(s, most); err != nil {
			return nil, err
		}
	}
	return at, nil
}

func checkGatherSplits(s []int, most int) error {
	switch {
	case len(s) == 0:
		return invalid("Ragged splits may not be empty")
	case s[0] < 0:
		return invalid("Ragged splits must be non-negative")
	case s[len(s)-1] > most:
		return invalid("Ragged splits must not point past values")
	}
	for i := 1; i < len(s); i++ {
		if s[i-1] > s[i] {
			return invalid("Ragged splits must be sorted")
		}
	}
	return nil
}

// position formats element i of a tensor of shape s as its indices: "[1,2]".
func position(s tf.Shape, i int) string {
	if len(s) == 0 {
		return ""
	}
	at := make([]string, len(s))
	for k := len(s) - 1; k >= 0; k-- {
		at[k] = fmt.Sprint(i % s[k])
		i /= s[k]
	}
	return "[" + strings.Join(at, ",") + "]"
}

// gathered collects the result of a gather.
type gathered struct {
	splits [][]int
	out    [][]int
	from   []int // where the runs of values begin
	to     []int // and end
	n      int   // values
}

// outerSplits returns n row splits, of which those are filled that the
// dimensions of indices make.
func outerSplits(indices tf.Shape, n int) [][]int {
	out := core.Make[[]int](n)
	count := 1
	for dim := range out {
		if dim+1 >= len(indices) {
			out[dim] = []int{0}
			continue
		}
		count *= indices[dim]
		out[dim] = core.Make[int](count + 1) // also where indices have no elements
		for i := range out[dim] {
			out[dim][i] = i * indices[dim+1]
		}
	}
	return out
}

// reserve makes room for the splits of rows: few elements of indices may name many.
func (g *gathered) reserve(at []int, outer int) {
	sizes := make([]int, len(g.out))
	for _, i := range at {
		start, limit := i, i+1
		for dim, s := range g.splits {
			if k := outer + dim; k >= 0 {
				sizes[k] += limit - start
			}
			start, limit = s[start], s[limit]
		}
	}
	for k, n := range sizes {
		if n > 0 {
			own := core.Make[int](len(g.out[k]) + n)
			g.out[k] = own[:copy(own, g.out[k])]
		}
	}
}

// take adds row i. Its splits come after the outer ones.
func (g *gathered) take(i, outer int) {
	start, limit := i, i+1
	for dim, s := range g.splits {
		if k := outer + dim; k >= 0 {
			delta := g.out[k][len(g.out[k])-1] - s[start]
			for j := start; j < limit; j++ {
				g.out[k] = append(g.out[k], s[j+1]+delta)
			}
		}
		start, limit = s[start], s[limit]
	}
	if start < limit {
		g.from, g.to = append(g.from, start), append(g.to, limit)
		g.n += limit - start
	}
}

// writeValues makes the runs of values output i.
func (g *gathered) writeValues(c *core.OpContext, i int, values *core.Tensor) error {
	out, err := c.Alloc(i, values.DType(), append(tf.Shape{g.n}, values.Shape()[1:]...))
	if err != nil {
		return err
	}
	w, at, move := width(values), 0, rows.Mover(out, values)
	for k, from := range g.from {
		n := (g.to[k] - from) * w
		move(at, from*w, n)
		at += n
	}
	return nil
}
