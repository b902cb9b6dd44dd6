package main

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	wideBatch   = 1024
	wideFields  = 16
	wideNumbers = 13
	wideRows    = 1000 * 1000
	wideWidth   = 32
	wideBatches = 8
)

// wideDeepTrain is workload 31: a linear model over ids beside layers over their
// embeddings (Cheng et al., DLRS 2016), with tables of a million rows of which a step
// needs few.
func wideDeepTrain(b *bench) {
	g := tf.NewGraph()
	ids, x := ops.Placeholder(g, tf.Int32, tf.Shape{wideBatch, wideFields}), ops.Placeholder(g, tf.Float32, tf.Shape{wideBatch, wideNumbers})
	y := ops.Placeholder(g, tf.Float32, tf.Shape{wideBatch})
	loss := ops.Mean(sigmoidCrossEntropy(y, wideDeep(g, ids, x)), []int{0})
	step := train.Adagrad{LearningRate: 0.5}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	b.training("", s, []tf.Output{ids, x, y}, loss, step, wideBatchesOf(), 10, 10)
}

// wideDeep adds both models and returns one logit for each example.
func wideDeep(g *tf.Graph, ids, x tf.Output) tf.Output {
	table := tf.NewVariable(ops.Const(g, uniform(101, wideRows*wideWidth, 0.05), wideRows, wideWidth), tf.VariableOptions{Name: "embedding"})
	wide := tf.NewVariable(ops.Const(g, make([]float32, wideRows), wideRows), tf.VariableOptions{Name: "wide"})
	rows := ops.ResourceGather(table.Handle(), ids, tf.Float32)
	h := ops.ConcatV2([]tf.Output{ops.Reshape(rows, []int{wideBatch, wideFields * wideWidth}), x}, ops.Scalar(g, int32(1)))
	m := mlp{g: g}
	h = ops.Relu(m.dense(h, wideFields*wideWidth+wideNumbers, 256))
	h = m.dense(ops.Relu(m.dense(h, 256, 128)), 128, 1)
	return ops.AddV2(ops.Reshape(h, []int{wideBatch}), ops.Sum(ops.ResourceGather(wide.Handle(), ids, tf.Float32), []int{1}))
}

// skewed returns n ids below limit, of which small ones come often.
func skewed(seed uint32, n, limit int) []int32 {
	out := make([]int32, n)
	for i, p := range positive(seed, n) {
		square := float64(p) * float64(p)
		out[i] = int32(square * square * float64(limit))
	}
	return out
}

func wideBatchesOf() (out []batch) {
	const n, m = wideBatch * wideFields, wideBatch * wideNumbers
	ids, x, y := skewed(1023, wideBatches*n, wideRows), uniform(1024, wideBatches*m, 1), labels(1025, wideBatches*wideBatch, 2)
	for j := range wideBatches {
		one := make([]float32, wideBatch)
		for i := range one {
			one[i] = float32(y[j*wideBatch+i])
		}
		out = append(out, batch{tensor(ids[j*n:(j+1)*n:(j+1)*n], wideBatch, wideFields), tensor(x[j*m:(j+1)*m:(j+1)*m], wideBatch, wideNumbers), tensor(one, wideBatch)})
	}
	return out
}
