package initializers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// Orthogonal gives random matrices with orthonormal rows or columns, whichever
// are fewer, times gain. The last size of the shape is the number of columns;
// the others, of which there has to be one, multiply to that of rows.
func Orthogonal(gain float64, seed ...int64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if len(s) < 2 {
			return refuse(g, tf.Errorf(tf.InvalidArgument, "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape=%v", s))
		}
		rows, cols := s[:len(s)-1].NumElements(), s[len(s)-1]
		x := RandomNormal(0, 1, seed...)(g, d, tf.Shape{max(rows, cols), min(rows, cols)})
		q, r := linalg.Qr(x)
		q = ops.Mul(q, ops.Sign(ops.MatrixDiagPart(r))) // else the signs would not be random
		if rows < cols {
			q = ops.Transpose(q, ops.Const(g, []int32{1, 0}, 2))
		}
		return ops.Mul(scalar(g, d, gain), ops.Reshape(q, shapeConst(g, s)))
	}
}
