package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addBias()
	addSoftmax()
	addCrossEntropy()
	addN := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.AddN(in)} }
	addSamples(
		sample{Op: "AddN", In: []*core.Tensor{seq(2, 3), positive(2, 3), seq(2, 3), positive(2, 3)}, F: addN},
		sample{Op: "AddN", Name: "one", In: []*core.Tensor{seq(2, 3)}, F: addN},
		sample{Op: "AddN", Name: "shapes differ", Fails: true, In: []*core.Tensor{seq(2), seq(2), seq(3)}, F: addN},
		sample{Op: "AccumulateNV2", In: []*core.Tensor{seq(2, 3), positive(2, 3), seq(2, 3)}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.AccumulateNV2(in, tf.Shape{2, 3})}
		}},
		sample{Op: "L2Loss", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.L2Loss), Tol: 1e-5},
		sample{Op: "L2Loss", Name: "of nothing", In: []*core.Tensor{seq(0)}, F: unary(ops.L2Loss)})
	addSelect()
}

func addBias() {
	nchw := ops.BiasOpts{DataFormat: "NCHW"}
	for name, f := range map[string]function2{"BiasAdd": ops.BiasAdd, "BiasAddV1": ops.BiasAddV1} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(2, 3), seq(3)}, F: binary(f)},
			sample{Op: name, Name: "images", In: []*core.Tensor{seq(2, 2, 2, 3), seq(3)}, F: binary(f)},
			sample{Op: name, Name: "no rows", In: []*core.Tensor{seq(0, 3), seq(3)}, F: binary(f)},
			sample{Op: name, Name: "vector", Fails: true, In: []*core.Tensor{seq(3), seq(3)}, F: binary(f)},
			sample{Op: name, Name: "matrix of biases", Fails: true, In: []*core.Tensor{seq(2, 3), seq(1, 3)}, F: binary(f)},
			sample{Op: name, Name: "too many biases", Fails: true, In: []*core.Tensor{seq(2, 3), seq(4)}, F: binary(f)})
	}
	addSamples(
		sample{Op: "BiasAdd", Name: "NCHW", In: []*core.Tensor{seq(2, 3, 2, 2), seq(3)}, F: binary(ops.BiasAdd, nchw)},
		sample{Op: "BiasAddGrad", In: []*core.Tensor{seq(4, 3)}, F: unary(ops.BiasAddGrad), Tol: 1e-5},
		sample{Op: "BiasAddGrad", Name: "images", In: []*core.Tensor{seq(2, 2, 2, 3)}, F: unary(ops.BiasAddGrad), Tol: 1e-5},
		sample{Op: "BiasAddGrad", Name: "NCHW", In: []*core.Tensor{seq(2, 3, 2, 2)}, F: unary(ops.BiasAddGrad, nchw), Tol: 1e-5},
		sample{Op: "BiasAddGrad", Name: "no rows", In: []*core.Tensor{seq(0, 3)}, F: unary(ops.BiasAddGrad)},
		sample{Op: "BiasAddGrad", Name: "vector", Fails: true, In: []*core.Tensor{seq(3)}, F: unary(ops.BiasAddGrad)})
}

func addSoftmax() {
	for name, f := range map[string]func(x tf.Output, opts ...tf.Option) tf.Output{"Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(3, 4)}, F: unary(f)},
			sample{Op: name, Name: "vector", In: []*core.Tensor{seq(5)}, F: unary(f)},
			sample{Op: name, Name: "stack", In: []*core.Tensor{seq(2, 2, 3)}, F: unary(f)},
			sample{Op: name, Name: "great", In: []*core.Tensor{mat[float32](3, 1e30, -1e30, 0, 100, 101, -200)}, F: unary(f), Rough: "the results do not change"},
			sample{Op: name, Name: "no rows", In: []*core.Tensor{seq(0, 3)}, F: unary(f)},
			sample{Op: name, Name: "no classes", In: []*core.Tensor{seq(2, 0)}, F: unary(f)})
	}
}

func addCrossEntropy() {
	both := func(f string) func(*tf.Graph, []tf.Output) []tf.Output { return applied(f) }
	const dense, sparse = "SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"
	p := mat[float32](3, 0.2, 0.5, 0.3, 0, 1, 0)
	addSamples(
		sample{Op: dense, In: []*core.Tensor{seq(2, 3), p}, F: both(dense), Rough: "TensorFlow leaves the second output's gradient for the labels out"},
		sample{Op: dense, Name: "loss", In: []*core.Tensor{seq(2, 3), p}, F: binary(labelsLast(ops.SoftmaxCrossEntropyWithLogits))},
		sample{Op: dense, Name: "same labels", In: []*core.Tensor{seq(2, 3), vec[float32](0.2, 0.5, 0.3)}, F: both(dense), Rough: "TensorFlow does not reduce the gradient to labels of lower rank"},
		sample{Op: dense, Name: "no rows", In: []*core.Tensor{seq(0, 3), seq(0, 3)}, F: both(dense)},
		sample{Op: dense, Name: "sizes differ", Fails: true, In: []*core.Tensor{seq(2, 3), seq(2, 4)}, F: both(dense)},
		sample{Op: dense, Name: "vectors", Fails: true, In: []*core.Tensor{seq(3), seq(3)}, F: both(dense)},
		sample{Op: sparse, In: []*core.Tensor{seq(2, 3), vec[int64](2, 0)}, F: both(sparse)},
		sample{Op: sparse, Name: "loss", In: []*core.Tensor{seq(2, 3), vec[int32](2, 0)}, F: binary(labelsLast(ops.SparseSoftmaxCrossEntropyWithLogits))},
		sample{Op: sparse, Name: "no rows", In: []*core.Tensor{seq(0, 3), vec[int64]()}, F: both(sparse)},
		sample{Op: sparse, Name: "no such class", Fails: true, In: []*core.Tensor{seq(2, 3), vec[int64](5, 1)}, F: both(sparse)},
		sample{Op: sparse, Name: "negative class", Fails: true, In: []*core.Tensor{seq(2, 3), vec[int32](1, -1)}, F: both(sparse)},
		sample{Op: sparse, Name: "too many labels", Fails: true, In: []*core.Tensor{seq(2, 3), vec[int64](1, 1, 1)}, F: both(sparse)},
		sample{Op: sparse, Name: "stack", Fails: true, In: []*core.Tensor{seq(2, 3, 1), vec[int64](1, 1)}, F: both(sparse)},
		sample{Op: sparse, Name: "matrix of labels", Fails: true, In: []*core.Tensor{seq(2, 3), mat[int64](1, 1, 1)}, F: both(sparse)},
		sample{Op: sparse, Name: "no classes", Fails: true, In: []*core.Tensor{seq(2, 0), vec[int64](0, 0)}, F: both(sparse)})
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
		sample{Op: "Select", In: []*core.Tensor{seq(2, 3), positive(2, 3), cond}, F: first(ops.Select)},
		sample{Op: "Select", Name: "rows", In: []*core.Tensor{seq(2, 3), positive(2, 3), rows}, F: first(ops.Select)},
		sample{Op: "Select", Name: "scalar", In: []*core.Tensor{seq(2, 3), positive(2, 3), arr(tf.Shape{}, true)}, F: first(ops.Select)},
		sample{Op: "Select", Name: "shapes differ", Fails: true, In: []*core.Tensor{seq(2, 2), seq(2, 3), rows}, F: first(ops.Select)},
		sample{Op: "Select", Name: "rows differ", Fails: true, In: []*core.Tensor{seq(3, 2), seq(3, 2), rows}, F: first(ops.Select)},
		sample{Op: "Select", Name: "matrix of conditions", Fails: true, In: []*core.Tensor{seq(2, 2), seq(2, 2), mat(2, true, false)}, F: first(ops.Select)},
		sample{Op: "Select", Name: "rows of a scalar", Fails: true, In: []*core.Tensor{seq(), seq(), vec(true)}, F: first(ops.Select)},
		sample{Op: "Select", Name: "vectors differ", Fails: true, In: []*core.Tensor{seq(3), seq(3), vec(true)}, F: first(ops.Select)},
		sample{Op: "SelectV2", In: []*core.Tensor{seq(2, 3), positive(2, 3), cond}, F: first(ops.SelectV2)},
		sample{Op: "SelectV2", Name: "broadcast", In: []*core.Tensor{seq(3), positive(2, 1), vec(true, false, true)}, F: first(ops.SelectV2)},
		sample{Op: "SelectV2", Name: "scalars", In: []*core.Tensor{seq(), positive(), cond}, F: first(ops.SelectV2)},
		sample{Op: "SelectV2", Name: "unfit", Fails: true, In: []*core.Tensor{seq(3, 2), seq(2, 2), rows}, F: first(ops.SelectV2)})
}

// labelsLast returns a loss with its arguments in the order of the op's inputs.
func labelsLast(f func(labels, logits tf.Output, opts ...tf.Option) tf.Output) func(x, y tf.Output, opts ...tf.Option) tf.Output {
	return func(x, y tf.Output, opts ...tf.Option) tf.Output { return f(y, x, opts...) }
}
