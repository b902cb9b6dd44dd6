package sparse_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

// The matrices of samples: one, and a batch with one that is empty.
var (
	oneAt   = at(2, 0, 1, 0, 2, 2, 0, 2, 3)
	batchAt = at(3, 0, 0, 1, 0, 2, 0, 2, 0, 3, 2, 1, 0, 2, 1, 2)
	batchBy = i64(3, 3, 4)
	five    = vec[float32](1, -2, 3, 0.5, 4)
)

// csrOf is the matrix that begins at input i.
func csrOf(in outputs, i int) tf.Output { return sparse.SparseTensorToCSRSparseMatrix(sp(in, i)) }

// shown are the parts of m.
func shown(m tf.Output, d tf.DType) outputs {
	return parts(sparse.CSRSparseMatrixToSparseTensor(m, d))
}

// small has values for a matrix; the rest of it are constants, without which
// TensorFlow's shape functions do not know its rank.
func small(op, name string, f func(in outputs) outputs, more ...*core.Tensor) sample {
	return around(op, name, oneAt, vec[float32](1, 2, 3, 4), shape34, f, more)
}

func batched(op, name string, f func(in outputs) outputs, more ...*core.Tensor) sample {
	s := around(op, name, batchAt, five, batchBy, f, more)
	s.Types = optest.OnlyOwn
	return s
}

func around(op, name string, where, values, shape *core.Tensor, f func(in outputs) outputs, more tensors) sample {
	return sample{Op: op, Name: name, In: append(tensors{values}, more...), F: func(g *tf.Graph, in outputs) outputs {
		return f(append(outputs{ops.ConstValue(g, where), in[0], ops.ConstValue(g, shape)}, in[1:]...))
	}}
}

// wrong is a sample that fails.
func wrong(op, name string, where, values, shape *core.Tensor, f func(in outputs) outputs, more ...*core.Tensor) sample {
	s := around(op, "bad "+name, where, values, shape, f, more)
	s.Fails, s.Types = true, optest.OnlyOwn
	return s
}

func init() {
	there := func(in outputs) outputs { return shown(csrOf(in, 0), in[1].DType()) }
	dense := func(in outputs) outputs {
		return outputs{sparse.CSRSparseMatrixToDense(csrOf(in, 0), in[1].DType())}
	}
	from := func(g *tf.Graph, in outputs) outputs {
		x := in[0]
		if x.Shape() == nil { // TensorFlow wants to know the rank
			x = ops.Reshape(x, ops.Const(g, []int32{3, 4}))
		}
		return shown(sparse.DenseToCSRSparseMatrix(x, ops.ConstValue(g, oneAt)), x.DType())
	}
	fromBatch := func(_ *tf.Graph, in outputs) outputs {
		return shown(sparse.DenseToCSRSparseMatrix(in[0], in[1]), in[0].DType())
	}
	components := func(i int32) func(in outputs) outputs {
		return func(in outputs) outputs {
			rows, cols, values := sparse.CSRSparseMatrixComponents(csrOf(in, 0), ops.Scalar(in[0].Graph(), i), in[1].DType())
			return outputs{rows, cols, values}
		}
	}
	count := func(in outputs) outputs { return outputs{sparse.SparseMatrixNNZ(csrOf(in, 0))} }
	addSamples(
		small("SparseTensorToCSRSparseMatrix", "", there),
		batched("SparseTensorToCSRSparseMatrix", "batch", there),
		batched("CSRSparseMatrixToSparseTensor", "batch", there),
		small("CSRSparseMatrixToSparseTensor", "", there),
		small("CSRSparseMatrixToDense", "", dense),
		batched("CSRSparseMatrixToDense", "batch", dense),
		small("CSRSparseMatrixComponents", "", components(0)),
		batched("CSRSparseMatrixComponents", "batch", components(2)),
		batched("CSRSparseMatrixComponents", "empty", components(1)),
		small("SparseMatrixNNZ", "", count),
		batched("SparseMatrixNNZ", "batch", count),
		sample{Op: "DenseToCSRSparseMatrix", In: tensors{seq(3, 4)}, F: from},
		sample{Op: "DenseToCSRSparseMatrix", Name: "batch", In: tensors{seq(3, 3, 4), batchAt}, F: fromBatch, Types: optest.OnlyOwn},
	)
	bad := func(name string, in ...*core.Tensor) {
		f := failing("SparseTensorToCSRSparseMatrix", name, func(_ *tf.Graph, in outputs) outputs { return there(in) }, in...)
		f.NoGolden = "TensorFlow's shape function wants to know the rank"
		addSamples(f)
	}
	bad("rank", at(1, 0, 1), vec[float32](1, 2), i64(3))
	bad("indices", i64(1), vec[float32](1), i64(3, 4))
	bad("values", at(2, 0, 1), core.Scalar[float32](1), i64(3, 4))
	bad("shape", at(2, 0, 1), vec[float32](1), core.Scalar[int64](4))
	bad("number", at(2, 0, 1), vec[float32](1, 2), i64(3, 4))
	bad("columns", at(2, 0, 1), vec[float32](1), i64(3, 4, 5))
	bad("order", at(2, 1, 0, 0, 0), vec[float32](1, 2), i64(3, 4))
	four := vec[float32](1, 2, 3, 4)
	one := vec[float32](1)
	addSamples(
		wrong("SparseTensorToCSRSparseMatrix", "batch", at(3, 0, 0, 0), one, i64(1<<31-1, 1, 1), there),
		wrong("SparseTensorToCSRSparseMatrix", "rows", at(3, 0, 0, 0), one, i64(1<<30, 10, 1), there),
		wrong("CSRSparseMatrixComponents", "index", oneAt, four, shape34, components(1)),
		wrong("CSRSparseMatrixToDense", "type", oneAt, four, shape34, func(in outputs) outputs {
			return outputs{sparse.CSRSparseMatrixToDense(csrOf(in, 0), tf.Float64)}
		}),
		wrong("CSRSparseMatrixToSparseTensor", "type", oneAt, four, shape34, func(in outputs) outputs { return shown(csrOf(in, 0), tf.Float64) }),
	)
	addCSRProductSamples()
	addCholeskySamples()
	addCSRSumSamples()
}

func addCSRProductSamples() {
	for i, conjugate := range []bool{false, true} {
		flip := func(in outputs) outputs {
			d := in[1].DType()
			return shown(sparse.SparseMatrixTranspose(csrOf(in, 0), d, sparse.SparseMatrixTransposeOpts{Conjugate: conjugate}), d)
		}
		addSamples(small("SparseMatrixTranspose", []string{"", "conjugate"}[i], flip), batched("SparseMatrixTranspose", []string{"batch", "conjugate batch"}[i], flip))
	}
	form := func(i int) sparse.MatrixForm { return sparse.MatrixForm{Transpose: i == 1, Adjoint: i == 2} }
	names := []string{"", " transposed", " adjoint"}
	for a := range 3 {
		for b := range 3 {
			name := "a" + names[a] + " b" + names[b]
			rows, cols := 4, 2
			if a > 0 {
				rows = 3
			}
			if b > 0 {
				rows, cols = cols, rows
			}
			product := func(o sparse.SparseMatrixMatMulOpts) func(in outputs) outputs {
				o.A, o.B = form(a), form(b)
				return func(in outputs) outputs { return outputs{sparse.SparseMatrixMatMul(csrOf(in, 0), in[3], o)} }
			}
			addSamples(
				small("SparseMatrixMatMul", name, product(sparse.SparseMatrixMatMulOpts{}), seq(rows, cols)),
				small("SparseMatrixMatMul", name+" output transposed", product(sparse.SparseMatrixMatMulOpts{TransposeOutput: true, ConjugateOutput: true}), seq(rows, cols)),
				batched("SparseMatrixMatMul", name+" batch", product(sparse.SparseMatrixMatMulOpts{ConjugateOutput: true}), seq(3, rows, cols)),
			)
			addSparseProduct(name, sparse.SparseMatrixSparseMatMulOpts{A: form(a), B: form(b)})
		}
	}
	multiply := func(in outputs) outputs { return outputs{sparse.SparseMatrixMatMul(csrOf(in, 0), in[3])} }
	four := vec[float32](1, 2, 3, 4)
	addSamples(
		wrong("SparseMatrixMatMul", "type", oneAt, four, shape34, multiply, optest.Convert(seq(4, 2), tf.Float64)),
		wrong("SparseMatrixMatMul", "rank", oneAt, four, shape34, multiply, seq(1, 4, 2)),
		wrong("SparseMatrixMatMul", "batch", batchAt, five, batchBy, multiply, seq(2, 4, 2)),
		wrong("SparseMatrixMatMul", "size", oneAt, four, shape34, multiply, seq(3, 2)),
	)
}

// addSparseProduct multiplies a square matrix by itself.
func addSparseProduct(name string, o sparse.SparseMatrixSparseMatMulOpts) {
	s := around("SparseMatrixSparseMatMul", name, oneAt, vec[float32](1, 2, 3, 4), i64(4, 4), func(in outputs) outputs {
		m, d := csrOf(in, 0), in[1].DType()
		return shown(sparse.SparseMatrixSparseMatMul(m, m, d, o), d)
	}, nil)
	s.Rough = "TensorFlow's gradient fails where the product lacks what an operand has"
	addSamples(s)
}

func addCholeskySamples() {
	// A matrix that fills in, its lower triangle enough; what is above is not read.
	where := at(2, 0, 0, 1, 1, 2, 0, 2, 2, 3, 0, 3, 1, 3, 3)
	values := vec[float32](4, 5, 1, 6, 2, -1, 7)
	factor := func(perm ...int32) func(in outputs) outputs {
		return func(in outputs) outputs {
			m, d := csrOf(in, 0), in[1].DType()
			return shown(sparse.SparseMatrixSparseCholesky(m, ops.Const(m.Graph(), perm), d), d)
		}
	}
	with := func(name string, perm ...int32) sample {
		return around("SparseMatrixSparseCholesky", name, where, values, i64(4, 4), factor(perm...), nil)
	}
	failed := func(name string, where, values, shape *core.Tensor, noGolden string, perm ...int32) {
		s := wrong("SparseMatrixSparseCholesky", name, where, values, shape, factor(perm...))
		s.NoGolden = noGolden
		addSamples(s)
	}
	addSamples(with("", 0, 1, 2, 3), with("permuted", 3, 1, 0, 2))
	failed("definite", at(2, 0, 0, 1, 1), vec[float32](1, -1), i64(2, 2), "", 0, 1)
	failed("square", at(2, 0, 0), vec[float32](1), i64(2, 3), "TensorFlow's shape function refuses it", 0, 1)
	failed("length", at(2, 0, 0), vec[float32](1), i64(2, 2), "TensorFlow's shape function refuses it", 0, 1, 2)
	failed("permutation", at(2, 0, 0), vec[float32](1), i64(2, 2), "TensorFlow does not look", 0, 0)
	order := around("SparseMatrixOrderingAMD", "", where, values, i64(4, 4), func(in outputs) outputs { return outputs{sparse.SparseMatrixOrderingAMD(csrOf(in, 0))} }, nil)
	order.Types, order.NoGolden = optest.OnlyOwn, "TensorFlow's order is another one"
	addSamples(order)
}

// addCSRSumSamples adds those of ops that TensorFlow has on GPUs only.
func addCSRSumSamples() {
	const gpus = "TensorFlow has it on GPUs only"
	scaled := func(in outputs) outputs {
		m, d := csrOf(in, 0), in[1].DType()
		return shown(sparse.SparseMatrixMul(m, in[3]), d)
	}
	softmax := func(in outputs) outputs {
		d := in[1].DType()
		return shown(sparse.SparseMatrixSoftmax(csrOf(in, 0), d), d)
	}
	plus := func(in outputs) outputs {
		m, d := csrOf(in, 0), in[1].DType()
		return shown(sparse.SparseMatrixAdd(m, m, in[3], in[4]), d)
	}
	grad := func(in outputs) outputs {
		m, d := csrOf(in, 0), in[1].DType()
		return shown(sparse.SparseMatrixSoftmaxGrad(m, m, d), d)
	}
	zeros := func(_ *tf.Graph, in outputs) outputs {
		return shown(sparse.SparseMatrixZeros(in[0], tf.Float32), tf.Float32)
	}
	for _, s := range []sample{
		small("SparseMatrixMul", "", scaled, core.Scalar[float32](2)),
		batched("SparseMatrixMul", "batch", scaled, seq(3, 1, 1)),
		small("SparseMatrixSoftmax", "", softmax),
		small("SparseMatrixAdd", "", plus, core.Scalar[float32](2), core.Scalar[float32](-3)),
		small("SparseMatrixSoftmaxGrad", "", grad),
		{Op: "SparseMatrixZeros", In: tensors{i64(2, 3)}, F: zeros, Types: optest.OnlyOwn},
	} {
		s.NoGolden, s.Rough = gpus, "factors have no gradients"
		addSamples(s)
	}
}

// value evaluates x.
func value(t *testing.T, x tf.Output) *core.Tensor {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return (*core.Tensor)(v)
}

// TestCSRTravels: a matrix keeps its parts on its way to another task.
func TestCSRTravels(t *testing.T) {
	g := eager.New()
	in := outputs{ops.ConstValue(g, batchAt), ops.ConstValue(g, five), ops.ConstValue(g, batchBy)}
	m := value(t, csrOf(in, 0))
	p, err := core.EncodeTensor(m)
	if err != nil {
		t.Fatal(err)
	}
	back, err := core.TensorFromProto(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range shown(ops.ConstValue(g, back), tf.Float32) {
		if want := value(t, in[i]); !core.TensorsEqual(value(t, part), want) {
			t.Errorf("part %d is %v, want %v", i, value(t, part), want)
		}
	}
	p.VariantVal[0].Tensors[3].IntVal, p.VariantVal[0].Tensors[3].TensorContent = []int32{9}, nil
	if _, err := core.TensorFromProto(p); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a column beyond the last: %v", err)
	}
}

// TestCSRSums checks what TensorFlow cannot on CPUs.
func TestCSRSums(t *testing.T) {
	g := eager.New()
	make := func(v ...float32) tf.Output {
		return csrOf(outputs{ops.ConstValue(g, at(2, 0, 0, 0, 1, 1, 1)), ops.Const(g, v), ops.Const(g, []int64{2, 2})}, 0)
	}
	other := csrOf(outputs{ops.ConstValue(g, at(2, 1, 0, 1, 1)), ops.Const(g, []float32{5, 7}), ops.Const(g, []int64{2, 2})}, 0)
	sum := sparse.SparseMatrixAdd(make(1, 2, 3), other, ops.Scalar[float32](g, 2), ops.Scalar[float32](g, -1))
	soft := sparse.SparseMatrixSoftmax(make(3, 3, -8), tf.Float32)
	grad := sparse.SparseMatrixSoftmaxGrad(soft, make(1, 0, 5), tf.Float32)
	for i, c := range []struct {
		got  tf.Output
		want []float32
	}{
		{sum, []float32{2, 4, -5, -1}},
		{soft, []float32{0.5, 0.5, 0, 1}},
		{grad, []float32{0.25, -0.25, 0, 0}},
		{sparse.SparseMatrixMul(make(1, 2, 3), ops.Scalar[float32](g, 3)), []float32{3, 6, 0, 9}},
		{sparse.SparseMatrixZeros(ops.Const(g, []int64{2, 2}), tf.Float32), []float32{0, 0, 0, 0}},
	} {
		if got := core.Data[float32](value(t, sparse.CSRSparseMatrixToDense(c.got, tf.Float32))); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

// TestOrdering: the factor of an arrow that points to the first row is full, in
// the order found it is as sparse as the matrix.
func TestOrdering(t *testing.T) {
	const n = 12
	g := eager.New()
	var where []int64
	var values []float64
	for i := range int64(n) {
		where, values = append(where, i, 0), append(values, 1)
		if i > 0 {
			where, values = append(where, i, i), append(values, 2*n)
		}
	}
	values[0] = 2 * n
	m := csrOf(outputs{ops.Const(g, where, len(values), 2), ops.Const(g, values), ops.Const(g, []int64{n, n})}, 0)
	order := sparse.SparseMatrixOrderingAMD(m)
	natural := ops.Range(nil, ops.Scalar[int32](g, 0), ops.Scalar[int32](g, n), ops.Scalar[int32](g, 1))
	for perm, want := range map[tf.Output]int32{natural: n * (n + 1) / 2, order: 2*n - 1} {
		l := sparse.SparseMatrixSparseCholesky(m, perm, tf.Float64)
		if got := core.Data[int32](value(t, sparse.SparseMatrixNNZ(l)))[0]; got != want {
			t.Errorf("the factor has %d elements, want %d", got, want)
		}
	}
}
