package linalg

import (
	"testing"
)

// TestExponentialOfHugeMatrix: elements are finite, the sum of a column is not.
func TestExponentialOfHugeMatrix(t *testing.T) {
	const huge = 1e308
	x, y := newMatrix[float64](2, 2), newMatrix[float64](2, 2)
	copy(x.data, []float64{-huge, 0, -huge, -huge})
	if err := exponential([]matrix[float64]{x}, []matrix[float64]{y}); err != nil {
		t.Fatal(err)
	}
	if y.data[0] != 0 || y.data[3] != 0 {
		t.Errorf("got %v, want zeros on the diagonal", y.data)
	}
}
