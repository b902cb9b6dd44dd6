package ops

import "github.com/gorge-tf/gorge/tf"

// Elements is elements, for tests of the package from outside.
func Elements(t *tf.Tensor) any { return elements(t) }

// ElementSize returns the size of d's elements, 1 for strings, and 0 for types
// without elements to write down in a test.
func ElementSize(d tf.DType) int {
	if d == tf.String {
		return 1
	}
	if elementsOf[d] == nil {
		return 0
	}
	return d.Size()
}
