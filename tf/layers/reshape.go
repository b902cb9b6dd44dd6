package layers

import (
	"github.com/gorge-tf/gorge/tf"
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
		return refuse(x, "Flatten", tf.Errorf(tf.InvalidArgument, "Flatten needs an input [n ...] of which all sizes but the first are known, got %v", x))
	}
	x.Graph().Scope("flatten", func() {
		if m == 0 { // there is nothing that -1 could follow from
			y = ops.Reshape(x, ops.Stack([]tf.Output{ops.Shape(x).At("0"), ops.Scalar(x.Graph(), int32(0))}, 0))
			return
		}
		y = ops.Reshape(x, []int{-1, m})
	})
	if y.Err() == nil {
		y.SetShape(tf.Shape{s[0], m})
	}
	return y
}
