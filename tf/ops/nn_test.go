package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addBias()
	addSoftmax()
	addCrossEntropy()
	addN := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.AddN(in)} }
	addSamples(
		sample{op: "AddN", in: []*tf.Tensor{seq(2, 3), positive(2, 3), seq(2, 3), positive(2, 3)}, f: addN},
		sample{op: "AddN", name: "one", in: []*tf.Tensor{seq(2, 3)}, f: addN},
		sample{op: "AddN", name: "shapes differ", fails: true, in: []*tf.Tensor{seq(2), seq(2), seq(3)}, f: addN},
		sample{op: "L2Loss", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.L2Loss), tol: 1e-5},
		sample{op: "L2Loss", name: "of nothing", in: []*tf.Tensor{seq(0)}, f: unary(ops.L2Loss)})
	addSelect()
}

func addBias() {
	nchw := ops.BiasOpts{DataFormat: "NCHW"}
	for name, f := range map[string]function2{"BiasAdd": ops.BiasAdd, "BiasAddV1": ops.BiasAddV1} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(2, 3), seq(3)}, f: binary(f)},
			sample{op: name, name: "images", in: []*tf.Tensor{seq(2, 2, 2, 3), seq(3)}, f: binary(f)},
			sample{op: name, name: "no rows", in: []*tf.Tensor{seq(0, 3), seq(3)}, f: binary(f)},
			sample{op: name, name: "vector", fails: true, in: []*tf.Tensor{seq(3), seq(3)}, f: binary(f)},
			sample{op: name, name: "matrix of biases", fails: true, in: []*tf.Tensor{seq(2, 3), seq(1, 3)}, f: binary(f)},
			sample{op: name, name: "too many biases", fails: true, in: []*tf.Tensor{seq(2, 3), seq(4)}, f: binary(f)})
	}
	addSamples(
		sample{op: "BiasAdd", name: "NCHW", in: []*tf.Tensor{seq(2, 3, 2, 2), seq(3)}, f: binary(ops.BiasAdd, nchw)},
		sample{op: "BiasAddGrad", in: []*tf.Tensor{seq(4, 3)}, f: unary(ops.BiasAddGrad), tol: 1e-5},
		sample{op: "BiasAddGrad", name: "images", in: []*tf.Tensor{seq(2, 2, 2, 3)}, f: unary(ops.BiasAddGrad), tol: 1e-5},
		sample{op: "BiasAddGrad", name: "NCHW", in: []*tf.Tensor{seq(2, 3, 2, 2)}, f: unary(ops.BiasAddGrad, nchw), tol: 1e-5},
		sample{op: "BiasAddGrad", name: "no rows", in: []*tf.Tensor{seq(0, 3)}, f: unary(ops.BiasAddGrad)},
		sample{op: "BiasAddGrad", name: "vector", fails: true, in: []*tf.Tensor{seq(3)}, f: unary(ops.BiasAddGrad)})
}

func addSoftmax() {
	for name, f := range map[string]func(x tf.Output, opts ...tf.Option) tf.Output{"Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(3, 4)}, f: unary(f)},
			sample{op: name, name: "vector", in: []*tf.Tensor{seq(5)}, f: unary(f)},
			sample{op: name, name: "stack", in: []*tf.Tensor{seq(2, 2, 3)}, f: unary(f)},
			sample{op: name, name: "great", in: []*tf.Tensor{mat[float32](3, 1e30, -1e30, 0, 100, 101, -200)}, f: unary(f), rough: "the results do not change"},
			sample{op: name, name: "no rows", in: []*tf.Tensor{seq(0, 3)}, f: unary(f)},
			sample{op: name, name: "no classes", in: []*tf.Tensor{seq(2, 0)}, f: unary(f)})
	}
}

func addCrossEntropy() {
	both := func(f string) func(*tf.Graph, []tf.Output) []tf.Output { return applied(f) }
	const dense, sparse = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"
	p := mat[float32](3, 0.2, 0.5, 0.3, 0, 1, 0)
	addSamples(
		sample{op: dense, in: []*tf.Tensor{seq(2, 3), p}, f: both(dense), rough: "TensorFlow leaves the second output's gradient for the labels out"},
		sample{op: dense, name: "loss", in: []*tf.Tensor{seq(2, 3), p}, f: binary(ops.SoftmaxCrossEntropyWithLogits)},
		sample{op: dense, name: "same labels", in: []*tf.Tensor{seq(2, 3), vec[float32](0.2, 0.5, 0.3)}, f: both(dense), rough: "TensorFlow does not reduce the gradient to labels of lower rank"},
		sample{op: dense, name: "no rows", in: []*tf.Tensor{seq(0, 3), seq(0, 3)}, f: both(dense)},
		sample{op: dense, name: "sizes differ", fails: true, in: []*tf.Tensor{seq(2, 3), seq(2, 4)}, f: both(dense)},
		sample{op: dense, name: "vectors", fails: true, in: []*tf.Tensor{seq(3), seq(3)}, f: both(dense)},
		sample{op: sparse, in: []*tf.Tensor{seq(2, 3), vec[int64](2, 0)}, f: both(sparse)},
		sample{op: sparse, name: "loss", in: []*tf.Tensor{seq(2, 3), vec[int32](2, 0)}, f: binary(ops.SparseSoftmaxCrossEntropyWithLogits)},
		sample{op: sparse, name: "no rows", in: []*tf.Tensor{seq(0, 3), vec[int64]()}, f: both(sparse)},
		sample{op: sparse, name: "no such class", fails: true, in: []*tf.Tensor{seq(2, 3), vec[int64](5, 1)}, f: both(sparse)},
		sample{op: sparse, name: "negative class", fails: true, in: []*tf.Tensor{seq(2, 3), vec[int32](1, -1)}, f: both(sparse)},
		sample{op: sparse, name: "too many labels", fails: true, in: []*tf.Tensor{seq(2, 3), vec[int64](1, 1, 1)}, f: both(sparse)},
		sample{op: sparse, name: "stack", fails: true, in: []*tf.Tensor{seq(2, 3, 1), vec[int64](1, 1)}, f: both(sparse)},
		sample{op: sparse, name: "matrix of labels", fails: true, in: []*tf.Tensor{seq(2, 3), mat[int64](1, 1, 1)}, f: both(sparse)},
		sample{op: sparse, name: "no classes", fails: true, in: []*tf.Tensor{seq(2, 0), vec[int64](0, 0)}, f: both(sparse)})
}

func addSelect() {
	cond := mat(3, true, false, true, false, false, true)
	rows := vec(true, false)
	// The condition comes last here: the first input is the one that types
	// are tried on.
	first := func(f func(c, x, y tf.Output, opts ...tf.Option) tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[2], in[0], in[1])} }
	}
	addSamples(
		sample{op: "Select", in: []*tf.Tensor{seq(2, 3), positive(2, 3), cond}, f: first(ops.Select)},
		sample{op: "Select", name: "rows", in: []*tf.Tensor{seq(2, 3), positive(2, 3), rows}, f: first(ops.Select)},
		sample{op: "Select", name: "scalar", in: []*tf.Tensor{seq(2, 3), positive(2, 3), arr(tf.Shape{}, true)}, f: first(ops.Select)},
		sample{op: "Select", name: "shapes differ", fails: true, in: []*tf.Tensor{seq(2, 2), seq(2, 3), rows}, f: first(ops.Select)},
		sample{op: "Select", name: "rows differ", fails: true, in: []*tf.Tensor{seq(3, 2), seq(3, 2), rows}, f: first(ops.Select)},
		sample{op: "Select", name: "matrix of conditions", fails: true, in: []*tf.Tensor{seq(2, 2), seq(2, 2), mat(2, true, false)}, f: first(ops.Select)},
		sample{op: "Select", name: "rows of a scalar", fails: true, in: []*tf.Tensor{seq(), seq(), vec(true)}, f: first(ops.Select)},
		sample{op: "Select", name: "vectors differ", fails: true, in: []*tf.Tensor{seq(3), seq(3), vec(true)}, f: first(ops.Select)},
		sample{op: "SelectV2", in: []*tf.Tensor{seq(2, 3), positive(2, 3), cond}, f: first(ops.SelectV2)},
		sample{op: "SelectV2", name: "broadcast", in: []*tf.Tensor{seq(3), positive(2, 1), vec(true, false, true)}, f: first(ops.SelectV2)},
		sample{op: "SelectV2", name: "scalars", in: []*tf.Tensor{seq(), positive(), cond}, f: first(ops.SelectV2)},
		sample{op: "SelectV2", name: "unfit", fails: true, in: []*tf.Tensor{seq(3, 2), seq(2, 2), rows}, f: first(ops.SelectV2)})
}
