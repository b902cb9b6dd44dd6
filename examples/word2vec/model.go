package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/random"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	window  = 4    // words on either side that are around a word
	block   = 64   // words that are taken from the text at a time
	batch   = 256  // pairs a step
	size    = 48   // of a word's vector
	sampled = 24   // words a step that are not around
	share   = 5e-4 // that a word may have of the text
)

// pairs feeds words and a word around each. One queue has the numbers of the
// text's blocks, in another order in each epoch. Threads take them from there,
// choose a word around each word of a block, and put the pairs into a second
// queue, which mixes them.
func pairs(g *tf.Graph, text []int32, epochs int) (center, around tf.Output) {
	scalar := func(v int32) tf.Output { return ops.Scalar(g, v) }
	blocks := train.RangeInputProducer(scalar(int32((len(text)-2*window)/block)), train.ProducerOptions{Epochs: epochs, Capacity: 256})
	begin := blocks.Dequeue()[0].Mul(scalar(block))
	at := begin.Add(ops.Range(g, window, window+block, 1))
	step := ops.RandomUniformInt(g, []int{block}, 0, 2*window)
	step = step.Add(step.GreaterEqual(scalar(window)).Cast(tf.Int32)).Sub(scalar(window)) // not the word itself
	all := ops.Const(g, text)
	pair := []tf.Output{ops.Gather(all, at, 0), ops.Gather(all, at.Add(step), 0)}
	mixed := train.ShuffleBatch(pair, batch, train.BatchOptions{Threads: 2, EnqueueMany: true, Capacity: 8192, MinAfterDequeue: 4096})
	return mixed[0], mixed[1]
}

// skipGram learns vectors of words from which one can tell the words around.
type skipGram struct {
	vectors *tf.Variable // [words size]
	loss    tf.Output
	step    *tf.Operation
}

func newSkipGram(g *tf.Graph, words int, center, around tf.Output) *skipGram {
	shape := []int{words, size}
	m := &skipGram{}
	m.vectors = tf.NewVariable(ops.RandomUniform(g, shape, tf.Float32).Sub(0.5).Div(size), tf.VariableOptions{Name: "vectors"})
	weights := tf.NewVariable(ops.TruncatedNormal(g, shape, tf.Float32).Div(float32(math.Sqrt(size))), tf.VariableOptions{Name: "weights"})
	biases := tf.NewVariable(ops.Const(g, make([]float32, words)), tf.VariableOptions{Name: "biases"})
	x := ops.ResourceGather(m.vectors.Handle(), center, tf.Float32)
	m.loss = nce(weights, biases, around, x)
	m.step = train.Adagrad{LearningRate: 1}.Minimize(m.loss)
	return m
}

// nce is noise-contrastive estimation (Gutmann and Hyvärinen, AISTATS 2010):
// tell the class of each row of x from classes drawn at random. Of the weights,
// only rows of such classes take part, so that steps cost the same for any
// number of classes, and their gradients are sparse.
func nce(weights, biases *tf.Variable, class, x tf.Output) tf.Output {
	n, class := weights.Shape()[0], class.Cast(tf.Int64)
	noise := random.LogUniformCandidateSampler(class.ExpandDims(1), 1, sampled, true, n)
	rows := func(v *tf.Variable, at tf.Output) tf.Output { return ops.ResourceGather(v.Handle(), at, tf.Float32) }
	right := rows(weights, class).Mul(x).Sum(1).Add(rows(biases, class)).Sub(noise.TrueExpectedCount.Reshape(-1).Log())
	wrong := x.MatMul(rows(weights, noise.Sampled).Transpose(1, 0)).Add(rows(biases, noise.Sampled)).Sub(noise.SampledExpectedCount.Log())
	return ops.Softplus(right.Neg()).Add(ops.Softplus(wrong).Sum(1)).Mean()
}

// neighbours returns the k words whose vectors point most nearly where those of
// the given words do, themselves first.
func (m *skipGram) neighbours(words tf.Output, k int) tf.Output {
	all := m.vectors.Value()
	unit := all.Mul(all.Square().Sum(1).Rsqrt().ExpandDims(1))
	_, nearest := ops.TopKV2(ops.Gather(unit, words, 0).MatMul(unit.Transpose(1, 0)), ops.Scalar(words.Graph(), int32(k)))
	return nearest
}
