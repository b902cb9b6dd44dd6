package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// atLeastMatrix returns the shape of input i, nil if nothing is known of it.
func atLeastMatrix(c *core.Infer, i int) (tf.Shape, error) {
	s := c.In(i)
	if s != nil && len(s) < 2 {
		return nil, invalid("Shape must be at least rank 2 but is rank %d", len(s))
	}
	return s, nil
}

// sizes returns rows and columns of the matrices in s.
func sizes(s tf.Shape) (batch tf.Shape, rows, cols int) {
	n := len(s) - 2
	return s[:n:n], s[n], s[n+1]
}

// merged returns what two sizes that have to be equal are.
func merged(a, b int) (int, error) {
	switch {
	case a < 0:
		return b, nil
	case b < 0 || a == b:
		return a, nil
	}
	return 0, invalid("Dimensions must be equal, but are %d and %d", a, b)
}

// squareInput returns batch and order of the matrices of input 0; known is
// false if not even their rank is known.
func squareInput(c *core.Infer) (batch tf.Shape, n int, known bool, err error) {
	s, err := atLeastMatrix(c, 0)
	if err != nil || s == nil {
		return nil, -1, false, err
	}
	batch, rows, cols := sizes(s)
	n, err = merged(rows, cols)
	return batch, n, true, err
}

// squareShape serves the ops that turn square matrices into such.
func squareShape(c *core.Infer) error {
	batch, n, known, err := squareInput(c)
	if err == nil && known {
		c.Set(0, append(batch, n, n))
	}
	return err
}

// perMatrixShape gives all outputs one number for each matrix.
func perMatrixShape(c *core.Infer) error {
	batch, _, known, err := squareInput(c)
	if err != nil || !known {
		return err
	}
	for i := range c.NumOut() {
		c.Set(i, batch)
	}
	return nil
}

// solveShape serves the ops with matrices [M N] and right-hand sides [M K].
func solveShape(isSquare bool) func(c *core.Infer) error {
	return func(c *core.Infer) error {
		a, err := atLeastMatrix(c, 0)
		if err != nil {
			return err
		}
		b, err := atLeastMatrix(c, 1)
		if err != nil || a == nil || b == nil {
			return err
		}
		batchA, m, n := sizes(a)
		batchB, rows, k := sizes(b)
		batch, ok := batchA.Merge(batchB)
		if !ok {
			return invalid("Shapes must be equal, but are %v and %v", batchA, batchB)
		}
		if m, err = merged(m, rows); err == nil && isSquare {
			n, err = merged(m, n)
		}
		if err == nil {
			c.Set(0, append(batch.Clone(), n, k))
		}
		return err
	}
}

// least returns the smaller of two sizes, -1 if that is not known.
func least(m, n int) int {
	switch {
	case m == 0 || n == 0:
		return 0
	case m < 0 || n < 0:
		return -1
	}
	return min(m, n)
}
