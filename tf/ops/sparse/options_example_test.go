package sparse_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// A sparse tensor is named by its parts. Elements that are missing are zero.
func ExampleTensor() {
	g := eager.New()
	t := sparse.Tensor{
		Indices: ops.Const(g, []int64{0, 1, 1, 0}, 2, 2), Values: ops.Const(g, []int32{7, 9}), DenseShape: ops.Const(g, []int64{2, 2}),
	}
	v, err := sparse.ToDense(t, ops.Scalar[int32](g, 0)).Value()
	fmt.Println(v, err)
	// Output: int32[2,2]{0, 7, 9, 0} <nil>
}

// A sparse matrix, or its transpose, times a dense one.
func ExampleAdjointOpts() {
	g := eager.New()
	a := sparse.FromDense(ops.Const(g, []float32{0, 2, 0, 0}, 2, 2))
	b := ops.Const(g, []float32{1, 10}, 2, 1)
	for _, o := range []sparse.AdjointOpts{{}, {A: true}} {
		v, err := sparse.SparseTensorDenseMatMul(a, b, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{20, 0} <nil>
	// float32[2,1]{0, 2} <nil>
}

// The rows of a table that each example names are combined; ids may have
// weights.
func ExampleEmbeddingLookupSparse() {
	g := eager.New()
	table := ops.Const(g, []float32{1, 2, 4}, 3, 1)
	at, shape := ops.Const(g, []int64{0, 0, 0, 1, 1, 0}, 3, 2), ops.Const(g, []int64{2, 2})
	ids := sparse.Tensor{Indices: at, Values: ops.Const(g, []int64{0, 2, 1}), DenseShape: shape}
	weights := sparse.Tensor{Indices: at, Values: ops.Const(g, []float32{3, 1, 1}), DenseShape: shape}
	var combiner sparse.Combiner = sparse.CombineSum
	for _, o := range []sparse.EmbeddingOpts{{}, {Combiner: combiner}, {Weights: weights}} {
		v, err := sparse.EmbeddingLookupSparse([]tf.Output{table}, ids, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{2.5, 2} <nil>
	// float32[2,1]{5, 2} <nil>
	// float32[2,1]{1.75, 2} <nil>
}

// How often each number occurs, or whether it does.
func ExampleDenseCountSparseOutput() {
	g := eager.New()
	x, ones := ops.Const(g, []int32{3, 1, 1, 9}), ops.Const(g, []int32{})
	for _, binary := range []bool{false, true} {
		o := sparse.CountOpts{MinLength: 5, MaxLength: 8, Binary: binary}
		t := sparse.DenseCountSparseOutput(x, ones, o)
		for _, y := range []tf.Output{t.Indices, t.Values, t.DenseShape} {
			v, err := y.Value()
			fmt.Println(v, err)
		}
	}
	// Output:
	// int64[2,1]{1, 3} <nil>
	// int32[2]{2, 1} <nil>
	// int64[1]{8} <nil>
	// int64[2,1]{1, 3} <nil>
	// int32[2]{1, 1} <nil>
	// int64[1]{8} <nil>
}

// Combinations of features, as text or as hashes below 100.
func ExampleSparseCross() {
	g := eager.New()
	dense := []tf.Output{ops.Const(g, []string{"red"}, 1, 1), ops.Const(g, []string{"car", "bus"}, 1, 2)}
	for _, hash := range []*sparse.CrossHash{nil, {Buckets: 100, Key: 7}} {
		v, err := sparse.SparseCross(g, nil, dense, hash).Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[2]{"red_X_car", "red_X_bus"} <nil>
	// int64[2]{49, 8} <nil>
}

// The same for rows that differ in length: order says which input is ragged.
func ExampleRaggedMatrix() {
	g := eager.New()
	words := sparse.RaggedMatrix{Values: ops.Const(g, []string{"car", "bus", "van"}), Splits: ops.Const(g, []int64{0, 2, 3})}
	colors := ops.Const(g, []string{"red", "blue"}, 2, 1)
	crossed := sparse.RaggedCross(g, "RD", []sparse.RaggedMatrix{words}, nil, []tf.Output{colors}, nil)
	for _, y := range []tf.Output{crossed.Values, crossed.Splits} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// string[3]{"car_X_red", "bus_X_red", "van_X_blue"} <nil>
	// int64[3]{0, 2, 3} <nil>
}

// How many changes lead from one sequence to another, as a part of its length
// or absolute.
func ExampleEditDistance() {
	g := eager.New()
	a := sparse.FromDense(ops.Const(g, []string{"k", "i", "t"}, 1, 3))
	b := sparse.FromDense(ops.Const(g, []string{"s", "i", "t", "s"}, 1, 4))
	for _, absolute := range []bool{false, true} {
		v, err := sparse.EditDistance(a, b, sparse.DistanceOpts{Absolute: absolute}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1]{0.5} <nil>
	// float32[1]{2} <nil>
}

// Sparse tensors are kept in a map, under numbers, and taken out as a batch.
func ExampleMapOpts() {
	g := eager.New()
	o := sparse.MapOpts{SharedName: "examples"}
	first := sparse.AddSparseToTensorsMap(sparse.FromDense(ops.Const(g, []int32{0, 7})), o)
	second := sparse.AddSparseToTensorsMap(sparse.FromDense(ops.Const(g, []int32{9, 0})), o)
	t := sparse.TakeManySparseFromTensorsMap(ops.Pack([]tf.Output{second, first}), tf.Int32, o)
	v, err := sparse.ToDense(t, ops.Scalar[int32](g, 0)).Value()
	fmt.Println(v, err)
	// Output: int32[2,2]{9, 0, 0, 7} <nil>
}

// Matrices that are dense in memory and have many zeros.
func ExampleSparseMatMul() {
	g := eager.New()
	a, b := ops.Const(g, []float32{0, 2, 0, 0}, 2, 2), ops.Const(g, []float32{1, 10}, 1, 2)
	v, err := sparse.SparseMatMul(a, b, sparse.MatMulOpts{ASparse: true, TransposeB: true}).Value()
	fmt.Println(v, err)
	// Output: float32[2,1]{20, 0} <nil>
}

// KeepDims leaves the dimension that is summed with size 1.
func ExampleSparseReduceSum() {
	g := eager.New()
	t := sparse.FromDense(ops.Const(g, []int32{1, 0, 2, 3}, 2, 2))
	for _, keep := range []bool{false, true} {
		v, err := sparse.SparseReduceSum(t, ops.Scalar[int32](g, 1), sparse.ReduceOpts{KeepDims: keep}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// int32[2]{1, 5} <nil>
	// int32[2,1]{1, 5} <nil>
}

// A sparse tensor in one tensor, to pass through queues, and back.
func ExampleSerializeSparse() {
	g := eager.New()
	t := sparse.FromDense(ops.Const(g, []int32{0, 7, 0}))
	parts := sparse.SerializeSparse(t, sparse.SerializeOpts{Variant: true})
	fmt.Println(parts.DType(), parts.Shape())
	v, err := sparse.DeserializeSparse(parts, tf.Int32).Values.Value()
	fmt.Println(v, err)
	// Output:
	// variant [3]
	// int32[1]{7} <nil>
}

// Sets of different values; Unchecked leaves out the look at the order of
// indices.
func ExampleSetSize() {
	g := eager.New()
	t := sparse.FromDense(ops.Const(g, []int32{1, 1, 2, 5, 0, 0}, 2, 3))
	v, err := sparse.SetSize(t, sparse.SetOpts{Unchecked: true}).Value()
	fmt.Println(v, err)
	// Output: int32[2]{2, 1} <nil>
}

// A matrix in compressed rows, transposed, times a dense one.
func ExampleSparseMatrixMatMul() {
	g := eager.New()
	m := sparse.SparseTensorToCSRSparseMatrix(sparse.FromDense(ops.Const(g, []float32{0, 2, 0, 0}, 2, 2)))
	b := ops.Const(g, []float32{1, 10}, 2, 1)
	for _, o := range []sparse.SparseMatrixMatMulOpts{{}, {A: sparse.MatrixForm{Transpose: true}}, {TransposeOutput: true}} {
		v, err := sparse.SparseMatrixMatMul(m, b, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{20, 0} <nil>
	// float32[2,1]{0, 2} <nil>
	// float32[1,2]{20, 0} <nil>
}

// The product of a matrix in compressed rows and its own adjoint.
func ExampleSparseMatrixSparseMatMul() {
	g := eager.New()
	m := sparse.SparseTensorToCSRSparseMatrix(sparse.FromDense(ops.Const(g, []float32{1, 2, 0, 3}, 2, 2)))
	o := sparse.SparseMatrixSparseMatMulOpts{B: sparse.MatrixForm{Adjoint: true}}
	y := sparse.SparseMatrixSparseMatMul(m, m, tf.Float32, o)
	v, err := sparse.CSRSparseMatrixToDense(y, tf.Float32).Value()
	fmt.Println(v, err)
	// Output: float32[2,2]{5, 6, 6, 9} <nil>
}

// The transpose, or with Conjugate the adjoint, of a complex matrix.
func ExampleSparseMatrixTranspose() {
	g := eager.New()
	m := sparse.SparseTensorToCSRSparseMatrix(sparse.FromDense(ops.Const(g, []complex64{0, 1i, 0, 0}, 2, 2)))
	for _, conjugate := range []bool{false, true} {
		y := sparse.SparseMatrixTranspose(m, tf.Complex64, sparse.SparseMatrixTransposeOpts{Conjugate: conjugate})
		v, err := sparse.CSRSparseMatrixToDense(y, tf.Complex64).Value()
		fmt.Println(v, err)
	}
	// Output:
	// complex64[2,2]{(0+0i), (0+0i), (0+1i), (0+0i)} <nil>
	// complex64[2,2]{(0+0i), (0+0i), (0-1i), (0+0i)} <nil>
}
