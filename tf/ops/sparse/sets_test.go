package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	values := vec[int32](5, 3, 5, 9, 1, 0)
	where, shape := at(3, 0, 0, 0, 0, 0, 1, 0, 0, 3, 0, 1, 1, 1, 1, 0, 1, 1, 2), i64(2, 2, 4)
	dense := arr(tf.Shape{2, 2, 3}, int32(3), 9, 3, 9, 2, 9, 7, 7, 7, 0, 1, 2)
	other := tensors{where, vec[int32](9, 5, 9, 4, 4, 1), i64(2, 2, 7)}
	size := func(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{sparse.SetSize(sp(in, 0), opts...)} }
	}
	addSamples(
		sample{Op: "SetSize", In: tensors{where, values, shape}, F: size(), Types: optest.OnlyOwn},
		sample{Op: "SetSize", Name: "strings", In: tensors{at(2, 1, 0, 1, 1, 1, 2, 3, 5), vec("a", "b", "a", ""), i64(5, 6)}, F: size(), Types: optest.OnlyOwn},
		sample{Op: "SetSize", Name: "none", In: tensors{none(2), vec[int32](), i64(2, 0)}, F: size(), Types: optest.OnlyOwn},
		unordered("SetSize", size(), at(2, 1, 0, 0, 0), i32(1, 1), i64(2, 1)),
		failing("SetSize", "repeated", size(), at(2, 1, 0, 1, 0), i32(1, 1), i64(2, 1)),
		failing("SetSize", "bounds", size(), at(2, 1, 0, 1, 1), i32(1, 1), i64(2, 1)),
		failing("SetSize", "bounds unchecked", size(sparse.SetOpts{Unchecked: true}), at(2, 804, 7450, 48245, 2577), i32(1, 1), i64(812, 390)),
		failing("SetSize", "rank", size(), at(1, 0), i32(1), i64(2)),
		failing("SetSize", "number", size(), at(2, 0, 0, 0, 1), i32(1), i64(2, 3)),
		failing("SetSize", "values", size(), at(2, 0, 0, 0, 1), optest.Mat[int32](1, 1, 2), i64(2, 3)),
		failing("SetSize", "shape", size(), at(2, 0, 0), i32(1), at(1, 2, 3)),
		failing("SetSize", "depth", size(), at(3, 0, 0, 0), i32(1), i64(2, 3)),
	)
	for _, operation := range []string{"a-b", "b-a", "intersection", "UNION"} {
		types := optest.OnlyOwn
		if operation == "UNION" {
			types = []tf.DType{tf.Int8, tf.Uint16, tf.Int64, tf.String}
		}
		addSamples(
			sample{Op: "DenseToDenseSetOperation", Name: operation, In: tensors{dense, arr(tf.Shape{2, 2, 2}, int32(3), 8, 9, 9, 1, 2, 2, 1)}, Types: types,
				F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
					return parts(sparse.DenseToDenseSetOperation(in[0], in[1], operation))
				}},
			sample{Op: "DenseToSparseSetOperation", Name: operation, In: append(tensors{dense}, other...), Types: optest.OnlyOwn,
				F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
					return parts(sparse.DenseToSparseSetOperation(in[0], sp(in, 1), operation, sparse.SetOpts{Unchecked: true}))
				}},
			sample{Op: "SparseToSparseSetOperation", Name: operation, In: append(tensors{where, values, shape}, other...), Types: optest.OnlyOwn,
				F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
					return parts(sparse.SparseToSparseSetOperation(sp(in, 0), sp(in, 3), operation))
				}},
		)
	}
	union := func(op string) func(*tf.Graph, []tf.Output) []tf.Output {
		return applied(op, tf.Attr("set_operation", "union"))
	}
	addSamples(
		failing("DenseToDenseSetOperation", "rank", union("DenseToDenseSetOperation"), i32(1), i32(2)),
		failing("DenseToDenseSetOperation", "shapes", union("DenseToDenseSetOperation"), dense, optest.Mat[int32](1, 1, 2)),
		failing("DenseToDenseSetOperation", "operation", applied("DenseToDenseSetOperation", tf.Attr("set_operation", "xor")), dense, dense),
		failing("DenseToSparseSetOperation", "shapes", union("DenseToSparseSetOperation"), optest.Mat[int32](1, 1, 2), at(2, 0, 0), i32(1), i64(3, 2)),
		failing("DenseToSparseSetOperation", "sizes", union("DenseToSparseSetOperation"), optest.Mat[int32](1, 1, 2), none(2), i32(), i64(-3, 2)),
		failing("DenseToSparseSetOperation", "huge", union("DenseToSparseSetOperation"), optest.Mat[int32](1, 1, 2), none(2), i32(), i64(1<<40, 1<<40)),
		unordered("SparseToSparseSetOperation", union("SparseToSparseSetOperation"), at(2, 0, 0), i32(1), i64(3, 2), at(2, 1, 0, 0, 0), i32(1, 1), i64(3, 2)),
	)
}
