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
}

// SequenceLoss returns the cross entropy of scores [batch time classes] and the
// numbers of the true classes, int32 or int64 [batch time], each step weighted by
// weights [batch time], such as 0 behind the end of a sequence.
func SequenceLoss(logits, targets, weights tf.Output, o ...SequenceLossOpts) (y tf.Output) {
	if logits.Err() != nil {
		return logits
	}
	opt, s := first(o), logits.Shape()
	if len(s) != 3 || s[2] < 0 || len(targets.Shape()) != 2 || len(weights.Shape()) != 2 {
		return tf.Failed(logits.Graph(), "sequence_loss", tf.Errorf(tf.InvalidArgument,
			"Logits must be a [batch_size x sequence_length x logits] tensor, targets and weights [batch_size x sequence_length] tensors, got %v, %v and %v", logits, targets, weights)).Output(0)
	}
	logits.Graph().Scope("sequence_loss", func() {
		losses := ops.SparseSoftmaxCrossEntropyWithLogits(targets.Reshape(-1), ops.Reshape(logits, []int{-1, s[2]}))
		losses = ops.Mul(ops.Reshape(losses, ops.Shape(weights)), weights)
		if opt.PerStep && opt.PerSequence {
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
		y = ops.Sum(losses, axes).Div(ops.Sum(weights, axes).Add(1e-12)) // 0 where nothing has a weight
	})
	return y
}
