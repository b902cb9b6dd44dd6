package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	fill := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		filled, empty, reverse := sparse.SparseFillEmptyRows(sp(in, 0), in[3])
		return outputs{filled.Indices, filled.Values, empty, reverse}
	}
	filled := func(name string, in ...*core.Tensor) sample {
		return valuesFirst(sample{Op: "SparseFillEmptyRows", Name: name, In: in, F: fill})
	}
	four := vec[float32](1, 2, 3, 4)
	addSamples(
		filled("", at(2, 0, 1, 2, 3, 2, 0, 5, 4), four, i64(6, 5), core.Scalar(float32(-1))),
		filled("unordered", at(2, 5, 1, 0, 3, 2, 0, 0, 4), four, i64(6, 5), core.Scalar(float32(-1))),
		filled("full", at(2, 0, 1, 1, 3, 2, 0, 2, 4), four, i64(3, 5), core.Scalar(float32(-1))),
		filled("no rows", none(2), vec[float32](), i64(0, 5), core.Scalar(float32(-1))),
		filled("no values", none(2), vec[string](), i64(3, 5), core.Scalar("none")),
		failing("SparseFillEmptyRows", "shape", fill, none(2), vec[float32](), core.Scalar(int64(1)), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "indices", fill, i64(), vec[float32](), i64(1, 2), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "values", fill, none(2), core.Scalar(float32(1)), i64(1, 2), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "number", fill, none(2), four, i64(1, 2), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "default", fill, none(2), vec[float32](), i64(1, 2), four),
		failing("SparseFillEmptyRows", "no dimensions", fill, none(0), vec[float32](), i64(), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "no row", fill, at(2, 0, 0), vec[float32](1), i64(0, 2), core.Scalar(float32(1))),
		failing("SparseFillEmptyRows", "row", fill, at(2, 1, 0, 2, 0), vec[float32](1, 2), i64(2, 2), core.Scalar(float32(1))),
		crashing("SparseFillEmptyRows", "negative", fill, none(2), vec[float32](), i64(-2, 2), core.Scalar(float32(1))),
	)
	ragged := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		ids, values, empty, reverse := sparse.RaggedFillEmptyRows(in[0], in[1], in[2], in[3])
		return outputs{ids, values, empty, reverse}
	}
	n := core.Scalar[int64]
	addSamples(
		valuesFirst(sample{Op: "RaggedFillEmptyRows", In: tensors{i64(0, 2, 2, 3), four, n(5), core.Scalar(float32(-1))}, F: ragged}),
		valuesFirst(sample{Op: "RaggedFillEmptyRows", Name: "full", In: tensors{i64(0, 0, 1, 2), four, n(3), core.Scalar(float32(-1))}, F: ragged}),
		failing("RaggedFillEmptyRows", "ids", ragged, at(1, 0), vec[float32](1), n(3), core.Scalar(float32(1))),
		failing("RaggedFillEmptyRows", "number", ragged, i64(0), vec[float32](1, 2), n(3), core.Scalar(float32(1))),
		failing("RaggedFillEmptyRows", "rows", ragged, i64(0), vec[float32](1), i64(3), core.Scalar(float32(1))),
		failing("RaggedFillEmptyRows", "values", ragged, i64(0), core.Scalar(float32(1)), n(3), core.Scalar(float32(1))),
		failing("RaggedFillEmptyRows", "row", ragged, i64(3), vec[float32](1), n(3), core.Scalar(float32(1))),
	)
	for op, f := range map[string]func(reverse, dy tf.Output, opts ...tf.Option) (tf.Output, tf.Output){
		"SparseFillEmptyRowsGrad": sparse.SparseFillEmptyRowsGrad, "RaggedFillEmptyRowsGrad": sparse.RaggedFillEmptyRowsGrad,
	} {
		back := func(_ *tf.Graph, in []tf.Output) []tf.Output {
			dv, dd := f(in[0], in[1])
			return outputs{dv, dd}
		}
		addSamples(
			sample{Op: op, In: tensors{i64(2, 1, 4), vec[float32](1, 2, 3, 4, 5, 6)}, F: back, Types: optest.OnlyOwn},
			sample{Op: op, Name: "halves", In: tensors{i64(1), optest.Convert(vec[float32](1, 2, 3), tf.Float16)}, F: back, Types: optest.OnlyOwn},
			sample{Op: op, Name: "bytes", In: tensors{i64(1), vec[uint8](100, 2, 200)}, F: back, Types: optest.OnlyOwn},
			sample{Op: op, Name: "complex", In: tensors{i64(1), vec[complex64](1i, 2, 3)}, F: back, Types: optest.OnlyOwn},
			failing(op, "index", back, i64(1, 3), vec[float32](1, 2, 3)),
			failing(op, "map", back, n(1), vec[float32](1, 2, 3)),
			failing(op, "gradient", back, i64(1), core.Scalar(float32(1))),
		)
	}
}
