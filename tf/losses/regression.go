package losses

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// elementwise is a loss of labels and predictions of equal shapes, in float32.
func elementwise(name string, labels, predictions tf.Output, o []Options, f func(labels, predictions tf.Output) tf.Output) (y tf.Output) {
	if err := sameShape(labels, predictions); err != nil {
		return tf.Failed(predictions.Graph(), name, err).Output(0)
	}
	predictions.Graph().Scope(name, func() {
		y = Weighted(f(labels.Cast(tf.Float32), predictions.Cast(tf.Float32)), optionsOf(o))
	})
	return y
}

func sameShape(labels, predictions tf.Output) error {
	if err := predictions.Err(); err != nil {
		return err
	}
	if err := labels.Err(); err != nil {
		return err
	}
	if !predictions.Shape().Compatible(labels.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "Shapes %v and %v are incompatible", predictions.Shape(), labels.Shape())
	}
	return nil
}

// num adds a constant beside x.
func num(x tf.Output, v float64) tf.Output { return ops.Scalar(x.Graph(), float32(v)) }

// AbsoluteDifference is |predictions - labels|.
func AbsoluteDifference(labels, predictions tf.Output, o ...Options) tf.Output {
	return elementwise("absolute_difference", labels, predictions, o, func(y, p tf.Output) tf.Output { return p.Sub(y).Abs() })
}

// MeanSquaredError is (predictions - labels)².
func MeanSquaredError(labels, predictions tf.Output, o ...Options) tf.Output {
	return elementwise("mean_squared_error", labels, predictions, o, func(y, p tf.Output) tf.Output { return p.SquaredDifference(y) })
}

// CosineDistance is 1 minus the product of labels and predictions summed along
// an axis, which keeps size 1. Both are taken to be of unit length along it.
func CosineDistance(labels, predictions tf.Output, axis int, o ...Options) tf.Output {
	return elementwise("cosine_distance_loss", labels, predictions, o, func(y, p tf.Output) tf.Output {
		along := ops.Const(p.Graph(), []int32{int32(axis)})
		return num(p, 1).Sub(ops.Sum(p.Mul(y), along, ops.ReduceOpts{KeepDims: true}))
	})
}

// Hinge is max(0, 1 - (2·labels - 1)·logits), for labels 0 and 1.
func Hinge(labels, logits tf.Output, o ...Options) tf.Output {
	return elementwise("hinge_loss", labels, logits, o, func(y, p tf.Output) tf.Output {
		one := ops.OnesLike(y)
		return one.Sub(num(y, 2).Mul(y).Sub(one).Mul(p)).Relu()
	})
}

// Huber is error²/2 up to delta, and a line of slope delta beyond (Huber 1964).
func Huber(labels, predictions tf.Output, delta float64, o ...Options) tf.Output {
	return elementwise("huber_loss", labels, predictions, o, func(y, p tf.Output) tf.Output {
		size := p.Sub(y).Abs()
		quadratic := size.Minimum(num(p, delta))
		linear := size.Sub(quadratic) // not a maximum with 0: its gradient at delta would count twice
		return num(p, 0.5).Mul(quadratic).Mul(quadratic).Add(num(p, delta).Mul(linear))
	})
}

// Log is -labels·log(predictions+epsilon) - (1-labels)·log(1-predictions+epsilon);
// TensorFlow's default for epsilon is 1e-7.
func Log(labels, predictions tf.Output, epsilon float64, o ...Options) tf.Output {
	return elementwise("log_loss", labels, predictions, o, func(y, p tf.Output) tf.Output {
		e, one := num(p, epsilon), num(p, 1)
		return y.Mul(p.Add(e).Log()).Neg().Sub(one.Sub(y).Mul(one.Sub(p).Add(e).Log()))
	})
}

// MeanPairwiseSquaredError compares differences between pairs of elements of
// one example with those of the labels. Weights are one for each example, or a
// scalar; the reduction is always a sum.
func MeanPairwiseSquaredError(labels, predictions tf.Output, o ...Options) (y tf.Output) {
	opt := optionsOf(o)
	if err := sameShape(labels, predictions); err != nil {
		return tf.Failed(predictions.Graph(), "mean_pairwise_squared_error", err).Output(0)
	}
	g := predictions.Graph()
	if opt.Weights.IsZero() {
		opt.Weights = ops.Scalar(g, float32(1))
	}
	g.Scope("mean_pairwise_squared_error", func() {
		check, err := checkWeights(opt.Weights, labels)
		if err != nil {
			y = tf.Failed(g, "mean_pairwise_squared_error", err).Output(0)
			return
		}
		g.ControlDependencies(check, func() {
			y = pairwise(predictions.Cast(tf.Float32).Sub(labels.Cast(tf.Float32)), opt.Weights.Cast(tf.Float32))
		})
	})
	collect(y, opt.Into)
	return y
}

func pairwise(diffs, weights tf.Output) tf.Output {
	g := diffs.Graph()
	rest := ops.Range(g, 1, ops.Rank(diffs), 1)
	perExample := func(x tf.Output) tf.Output { return ops.Sum(x, rest, ops.ReduceOpts{KeepDims: true}) }
	zero, one, two := num(diffs, 0), num(diffs, 1), num(diffs, 2)
	n := perExample(present(diffs, weights))
	squares := two.Mul(ops.DivNoNan(perExample(diffs.Square()), n.Sub(one).Maximum(zero)))
	sums := two.Mul(ops.DivNoNan(perExample(diffs).Square(), n.Mul(n.Sub(one)).Maximum(zero)))
	loss := squares.Sub(sums).Mul(weights).Sum()
	return ops.SelectV2(n.Sum().Greater(zero), loss, ops.ZerosLike(loss))
}
