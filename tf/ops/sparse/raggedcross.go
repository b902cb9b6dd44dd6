package sparse

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RaggedCross", In: "ragged_values: ragged_values_types; ragged_row_splits: ragged_splits_types; sparse_indices: Nsparse * int64; " +
			"sparse_values: sparse_values_types; sparse_shape: Nsparse * int64; dense_inputs: dense_types",
		Out: "output_values: out_values_type; output_row_splits: out_row_splits_type",
		Attrs: "Nsparse: int >= 0; input_order: string; hashed_output: bool; num_buckets: int >= 0; hash_key: int; " +
			"ragged_values_types: list({int64, string}) >= 0; ragged_splits_types: list({int32, int64}) >= 0; " +
			"sparse_values_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0; " +
			"out_values_type: {int64, string}; out_row_splits_type: {int32, int64}",
		Shape: raggedCrossShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(raggedCross),
	})
}

// A RaggedMatrix names the outputs that are a matrix together whose rows differ
// in length: Splits says where the rows of Values begin and the last ends.
type RaggedMatrix struct{ Values, Splits tf.Output }

// RaggedCross is SparseCross with ragged matrices among the inputs, and as
// the result. Order has a letter for each input: R for a ragged, S for a
// sparse and D for a dense one. Splits of the result are int64. Elements of a
// sparse input that are out of order belong to the row of the one before; those
// from the first one out of bounds on do not count. Inputs that are no
// matrices, different numbers of rows, and an order that does not fit the
// inputs fail with INVALID_ARGUMENT in the step. Other errors are those of
// SparseCross.
func RaggedCross(g *tf.Graph, order string, ragged []RaggedMatrix, sparse []Tensor, dense []tf.Output, hash *CrossHash, opts ...tf.Option) RaggedMatrix {
	var in [5][]tf.Output
	for _, m := range ragged {
		in[0], in[1] = append(in[0], m.Values), append(in[1], m.Splits)
	}
	for _, t := range sparse {
		in[2], in[3], in[4] = append(in[2], t.Indices), append(in[3], t.Values), append(in[4], t.DenseShape)
	}
	own := []tf.Option{
		tf.Attr("Nsparse", len(sparse)), tf.Attr("input_order", order), tf.Attr("hashed_output", hash != nil), tf.Attr("num_buckets", 0), tf.Attr("hash_key", 0),
		tf.Attr("ragged_values_types", typesOf(in[0])), tf.Attr("ragged_splits_types", typesOf(in[1])), tf.Attr("sparse_values_types", typesOf(in[3])),
		tf.Attr("dense_types", typesOf(dense)), tf.Attr("out_values_type", tf.String), tf.Attr("out_row_splits_type", tf.Int64),
	}
	if hash != nil {
		own = append(own, tf.Attr("out_values_type", tf.Int64), tf.Attr("num_buckets", hash.Buckets), tf.Attr("hash_key", hash.Key))
	}
	op := tf.Apply(g, "RaggedCross", append(slices.Concat(in[:]...), dense...), tf.Join(opts, own...)...)
	return RaggedMatrix{op.Output(0), op.Output(1)}
}

func typesOf(xs []tf.Output) []tf.DType {
	types := make([]tf.DType, len(xs))
	for i, x := range xs {
		types[i] = x.DType()
	}
	return types
}

func raggedCrossShape(c *core.Infer) error {
	c.Set(0, tf.Shape{-1})
	c.Set(1, tf.Shape{-1})
	return nil
}

// raggedInputs says where the parts of the inputs of a RaggedCross begin.
type raggedInputs struct {
	ragged, sparse, dense int // how many there are of each kind
	order                 string
}

func newRaggedInputs(n *core.Node) (raggedInputs, error) {
	in := raggedInputs{len(n.TypesAttr("ragged_values_types")), n.Int("Nsparse"), len(n.TypesAttr("dense_types")), n.Str("input_order")}
	switch {
	case in.ragged != len(n.TypesAttr("ragged_splits_types")):
		return in, invalid("ragged values and splits must have the same length")
	case in.sparse != len(n.TypesAttr("sparse_values_types")):
		return in, invalid("sparse indices and values must have the same length")
	case in.ragged+in.sparse+in.dense != len(in.order):
		return in, invalid("Invalid length for input_order")
	}
	return in, nil
}

func raggedCross(n *core.Node) (core.Kernel, error) {
	in, err := newRaggedInputs(n)
	if err != nil {
		return nil, err
	}
	buckets, key := uint64(n.Int("num_buckets")), uint64(n.Int("hash_key"))
	hashed, d := n.Type("out_values_type") == tf.Int64, n.Type("out_row_splits_type")
	return core.Compute(func(c *core.OpContext) error {
		cols, err := in.columns(c)
		if err != nil {
			return err
		}
		if hashed {
			return writeRagged(c, cols, d, chained(cols.list, key, buckets))
		}
		return writeRagged(c, cols, d, joined(cols.list, "_X_"))
	}), nil
}

// columns reads the inputs in their order.
func (in raggedInputs) columns(c *core.OpContext) (*crossColumns, error) {
	cols := &crossColumns{rows: -1}
	var ragged, sparse, dense int
	for _, kind := range in.order {
		if err := in.checkKind(kind, ragged, sparse, dense); err != nil {
			return nil, err
		}
		var col *crossColumn
		var err error
		rows := 0
		switch kind {
		case 'R':
			col, rows, err = raggedColumn(c.Input(ragged), c.Input(in.ragged+ragged))
			ragged++
		case 'S':
			at := 2*in.ragged + sparse
			col, rows, err = sparseColumn(c.Input(at), c.Input(at+in.sparse), c.Input(at+2*in.sparse), sparse)
			sparse++
		case 'D':
			col, rows, err = denseColumn(c.Input(2*in.ragged + 3*in.sparse + dense))
			dense++
		}
		if err != nil {
			return nil, err
		}
		if cols.rows >= 0 && rows != cols.rows {
			return nil, invalid("inputs must all have the same batch dimension size.")
		}
		cols.rows, cols.list = rows, append(cols.list, col)
	}
	cols.rows = max(cols.rows, 0)
	return cols, nil
}

// checkKind wants a kind of input, R, S or D, of which there is one more than have been
// read.
func (in raggedInputs) checkKind(kind rune, ragged, sparse, dense int) error {
	switch {
	case kind == 'R' && ragged >= in.ragged:
		return invalid("input_order \"%s\" specifies reading a ragged tensor value at index %d from a list of %d values.", in.order, ragged, in.ragged)
	case kind == 'S' && sparse >= in.sparse:
		return invalid("input_order \"%s\" specifies reading a sparse tensor value at index %d from a list of %d values.", in.order, sparse, in.sparse)
	case kind == 'D' && dense >= in.dense:
		return invalid("input_order \"%s\" specifies reading a dense tensor at index %d from a list of %d tensors.", in.order, dense, in.dense)
	case kind != 'R' && kind != 'S' && kind != 'D':
		return invalid("Unexpected input_order value.")
	}
	return nil
}

var errNotMatrix = invalid("tf.ragged.cross only supports inputs with rank=2.")

func raggedColumn(values, splits *core.Tensor) (*crossColumn, int, error) {
	if values.Rank() != 1 || splits.Rank() != 1 {
		return nil, 0, errNotMatrix
	}
	s, err := splits.Ints()
	if err != nil {
		return nil, 0, err
	}
	if err := rows.VerifySplits(s, values.Len()); err != nil {
		return nil, 0, err
	}
	col := newColumn(values)
	col.sparse = true
	for row := range len(s) - 1 {
		if s[row] < s[row+1] {
			col.runs = append(col.runs, crossRun{row, s[row], s[row+1]})
		}
	}
	return col, len(s) - 1, nil
}

func sparseColumn(at, values, shape *core.Tensor, i int) (*crossColumn, int, error) {
	if at.Rank() != 2 || values.Rank() != 1 || shape.Rank() != 1 || at.Dim(0) != values.Len() {
		return nil, 0, invalid("Invalid SparseTensor %d", i)
	}
	if shape.Len() != 2 || at.Dim(1) != 2 {
		return nil, 0, errNotMatrix
	}
	n := core.Data[int64](shape)[0]
	if n < 0 || n > math.MaxInt32 {
		return nil, 0, invalid("Invalid SparseTensor %d", i)
	}
	col := newColumn(values)
	col.sparse, col.runs = true, raggedRuns(at, int(n))
	return col, int(n), nil
}

// raggedRuns returns the runs of elements of a sparse input up to the first that is out of bounds. As in
// TensorFlow, and other than in SparseCross, one that is out of order belongs to the row before it.
func raggedRuns(at *core.Tensor, rows int) (runs []crossRun) {
	v, n := core.Data[int64](at), at.Dim(0)
	runs = newRuns(min(n, rows))
	last := int64(0)
	for lo := 0; lo < n; {
		row := max(last, v[2*lo])
		if row >= int64(rows) {
			return runs
		}
		hi := lo + 1
		for hi < n && v[2*hi] <= row {
			hi++
		}
		runs = append(runs, crossRun{int(row), lo, hi})
		last, lo = row, hi
	}
	return runs
}

func denseColumn(values *core.Tensor) (*crossColumn, int, error) {
	if values.Rank() != 2 {
		return nil, 0, errNotMatrix
	}
	col := newColumn(values)
	col.width = values.Dim(1)
	return col, values.Dim(0), nil
}

// writeRagged makes all combinations, and where each row of them begins, the
// outputs of a kernel.
func writeRagged[T int64 | string](c *core.OpContext, cols *crossColumns, d tf.DType, f func(at []int) T) error {
	total, _, err := cols.count()
	if err != nil {
		return err
	}
	splits, err := c.Alloc(1, d, tf.Shape{cols.rows + 1})
	if err != nil {
		return err
	}
	begin := core.Make[int64](cols.rows + 1)
	err = combinations(c, 0, cols, total, f, func(row, n int) { begin[row+1] = int64(n) })
	if err != nil {
		return err
	}
	for row := range cols.rows {
		begin[row+1] += begin[row]
	}
	if d == tf.Int64 {
		copy(core.Data[int64](splits), begin)
		return nil
	}
	for i, v := range begin {
		core.Data[int32](splits)[i] = int32(v)
	}
	return nil
}
