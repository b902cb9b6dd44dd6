package sparse

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Combiner says what EmbeddingLookupSparse makes of the rows of one example.
type Combiner string

// The combiners. Weighted means are divided by the sum of the weights; SqrtN divides
// by the root of the sum of their squares.
const (
	CombineSum   Combiner = "sum"
	CombineMean  Combiner = "mean"
	CombineSqrtN Combiner = "sqrtn"
)

// EmbeddingOpts adjust EmbeddingLookupSparse.
type EmbeddingOpts struct {
	Combiner Combiner // "": CombineMean
	// Weights of the ids, of floating-point type and at the same places; all are 1
	// if the zero Tensor.
	Weights Tensor
	Lookup  ops.EmbeddingOpts
	// AllIDs says, to SafeEmbeddingLookupSparse, that no id is negative: without weights
	// it looks for none then. A negative one would fail the step.
	AllIDs bool
}

// EmbeddingLookupSparse returns, for each row of the sparse matrix ids, a
// combination of the rows of a table that it names: [rows ...]. The table may
// be in several parts, see ops.EmbeddingLookup. Every row must have an id.
// ids are int32 or int64 with rows in order. The result has the type of the
// table. An unknown Combiner is refused with INVALID_ARGUMENT when the graph
// is built; other errors are those of ops.EmbeddingLookup and of
// ops.SparseSegmentSum.
func EmbeddingLookupSparse(params []tf.Output, ids Tensor, o EmbeddingOpts) tf.Output {
	if o.Combiner == "" {
		o.Combiner = CombineMean
	}
	t := scoped("embedding_lookup_sparse", ids.Values, func() Tensor {
		if o.Combiner != CombineSum && o.Combiner != CombineMean && o.Combiner != CombineSqrtN {
			return Tensor{Values: tf.Failed(ids.Values.Graph(), "embedding_lookup_sparse", tf.Errorf(tf.InvalidArgument,
				"combiner must be one of 'mean', 'sqrtn' or 'sum', got %q", o.Combiner)).Output(0)}
		}
		row := ops.Cast(ids.Indices.At(":, 0"), tf.Int32)
		different, which := ops.Unique(ids.Values)
		table := ops.EmbeddingLookup(params, different, o.Lookup)
		if table.Err() != nil {
			return Tensor{Values: table}
		}
		if o.Weights.Values.IsZero() {
			return Tensor{Values: combined(table, which, row, o.Combiner)}
		}
		return Tensor{Values: weighted(ops.Gather(table, which, 0), o.Weights.Values, row, o.Combiner)}
	})
	return t.Values
}

func combined(table, which, row tf.Output, c Combiner) tf.Output {
	switch c {
	case CombineSum:
		return ops.SparseSegmentSum(table, which, row)
	case CombineMean:
		return ops.SparseSegmentMean(table, which, row)
	}
	return ops.SparseSegmentSqrtN(table, which, row)
}

func weighted(x, w, row tf.Output, c Combiner) tf.Output {
	w = ops.Cast(w, x.DType().Base())
	g := x.Graph()
	ones := ops.Fill(ops.Reshape(ops.Rank(x).Sub(1), []int{1}), ops.Scalar[int32](g, 1))
	column := func(v tf.Output) tf.Output {
		return ops.Reshape(v, ops.Concat(0, []tf.Output{ops.Shape(v), ones}))
	}
	sum := ops.SegmentSum(ops.Mul(x, column(w)), row)
	switch c {
	case CombineSum:
		return sum
	case CombineMean:
		return ops.DivNoNan(sum, column(ops.SegmentSum(w, row)))
	}
	return ops.DivNoNan(sum, column(ops.Sqrt(ops.SegmentSum(ops.Square(w), row))))
}

// SafeEmbeddingLookupSparse is EmbeddingLookupSparse for rows without ids,
// which give zeros. Ids that are negative, and those with weights of 0 or
// less, are left out. With Combiner CombineSum such weights stay. The result
// has a row for each one of the shape of ids. Errors are those of
// EmbeddingLookupSparse and of SparseFillEmptyRows.
func SafeEmbeddingLookupSparse(params []tf.Output, ids Tensor, o EmbeddingOpts) tf.Output {
	t := scoped("safe_embedding_lookup_sparse", ids.Values, func() Tensor {
		g := ids.Values.Graph()
		kept := ids
		if w := o.Weights.Values; !w.IsZero() || !o.AllIDs {
			keep := ids.Values.GreaterEqual(ops.ZerosLike(ids.Values))
			if !w.IsZero() {
				if o.Combiner != CombineSum {
					keep = keep.And(w.Greater(ops.ZerosLike(w)))
				}
				o.Weights = Retain(o.Weights, keep)
				o.Weights, _, _ = SparseFillEmptyRows(o.Weights, ops.Cast(ops.Scalar[float32](g, 1), w.DType()))
			}
			kept = Retain(ids, keep)
		}
		full, empty, _ := SparseFillEmptyRows(kept, ops.Cast(ops.Scalar[int64](g, 0), ids.Values.DType()))
		y := EmbeddingLookupSparse(params, full, o)
		if y.Err() != nil {
			return Tensor{Values: y}
		}
		return Tensor{Values: ops.SelectV2(besideRows(empty, y), ops.ZerosLike(y), y)}
	})
	return t.Values
}

// besideRows returns flags [rows] as [rows 1 ...], of the rank of y.
func besideRows(flags, y tf.Output) tf.Output {
	if len(y.Shape()) == 2 {
		return ops.ExpandDims(flags, 1)
	}
	ones := ops.Fill(ops.Reshape(ops.Rank(y).Sub(1), []int{1}), ops.Scalar[int32](y.Graph(), 1))
	return ops.Reshape(flags, ops.Concat(0, []tf.Output{ops.Shape(flags), ones}))
}
