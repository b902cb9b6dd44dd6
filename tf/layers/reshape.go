package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Flatten returns x [n ...] as [n m], each example as one row. All sizes but
// the first must be known.
func Flatten(x tf.Output) (y tf.Output) {
	if err := x.Err(); err != nil {
		return x
	}
	m := 1
	s := x.Shape()
	for i := 1; i < len(s); i++ {
		if s[i] < 0 {
			m = -1
			break
		}
		m *= s[i]
	}
	if len(s) == 0 || m < 0 {
		return tf.Failed(x.Graph(), "Flatten", tf.Errorf(tf.InvalidArgument, "Flatten needs an input [n ...] of which all sizes but the first are known, got %v", x)).Output(0)
	}
	x.Graph().Scope("flatten", func() { y = ops.Reshape(x, ops.Const(x.Graph(), []int32{-1, int32(m)}, 2)) })
	return y
}

// Dropout returns x with a random share rate of its elements set to 0 and the
// others multiplied by 1/(1-rate), so that sums stay about the same. It is
// for training: apply a model without it to predict.
func Dropout(x tf.Output, rate float64) (y tf.Output) {
	if err := x.Err(); err != nil {
		return x
	}
	g := x.Graph()
	if !(rate >= 0 && rate < 1) {
		return tf.Failed(g, "Dropout", tf.Errorf(tf.InvalidArgument, "rate must be at least 0 and less than 1, got %v", rate)).Output(0)
	}
	g.Scope("dropout", func() {
		u := ops.RandomUniform(nil, ops.Shape(x), x.DType(), tf.Name("random_uniform/RandomUniform"))
		keep := ops.GreaterEqual(u, scalar(g, x.DType(), rate))
		y = ops.SelectV2(keep, ops.Mul(x, scalar(g, x.DType(), 1/(1-rate))), scalar(g, x.DType(), 0))
	})
	return y
}

func scalar(g *tf.Graph, d tf.DType, x float64) tf.Output {
	t, err := core.ScalarOf(d, x)
	if err != nil {
		return tf.Failed(g, "Const", err).Output(0)
	}
	return ops.ConstValue(g, t)
}
