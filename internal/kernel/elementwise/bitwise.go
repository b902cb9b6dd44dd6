package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// BitAnd sets z = x & y.
func BitAnd[T numeric.Integer](z, x, y []T) { kernel.Zip(z, x, y, func(a, b T) T { return a & b }) }

// BitOr sets z = x | y.
func BitOr[T numeric.Integer](z, x, y []T) { kernel.Zip(z, x, y, func(a, b T) T { return a | b }) }

// BitXor sets z = x ^ y.
func BitXor[T numeric.Integer](z, x, y []T) { kernel.Zip(z, x, y, func(a, b T) T { return a ^ b }) }

// BitNot sets y = ^x.
func BitNot[T numeric.Integer](y, x []T) { kernel.Map(y, x, func(v T) T { return ^v }) }
