package xla

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// selfAdjointEig returns the eigenvalues and the eigenvectors of matrices. It reads one
// triangle of each. Vectors may have another sign than XLA's.
func selfAdjointEig(c *graphCall) []tf.Output {
	if !c.isMatrices() {
		return nil
	}
	x := c.in[0]
	if !c.n.Bool("lower") {
		x = linalg.Adjoint(x)
	}
	e, v := eigen(x)
	return []tf.Output{as(e, x.DType()), v}
}

// eigen returns eigenvalues and eigenvectors, NaN for a matrix that has none, where
// TensorFlow's operation would fail.
func eigen(x tf.Output) (e, v tf.Output) {
	return linalg.SelfAdjointEigV2(x, tf.Attr("_nan", true))
}

// svdOf returns singular values and vectors. Vectors may have another sign than XLA's.
func svdOf(c *graphCall) []tf.Output {
	if !c.isMatrices() {
		return nil
	}
	s, u, v := linalg.Svd(c.in[0])
	return []tf.Output{as(s, c.in[0].DType()), u, v}
}

func (c *graphCall) isMatrices() bool {
	if c.rank(0) < 2 || !isFloat(c.in[0].DType()) && !isComplex(c.in[0].DType()) {
		c.fail("it takes matrices of floating-point numbers, got %v of rank %d", c.in[0].DType(), c.rank(0))
		return false
	}
	return true
}
