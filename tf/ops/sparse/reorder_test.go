package sparse_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	reorder := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		t := sparse.SparseReorder(sp(in, 0))
		return outputs{t.Indices, t.Values}
	}
	reordered := func(name string, in ...*core.Tensor) sample {
		return valuesFirst(sample{Op: "SparseReorder", Name: name, In: in, F: reorder})
	}
	four := vec[float32](1, 2, 3, 4)
	addSamples(
		reordered("", at(2, 2, 1, 0, 3, 2, 0, 1, 4), four, i64(6, 5)),
		reordered("sorted", at(2, 0, 1, 0, 3, 2, 0, 2, 4), four, i64(6, 5)),
		reordered("outside", at(2, 0, 1, -5, 3, 9, 0, 2, 4), four, i64(6, 5)),
		reordered("large", at(3, 1, 0, 2, 0, 1<<61, 1, 1, 0, 1), vec[float32](1, 2, 3), i64(1<<62, 1<<62, 1<<62)),
		reordered("large and sorted", at(2, 0, 1, 1, 0), vec[float32](1, 2), i64(1<<62, 1<<62)),
		reordered("negative size", at(2, 0, 1, 0, 0), vec[float32](1, 2), i64(-2, 2)),
		reordered("text", at(1, 3, 2, 1), vec("c", "b", "a"), i64(6)),
		failing("SparseReorder", "indices", reorder, i64(1), four, i64(1)),
		failing("SparseReorder", "values", reorder, at(1, 1), core.Scalar(float32(1)), i64(1)),
		failing("SparseReorder", "shape", reorder, at(1, 1), vec[float32](1), at(1, 1)),
		failing("SparseReorder", "number", reorder, at(1, 1), four, i64(1)),
		failing("SparseReorder", "rank", reorder, at(1, 1), vec[float32](1), i64(1, 2)),
	)
	where, shape := at(2, 0, 1, 2, 3, 2, 4, 5, 0), i64(6, 5)
	slice := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(sparse.SparseSlice(sp(in, 0), in[3], in[4]))
	}
	sliced := func(name string, start, size *core.Tensor) sample {
		return valuesFirst(sample{Op: "SparseSlice", Name: name, In: tensors{where, four, shape, start, size}, F: slice})
	}
	back := applied("SparseSliceGrad")
	addSamples(
		sliced("", i64(1, 1), i64(3, 3)),
		sliced("to the end", i64(2, 0), i64(100, 4)),
		sliced("outside", i64(7, 0), i64(1, 4)),
		sliced("from far below", i64(math.MinInt64, 0), i64(10, 4)),
		failing("SparseSlice", "start", slice, where, four, shape, at(1, 1), i64(1, 1)),
		failing("SparseSlice", "size", slice, where, four, shape, i64(1, 1), at(1, 1)),
		failing("SparseSlice", "start's length", slice, where, four, shape, i64(1), i64(1, 1)),
		failing("SparseSlice", "size's length", slice, where, four, shape, i64(1, 1), i64(1)),
		failing("SparseSlice", "negative", slice, where, four, shape, i64(1, 1), i64(1, -1)),
		failing("SparseSlice", "indices", slice, i64(1), four, shape, i64(1, 1), i64(1, 1)),
		failing("SparseSlice", "values", slice, where, where, shape, i64(1, 1), i64(1, 1)),
		failing("SparseSlice", "shape", slice, where, four, at(1, 1), i64(1, 1), i64(1, 1)),
		failing("SparseSlice", "negative size", slice, none(2), vec[float32](), i64(-1, -9), i64(1, 1), i64(1, 1)),
		failing("SparseSlice", "number", slice, where, vec[float32](1), shape, i64(1, 1), i64(1, 1)),
		failing("SparseSlice", "rank", slice, where, four, i64(1), i64(1), i64(1)),
		sample{Op: "SparseSliceGrad", In: tensors{vec[float32](5, 6), where, i64(1, 1), at(2, 1, 2, 1, 3)}, F: back},
		failing("SparseSliceGrad", "indices", back, vec[float32](5), i64(1), i64(1), at(1, 1)),
		failing("SparseSliceGrad", "gradient", back, core.Scalar(float32(5)), where, i64(1, 1), where),
		failing("SparseSliceGrad", "ranks", back, four, where, i64(1, 1), at(1, 1, 2, 3, 4)),
		failing("SparseSliceGrad", "more", back, vec[float32](5, 6), at(1, 1), i64(1), at(1, 1, 2)),
		failing("SparseSliceGrad", "number", back, vec[float32](5), where, i64(1, 1), where),
		failing("SparseSliceGrad", "start", back, four, where, at(1, 1), where),
		failing("SparseSliceGrad", "start's length", back, four, where, i64(1), where),
		failing("SparseSliceGrad", "left", back, vec[float32](5, 6), where, i64(1, 1), at(2, 1, 2, 1, 1)),
	)
}

func init() {
	where, four := at(2, 0, 1, 2, 3, 2, 4, 5, 0), vec[float32](1, 2, 3, 4)
	split := func(dim int64, n int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) (out []tf.Output) {
			for _, t := range sparse.SparseSplit(ops.Scalar(g, dim), sp(in, 0), n) {
				out = append(out, parts(t)...)
			}
			return out
		}
	}
	splitBy := func(name string, dim int64, n int) sample {
		return sample{Op: "SparseSplit", Name: name, In: tensors{where, four, i64(6, 5)}, F: split(dim, n), Types: optest.OnlyOwn}
	}
	addSamples(
		splitBy("", 0, 4),
		splitBy("columns", -1, 2),
		splitBy("whole", 1, 1),
		failing("SparseSplit", "vector axis", applied("SparseSplit", tf.Attr("num_split", 2)), i64(1, 2), where, four, i64(6, 5)),
		failing("SparseSplit", "axis", split(2, 2), where, four, i64(6, 5)),
		failing("SparseSplit", "parts", split(1, 6), where, four, i64(6, 5)),
		failing("SparseSplit", "indices", split(0, 1), i64(1), four, i64(6)),
		failing("SparseSplit", "values", split(0, 1), where, where, i64(6, 5)),
		failing("SparseSplit", "shape", split(0, 1), where, four, at(1, 6, 5)),
		failing("SparseSplit", "number", split(0, 1), at(1, 0), four, i64(5)),
		failing("SparseSplit", "outside", split(0, 2), at(2, 7, 1), vec[float32](1), i64(5, 9)),
		failing("SparseSplit", "negative", split(0, 2), none(2), vec[float32](), i64(5, -9)),
	)
	concat := func(dim int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.SparseConcat(dim, []sparse.Tensor{sp(in, 0), sp(in, 3)}))
		}
	}
	joined := func(name string, dim int, in ...*core.Tensor) sample {
		return sample{Op: "SparseConcat", Name: name, In: in, F: concat(dim), Types: optest.OnlyOwn}
	}
	two := vec[float32](8, 9)
	addSamples(
		joined("", 0, where, four, i64(6, 5), at(2, 0, 1, 1, 1), two, i64(2, 5)),
		joined("columns", -1, where, four, i64(6, 5), at(2, 0, 1, 5, 1), two, i64(6, 2)),
		joined("unordered", 1, where, four, i64(6, 5), at(2, 5, 1, 0, 1), two, i64(6, 2)),
		failing("SparseConcat", "dimension", concat(2), where, four, i64(6, 5), at(2, 0, 1, 1, 1), two, i64(2, 5)),
		failing("SparseConcat", "indices", concat(1), where, four, i64(6, 5), i64(1), two, i64(2, 5)),
		failing("SparseConcat", "values", concat(1), where, four, i64(6, 5), at(2, 0, 1, 1, 1), core.Scalar(float32(1)), i64(2, 5)),
		failing("SparseConcat", "shape", concat(1), where, four, i64(6, 5), at(2, 0, 1, 1, 1), two, at(1, 2, 5)),
		failing("SparseConcat", "ranks", concat(1), where, four, i64(6, 5), at(1, 0, 1), two, i64(2)),
		failing("SparseConcat", "sizes", concat(1), where, four, i64(6, 5), at(2, 0, 1, 1, 1), two, i64(5, 5)),
	)
}
