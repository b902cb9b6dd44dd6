package all_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Inputs of the cases.
var (
	matrix   = [][]float32{{0.5, -1.25, 2}, {3, 0, -0.75}}
	square   = [][]float64{{4, 1, 0.5}, {1, 3, -0.25}, {0.5, -0.25, 2}}
	row      = []float32{2, -3, 0.25}
	labels   = [][]float32{{1, 0, 0.25}, {0, 1, 0.5}}
	numbers3 = []int32{3, 1, 2}
	rows     = [][][]float32{{{1, 2}, {3, -4}, {5, 6}, {0.5, 1}}, {{2, 0}, {-1, 1}, {4, 4}, {3, -2}}}
	picture  = ramp(1, 5, 6, 2)
	volume   = ramp(1, 3, 4, 5, 1)
)

// ramp returns numbers without a simple order in a shape.
func ramp(shape ...int) *tf.Tensor {
	t, err := tf.NewTensor(tf.Float32, shape)
	if err != nil {
		panic(err)
	}
	for i := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = float32((i*37)%101)/50 - 1
	}
	return t
}

func one(f func(x tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { return []tf.Output{f(x[0])} }
}

func two(f func(x, y tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { return []tf.Output{f(x[0], x[1])} }
}

func three(f func(x, y, z tf.Output) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { return []tf.Output{f(x[0], x[1], x[2])} }
}

func pair(f func(x []tf.Output) (y, z tf.Output)) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, x []tf.Output) []tf.Output { y, z := f(x); return []tf.Output{y, z} }
}

var composedCases = []composed{
	{"tf.nn.moments(a, [0])", []any{matrix}, pair(func(x []tf.Output) (y, z tf.Output) { return ops.Moments(x[0], []int{0}, false) }), true},
	{"tf.nn.moments(a, [0, 1], keep_dims=True)", []any{matrix}, pair(func(x []tf.Output) (y, z tf.Output) { return ops.Moments(x[0], []int{0, 1}, true) }), true},
	{"tf.nn.moments(tf.cast(a, tf.float16), [1])", []any{matrix}, pair(func(x []tf.Output) (y, z tf.Output) { return ops.Moments(x[0].Cast(tf.Float16), []int{1}, false) }), false},
	{"tf.nn.weighted_moments(a, [0], tf.abs(b))", []any{matrix, row}, pair(func(x []tf.Output) (y, z tf.Output) {
		return ops.WeightedMoments(x[0], []int{0}, x[1].Abs(), false)
	}), true},
	{"tf.nn.sufficient_statistics(a, [0], shift=b)[:3]", []any{matrix, row}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		s := ops.SufficientStatistics(x[0], []int{0}, x[1], false)
		return []tf.Output{s.Count, s.Sum, s.Sum2}
	}, false},
	{"tf.nn.normalize_moments(*tf.nn.sufficient_statistics(a, [1], shift=tf.constant(0.5)), name=None)", []any{matrix}, pair(func(x []tf.Output) (y, z tf.Output) {
		return ops.NormalizeMoments(ops.SufficientStatistics(x[0], []int{1}, ops.Scalar[float32](x[0].Graph(), 0.5), false))
	}), true},
	{"tf.nn.normalize_moments(*tf.nn.sufficient_statistics(a, [0, 1], keep_dims=True), name=None)", []any{matrix}, pair(func(x []tf.Output) (y, z tf.Output) {
		return ops.NormalizeMoments(ops.SufficientStatistics(x[0], []int{0, 1}, tf.Output{}, true))
	}), true},
	{"tf.nn.batch_normalization(a, b, tf.abs(b), b + 1, b - 1, 1e-3)", []any{matrix, row}, two(func(x, y tf.Output) tf.Output {
		return ops.BatchNormalization(x, y, y.Abs(), y.Add(1), y.Sub(1), 1e-3)
	}), true},
	{"tf.nn.batch_normalization(a, b, tf.abs(b), None, None, 1e-3)", []any{matrix, row}, two(func(x, y tf.Output) tf.Output {
		return ops.BatchNormalization(x, y, y.Abs(), tf.Output{}, tf.Output{}, 1e-3)
	}), true},
	{"tf.math.reduce_variance(a, 1)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Variance(x, []int{1}) }), true},
	{"tf.math.reduce_std(a)", []any{square}, one(func(x tf.Output) tf.Output { return ops.StdDev(x, ops.AllAxes) }), true},
	{"tf.math.reduce_variance(tf.complex(a, 2 * a), 0, keepdims=True)", []any{square}, one(func(x tf.Output) tf.Output {
		return ops.Variance(ops.Complex(x, x.Mul(2)), []int{0}, ops.ReduceOpts{KeepDims: true})
	}), false},
	{"tf.reduce_logsumexp(a * 1000, 1)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.LogSumExp(x.Mul(1000), []int{1}, false) }), true},
	{"tf.reduce_logsumexp(a, keepdims=True)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.LogSumExp(x, nil, true) }), true},
	{"tf.reduce_logsumexp(tf.math.log(tf.zeros([2, 2])))", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output {
		return []tf.Output{ops.LogSumExp(ops.Const(g, make([]float32, 4), 2, 2).Log(), nil, false)}
	}, false},
	{"tf.count_nonzero(a, 0)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.CountNonzero(x, []int{0}) }), false},
	{"tf.count_nonzero(a)", []any{[]string{"a", "", "bc"}}, one(func(x tf.Output) tf.Output { return ops.CountNonzero(x, ops.AllAxes) }), false},
	{"tf.nn.zero_fraction(a)", []any{matrix}, one(ops.ZeroFraction), false},
	{"tf.nn.l2_normalize(a, 1)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.L2Normalize(x, []int{1}, 1e-12) }), true},
	{"tf.nn.l2_normalize(tf.complex(a, a - 1), [0, 1])", []any{square}, one(func(x tf.Output) tf.Output {
		return ops.L2Normalize(ops.Complex(x, x.Sub(1)), []int{0, 1}, 1e-12)
	}), false},
	{"tf.math.log_sigmoid(a * 50)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.LogSigmoid(x.Mul(50)) }), true},
	{"tf.nn.silu(a)", []any{matrix}, one(ops.Swish), true},
	{"tf.nn.crelu(a, axis=0)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.CRelu(x, 0) }), true},
	{"tf.logical_xor(a > 0, b > 0)", []any{matrix, row}, two(func(x, y tf.Output) tf.Output { return ops.LogicalXor(x.Greater(0), y.Greater(0)) }), false},
	{"tf.math.erfcinv(a)", []any{[]float64{0.1, 0.5, 1, 1.5, 1.99}}, one(ops.Erfcinv), true},
	{"tf.math.reciprocal_no_nan(a)", []any{matrix}, one(ops.ReciprocalNoNan), false},
	{"tf.math.polyval([b[0], a, b[1]], a)", []any{row, row}, two(func(x, y tf.Output) tf.Output {
		return ops.Polyval([]tf.Output{y.At("0"), x, y.At("1")}, x)
	}), true},
	{"tf.math.lbeta(tf.abs(a) + 0.5)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Lbeta(x.Abs().Add(0.5)) }), true},
	{"tf.grad_pass_through(tf.round)(a)", []any{matrix}, one(func(x tf.Output) tf.Output {
		return ops.GradPassThrough(x, func(x tf.Output) tf.Output { return x.Round() })
	}), true},
	{"tf.nn.xw_plus_b(a, tf.cast(b, tf.float32), c)", []any{matrix, square, row}, three(func(x, y, z tf.Output) tf.Output { return ops.XwPlusB(x, y.Cast(tf.Float32), z) }), true},
	{"tf.nn.relu_layer(a, tf.cast(b, tf.float32), c)", []any{matrix, square, row}, three(func(x, y, z tf.Output) tf.Output { return ops.ReluLayer(x, y.Cast(tf.Float32), z) }), true},
	{"tf.nn.sigmoid_cross_entropy_with_logits(labels=a, logits=b * 60)", []any{labels, matrix}, two(func(x, y tf.Output) tf.Output {
		return ops.SigmoidCrossEntropyWithLogits(x, y.Mul(60))
	}), true},
	{"tf.nn.weighted_cross_entropy_with_logits(labels=a, logits=b, pos_weight=c)", []any{labels, matrix, row}, three(ops.WeightedCrossEntropyWithLogits), true},
	{"tf.nn.log_poisson_loss(a * 4, b)", []any{labels, matrix}, two(func(x, y tf.Output) tf.Output { return ops.LogPoissonLoss(x.Mul(4), y, false) }), true},
	{"tf.nn.log_poisson_loss(a * 4, b, compute_full_loss=True)", []any{labels, matrix}, two(func(x, y tf.Output) tf.Output { return ops.LogPoissonLoss(x.Mul(4), y, true) }), false},
	{"tf.sort(a)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Sort(x, -1, false) }), true},
	{"tf.sort(a, axis=0, direction='DESCENDING')", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Sort(x, 0, true) }), true},
	{"tf.argsort(a, axis=0)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.ArgSort(x, 0, false) }), false},
	{"tf.sort(a) ", []any{[]int32{3, -2147483648, 2147483647, 0, 3}}, one(func(x tf.Output) tf.Output { return ops.Sort(x, -1, false) }), false},
	{"tf.argsort(a) ", []any{[]int32{3, -2147483648, 2147483647, 0, 3}}, one(func(x tf.Output) tf.Output { return ops.ArgSort(x, 0, false) }), false},
	{"tf.sort(a)  ", []any{[]uint8{3, 255, 0, 7}}, one(func(x tf.Output) tf.Output { return ops.Sort(x, 0, false) }), false},
	{"tf.sequence_mask(a, 4)", []any{numbers3}, one(func(x tf.Output) tf.Output { return ops.SequenceMask(x, 4, tf.Bool) }), false},
	{"tf.sequence_mask([a], dtype=tf.float64)", []any{numbers3}, one(func(x tf.Output) tf.Output { return ops.SequenceMask(x.ExpandDims(0), -1, tf.Float64) }), false},
	{"tf.boolean_mask(a, a > 0)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.BooleanMask(x, x.Greater(0), 0) }), true},
	{"tf.boolean_mask(a, b > 0, axis=1)", []any{matrix, row}, two(func(x, y tf.Output) tf.Output { return ops.BooleanMask(x, y.Greater(0), 1) }), true},
	{"tf.repeat(a, b, axis=1)", []any{matrix, numbers3}, two(func(x, y tf.Output) tf.Output { return ops.Repeat(x, y, 1) }), true},
	{"tf.repeat(a, 2, axis=0)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Repeat(x, ops.Scalar[int32](x.Graph(), 2), 0) }), true},
	{"tf.repeat(a, [0, 0, 2], axis=-1)", []any{matrix}, one(func(x tf.Output) tf.Output { return ops.Repeat(x, ops.Const(x.Graph(), []int32{0, 0, 2}), -1) }), true},
	{"tf.meshgrid(a, b)", []any{row, []float32{7, 8}}, func(_ *tf.Graph, x []tf.Output) []tf.Output { return ops.Meshgrid(x, false) }, true},
	{"tf.meshgrid(a, b, a, indexing='ij')", []any{row, []float32{7, 8}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		return ops.Meshgrid([]tf.Output{x[0], x[1], x[0]}, true)
	}, false},
	{"tf.meshgrid(a)", []any{row}, func(_ *tf.Graph, x []tf.Output) []tf.Output { return ops.Meshgrid(x, false) }, false},
	{"tf.math.confusion_matrix(a, b)", []any{[]int32{1, 2, 4, 1}, []int32{2, 2, 4, 1}}, two(func(x, y tf.Output) tf.Output {
		return ops.ConfusionMatrix(x, y, 0, tf.Output{}, tf.Int32)
	}), false},
	{"tf.math.confusion_matrix(a, b, 5, dtype=tf.float64, weights=c)", []any{[]int64{1, 2, 4}, []int64{2, 2, 4}, row}, three(func(x, y, z tf.Output) tf.Output {
		return ops.ConfusionMatrix(x, y, 5, z, tf.Float64)
	}), false},
	{"tf.histogram_fixed_width_bins(a, [0.0, 5.0], nbins=5)", []any{[]float32{-1, 0, 1.5, 2, 5, 15}}, one(func(x tf.Output) tf.Output {
		return ops.HistogramFixedWidthBins(x, ops.Const(x.Graph(), []float32{0, 5}), 5)
	}), false},
	{"tf.required_space_to_batch_paddings(a, b, c)", []any{[]int32{11, 5}, []int32{3, 2}, [][]int32{{1, 1}, {0, 2}}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		p, c := ops.RequiredSpaceToBatchPaddings(x[0], x[1], x[2])
		return []tf.Output{p, c}
	}, false},
	{"tf.required_space_to_batch_paddings(a, b)", []any{[]int32{11, 5}, []int32{3, 2}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		p, c := ops.RequiredSpaceToBatchPaddings(x[0], x[1], tf.Output{})
		return []tf.Output{p, c}
	}, false},
	{"tf.parallel_stack([a, a])", []any{row}, one(func(x tf.Output) tf.Output { return ops.ParallelStack([]tf.Output{x, x}) }), false},
	{"tf.tuple([a, b])", []any{row, matrix}, func(_ *tf.Graph, x []tf.Output) []tf.Output { return ops.Tuple(x) }, true},
	{"tf.math.unsorted_segment_mean(a, b, 4)", []any{rows, []int32{2, 0}}, two(func(x, y tf.Output) tf.Output {
		return ops.UnsortedSegmentMean(x, y, ops.Scalar[int32](x.Graph(), 4))
	}), true},
	{"tf.math.unsorted_segment_sqrt_n(a, b, 3)", []any{row, []int32{1, 0, 1}}, two(func(x, y tf.Output) tf.Output {
		return ops.UnsortedSegmentSqrtN(x, y, ops.Scalar[int32](x.Graph(), 3))
	}), true},
	{"tf.nn.conv1d(a, b, 1, 'SAME')", []any{rows, ramp(3, 2, 3)}, two(func(x, y tf.Output) tf.Output { return ops.Conv1D(x, y, 1, "SAME") }), true},
	{"tf.nn.conv1d(a, b, 2, 'VALID')", []any{rows, ramp(3, 2, 3)}, two(func(x, y tf.Output) tf.Output { return ops.Conv1D(x, y, 2, "VALID") }), true},
	{"tf.nn.conv1d_transpose(a, b, [2, 8, 3], 2)", []any{rows, ramp(3, 3, 2)}, two(func(x, y tf.Output) tf.Output {
		return ops.Conv1DTranspose(x, y, []int{2, 8, 3}, 2, "SAME")
	}), true},
	{"tf.nn.conv2d_transpose(a, b, [1, 10, 12, 3], [1, 2, 2, 1])", []any{picture, ramp(3, 3, 3, 2)}, two(func(x, y tf.Output) tf.Output {
		return ops.Conv2DTranspose(x, y, []int{1, 10, 12, 3}, []int{1, 2, 2, 1}, "SAME")
	}), true},
	{"tf.nn.conv3d_transpose(a, b, [1, 6, 8, 10, 2], [1, 2, 2, 2, 1])", []any{volume, ramp(2, 2, 2, 2, 1)}, two(func(x, y tf.Output) tf.Output {
		return ops.Conv3DTranspose(x, y, []int{1, 6, 8, 10, 2}, []int{1, 2, 2, 2, 1}, "SAME")
	}), true},
	{"tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], 'SAME')", []any{picture, ramp(3, 3, 2, 2), ramp(1, 1, 4, 3)}, three(func(x, y, z tf.Output) tf.Output {
		return ops.SeparableConv2D(x, y, z, []int{1, 1, 1, 1}, "SAME")
	}), true},
	{"tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], 'VALID', rate=[2, 2])", []any{picture, ramp(2, 2, 2, 1), ramp(1, 1, 2, 3)}, three(func(x, y, z tf.Output) tf.Output {
		return ops.SeparableConv2D(x, y, z, []int{1, 1, 1, 1}, "VALID", ops.WindowOpts{Dilations: []int{1, 2, 2, 1}})
	}), true},
	{"tf.nn.avg_pool1d(a, 2, 2, 'VALID')", []any{rows}, one(func(x tf.Output) tf.Output { return ops.AvgPool1D(x, 2, 2, "VALID") }), true},
	{"tf.nn.max_pool1d(a, 3, 1, 'SAME')", []any{rows}, one(func(x tf.Output) tf.Output { return ops.MaxPool1D(x, 3, 1, "SAME") }), true},
	{"tf.nn.pool(a, [2], 'MAX', 'SAME', strides=[2])", []any{rows}, one(func(x tf.Output) tf.Output { return ops.Pool(x, []int{2}, "MAX", "SAME", []int{2}) }), true},
	{"tf.nn.pool(a, [2, 3], 'AVG', 'VALID', strides=[1, 2])", []any{picture}, one(func(x tf.Output) tf.Output {
		return ops.Pool(x, []int{2, 3}, "AVG", "VALID", []int{1, 2})
	}), true},
	{"tf.nn.pool(a, [2, 2, 2], 'MAX', 'SAME', strides=[1, 1, 1])", []any{volume}, one(func(x tf.Output) tf.Output {
		return ops.Pool(x, []int{2, 2, 2}, "MAX", "SAME", []int{1, 1, 1})
	}), true},
	{"tf.nn.erosion2d(a, b, [1, 1, 1, 1], [1, 2, 2, 1], 'SAME')", []any{picture, ramp(2, 2, 2)}, two(func(x, y tf.Output) tf.Output {
		return ops.Erosion2D(x, y, []int{1, 1, 1, 1}, []int{1, 2, 2, 1}, "SAME")
	}), true},
	{"tf.nn.embedding_lookup(a, b)", []any{matrix, [][]int32{{1, 0}, {1, 1}}}, two(func(x, y tf.Output) tf.Output {
		return ops.EmbeddingLookup([]tf.Output{x}, y, ops.EmbeddingOpts{})
	}), true},
	{"tf.nn.embedding_lookup([a, b], c, max_norm=1.5)", []any{matrix, matrix, []int64{3, 0, 2}}, three(func(x, y, z tf.Output) tf.Output {
		return ops.EmbeddingLookup([]tf.Output{x, y}, z, ops.EmbeddingOpts{MaxNorm: 1.5})
	}), true},
	{"tf.nn.embedding_lookup([a, b], c, partition_strategy='div')", []any{[][]float32{{1, 2}, {3, 4}}, [][]float32{{5, 6}}, [][]int64{{2}, {1}}}, three(func(x, y, z tf.Output) tf.Output {
		return ops.EmbeddingLookup([]tf.Output{x, y}, z, ops.EmbeddingOpts{Div: true})
	}), true},
	{"tf.saturate_cast(a, tf.int32)", []any{[]float32{1e20, -1e20, 5.5, 2147483520}}, one(func(x tf.Output) tf.Output { return ops.SaturateCast(x, tf.Int32) }), false},
	{"tf.saturate_cast(a, tf.uint8)", []any{[]int64{-5, 300, 7}}, one(func(x tf.Output) tf.Output { return ops.SaturateCast(x, tf.Uint8) }), false},
	{"tf.saturate_cast(a, tf.int8)", []any{[]uint16{65535, 7}}, one(func(x tf.Output) tf.Output { return ops.SaturateCast(x, tf.Int8) }), false},
	{"tf.saturate_cast(a, tf.float16)", []any{[]float64{1e9, -1e9, 2}}, one(func(x tf.Output) tf.Output { return ops.SaturateCast(x, tf.Float16) }), false},
	{"[tf.math.is_non_decreasing(a), tf.math.is_strictly_increasing(a)]", []any{[]float32{1, 2, 2, 5}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		return []tf.Output{ops.IsNonDecreasing(x[0]), ops.IsStrictlyIncreasing(x[0])}
	}, false},
	{"[tf.math.is_non_decreasing(a), tf.math.is_strictly_increasing(a)] ", []any{[]int32{4}}, func(_ *tf.Graph, x []tf.Output) []tf.Output {
		return []tf.Output{ops.IsNonDecreasing(x[0]), ops.IsStrictlyIncreasing(x[0])}
	}, false},
}
