// Package orthogonal is the initializer that needs linear algebra: programs that
// do without it do not link that.
package orthogonal

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// New gives random matrices with orthonormal rows or columns, whichever are
// fewer, times gain (Saxe, McClelland and Ganguli, ICLR 2014). The last size of
// the shape is the number of columns; the others, of which there has to be one,
// multiply to that of rows. Numbers are those of TensorFlow for equal seeds.
func New(gain float64, seed ...int64) initializers.Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		scale, err := core.ScalarOf(d, gain)
		if err == nil && len(s) < 2 {
			err = tf.Errorf(tf.InvalidArgument, "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape=%v", s)
		}
		if err != nil {
			return tf.Failed(g, "orthogonal", err).Output(0)
		}
		rows, cols := s[:len(s)-1].NumElements(), s[len(s)-1]
		x := initializers.RandomNormal(0, 1, seed...)(g, d, tf.Shape{max(rows, cols), min(rows, cols)})
		q, r := linalg.Qr(x)
		q = ops.Mul(q, ops.Sign(ops.MatrixDiagPart(r))) // else the signs would not be random
		if rows < cols {
			q = ops.Transpose(q, ops.Const(g, []int32{1, 0}, 2))
		}
		shape := make([]int32, len(s))
		for i, n := range s {
			shape[i] = int32(n)
		}
		return ops.Mul(ops.ConstValue(g, scale), ops.Reshape(q, ops.Const(g, shape)))
	}
}
