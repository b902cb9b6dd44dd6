package sparse_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "SparseTensorDenseMatMul"
	times := func(o sparse.AdjointOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return outputs{sparse.SparseTensorDenseMatMul(sp(in, 0), in[3], o)}
		}
	}
	complexes := []tf.DType{tf.Complex64, tf.Complex128}
	for _, a := range []bool{false, true} {
		for _, b := range []bool{false, true} {
			rows, columns, types := 4, 5, complexes
			if a {
				rows = 3
			}
			if !a && !b {
				types = nil
			}
			if b {
				rows, columns = columns, rows
			}
			// 1i is what tells a conjugate from a transpose.
			imaginary := core.NewTensor(tf.Complex64, tf.Shape{rows, columns})
			for i := range core.Data[complex64](imaginary) {
				core.Data[complex64](imaginary)[i] = complex(float32(i), float32(3-i))
			}
			name := fmt.Sprint(a, b)
			if !a && !b {
				name = ""
			}
			addSamples(
				valuesFirst(sample{Op: op, Name: name, In: tensors{at(2, 2, 2, 0, 1, 1, 3, 1, 0), valuesA, shape34, seq(rows, columns)}, F: times(sparse.AdjointOpts{A: a, B: b}), Types: types}),
				valuesFirst(sample{Op: op, Name: "complex" + name, In: tensors{atA, vec[complex64](1+2i, 1i, 3, 4), shape34, imaginary}, F: times(sparse.AdjointOpts{A: a, B: b}), Types: optest.OnlyOwn}),
			)
		}
	}
	plain := times(sparse.AdjointOpts{})
	addSamples(
		sample{Op: op, Name: "narrow indices", In: tensors{optest.Mat[int32](2, 0, 1), vec[float32](2), shape34, seq(4, 3)}, F: plain, Types: optest.OnlyOwn},
		failing(op, "matrix", plain, atA, valuesA, shape34, seq(4)),
		failing(op, "shape", plain, atA, valuesA, at(1, 1), seq(4, 2)),
		failing(op, "rank", plain, none(3), vec[float32](), i64(1, 2, 3), seq(4, 2)),
		failing(op, "values", plain, atA, core.Scalar(float32(1)), shape34, seq(4, 2)),
		failing(op, "indices", plain, i64(1), valuesA, shape34, seq(4, 2)),
		failing(op, "number", plain, atA, vec[float32](1), shape34, seq(4, 2)),
		failing(op, "columns", plain, at(1, 1), vec[float32](1), shape34, seq(4, 2)),
		failing(op, "inner", plain, atA, valuesA, shape34, seq(3, 2)),
		failing(op, "bounds", plain, at(2, 1, 4), vec[float32](1), shape34, seq(4, 2)),
		failing(op, "row", plain, at(2, 3, 1), vec[float32](1), shape34, seq(4, 2)),
		failing(op, "row of transposed", times(sparse.AdjointOpts{A: true}), at(2, 1, 4), vec[float32](1), shape34, seq(3, 2)),
	)
	dense := func(o sparse.MatMulOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{sparse.SparseMatMul(in[0], in[1], o)} }
	}
	small := optest.Convert(seq(3, 2), tf.BFloat16)
	addSamples(
		sample{Op: "SparseMatMul", In: tensors{seq(2, 3), seq(3, 4)}, F: dense(sparse.MatMulOpts{ASparse: true}), Types: optest.OnlyOwn},
		sample{Op: "SparseMatMul", Name: "a transposed", In: tensors{seq(3, 2), seq(3, 4)}, F: dense(sparse.MatMulOpts{TransposeA: true}), Types: optest.OnlyOwn},
		sample{Op: "SparseMatMul", Name: "b transposed", In: tensors{seq(2, 3), seq(4, 3)}, F: dense(sparse.MatMulOpts{TransposeB: true, BSparse: true}), Types: optest.OnlyOwn},
		sample{Op: "SparseMatMul", Name: "both transposed", In: tensors{seq(3, 2), seq(4, 3)}, F: dense(sparse.MatMulOpts{TransposeA: true, TransposeB: true}), Types: optest.OnlyOwn},
		sample{Op: "SparseMatMul", Name: "small", In: tensors{seq(4, 3), small}, F: dense(sparse.MatMulOpts{}), Types: optest.OnlyOwn, Tol: 1e-2, Rough: "bfloat16"},
		failing("SparseMatMul", "a", dense(sparse.MatMulOpts{}), seq(3), seq(3, 4)),
		failing("SparseMatMul", "b", dense(sparse.MatMulOpts{}), seq(3, 3), seq(3)),
		failing("SparseMatMul", "inner", dense(sparse.MatMulOpts{}), seq(3, 3), seq(2, 4)),
	)
}
