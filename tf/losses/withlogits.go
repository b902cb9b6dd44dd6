package losses

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// SoftmaxWithLogits returns the cross entropy of labels, a distribution along an axis,
// and the softmax of logits: TensorFlow's tf.nn.softmax_cross_entropy_with_logits_v2.
// Both have one shape of any rank; the axis is the last one if none is given, and the
// result has one dimension less. Numbers of two bytes are computed in float32. Unlike
// [SoftmaxCrossEntropy] it reduces nothing, is no loss of the graph's collection, and
// gradients go to labels, too. Those of logits are right if labels add up to 1.
func SoftmaxWithLogits(labels, logits tf.Output, axis ...int) (y tf.Output) {
	if err := sameRows(labels, logits); err != nil {
		return tf.Failed(logits.Graph(), "softmax_cross_entropy_with_logits", err).Output(0)
	}
	logits.Graph().Scope("softmax_cross_entropy_with_logits", func() {
		d, x := logits.DType(), precise(logits, tf.Float16, tf.BFloat16)
		z := labels.Cast(x.DType())
		if len(axis) > 0 {
			z, x = lastAxis(z, axis[0]), lastAxis(x, axis[0])
		}
		if x.Err() != nil {
			y = x
			return
		}
		y = rowLosses(z, x).Cast(d)
	})
	return y
}

// SparseSoftmaxWithLogits returns the cross entropy of labels, int32 or int64 numbers
// of classes, and the softmax of logits [… classes]: TensorFlow's
// tf.nn.sparse_softmax_cross_entropy_with_logits. Labels and result have the shape of
// logits without the last dimension, at any rank. Float16 is computed in float32. A
// label outside of the classes fails the step. Unlike [SparseSoftmaxCrossEntropy] it
// reduces nothing and is no loss of the graph's collection.
func SparseSoftmaxWithLogits(labels, logits tf.Output) (y tf.Output) {
	if err := sparseShapes(labels, logits); err != nil {
		return tf.Failed(logits.Graph(), "sparse_softmax_cross_entropy_with_logits", err).Output(0)
	}
	g := logits.Graph()
	g.Scope("sparse_softmax_cross_entropy_with_logits", func() {
		classes := ops.ConcatV2([]tf.Output{ops.Const(g, []int32{-1}), lastSize(logits).Reshape(1)}, ops.Scalar(g, int32(0)))
		labels = alike(labels, logits)
		rows := ops.SparseSoftmaxCrossEntropyWithLogits(labels.Reshape(-1), ops.Reshape(precise(logits, tf.Float16), classes))
		y = ops.Reshape(rows, ops.Shape(labels)).Cast(logits.DType())
		if s := logits.Shape(); y.Err() == nil && s != nil {
			y.SetShape(s[:len(s)-1])
		}
	})
	return y
}

// sparseShapes compares the shapes of labels and logits.
func sparseShapes(labels, logits tf.Output) error {
	if err := firstErr(labels, logits); err != nil {
		return err
	}
	z, x := labels.Shape(), logits.Shape()
	switch {
	case x != nil && len(x) == 0:
		return tf.Errorf(tf.InvalidArgument, "Logits cannot be scalars - received shape %v.", logits)
	case z != nil && x != nil && len(z) != len(x)-1:
		return tf.Errorf(tf.InvalidArgument, "Rank mismatch: Rank of labels (received %d) should equal rank of logits minus 1 (received %d): labels are %v, logits %v", len(z), len(x), labels, logits)
	case x != nil && !z.Compatible(x[:len(x)-1]):
		return tf.Errorf(tf.InvalidArgument, "Shape mismatch: The shape of labels (received %v) should equal the shape of logits except for the last dimension (received %v).", z, x)
	case !logits.DType().IsFloat():
		return tf.Errorf(tf.InvalidArgument, "logits must be floating-point numbers, got %v", logits)
	}
	return nil
}

// alike lets labels pass that have the shape of logits without the last dimension. The step
// compares what the graph does not know; for vectors of labels the operation does.
func alike(labels, logits tf.Output) tf.Output {
	z, x := labels.Shape(), logits.Shape()
	if len(z) == 1 && len(x) == 2 || z.Known() && x != nil && x[:len(x)-1].Known() {
		return labels
	}
	g := logits.Graph()
	outer := ops.Slice(ops.Shape(logits), ops.Const(g, []int32{0}), ops.Rank(logits).Sub(ops.Scalar(g, int32(1))).Reshape(1))
	same := ops.Equal(ops.Shape(labels), outer, ops.EqualOpts{UnfitDiffer: true}).All()
	rule := ops.Scalar(g, "Shape mismatch: The shape of labels should equal the shape of logits except for the last dimension.")
	return ops.Identity(labels, tf.After(ops.Assert(same, []tf.Output{rule, ops.Shape(labels), ops.Shape(logits)})))
}

func firstErr(all ...tf.Output) error {
	for _, x := range all {
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// precise returns numbers of the given types as float32, in which TensorFlow computes them.
func precise(x tf.Output, of ...tf.DType) tf.Output {
	if slices.Contains(of, x.DType()) {
		return x.Cast(tf.Float32)
	}
	return x
}

// lastAxis returns x with an axis moved behind the others.
func lastAxis(x tf.Output, axis int) tf.Output {
	n := len(x.Shape())
	if axis < 0 {
		axis += n
	}
	if x.Shape() == nil || axis < 0 || axis >= n {
		return tf.Failed(x.Graph(), "softmax_cross_entropy_with_logits", tf.Errorf(tf.InvalidArgument, "the axis must be one of logits, whose rank is known, got axis %d of %v", axis, x)).Output(0)
	}
	var perm []int
	for i := range n {
		if i != axis {
			perm = append(perm, i)
		}
	}
	return ops.Transpose(x, append(perm, axis))
}
