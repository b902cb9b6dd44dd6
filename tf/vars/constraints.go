package vars

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Constraint projects a variable's value onto the values that are allowed.
// Optimizers apply it after each update. A variable that has one cannot be
// updated by rows.
type Constraint func(v tf.Output) tf.Output

// normEpsilon keeps divisions by norms finite, as in Keras.
const normEpsilon = 1e-7

// NonNegative makes negative elements 0.
func NonNegative(v tf.Output) tf.Output { return v.Mul(v.GreaterEqual(0).Cast(v.DType())) }

// UnitNorm scales v so that the Euclidean norm along axes is 1; without axes
// along the first.
func UnitNorm(axes ...int) Constraint {
	return func(v tf.Output) tf.Output { return v.Div(normOf(v, axes).Add(normEpsilon)) }
}

// MaxNorm scales v down where its norm along axes, without them the first, is
// greater than limit.
func MaxNorm(limit float64, axes ...int) Constraint {
	return func(v tf.Output) tf.Output {
		norm := normOf(v, axes)
		return v.Mul(norm.Clip(0, limit).Div(norm.Add(normEpsilon)))
	}
}

// MinMaxNorm brings the norm of v along axes, without them the first, nearer to
// the interval from low to high: by the share rate of the way, of which 1 is all.
func MinMaxNorm(low, high, rate float64, axes ...int) Constraint {
	return func(v tf.Output) tf.Output {
		norm := normOf(v, axes)
		want := norm.Clip(low, high).Mul(rate).Add(norm.Mul(1 - rate))
		return v.Mul(want.Div(norm.Add(normEpsilon)))
	}
}

// normOf returns the Euclidean norm of v along axes, which stay with size 1.
func normOf(v tf.Output, axes []int) tf.Output {
	if len(axes) == 0 {
		axes = []int{0}
	}
	return ops.Sqrt(ops.Sum(ops.Square(v), axes, ops.ReduceOpts{KeepDims: true}))
}
