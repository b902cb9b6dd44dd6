package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{"dot": checked(2, dot), "dot_general": checked(2, dotGeneral)})
}

// dot multiplies vectors and matrices.
func dot(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	x, y := len(op.Operands[0].Type.Shape), len(op.Operands[1].Type.Shape)
	if x < 1 || x > 2 || y < 1 || y > 2 {
		return nil, refused(op, "it takes vectors and matrices, got ranks %d and %d", x, y)
	}
	p := &contraction{l: l, op: op, x: side{of: in[0], sum: []int{x - 1}}, y: side{of: in[1], sum: []int{0}}}
	return p.add()
}

// dotGeneral sums products over some dimensions, for each place in others.
func dotGeneral(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := reading{op: op}
	x, y := len(op.Operands[0].Type.Shape), len(op.Operands[1].Type.Shape)
	p := &contraction{l: l, op: op,
		x: side{of: in[0], batch: r.dims("lhs_batching_dimensions", x), sum: r.dims("lhs_contracting_dimensions", x)},
		y: side{of: in[1], batch: r.dims("rhs_batching_dimensions", y), sum: r.dims("rhs_contracting_dimensions", y)}}
	if r.err == nil && (len(p.x.batch) != len(p.y.batch) || len(p.x.sum) != len(p.y.sum)) {
		r.fail("its operands must have equally many dimensions of batches, and of sums")
	}
	if r.err == nil && (overlap(p.x.batch, p.x.sum) || overlap(p.y.batch, p.y.sum)) {
		r.fail("a dimension must not be one of batches and one of sums")
	}
	if r.err != nil {
		return nil, r.err
	}
	return p.add()
}

func overlap(a, b []int) bool {
	return slices.ContainsFunc(a, func(d int) bool { return slices.Contains(b, d) })
}

// A side is an operand of a product: its dimensions are those of batches, those that
// are summed over, and the free ones.
type side struct {
	of         tf.Output
	batch, sum []int
	free       []int
	sizes      []size
}

// contraction is the product of two tensors under construction.
type contraction struct {
	l    *lowering
	op   *stablehlo.Op
	x, y side
}

func (p *contraction) add() ([]tf.Output, error) {
	d, err := typeOf(p.op, p.op.Results[0].Type)
	if err != nil {
		return nil, err
	}
	for i, s := range []*side{&p.x, &p.y} {
		s.sizes = sizesOf(s.of, p.op.Operands[i].Type)
		for k := range s.sizes {
			if !slices.Contains(s.batch, k) && !slices.Contains(s.sum, k) {
				s.free = append(s.free, k)
			}
		}
	}
	w := productType(d)
	for _, s := range []*side{&p.x, &p.y} {
		if s.of.DType().Base() != w {
			s.of = ops.Cast(s.of, w)
		}
	}
	out := p.multiply()
	switch {
	case d == tf.Bool:
		out = ops.NotEqual(out, p.l.number(w, 0))
	case w != d:
		out = ops.Cast(out, d)
	}
	if len(p.x.free) == 1 && len(p.y.free) == 1 {
		return []tf.Output{out}, nil // matrices as they are
	}
	return []tf.Output{p.l.reshape(out, p.sizes())}, nil
}

// productType is the type to compute products of matrices with: that of the result, or a
// wider one.
func productType(d tf.DType) tf.DType {
	if d == tf.Bool {
		return tf.Int32
	}
	for w := d; w != tf.Invalid; w = wider[w] {
		if hasKernel("MatMul", w) && hasKernel("BatchMatMulV2", w) {
			return w
		}
	}
	return d
}

// multiply makes matrices of both sides. A side that has its dimensions in the order of
// either factor is used as it is.
func (p *contraction) multiply() tf.Output {
	x, adjX := p.l.factor(&p.x, p.x.free, p.x.sum)
	y, adjY := p.l.factor(&p.y, p.y.sum, p.y.free)
	if len(p.x.batch) == 0 {
		return tf.Apply(p.l.g, "MatMul", []tf.Output{x, y}, tf.Attr("transpose_a", adjX), tf.Attr("transpose_b", adjY)).Output(0)
	}
	return tf.Apply(p.l.g, "BatchMatMulV2", []tf.Output{x, y}, tf.Attr("adj_x", adjX), tf.Attr("adj_y", adjY)).Output(0)
}

// factor returns a side as matrices, rows by columns, and whether they are transposed.
func (l *lowering) factor(s *side, rows, columns []int) (x tf.Output, transposed bool) {
	order := slices.Concat(s.batch, rows, columns)
	if other := slices.Concat(s.batch, columns, rows); !slices.IsSorted(order) && slices.IsSorted(other) && !isComplex(s.of.DType().Base()) {
		order, rows, columns, transposed = other, columns, rows, true
	}
	x = l.transposed(s.of, order)
	sizes := make([]size, 0, len(s.batch)+2)
	for _, d := range s.batch {
		sizes = append(sizes, s.sizes[d])
	}
	return l.flattened(x, sizes, s, rows, columns), transposed
}

// flattened makes one dimension of the rows and one of the columns.
func (l *lowering) flattened(x tf.Output, batch []size, s *side, rows, columns []int) tf.Output {
	if len(rows) == 1 && len(columns) == 1 {
		return x
	}
	of := func(dims []int) size {
		sizes := make([]size, len(dims))
		for i, d := range dims {
			sizes[i] = s.sizes[d]
		}
		return product(sizes)
	}
	return l.reshape(x, append(batch, of(rows), of(columns)))
}

// sizes are those of the result.
func (p *contraction) sizes() []size {
	var out []size
	for _, d := range p.x.batch {
		out = append(out, p.x.sizes[d])
	}
	for _, s := range []*side{&p.x, &p.y} {
		for _, d := range s.free {
			out = append(out, s.sizes[d])
		}
	}
	return out
}
