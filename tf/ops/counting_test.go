package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	count := applied("Bincount")
	weights := func(f func(*tf.Graph, []tf.Output) []tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, append(in[1:], in[0])) }
	}
	none, size := seq(0), scalar[int32](4)
	addSamples(
		sample{op: "Bincount", in: []*tf.Tensor{positive(2, 3), mat[int32](3, 1, 3, 1, 0, 7, 3), size}, f: weights(count)},
		sample{op: "Bincount", name: "no weights", in: []*tf.Tensor{none, i32(1, 3, 1), size}, f: weights(count)},
		failing("Bincount", "negative", weights(count), none, i32(1, -3), size),
		failing("Bincount", "size", weights(count), none, i32(1, 3), scalar[int32](-1)),
		failing("Bincount", "weights", weights(count), seq(2), i32(1, 3, 2), size),
	)
	dense := func(o ops.BincountOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return weights(func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.DenseBincount(in[0], in[1], in[2], o)}
		})
	}
	plain, binary := dense(ops.BincountOpts{}), dense(ops.BincountOpts{Binary: true})
	addSamples(
		sample{op: "DenseBincount", in: []*tf.Tensor{positive(3), i32(1, 3, 1), size}, f: plain},
		sample{op: "DenseBincount", name: "rows", in: []*tf.Tensor{positive(2, 3), mat[int64](3, 1, 3, 1, 0, 7, 3), scalar[int64](4)}, f: plain},
		sample{op: "DenseBincount", name: "no weights", in: []*tf.Tensor{none, mat[int32](3, 1, 3, 1, 0, 7, 3), size}, f: plain},
		sample{op: "DenseBincount", name: "binary", in: []*tf.Tensor{none, mat[int32](3, 1, 3, 1, 0, 7, 3), size}, f: binary},
		sample{op: "DenseBincount", name: "nothing", in: []*tf.Tensor{none, i32(), size}, f: plain},
		failing("DenseBincount", "negative", plain, none, i32(1, -3), size),
		failing("DenseBincount", "rank", plain, none, arr[int32](tf.Shape{1, 1, 1}, 1), size),
		failing("DenseBincount", "size", plain, none, i32(1, 3), i32(1)),
		failing("DenseBincount", "negative size", plain, none, i32(1, 3), scalar[int32](-1)),
		failing("DenseBincount", "weights", plain, seq(2), i32(1, 3, 2), size),
	)
	ragged, sparse := weights(applied("RaggedBincount")), weights(applied("SparseBincount"))
	addSamples(
		sample{op: "RaggedBincount", in: []*tf.Tensor{positive(4), vec[int64](0, 0, 3, 4), i32(1, 3, 1, 0), size}, f: ragged},
		sample{op: "RaggedBincount", name: "no weights", in: []*tf.Tensor{none, vec[int64](0, 1, 3), vec[int64](1, 3, 1), scalar[int64](3)}, f: ragged},
		failing("RaggedBincount", "begin", ragged, none, vec[int64](1, 3), i32(1, 3, 1), size),
		failing("RaggedBincount", "end", ragged, none, vec[int64](0, 5), i32(1, 3, 1), size),
		failing("RaggedBincount", "negative", ragged, none, vec[int64](0, 1), i32(-1), size),
		sample{op: "SparseBincount", in: []*tf.Tensor{positive(3), mat[int64](2, 0, 1, 2, 0, 2, 3), i32(1, 3, 1), vec[int64](3, 4), size}, f: sparse},
		sample{op: "SparseBincount", name: "vector", in: []*tf.Tensor{none, mat[int64](1, 0, 1, 2), i32(1, 3, 1), vec[int64](3), size}, f: sparse},
		failing("SparseBincount", "index", sparse, none, mat[int64](1, 0, 5), i32(1, 3), vec[int64](3), size),
		failing("SparseBincount", "negative", sparse, none, mat[int64](1, 0, 1), i32(1, -3), vec[int64](3), size),
		failing("SparseBincount", "count", sparse, none, mat[int64](1, 0, 1), i32(1), vec[int64](3), size),
	)
	addFormatSamples()
	addSparseToDenseSamples()
}

func addFormatSamples() {
	dims, permute := unary(ops.DataFormatDimMap), unary(ops.DataFormatVecPermute)
	back := ops.DataFormatOpts{Src: "NCHW", Dst: "NHWC"}
	odd := ops.DataFormatOpts{Src: "NDHWC", Dst: "NCDHW"}
	addSamples(
		sample{op: "DataFormatDimMap", in: []*tf.Tensor{i32(0, 1, 3, -1)}, f: dims},
		sample{op: "DataFormatDimMap", name: "back", in: []*tf.Tensor{mat[int64](2, 0, 1, 2, 3)}, f: unary(ops.DataFormatDimMap, back)},
		sample{op: "DataFormatDimMap", name: "volume", in: []*tf.Tensor{scalar[int32](-5)}, f: unary(ops.DataFormatDimMap, odd)},
		sample{op: "DataFormatVecPermute", in: []*tf.Tensor{i32(7, 4, 9, 3)}, f: permute},
		sample{op: "DataFormatVecPermute", name: "pairs", in: []*tf.Tensor{mat[int32](2, 7, 4, 9, 3, 1, 2, 5, 6)}, f: unary(ops.DataFormatVecPermute, back)},
		sample{op: "DataFormatVecPermute", name: "volume", in: []*tf.Tensor{vec[int64](7, 4, 9, 3, 1)}, f: unary(ops.DataFormatVecPermute, odd)},
		sample{op: "DataFormatVecPermute", name: "spatial", in: []*tf.Tensor{i32(7, 4)}, f: unary(ops.DataFormatVecPermute, ops.DataFormatOpts{Src: "NHWC", Dst: "WHCN"})},
		failing("DataFormatVecPermute", "size", permute, i32(7, 4, 9)),
		failing("DataFormatVecPermute", "rows", permute, mat[int32](2, 7, 4, 9, 3, 1, 2)),
		failing("DataFormatVecPermute", "columns", permute, mat[int32](1, 7, 4, 9, 3)),
		failing("DataFormatVecPermute", "rank", permute, arr[int32](tf.Shape{1, 1, 1}, 1)),
		failing("DataFormatVecPermute", "format", unary(ops.DataFormatVecPermute, ops.DataFormatOpts{Src: "12345678"}), i32(7, 4, 9, 2)),
	)
}

func addSparseToDenseSamples() {
	dense := func(o ops.SparseToDenseOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.SparseToDense(in[2], in[3], in[0], in[1], o)}
		}
	}
	plain, unordered := dense(ops.SparseToDenseOpts{}), dense(ops.SparseToDenseOpts{Unordered: true})
	def := scalar(float32(-1))
	order := failing("SparseToDense", "order", plain, positive(2), def, i32(3, 1), i32(5))
	order.noGolden = "TensorFlow's message has several lines"
	addSamples(order)
	const noVectorGrad = "TensorFlow takes vectors of indices for one index in the gradient"
	addSamples(
		sample{op: "SparseToDense", in: []*tf.Tensor{positive(2), def, mat[int32](2, 0, 1, 1, 2), i32(2, 3)}, f: plain},
		sample{op: "SparseToDense", name: "vector", in: []*tf.Tensor{positive(2), def, vec[int64](1, 3), vec[int64](5)}, f: plain, rough: noVectorGrad},
		sample{op: "SparseToDense", name: "one value", in: []*tf.Tensor{scalar(float32(2)), def, vec[int64](1, 3), vec[int64](5)}, f: plain, rough: "TensorFlow's gradient has one value for each index"},
		sample{op: "SparseToDense", name: "scalar", in: []*tf.Tensor{scalar(float32(2)), def, scalar[int32](1), i32(3)}, f: plain, rough: "TensorFlow refuses the gradient"},
		sample{op: "SparseToDense", name: "unordered", in: []*tf.Tensor{positive(2), def, i32(3, 1), i32(5)}, f: unordered, rough: noVectorGrad},
		failing("SparseToDense", "repeated", plain, positive(2), def, i32(3, 3), i32(5)),
		failing("SparseToDense", "bounds", plain, positive(2), def, mat[int32](2, 0, 1, 1, 7), i32(2, 3)),
		failing("SparseToDense", "bounds, unordered", unordered, positive(2), def, i32(3, 7), i32(5)),
		failing("SparseToDense", "shape", plain, positive(2), def, i32(3, 4), mat[int32](1, 5)),
		failing("SparseToDense", "depth", plain, positive(2), def, i32(3, 4), i32(5, 5)),
		failing("SparseToDense", "values", plain, positive(3), def, i32(3, 4), i32(5)),
		failing("SparseToDense", "matrix of values", plain, positive(2, 1), def, i32(3, 4), i32(5)),
		failing("SparseToDense", "default", plain, positive(2), seq(1), i32(3, 4), i32(5)),
		failing("SparseToDense", "cube", plain, positive(1), def, arr[int32](tf.Shape{1, 1, 1}, 1), i32(5)),
	)
}
