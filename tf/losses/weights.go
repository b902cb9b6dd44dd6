package losses

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

const cannot = "weights can not be broadcast to values."

// checkWeights checks that weights are a scalar or have the rank of values, and
// sizes that are theirs or 1: now, if the shapes are known, or by an operation
// that it returns.
func checkWeights(weights, values tf.Output) ([]*tf.Operation, error) {
	w, v := weights.Shape(), values.Shape()
	switch {
	case weights.Err() != nil:
		return nil, weights.Err()
	case w != nil && len(w) == 0:
		return nil, nil
	case w != nil && v != nil && len(w) != len(v):
		return nil, tf.Errorf(tf.InvalidArgument, "%s values.rank=%d. weights.rank=%d. values.shape=%v. weights.shape=%v.", cannot, len(v), len(w), v, w)
	case w.Known() && v.Known():
		return nil, checkSizes(w, v)
	}
	return []*tf.Operation{assertSizes(weights, values)}, nil
}

func checkSizes(w, v tf.Shape) error {
	for i := range w {
		if w[i] != 1 && w[i] != v[i] {
			return tf.Errorf(tf.InvalidArgument, "%s Mismatch at dim %d. values.shape=%v, weights.shape=%v.", cannot, i, v, w)
		}
	}
	return nil
}

// assertSizes adds the check for shapes that only a step knows.
func assertSizes(weights, values tf.Output) *tf.Operation {
	g := values.Graph()
	w, v := ops.Shape(weights), ops.Shape(values)
	scalar := ops.Rank(weights).Equal(ops.Scalar(g, int32(0)))
	sameRank := ops.Rank(weights).Equal(ops.Rank(values))
	fit := w.Equal(ops.Scalar(g, int32(1))).Or(ops.Equal(w, v, ops.EqualOpts{UnfitDiffer: true}))
	valid := scalar.Or(sameRank.And(fit.All()))
	data := []tf.Output{
		ops.Scalar(g, cannot), ops.Scalar(g, "weights.shape="), ops.Scalar(g, weights.Name()), w,
		ops.Scalar(g, "values.shape="), ops.Scalar(g, values.Name()), v, ops.Scalar(g, "is_scalar="), scalar,
	}
	return tf.Apply(g, "Assert", append([]tf.Output{valid}, data...))
}
