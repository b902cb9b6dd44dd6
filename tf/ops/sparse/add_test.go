package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

// Two sparse tensors of one shape that share some indices.
var (
	shape34 = i64(3, 4)
	atA     = at(2, 0, 1, 1, 0, 1, 3, 2, 2)
	valuesA = vec[float32](1, 2, 3, -4)
	atB     = at(2, 0, 0, 1, 0, 1, 2, 2, 2)
	valuesB = vec[float32](5, -2, 6, -3)
)

// bad lists what TensorFlow refuses of two sparse tensors, in the order of
// inputs.
func badPairs(op string, f func(*tf.Graph, []tf.Output) []tf.Output) {
	addSamples(
		failing(op, "indices", f, i64(1), valuesA, shape34, atB, valuesB, shape34),
		failing(op, "values", f, atA, core.Scalar(float32(1)), shape34, atB, valuesB, shape34),
		failing(op, "shape", f, atA, valuesA, at(2, 3, 4), atB, valuesB, shape34),
		failing(op, "number", f, atA, vec[float32](1), shape34, atB, valuesB, shape34),
		failing(op, "number of b", f, atA, valuesA, shape34, atB, vec[float32](1), shape34),
		failing(op, "ranks", f, atA, valuesA, shape34, at(1, 0), vec[float32](1), i64(3)),
		failing(op, "sizes", f, atA, valuesA, shape34, atB, valuesB, i64(3, 5)),
		failing(op, "columns of both", f, at(1, 0), vec[float32](1), shape34, at(1, 0), vec[float32](1), shape34),
		failing(op, "columns", f, at(1, 0, 1, 2, 3), valuesA, shape34, atB, valuesB, shape34),
	)
}

func init() {
	// add casts the threshold to the real type that goes with the values'.
	add := func(limit float32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			d := in[1].DType()
			switch d {
			case tf.Complex64:
				d = tf.Float32
			case tf.Complex128:
				d = tf.Float64
			}
			return parts(sparse.SparseAdd(sp(in, 0), sp(in, 3), ops.Cast(ops.Scalar(g, limit), d)))
		}
	}
	two := tensors{atA, valuesA, shape34, atB, valuesB, shape34}
	addSamples(
		valuesFirst(sample{Op: "SparseAdd", In: two, F: add(0)}),
		valuesFirst(sample{Op: "SparseAdd", Name: "threshold", In: two, F: add(3), Types: []tf.DType{tf.Complex64, tf.Int8}, Rough: "sums near the threshold come and go"}),
		sample{Op: "SparseAdd", Name: "outside", In: tensors{at(2, 0, 9, 0, -5), vec[float32](1, 2), shape34, atB, valuesB, shape34}, F: add(0), Types: optest.OnlyOwn},
		sample{Op: "SparseAdd", Name: "nothing", In: tensors{none(2), vec[float32](), shape34, none(2), vec[float32](), shape34}, F: add(0), Types: optest.OnlyOwn},
		failing("SparseAdd", "threshold", applied("SparseAdd"), append(two, vec[float32](1))...),
	)
	badPairs("SparseAdd", add(0))
	back := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		da, db := sparse.SparseAddGrad(in[0], in[1], in[2], in[3])
		return outputs{da, db}
	}
	sum, dy := at(2, 0, 0, 0, 1, 1, 2, 1, 3, 2, 2), vec[float32](1, 2, 3, 4, 5)
	addSamples(
		sample{Op: "SparseAddGrad", In: tensors{dy, atA, atB, sum}, F: back},
		failing("SparseAddGrad", "indices", back, dy, i64(1), atB, sum),
		failing("SparseAddGrad", "gradient", back, at(1, 1), atA, atB, sum),
		failing("SparseAddGrad", "ranks", back, dy, at(1, 1), atB, sum),
		failing("SparseAddGrad", "number", back, vec[float32](1), atA, atB, sum),
	)
	for op, f := range map[string]func(a, b sparse.Tensor, opts ...tf.Option) sparse.Tensor{
		"SparseSparseMaximum": sparse.SparseSparseMaximum, "SparseSparseMinimum": sparse.SparseSparseMinimum,
	} {
		apply := func(_ *tf.Graph, in []tf.Output) []tf.Output { return parts(f(sp(in, 0), sp(in, 3)))[:2] }
		addSamples(
			valuesFirst(sample{Op: op, In: two, F: apply}),
			failing(op, "bounds", apply, atA, valuesA, shape34, at(2, 0, 9), vec[float32](1), shape34),
		)
		badPairs(op, apply)
	}
}
