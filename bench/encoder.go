package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// encoder is a Transformer's encoder (Vaswani et al., NIPS 2017), normalized after each
// sum, as BERT's. Its rows are the words of all sequences, one after another.
type encoder struct {
	convNet
	batch, steps, width, heads, layers, words int
	rate                                      float64 // of dropout
	drops                                     int64   // how many dropouts there are
}

// inputs adds what the encoder is fed: words, and what is added to the scores of words
// by which sequences are padded.
func (m *encoder) inputs() (words, mask tf.Output) {
	return ops.Placeholder(m.g, tf.Int32, tf.Shape{m.batch, m.steps}), ops.Placeholder(m.g, tf.Float32, tf.Shape{m.batch, 1, 1, m.steps})
}

// values returns n values for what inputs adds.
func (m *encoder) values(n int) (words, masks []*tf.Tensor) {
	size := m.batch * m.steps
	w, lengths := labels(1020, n*size, m.words), labels(1022, n*m.batch, m.steps/2)
	for j := range n {
		mask := make([]float32, size)
		for i := range mask {
			if i%m.steps > int(lengths[j*m.batch+i/m.steps])+m.steps/2 {
				mask[i] = -10000
			}
		}
		words = append(words, tensor(w[j*size:(j+1)*size:(j+1)*size], m.batch, m.steps))
		masks = append(masks, tensor(mask, m.batch, 1, 1, m.steps))
	}
	return words, masks
}

// encode adds all layers and returns [batch·steps width].
func (m *encoder) encode(words, mask tf.Output) tf.Output {
	table := func(rows int) *tf.Variable {
		m.weights++
		return tf.NewVariable(ops.Const(m.g, weight(m.weights, rows, m.width), rows, m.width), tf.VariableOptions{Name: "w"})
	}
	e, position := table(m.words), table(m.steps)
	x := ops.AddV2(ops.ResourceGather(e.Handle(), words, tf.Float32), position.Value())
	x = m.drop(m.norm(ops.Reshape(x, []int{m.batch * m.steps, m.width})))
	for range m.layers {
		x = m.norm(ops.AddV2(x, m.attend(x, mask)))
		h := m.dense(gelu(m.dense(x, m.width, 4*m.width)), 4*m.width, m.width)
		x = m.norm(ops.AddV2(x, m.drop(h)))
	}
	return x
}

func (m *encoder) norm(x tf.Output) tf.Output {
	return layerNorm(x, m.filled(m.width, 1, true).Value(), m.filled(m.width, 0, true).Value())
}

func (m *encoder) drop(x tf.Output) tf.Output {
	if m.rate == 0 {
		return x
	}
	m.drops++
	return layers.Dropout(x, m.rate, layers.DropoutOpts{Seed: m.drops})
}

// attend lets each word look at all words of its sequence.
func (m *encoder) attend(x, mask tf.Output) tf.Output {
	size := m.width / m.heads
	swap := []int{0, 2, 1, 3} // words and heads
	project := func() tf.Output {
		return ops.Transpose(ops.Reshape(m.dense(x, m.width, m.width), []int{m.batch, m.steps, m.heads, size}), swap)
	}
	q, k, v := project(), project(), project()
	scores := ops.Mul(ops.BatchMatMulV2(q, k, ops.BatchMatMulOpts{AdjY: true}), number(x, float32(1/math.Sqrt(float64(size)))))
	shares := m.drop(ops.Softmax(ops.AddV2(scores, mask)))
	y := ops.Reshape(ops.Transpose(ops.BatchMatMulV2(shares, v), swap), []int{m.batch * m.steps, m.width})
	return m.drop(m.dense(y, m.width, m.width))
}

// transformerTrain is workload 28. The first steps are checked without dropout, too:
// not all that is compared draws the same numbers.
func transformerTrain(b *bench) {
	for _, rate := range []float64{0, 0.1} {
		g := tf.NewGraph()
		m := &encoder{convNet: convNet{mlp: mlp{g: g}}, batch: 8, steps: 128, width: 256, heads: 4, layers: 4, words: 1000, rate: rate}
		words, mask := m.inputs()
		targets := ops.Placeholder(g, tf.Int32, tf.Shape{m.batch * m.steps})
		loss := crossEntropy(m.dense(m.encode(words, mask), m.width, m.words), targets)
		step := train.Adam{LearningRate: 0.001}.Minimize(loss)
		s := b.open(g, false)
		feeds := []tf.Output{words, mask, targets}
		if rate == 0 {
			b.checked("plain.", s, feeds, loss, step, m.batches(), 5)
		} else {
			b.training("", s, feeds, loss, step, m.batches(), 5, 2)
		}
		s.Close()
	}
}

func (m *encoder) batches() (out []batch) {
	const n = 4
	words, masks := m.values(n)
	size := m.batch * m.steps
	y := labels(1021, n*size, m.words)
	for j := range n {
		out = append(out, batch{words[j], masks[j], tensor(y[j*size:(j+1)*size:(j+1)*size], size)})
	}
	return out
}
