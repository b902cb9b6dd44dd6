package rnn

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// SequenceLossOpts say what a loss is summed over. Without any of them it is the
// mean over all steps by their weights.
type SequenceLossOpts struct {
	PerStep     bool // [time]: not the mean over time
	PerSequence bool // [batch]: not the mean over the batch; with PerStep [batch time]
	// ByCount divides sums by how many weights are not 0, where a mean divides them by
	// the sum of the weights: TensorFlow's sum_over_timesteps and sum_over_batch.
	ByCount bool
	// Loss returns the loss of each of [n] labels by its scores, [n classes]; nil stands
	// for the cross entropy of their softmax.
	Loss func(labels, logits tf.Output) tf.Output
}

// SequenceLoss returns the cross entropy of scores [batch time classes] and the
// numbers of the true classes, int32 or int64 [batch time], or their probabilities
// [batch time classes]. Each step is weighted by weights [batch time], such as 0
// behind the end of a sequence. Where all weights are 0 the loss is 0.
func SequenceLoss(logits, targets, weights tf.Output, o ...SequenceLossOpts) (y tf.Output) {
	for _, x := range []tf.Output{logits, targets, weights} {
		if x.Err() != nil {
			return x
		}
	}
	opt := first(o)
	if err := checkSequenceLoss(logits, targets, weights, opt); err != nil {
		return tf.Failed(logits.Graph(), "sequence_loss", err).Output(0)
	}
	logits.Graph().Scope("sequence_loss", func() {
		weights := byStep(weights, logits)
		losses := ops.Reshape(stepLosses(logits, targets, opt), ops.Shape(weights))
		if losses = ops.Mul(losses, weights); opt.PerStep && opt.PerSequence {
			y = losses
			return
		}
		axes := []int{0, 1}
		if opt.PerStep {
			axes = []int{0}
		}
		if opt.PerSequence {
			axes = []int{1}
		}
		size := ops.Sum(weights, axes)
		if opt.ByCount {
			size = ops.CountNonzero(weights, axes).Cast(losses.DType())
		}
		y = ops.DivNoNan(ops.Sum(losses, axes), size)
	})
	return y
}

func checkSequenceLoss(logits, targets, weights tf.Output, o SequenceLossOpts) error {
	s, t := logits.Shape(), targets.Shape()
	switch {
	case len(s) != 3 || s[2] < 0:
		return tf.Errorf(tf.InvalidArgument, "Logits must be a [batch_size x sequence_length x logits] tensor, got %v", logits)
	case len(t) != 2 && len(t) != 3:
		return tf.Errorf(tf.InvalidArgument, "Targets must be a [batch_size x sequence_length] tensor of classes, or [batch_size x sequence_length x logits] of their probabilities, got %v", targets)
	case len(t) == 3 && o.Loss != nil:
		return tf.Errorf(tf.InvalidArgument, "A Loss of one's own takes targets [batch_size x sequence_length], got %v", targets)
	case len(weights.Shape()) != 2:
		return tf.Errorf(tf.InvalidArgument, "Weights must be a [batch_size x sequence_length] tensor, got %v", weights)
	case s[:2].Known() && weights.Shape().Known() && s[:2].NumElements() != weights.Shape().NumElements():
		return tf.Errorf(tf.InvalidArgument, "Weights must be a [batch_size x sequence_length] tensor with a weight for each step of %v, got %v", logits, weights)
	}
	return nil
}

// byStep returns weights of another shape, of which there must be one for each step, as
// [batch time]: losses are those of the logits' steps.
func byStep(weights, logits tf.Output) tf.Output {
	steps := logits.Shape()[:2]
	if steps.Known() && weights.Shape().Equal(steps) {
		return weights
	}
	y := ops.Reshape(weights, ops.Slice(ops.Shape(logits), []int{0}, []int{2}))
	if y.Err() == nil {
		y.SetShape(steps)
	}
	return y
}

// stepLosses returns the losses of all steps, [batch·time].
func stepLosses(logits, targets tf.Output, o SequenceLossOpts) tf.Output {
	classes := logits.Shape()[2]
	rows := ops.Reshape(logits, []int{-1, classes})
	switch {
	case o.Loss != nil:
		return o.Loss(targets.Reshape(-1), rows)
	case len(targets.Shape()) == 3:
		return ops.SoftmaxCrossEntropyWithLogits(ops.Reshape(targets, []int{-1, classes}), rows)
	}
	return ops.SparseSoftmaxCrossEntropyWithLogits(targets.Reshape(-1), rows)
}
