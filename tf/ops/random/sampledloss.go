package random

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// AccidentalHits says what happens to sampled classes that are true ones as well.
type AccidentalHits uint8

const (
	// DefaultHits: SampledSoftmaxLoss removes them, NCELoss keeps them.
	DefaultHits AccidentalHits = iota
	KeepHits
	RemoveHits
)

// SampledOpts adjust NCELoss and SampledSoftmaxLoss.
type SampledOpts struct {
	// NumTrue is how many true classes each example has; 0: one.
	NumTrue int
	// Candidates are the sampled classes; nil: those that
	// LogUniformCandidateSampler draws without repetition, for classes in the order
	// of falling frequency.
	Candidates *Candidates
	Hits       AccidentalHits
}

// NCELoss returns the noise-contrastive loss of each example (Gutmann and
// Hyvärinen, AISTATS 2010), for training with many classes: weights
// [classes dim] and biases [classes] of the last layer, int64 labels
// [batch NumTrue], inputs [batch dim] of that layer, and how many classes are
// sampled for a batch. The result is [batch], of the floating-point type of
// inputs. Labels outside [0, classes), and other shapes, are refused with
// INVALID_ARGUMENT by the ops that it consists of, such as
// LogUniformCandidateSampler and MatMul.
func NCELoss(weights, biases, labels, inputs tf.Output, sampled, classes int, o SampledOpts) tf.Output {
	return sampledLoss("nce_loss", labels, inputs, func() tf.Output {
		logits, targets := sampledLogits(weights, biases, labels, inputs, sampled, classes, o, o.Hits == RemoveHits)
		if logits.Err() != nil {
			return logits
		}
		return ops.Sum(ops.SigmoidCrossEntropyWithLogits(targets, logits), []int{1})
	})
}

// SampledSoftmaxLoss returns an estimate of the softmax cross entropy of each
// example from sampled classes (Jean et al., ACL 2015), for training with
// many classes. The arguments are those of NCELoss. The result is [batch], of
// the floating-point type of inputs. Errors are those of NCELoss.
func SampledSoftmaxLoss(weights, biases, labels, inputs tf.Output, sampled, classes int, o SampledOpts) tf.Output {
	return sampledLoss("sampled_softmax_loss", labels, inputs, func() tf.Output {
		logits, targets := sampledLogits(weights, biases, labels, inputs, sampled, classes, o, o.Hits != KeepHits)
		if logits.Err() != nil {
			return logits
		}
		return ops.SoftmaxCrossEntropyWithLogits(ops.StopGradient(targets), logits)
	})
}

func sampledLoss(scope string, labels, inputs tf.Output, f func() tf.Output) (y tf.Output) {
	if inputs.Err() != nil {
		return inputs
	}
	if labels.Err() != nil {
		return labels
	}
	inputs.Graph().Scope(scope, func() { y = f() })
	return y
}

// sampledLogits returns the logits of the true classes and then of the sampled ones,
// less the logarithms of how often they are expected, and what they should be.
func sampledLogits(weights, biases, labels, inputs tf.Output, sampled, classes int, o SampledOpts, remove bool) (logits, targets tf.Output) {
	n := max(o.NumTrue, 1)
	c := o.Candidates
	labels = ops.Reshape(ops.Cast(labels, tf.Int64), []int{-1, n})
	if c == nil {
		drawn := LogUniformCandidateSampler(labels, n, sampled, true, classes)
		c = &drawn
	}
	classesOf := ops.StopGradient(c.Sampled)
	flat := ops.Reshape(labels, []int{-1})
	trueRows, rows := ops.Gather(weights, flat, 0), ops.Gather(weights, classesOf, 0)
	each := ops.Reshape(trueRows, ops.Stack([]tf.Output{number(inputs, -1), number(inputs, n), ops.Shape(weights).At("1")}, 0))
	positive := ops.Sum(ops.Mul(ops.ExpandDims(inputs, 1), each), []int{2})
	positive = positive.Add(ops.Reshape(ops.Gather(biases, flat, 0), []int{-1, n}))
	other := ops.MatMul(inputs, rows, ops.MatMulOpts{TransposeB: true}).Add(ops.Gather(biases, classesOf, 0))
	if remove {
		other = withoutHits(other, labels, classesOf, n)
	}
	d := inputs.DType().Base()
	positive = positive.Sub(ops.Cast(ops.StopGradient(c.TrueExpectedCount), d).Log())
	other = other.Sub(ops.Cast(ops.StopGradient(c.SampledExpectedCount), d).Log())
	share := ops.OnesLike(positive).Div(ops.Cast(number(inputs, n), d))
	return ops.Concat(1, []tf.Output{positive, other}), ops.Concat(1, []tf.Output{share, ops.ZerosLike(other)})
}

// withoutHits makes the logits of sampled classes that are true very small.
func withoutHits(logits, labels, sampled tf.Output, n int) tf.Output {
	h := ComputeAccidentalHits(labels, sampled, n)
	at := ops.Stack([]tf.Output{ops.Cast(h.Indices, tf.Int32), ops.Cast(h.IDs, tf.Int32)}, 1)
	return logits.Add(ops.ScatterNd(at, ops.Cast(h.Weights, logits.DType().Base()), ops.Shape(logits)))
}

func number(x tf.Output, v int) tf.Output { return ops.Scalar(x.Graph(), int32(v)) }

// FoldIn returns a seed, a vector of two integers, that seed and data
// determine, an integer of type int32 or int64: other data give streams that
// are independent. data is a scalar; the result has its type. seed is refused
// as by StatelessRandomUniformFullInt.
func FoldIn(seed, data tf.Output) tf.Output {
	if seed.Err() != nil {
		return seed
	}
	first := StatelessRandomUniformFullInt(ops.Const(seed.Graph(), []int32{}), seed, data.DType().Base())
	return ops.Stack([]tf.Output{first, data}, 0)
}

// SplitSeed returns n seeds, the rows of a matrix [n 2], that a seed, a
// vector of two integers, determines: their streams are independent of each
// other. The result has the type of seed, an integer type. A negative n is
// refused with INVALID_ARGUMENT when the graph is built.
func SplitSeed(seed tf.Output, n int) tf.Output {
	if seed.Err() != nil {
		return seed
	}
	return StatelessRandomUniformFullInt(ops.Const(seed.Graph(), []int32{int32(n), 2}), seed, seed.DType().Base())
}
