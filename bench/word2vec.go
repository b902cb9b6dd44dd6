package main

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	vocabulary = 50000
	embedding  = 128
	w2vBatch   = 256
	negatives  = 64
	w2vBatches = 16
)

// word2vecTrain is workload 7: embeddings by negative sampling, sparse updates.
func word2vecTrain(b *bench) {
	g := tf.NewGraph()
	in, label, neg := ops.Placeholder(g, tf.Int32, tf.Shape{w2vBatch}), ops.Placeholder(g, tf.Int32, tf.Shape{w2vBatch}), ops.Placeholder(g, tf.Int32, tf.Shape{negatives})
	loss := word2vecLoss(g, in, label, neg)
	step := train.GradientDescent{LearningRate: 0.2}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	b.training("", s, []tf.Output{in, label, neg}, loss, step, wordBatches(), 20, 200)
}

func word2vecLoss(g *tf.Graph, in, label, neg tf.Output) tf.Output {
	table := func(seed uint32) *tf.Variable {
		return tf.NewVariable(ops.Const(g, uniform(seed, vocabulary*embedding, 0.05), vocabulary, embedding), tf.VariableOptions{Name: "w"})
	}
	eIn, eOut := table(1), table(2)
	bias := tf.NewVariable(ops.Const(g, make([]float32, vocabulary), vocabulary), tf.VariableOptions{Name: "b"})
	rows := func(v *tf.Variable, ids tf.Output) tf.Output { return ops.ResourceGather(v.Handle(), ids, tf.Float32) }
	h := rows(eIn, in)
	right := h.Mul(rows(eOut, label)).Sum(1).Add(rows(bias, label))
	wrong := ops.Add(ops.MatMul(h, rows(eOut, neg), ops.MatMulOpts{TransposeB: true}), rows(bias, neg))
	one, zero := ops.OnesLike(right), ops.ZerosLike(wrong)
	return sigmoidCrossEntropy(one, right).Add(sigmoidCrossEntropy(zero, wrong).Sum(1)).Mean()
}

// sigmoidCrossEntropy is TensorFlow's: max(x, 0) - x·z + log(1 + exp(-|x|)).
func sigmoidCrossEntropy(z, x tf.Output) tf.Output {
	return ops.Relu(x).Sub(x.Mul(z)).Add(x.Abs().Neg().Exp().Log1p())
}

func wordBatches() (out []batch) {
	in, label, neg := labels(1004, w2vBatches*w2vBatch, vocabulary), labels(1005, w2vBatches*w2vBatch, vocabulary), labels(1006, w2vBatches*negatives, vocabulary)
	for j := range w2vBatches {
		out = append(out, batch{
			tensor(in[j*w2vBatch:(j+1)*w2vBatch], w2vBatch), tensor(label[j*w2vBatch:(j+1)*w2vBatch], w2vBatch),
			tensor(neg[j*negatives:(j+1)*negatives], negatives),
		})
	}
	return out
}
