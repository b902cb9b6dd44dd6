package all_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/image"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/ops/text"
)

// parts are the tensors of a sparse one.
func parts(t sparse.Tensor) []tf.Output { return []tf.Output{t.Indices, t.Values, t.DenseShape} }

// sparsely calls f with the sparse form of the first input.
func sparsely(f func(t sparse.Tensor, x []tf.Output) []tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { return f(sparse.FromDense(x[0]), x[1:]) }
}

// second returns the update of a metric.
func second(f func(x []tf.Output) (value, update tf.Output)) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { _, u := f(x); return []tf.Output{u} }
}

// embedded looks ids up that are the elements of a matrix less 1, where they are not 0.
func embedded(c sparse.Combiner, weighted bool) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output {
		ids := sparse.FromDense(x[1])
		o := sparse.EmbeddingOpts{Combiner: c}
		if weighted {
			o.Weights = sparse.Tensor{Indices: ids.Indices, Values: ids.Values.Cast(tf.Float32).Div(2), DenseShape: ids.DenseShape}
		}
		ids.Values = ids.Values.Sub(1)
		return []tf.Output{sparse.EmbeddingLookupSparse([]tf.Output{x[0]}, ids, o)}
	}
}

const (
	idsOf     = "(lambda s: tf.SparseTensor(s.indices, s.values - 1, s.dense_shape))(tf.sparse.from_dense(b))"
	weightsOf = "(lambda s: tf.SparseTensor(s.indices, tf.cast(s.values, tf.float32) / 2, s.dense_shape))(tf.sparse.from_dense(b))"
)

func init() {
	holes := [][]int32{{0, 2, 0, 1}, {3, 0, 0, 0}, {0, 0, 0, 0}}
	full := [][]int64{{0, 2, 0, 1}, {3, 0, 0, 0}, {0, 1, 0, 0}}
	table := [][]float32{{1, 2}, {3, -4}, {5, 6}}
	scores := [][]float32{{0.1, 0.3, 0.2, 0.4}, {0.5, 0.1, 0.3, 0.2}, {0.2, 0.3, 0.4, 0.1}}
	classes := [][]int64{{3, 0}, {1, 2}, {0, 0}}
	single := []int64{3, 1, 1}
	names := []string{"ab", "", "Größe"}
	composedCases = append(composedCases, []composed{
		{"tf.sparse.from_dense(a)", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return parts(t) }), false},
		{"tf.sparse.to_dense(tf.sparse.from_dense(a), default_value=7)", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output {
			return []tf.Output{sparse.ToDense(t, ops.Scalar[int32](t.Values.Graph(), 7))}
		}), false},
		{"tf.sparse.eye(2, 3, dtype=tf.float64)", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output { return parts(sparse.Eye(g, 2, 3, tf.Float64)) }, false},
		{"tf.sparse.retain(tf.sparse.from_dense(a), [True, False, True])", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output {
			return parts(sparse.Retain(t, ops.Const(t.Values.Graph(), []bool{true, false, true})))
		}), false},
		{"tf.sparse.reset_shape(tf.sparse.from_dense(a))", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return parts(sparse.ResetShape(t)) }), false},
		{"tf.sparse.transpose(tf.sparse.from_dense(a), [1, 0])", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return parts(sparse.Transpose(t, []int{1, 0})) }), false},
		{"tf.sparse.expand_dims(tf.sparse.from_dense(a), axis=1)", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return parts(sparse.SparseExpandDims(t, 1)) }), false},
		{"tf.sparse.expand_dims(tf.sparse.from_dense(a))", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return parts(sparse.SparseExpandDims(t, -1)) }), false},
		{"tf.sparse.merge(tf.sparse.from_dense(a), tf.sparse.from_dense(tf.cast(a, tf.float32) * 2), 5)", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output {
			return parts(sparse.SparseMerge(t, sparse.Tensor{Indices: t.Indices, Values: t.Values.Cast(tf.Float32).Mul(2), DenseShape: t.DenseShape}, 5))
		}), false},
		{"tf.sparse.to_indicator(tf.sparse.from_dense(a), 5)", []any{holes}, sparsely(func(t sparse.Tensor, _ []tf.Output) []tf.Output { return []tf.Output{sparse.ToIndicator(t, 5)} }), false},
		{"(lambda s: [s.values, s.indices])(tf.sparse.mask(tf.IndexedSlices(a, [3, 5, 7]), [5, 9]))", []any{table}, func(g *tf.Graph, x []tf.Output) []tf.Output {
			y := sparse.Mask(tf.IndexedSlices{Values: x[0], Indices: ops.Const(g, []int32{3, 5, 7})}, ops.Const(g, []int32{5, 9}))
			return []tf.Output{y.Values, y.Indices}
		}, false},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", None, combiner='mean')", []any{table, full}, embedded(sparse.CombineMean, false), true},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", None, combiner='sum')", []any{table, full}, embedded(sparse.CombineSum, false), true},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", None, combiner='sqrtn')", []any{table, full}, embedded(sparse.CombineSqrtN, false), false},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", " + weightsOf + ", combiner='mean')", []any{table, full}, embedded(sparse.CombineMean, true), true},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", " + weightsOf + ", combiner='sum')", []any{table, full}, embedded(sparse.CombineSum, true), false},
		{"tf.nn.embedding_lookup_sparse(a, " + idsOf + ", " + weightsOf + ", combiner='sqrtn')", []any{table, full}, embedded(sparse.CombineSqrtN, true), false},
		{"tf.nn.safe_embedding_lookup_sparse([a], tf.sparse.from_dense(b))", []any{table, [][]int64{{0, 2, -1, 1}, {0, 0, 0, 0}, {0, -4, 0, 0}}}, two(func(x, y tf.Output) tf.Output {
			return sparse.SafeEmbeddingLookupSparse([]tf.Output{x}, sparse.FromDense(y), sparse.EmbeddingOpts{})
		}), true},
		{"tf.strings.bytes_split(a).values", []any{names[:2]}, one(func(x tf.Output) tf.Output { return text.BytesSplit(x).Values }), false},
		{"(lambda r: [r.row_splits, r.values])(tf.strings.unicode_split(a, 'UTF-8'))", []any{names}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
			s, c := text.UnicodeSplit(x[0], "UTF-8")
			return []tf.Output{s, c}
		}, false},
		{"(lambda r: [r[0].row_splits, r[0].values, r[1].values])(tf.strings.unicode_split_with_offsets(a, 'UTF-8'))", []any{names}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
			s, c, at := text.UnicodeSplitWithOffsets(x[0], "UTF-8")
			return []tf.Output{s, c, at}
		}, false},
		{"[tf.image.is_jpeg(a[0]), tf.image.is_jpeg(a[1])]", []any{[]string{"ab", "abcdef"}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
			return []tf.Output{image.IsJPEG(x[0].At("0")), image.IsJPEG(x[0].At("1"))}
		}, false},
		{"tf.image.is_jpeg(tf.constant(b'\\xff\\xd8\\xff\\x00'))", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output {
			return []tf.Output{image.IsJPEG(ops.Scalar(g, "\xff\xd8\xff\x00"))}
		}, false},
		{"tf.random.experimental.stateless_fold_in(a, 5)", []any{[]int32{1, 2}}, one(func(x tf.Output) tf.Output { return random.FoldIn(x, ops.Scalar[int32](x.Graph(), 5)) }), false},
		{"tf.random.experimental.stateless_split(a, 3)", []any{[]int64{1, 2}}, one(func(x tf.Output) tf.Output { return random.SplitSeed(x, 3) }), false},
		{"tf.metrics.precision_at_k(a, b, 2)[1]", []any{classes, scores}, second(func(x []tf.Output) (v, u tf.Output) { return metrics.PrecisionAtK(x[0], x[1], 2, metrics.AnyClass) }), false},
		{"tf.metrics.precision_at_k(a, b, 2, class_id=3)[1]", []any{classes, scores}, second(func(x []tf.Output) (v, u tf.Output) { return metrics.PrecisionAtK(x[0], x[1], 2, 3) }), false},
		{"tf.metrics.precision_at_k(a, b, 3, weights=[1.0, 0.5, 2.0])[1]", []any{single, scores}, second(func(x []tf.Output) (v, u tf.Output) {
			return metrics.PrecisionAtK(x[0], x[1], 3, metrics.AnyClass, metrics.Options{Weights: ops.Const(x[0].Graph(), []float32{1, 0.5, 2})})
		}), false},
		{"tf.metrics.recall_at_k(a, b, 2)[1]", []any{classes, scores}, second(func(x []tf.Output) (v, u tf.Output) { return metrics.RecallAtK(x[0], x[1], 2, metrics.AnyClass) }), false},
		{"tf.metrics.recall_at_k(a, b, 3, class_id=1)[1]", []any{single, scores}, second(func(x []tf.Output) (v, u tf.Output) { return metrics.RecallAtK(x[0], x[1], 3, 1) }), false},
		{"tf.metrics.recall_at_top_k(a, tf.constant([[3, 1], [2, 0], [0, 1]], tf.int64))[1]", []any{classes}, second(func(x []tf.Output) (v, u tf.Output) {
			return metrics.RecallAtTopK(x[0], ops.Const(x[0].Graph(), []int64{3, 1, 2, 0, 0, 1}, 3, 2), metrics.AnyClass)
		}), false},
		{"tf.metrics.precision_at_top_k(a, tf.constant([[3, 1], [2, 0], [0, 1]], tf.int64))[1]", []any{classes}, second(func(x []tf.Output) (v, u tf.Output) {
			return metrics.PrecisionAtTopK(x[0], ops.Const(x[0].Graph(), []int64{3, 1, 2, 0, 0, 1}, 3, 2), metrics.AnyClass)
		}), false},
		{"tf.metrics.average_precision_at_k(a, b, 3)[1]", []any{[][]int64{{3, 0}, {1, 2}, {0, 2}}, scores}, second(func(x []tf.Output) (v, u tf.Output) { return metrics.AveragePrecisionAtK(x[0], x[1], 3) }), false},
		{"tf.metrics.average_precision_at_k(a, b, 2, weights=[1.0, 0.5, 2.0])[1]", []any{single, scores}, second(func(x []tf.Output) (v, u tf.Output) {
			return metrics.AveragePrecisionAtK(x[0], x[1], 2, metrics.Options{Weights: ops.Const(x[0].Graph(), []float32{1, 0.5, 2})})
		}), false},
		{"tf.nn.nce_loss(a, b, tf.constant([[2], [0]], tf.int64), c, 2, 3, sampled_values=(tf.constant([0, 1], tf.int64), tf.constant([[0.5], [0.25]]), tf.constant([0.75, 0.1])))", []any{table, []float32{0.1, 0.2, 0.3}, [][]float32{{0.1, 0.2}, {-0.3, 0.1}}}, sampled(random.NCELoss), true},
		{"tf.nn.sampled_softmax_loss(a, b, tf.constant([[2], [0]], tf.int64), c, 2, 3, sampled_values=(tf.constant([0, 1], tf.int64), tf.constant([[0.5], [0.25]]), tf.constant([0.75, 0.1])))", []any{table, []float32{0.1, 0.2, 0.3}, [][]float32{{0.1, 0.2}, {-0.3, 0.1}}}, sampled(random.SampledSoftmaxLoss), true},
	}...)
}

// sampled computes a loss with candidates that are given.
func sampled(loss func(weights, biases, labels, inputs tf.Output, sampled, classes int, o random.SampledOpts) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, x []tf.Output) []tf.Output {
		c := &random.Candidates{
			Sampled: ops.Const(g, []int64{0, 1}), TrueExpectedCount: ops.Const(g, []float32{0.5, 0.25}, 2, 1), SampledExpectedCount: ops.Const(g, []float32{0.75, 0.1}),
		}
		return []tf.Output{loss(x[0], x[1], ops.Const(g, []int64{2, 0}, 2, 1), x[2], 2, 3, random.SampledOpts{Candidates: c})}
	}
}

func init() {
	wave := []complex64{3 + 4i, -1i, 2}
	stack := ramp(2, 2, 3)
	composedCases = append(composedCases, []composed{
		{"tf.abs(a)", []any{wave}, one(func(x tf.Output) tf.Output { return x.Abs() }), false},
		{"tf.math.conj(a)", []any{wave}, one(func(x tf.Output) tf.Output { return x.Conj() }), false},
		{"tf.math.conj(b)", []any{wave, stack}, func(_ *tf.Graph, x []tf.Output) []tf.Output { return []tf.Output{x[1].Conj()} }, false},
		{"tf.matmul(a, tf.transpose(a, [0, 2, 1]))", []any{stack}, one(func(x tf.Output) tf.Output { return x.MatMul(x.Transpose(0, 2, 1)) }), true},
	}...)
}
