package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	count := applied("Bincount")
	weights := func(f func(*tf.Graph, []tf.Output) []tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, append(in[1:], in[0])) }
	}
	none, size := seq(0), scalar[int32](4)
	addSamples(
		sample{Op: "Bincount", In: []*core.Tensor{positive(2, 3), mat[int32](3, 1, 3, 1, 0, 7, 3), size}, F: weights(count)},
		sample{Op: "Bincount", Name: "no weights", In: []*core.Tensor{none, i32(1, 3, 1), size}, F: weights(count)},
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
		sample{Op: "DenseBincount", In: []*core.Tensor{positive(3), i32(1, 3, 1), size}, F: plain},
		sample{Op: "DenseBincount", Name: "rows", In: []*core.Tensor{positive(2, 3), mat[int64](3, 1, 3, 1, 0, 7, 3), scalar[int64](4)}, F: plain},
		sample{Op: "DenseBincount", Name: "no weights", In: []*core.Tensor{none, mat[int32](3, 1, 3, 1, 0, 7, 3), size}, F: plain},
		sample{Op: "DenseBincount", Name: "binary", In: []*core.Tensor{none, mat[int32](3, 1, 3, 1, 0, 7, 3), size}, F: binary},
		sample{Op: "DenseBincount", Name: "nothing", In: []*core.Tensor{none, i32(), size}, F: plain},
		failing("DenseBincount", "negative", plain, none, i32(1, -3), size),
		failing("DenseBincount", "rank", plain, none, arr[int32](tf.Shape{1, 1, 1}, 1), size),
		failing("DenseBincount", "size", plain, none, i32(1, 3), i32(1)),
		failing("DenseBincount", "negative size", plain, none, i32(1, 3), scalar[int32](-1)),
		failing("DenseBincount", "weights", plain, seq(2), i32(1, 3, 2), size),
	)
	ragged, sparse := weights(applied("RaggedBincount")), weights(applied("SparseBincount"))
	addSamples(
		sample{Op: "RaggedBincount", In: []*core.Tensor{positive(4), vec[int64](0, 0, 3, 4), i32(1, 3, 1, 0), size}, F: ragged},
		sample{Op: "RaggedBincount", Name: "no weights", In: []*core.Tensor{none, vec[int64](0, 1, 3), vec[int64](1, 3, 1), scalar[int64](3)}, F: ragged},
		sample{Op: "RaggedBincount", Name: "matrix of weights", In: []*core.Tensor{mat[float32](2, 1, 2, 3, 4), vec[int64](0, 2, 4), i32(1, 3, 1, 0), size}, F: ragged, Types: onlyOwn},
		failing("RaggedBincount", "begin", ragged, none, vec[int64](1, 3), i32(1, 3, 1), size),
		failing("RaggedBincount", "end", ragged, none, vec[int64](0, 5), i32(1, 3, 1), size),
		failing("RaggedBincount", "negative", ragged, none, vec[int64](0, 1), i32(-1), size),
		sample{Op: "SparseBincount", In: []*core.Tensor{positive(3), mat[int64](2, 0, 1, 2, 0, 2, 3), i32(1, 3, 1), vec[int64](3, 4), size}, F: sparse},
		sample{Op: "SparseBincount", Name: "vector", In: []*core.Tensor{none, mat[int64](1, 0, 1, 2), i32(1, 3, 1), vec[int64](3), size}, F: sparse},
		failing("SparseBincount", "size before indices", applied("SparseBincount"), mat[int64](1, 0, 1), i32(0, 0), vec[int64](1, 1), i32(1, 1), i32(0, 0)),
		sample{Op: "SparseBincount", Name: "negative in rows", In: []*core.Tensor{positive(3), mat[int64](2, 0, 1, 1, 0, 1, 3), i32(-1, 3, -4), vec[int64](2, 4), size}, F: sparse, Types: onlyOwn},
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
		sample{Op: "DataFormatDimMap", In: []*core.Tensor{i32(0, 1, 3, -1)}, F: dims},
		sample{Op: "DataFormatDimMap", Name: "back", In: []*core.Tensor{mat[int64](2, 0, 1, 2, 3)}, F: unary(ops.DataFormatDimMap, back)},
		sample{Op: "DataFormatDimMap", Name: "volume", In: []*core.Tensor{scalar[int32](-5)}, F: unary(ops.DataFormatDimMap, odd)},
		sample{Op: "DataFormatVecPermute", In: []*core.Tensor{i32(7, 4, 9, 3)}, F: permute},
		sample{Op: "DataFormatVecPermute", Name: "pairs", In: []*core.Tensor{mat[int32](2, 7, 4, 9, 3, 1, 2, 5, 6)}, F: unary(ops.DataFormatVecPermute, back)},
		sample{Op: "DataFormatVecPermute", Name: "volume", In: []*core.Tensor{vec[int64](7, 4, 9, 3, 1)}, F: unary(ops.DataFormatVecPermute, odd)},
		sample{Op: "DataFormatVecPermute", Name: "spatial", In: []*core.Tensor{i32(7, 4)}, F: unary(ops.DataFormatVecPermute, ops.DataFormatOpts{Src: "NHWC", Dst: "WHCN"})},
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
	order.NoGolden = "TensorFlow's message has several lines"
	addSamples(order)
	const noVectorGrad = "TensorFlow takes vectors of indices for one index in the gradient"
	addSamples(
		sample{Op: "SparseToDense", In: []*core.Tensor{positive(2), def, mat[int32](2, 0, 1, 1, 2), i32(2, 3)}, F: plain},
		sample{Op: "SparseToDense", Name: "vector", In: []*core.Tensor{positive(2), def, vec[int64](1, 3), vec[int64](5)}, F: plain, Rough: noVectorGrad},
		sample{Op: "SparseToDense", Name: "one value", In: []*core.Tensor{scalar(float32(2)), def, vec[int64](1, 3), vec[int64](5)}, F: plain, Rough: "TensorFlow's gradient has one value for each index"},
		sample{Op: "SparseToDense", Name: "scalar", In: []*core.Tensor{scalar(float32(2)), def, scalar[int32](1), i32(3)}, F: plain, Rough: "TensorFlow refuses the gradient"},
		sample{Op: "SparseToDense", Name: "unordered", In: []*core.Tensor{positive(2), def, i32(3, 1), i32(5)}, F: unordered, Rough: noVectorGrad},
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
