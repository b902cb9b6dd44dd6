package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	denseAdd := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return outputs{sparse.SparseTensorDenseAdd(sp(in, 0), in[3])}
	}
	dense := seq(3, 4)
	addSamples(
		valuesFirst(sample{Op: "SparseTensorDenseAdd", In: tensors{at(2, 2, 2, 0, 1, 2, 2, 1, 0), valuesA, shape34, dense}, F: denseAdd}),
		sample{Op: "SparseTensorDenseAdd", Name: "narrow indices", In: tensors{optest.Mat[int32](2, 0, 1), vec[float32](1), i32(3, 4), dense}, F: denseAdd, Types: optest.OnlyOwn},
		failing("SparseTensorDenseAdd", "indices", denseAdd, i64(1), valuesA, shape34, dense),
		failing("SparseTensorDenseAdd", "values", denseAdd, atA, core.Scalar(float32(1)), shape34, dense),
		failing("SparseTensorDenseAdd", "ranks", denseAdd, atA, valuesA, shape34, seq(3)),
		failing("SparseTensorDenseAdd", "sizes", denseAdd, atA, valuesA, shape34, seq(3, 5)),
		failing("SparseTensorDenseAdd", "number", denseAdd, atA, vec[float32](1), shape34, dense),
		failing("SparseTensorDenseAdd", "columns", denseAdd, at(1, 1, 2, 3, 4), valuesA, shape34, dense),
		failing("SparseTensorDenseAdd", "bounds", denseAdd, at(2, 1, 4), vec[float32](1), shape34, dense),
	)
	for op, f := range map[string]func(t sparse.Tensor, y tf.Output, opts ...tf.Option) tf.Output{
		"SparseDenseCwiseAdd": sparse.SparseDenseCwiseAdd, "SparseDenseCwiseMul": sparse.SparseDenseCwiseMul, "SparseDenseCwiseDiv": sparse.SparseDenseCwiseDiv,
	} {
		apply := func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{f(sp(in, 0), in[3])} }
		with := func(name string, y *core.Tensor, types []tf.DType) sample {
			return valuesFirst(sample{Op: op, Name: name, In: tensors{atA, vec[float32](7, 2, 30, 9), shape34, y}, F: apply, Types: types})
		}
		addSamples(
			with("", arr(tf.Shape{3, 4}, float32(1), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), nil),
			with("row", vec[float32](1, 2, 3, 4), optest.OnlyOwn),
			with("column", arr(tf.Shape{3, 1}, float32(1), 2, 3), optest.OnlyOwn),
			rough(with("scalar", core.Scalar(float32(3)), optest.OnlyOwn)),
			failing(op, "indices", apply, i64(1), valuesA, shape34, dense),
			failing(op, "values", apply, atA, core.Scalar(float32(1)), shape34, dense),
			failing(op, "shape", apply, atA, valuesA, at(1, 1), dense),
			failing(op, "number", apply, atA, vec[float32](1), shape34, dense),
			failing(op, "columns", apply, at(1, 1, 2, 3, 4), valuesA, shape34, dense),
			failing(op, "rank", apply, atA, valuesA, shape34, seq(1, 3, 4)),
			failing(op, "sizes", apply, atA, valuesA, shape34, seq(3, 2)),
			failing(op, "bounds", apply, at(2, 1, 4), vec[float32](1), shape34, dense),
			failing(op, "many dimensions", apply, none(6), vec[float32](), i64(1, 1, 1, 1, 1, 1), dense),
			failing(op, "no dimensions", apply, none(0), vec[float32](), i64(), core.Scalar(float32(1))),
		)
	}
	div := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return outputs{sparse.SparseDenseCwiseDiv(sp(in, 0), in[3])}
	}
	addSamples(
		failing("SparseDenseCwiseDiv", "zero", div, at(1, 0), i32(1), i64(1), i32(0)),
		failing("SparseDenseCwiseDiv", "real zero", div, at(1, 0), vec[float32](1), i64(1), vec[float32](0)),
		sample{Op: "SparseDenseCwiseDiv", Name: "zero elsewhere", In: tensors{at(1, 0), i32(7), i64(2), i32(2, 0)}, F: div, Types: optest.OnlyOwn},
	)
}

// rough is s without a gradient, which TensorFlow does not have for a scalar.
func rough(s sample) sample {
	s.Rough = "TensorFlow has no gradient"
	return s
}
