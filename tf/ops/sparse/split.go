package sparse

import (
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseSplit", In: "split_dim: int64; indices: int64; values: T; shape: int64",
		Out:   "output_indices: num_split * int64; output_values: num_split * T; output_shape: num_split * int64",
		Attrs: "num_split: int >= 1; T: type",
		Shape: splitShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(split, anything...)),
	})
	core.Register(core.OpDef{
		Name: "SparseConcat", In: "indices: N * int64; values: N * T; shapes: N * int64", Out: "output_indices: int64; output_values: T; output_shape: int64",
		Attrs: "concat_dim: int; N: int >= 2; T: type",
		Shape: concatShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", sameFor(concat, anything...)),
	})
}

// SparseSplit cuts t into n parts along a dimension, an int64 scalar. Where
// its size is not a multiple of n, the first parts are larger by one. t has
// any type; a negative dim counts from the end. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. A dim out of range, n greater
// than its size, and indices out of bounds fail with INVALID_ARGUMENT in the
// step.
func SparseSplit(dim tf.Output, t Tensor, n int, opts ...tf.Option) []Tensor {
	op := tf.Apply(nil, "SparseSplit", append([]tf.Output{dim}, flat(t)...), tf.Join(opts, tf.Attr("num_split", n))...)
	n = author.Results(op, n)
	parts := make([]Tensor, n)
	for i := range parts {
		parts[i] = Tensor{op.Output(i), op.Output(n + i), op.Output(2*n + i)}
	}
	return parts
}

// SparseConcat joins two or more sparse tensors along a dimension, in which
// alone their shapes may differ. All have one type, of any kind; a negative
// dim counts from the end. The result is in order. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. A dim out of range and other
// shapes fail with INVALID_ARGUMENT in the step.
func SparseConcat(dim int, ts []Tensor, opts ...tf.Option) Tensor {
	in := make([]tf.Output, 3*len(ts))
	for i, t := range ts {
		in[i], in[len(ts)+i], in[2*len(ts)+i] = t.Indices, t.Values, t.DenseShape
	}
	return tensorOf(tf.Apply(nil, "SparseConcat", in, tf.Join(opts, tf.Attr("concat_dim", dim), tf.Attr("N", len(ts)))...))
}

func splitShape(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	rank, err := knownRank(c, 1)
	n := c.Int("num_split")
	for i := range n {
		c.Set(i, tf.Shape{-1, rank})
		c.Set(n+i, tf.Shape{-1})
		c.Set(2*n+i, tf.Shape{rank})
	}
	return err
}

func concatShape(c *core.Infer) error {
	n, total, rank := c.NumIn()/3, 0, -1
	for i := range n {
		at, err := c.Rank(i, 2)
		if err != nil {
			return err
		}
		vals, err := c.Rank(n+i, 1)
		if err != nil {
			return err
		}
		s, err := c.Rank(2*n+i, 1)
		if err != nil {
			return err
		}
		count, err := mergeDim(at[0], vals[0])
		if err != nil {
			return err
		}
		if total < 0 || count < 0 {
			total = -1
		} else {
			total += count
		}
		for _, r := range []int{at[1], s[0]} {
			if rank, err = mergeDim(rank, r); err != nil {
				return err
			}
		}
	}
	setSparse(c, 0, rank)
	c.Set(0, tf.Shape{total, rank})
	c.Set(1, tf.Shape{total})
	return nil
}

func split(n *core.Node) (core.Kernel, error) {
	parts := n.Int("num_split")
	return core.Compute(func(c *core.OpContext) error {
		t, dim, err := splitInput(c, parts)
		if err != nil {
			return err
		}
		size, more := t.shape[dim]/parts, t.shape[dim]%parts
		kept := core.Make[[]int](parts)
		for i := range t.n {
			p := partOf(int(t.index(i)[dim]), size, more)
			kept[p] = append(kept[p], i)
		}
		for p, order := range kept {
			begin := p*size + min(p, more)
			shape := t.shape.Clone()
			shape[dim] = size
			if p < more {
				shape[dim]++
			}
			if err := t.writePart(c, p, parts, order, dim, int64(begin)); err != nil {
				return err
			}
			if err := allocShape(c, 2*parts+p, shape); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// partOf returns which part index i is in, when the first parts, more in
// number, are larger by one than size.
func partOf(i, size, more int) int {
	if large := more * (size + 1); i >= large {
		return more + (i-large)/size
	}
	return i / (size + 1)
}

// writePart makes values of t part p of a split, whose indices begin at begin.
func (t *coo) writePart(c *core.OpContext, p, parts int, order []int, dim int, begin int64) error {
	at, err := c.Alloc(p, tf.Int64, tf.Shape{len(order), t.rank})
	if err != nil {
		return err
	}
	vals, err := c.Alloc(parts+p, t.values.DType(), tf.Shape{len(order)})
	if err != nil {
		return err
	}
	dst, put := core.Data[int64](at), rows.Mover(vals, t.values)
	for k, i := range order {
		copy(dst[k*t.rank:], t.index(i))
		dst[k*t.rank+dim] -= begin
		put(k, i, 1)
	}
	return nil
}

func splitInput(c *core.OpContext, parts int) (*coo, int, error) {
	d, at, vals, shape := c.Input(0), c.Input(1), c.Input(2), c.Input(3)
	if d.Rank() != 0 {
		return nil, 0, invalid("Input axis should be a scalar but received shape %s", d.Shape().String())
	}
	if err := checkParts(at, vals, shape); err != nil {
		return nil, 0, err
	}
	rank := shape.Len()
	dim := core.Data[int64](d)[0]
	axis := dim
	if dim < 0 {
		axis += int64(rank)
	}
	if axis < 0 || axis >= int64(rank) {
		return nil, 0, invalid("Input axis should be in range [%d, %d), got %d", -rank, rank, dim)
	}
	if size := core.Data[int64](shape)[axis]; int64(parts) > size {
		return nil, 0, invalid("Input num_split should be between 1 and the splitting dimension size (%d), got %d", size, parts)
	}
	for _, d := range core.Data[int64](shape) {
		if d < 0 {
			return nil, 0, invalid("Expected a non-negative size, got %d", d)
		}
	}
	t, err := bounded(at, vals, shape)
	return t, int(axis), err
}

func concat(n *core.Node) (core.Kernel, error) {
	dim := n.Int("concat_dim")
	return core.Compute(func(c *core.OpContext) error {
		ts, axis, err := concatInputs(c, dim)
		if err != nil {
			return err
		}
		all := join(ts, axis)
		order := all.order()
		if order == nil {
			order = core.Make[int](all.n)
			for i := range order {
				order[i] = i
			}
		}
		if err := checkSizes(all.shape); err != nil {
			return err
		}
		if err := all.write(c, order); err != nil {
			return err
		}
		return allocShape(c, 2, all.shape)
	}), nil
}

// concatInputs reads the inputs, a list of each part of sparse tensors.
func concatInputs(c *core.OpContext, dim int) (ts []*coo, axis int, err error) {
	n := c.Inputs() / 3
	if err := concatRanks(c, n); err != nil {
		return nil, 0, err
	}
	for i := range n {
		s, err := sizes(c.Input(2*n + i))
		if err != nil {
			return nil, 0, err
		}
		t, err := newCOO(c.Input(i), c.Input(n+i), s)
		if i > 0 && len(s) != ts[0].rank {
			return nil, 0, invalid("Ranks of all input tensors must match: expected %d but got %d at position %d", ts[0].rank, len(s), i)
		}
		if err != nil {
			return nil, 0, err
		}
		ts = append(ts, t)
	}
	rank := ts[0].rank
	if axis = dim; dim < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return nil, 0, invalid("Concat dimension must be in range [%d, %d), got %d", -rank, rank, dim)
	}
	return ts, axis, checkConcat(ts, axis)
}

// concatRanks checks the ranks of the lists of parts.
func concatRanks(c *core.OpContext, n int) error {
	for list, part := range []struct {
		rank       int
		name, kind string
	}{{2, "indices", "matrix"}, {1, "values", "vector"}, {1, "shapes", "vector"}} {
		for i := range n {
			if s := c.Input(list*n + i).Shape(); len(s) != part.rank {
				return invalid("Input %s should be a %s but received shape %s at position %d", part.name, part.kind, s.String(), i)
			}
		}
	}
	return nil
}

// checkConcat wants shapes that are equal but for one dimension.
func checkConcat(ts []*coo, axis int) error {
	for i, t := range ts {
		for k, size := range ts[0].shape {
			if k != axis && t.shape[k] != size {
				return invalid("Input shapes must match: expected %d for dimension %d but got %d at position %d", size, k, t.shape[k], i)
			}
		}
	}
	return nil
}

// join puts sparse tensors behind each other along a dimension.
func join(ts []*coo, axis int) *coo {
	all := &coo{rank: ts[0].rank, shape: ts[0].shape.Clone()}
	all.shape[axis] = 0
	for _, t := range ts {
		from := len(all.at)
		all.at = append(all.at, t.at...)
		for k := from + axis; k < len(all.at); k += all.rank {
			all.at[k] += int64(all.shape[axis])
		}
		all.shape[axis] += t.shape[axis]
		all.n += t.n
	}
	all.values = core.NewTensor(ts[0].values.DType(), tf.Shape{all.n})
	to := 0
	for _, t := range ts {
		rows.Mover(all.values, t.values)(to, 0, t.n)
		to += t.n
	}
	return all
}
