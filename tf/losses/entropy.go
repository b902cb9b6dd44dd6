package losses

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// SigmoidCrossEntropy is the cross entropy of labels in [0, 1] and the sigmoid
// of logits. With smoothing s labels become labels·(1-s) + s/2.
func SigmoidCrossEntropy(labels, logits tf.Output, smoothing float64, o ...Options) (y tf.Output) {
	if err := sameShape(labels, logits); err != nil {
		return tf.Failed(logits.Graph(), "sigmoid_cross_entropy_loss", err).Output(0)
	}
	logits.Graph().Scope("sigmoid_cross_entropy_loss", func() {
		z := labels.Cast(logits.DType())
		if smoothing > 0 {
			z = z.Mul(as(z, 1-smoothing)).Add(as(z, 0.5*smoothing))
		}
		y = Weighted(sigmoidXent(z, logits), optionsOf(o))
	})
	return y
}

// as adds a constant in the type of x.
func as(x tf.Output, v float64) tf.Output {
	t, err := core.ScalarOf(x.DType(), v)
	if err != nil {
		return tf.Failed(x.Graph(), "Const", err).Output(0)
	}
	return ops.ConstValue(x.Graph(), t)
}

// sigmoidXent is max(x, 0) - x·z + log(1 + exp(-|x|)), which does not overflow.
func sigmoidXent(z, x tf.Output) tf.Output {
	positive := x.GreaterEqual(ops.ZerosLike(x))
	relu := ops.SelectV2(positive, x, ops.ZerosLike(x))
	negAbs := ops.SelectV2(positive, x.Neg(), x) // Abs has no gradient at 0
	return relu.Sub(x.Mul(z)).Add(negAbs.Exp().Log1p())
}

// SoftmaxCrossEntropy is the cross entropy of labels, a distribution in the
// last dimension, and the softmax of logits; the losses have one dimension
// less. With smoothing s labels become labels·(1-s) + s/classes. No gradient
// goes to labels.
func SoftmaxCrossEntropy(labels, logits tf.Output, smoothing float64, o ...Options) (y tf.Output) {
	if err := sameRows(labels, logits); err != nil {
		return tf.Failed(logits.Graph(), "softmax_cross_entropy_loss", err).Output(0)
	}
	logits.Graph().Scope("softmax_cross_entropy_loss", func() {
		z := labels.Cast(logits.DType())
		if smoothing > 0 {
			classes := lastSize(z).Cast(z.DType())
			z = z.Mul(as(z, 1-smoothing)).Add(as(z, smoothing).Div(classes))
		}
		y = Weighted(rowLosses(z.StopGradient(), logits), optionsOf(o))
	})
	return y
}

// sameRows refuses labels and logits that are not of one shape or have no classes.
func sameRows(labels, logits tf.Output) error {
	if err := sameShape(labels, logits); err != nil {
		return err
	}
	return checkLogits(logits)
}

// checkLogits refuses logits without a dimension of classes.
func checkLogits(logits tf.Output) error {
	if s := logits.Shape(); s != nil && len(s) == 0 {
		return tf.Errorf(tf.InvalidArgument, "Logits cannot be scalars - received shape %v.", logits)
	}
	return nil
}

// rowLosses is the softmax cross entropy along the last dimension.
func rowLosses(labels, logits tf.Output) tf.Output {
	rows := func(x tf.Output) tf.Output {
		size := ops.ConcatV2([]tf.Output{ops.Const(x.Graph(), []int32{-1}), lastSize(x).Reshape(1)}, ops.Scalar(x.Graph(), int32(0)))
		return ops.Reshape(x, size)
	}
	loss := ops.SoftmaxCrossEntropyWithLogits(rows(labels), rows(logits))
	n := ops.Rank(logits).Sub(ops.Scalar(logits.Graph(), int32(1)))
	outer := ops.Slice(ops.Shape(logits), ops.Const(logits.Graph(), []int32{0}), n.Reshape(1))
	y := ops.Reshape(loss, outer)
	if s := logits.Shape(); s != nil {
		y.SetShape(s[:len(s)-1])
	}
	return y
}

// lastSize returns the size of x's last dimension.
func lastSize(x tf.Output) tf.Output {
	return ops.GatherV2(ops.Shape(x), ops.Rank(x).Sub(ops.Scalar(x.Graph(), int32(1))), ops.Scalar(x.Graph(), int32(0)))
}

// SparseSoftmaxCrossEntropy is SoftmaxCrossEntropy with the number of the
// class, int32 or int64, as label. A last dimension of labels, and of weights,
// of size 1 is taken away if there is one too many.
func SparseSoftmaxCrossEntropy(labels, logits tf.Output, o ...Options) (y tf.Output) {
	opt := optionsOf(o)
	if err := logits.Err(); err != nil {
		return logits
	}
	logits.Graph().Scope("sparse_softmax_cross_entropy_loss", func() {
		z := squeezed(labels, logits, 1)
		if err := sparseShapes(z, logits); err != nil {
			y = tf.Failed(logits.Graph(), "sparse_softmax_cross_entropy_loss", err).Output(0)
			return
		}
		z = alike(z, logits)
		if !opt.Weights.IsZero() {
			opt.Weights = squeezed(opt.Weights, z, 0)
		}
		flat := ops.Reshape(logits, ops.ConcatV2([]tf.Output{ops.Const(logits.Graph(), []int32{-1}), lastSize(logits).Reshape(1)}, ops.Scalar(logits.Graph(), int32(0))))
		losses := ops.Reshape(ops.SparseSoftmaxCrossEntropyWithLogits(z.Reshape(-1), flat), ops.Shape(z))
		y = Weighted(losses, opt)
	})
	return y
}

// squeezed takes the last dimension of x away if that leaves as many as y has, without less of
// them. Ranks that the graph does not know are compared by the step.
func squeezed(x, y tf.Output, less int) tf.Output {
	a, b := x.Shape(), y.Shape()
	switch {
	case x.Err() != nil || y.Err() != nil || a != nil && len(a) == 0:
		return x
	case a != nil && b != nil && len(a) == len(b)-less+1:
		return ops.Squeeze(x, []int{-1})
	case a != nil && (b != nil || a[len(a)-1] > 1):
		return x
	}
	g := x.Graph()
	more := ops.Rank(x).Sub(ops.Rank(y)).Equal(ops.Scalar(g, int32(1-less))).Cast(tf.Int32)
	return ops.Reshape(x, ops.Slice(ops.Shape(x), ops.Const(g, []int32{0}), ops.Rank(x).Sub(more).Reshape(1)))
}
