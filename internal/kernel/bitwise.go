package kernel

// BitAnd sets z = x & y.
func BitAnd[T Integer](z, x, y []T) { Zip(z, x, y, func(a, b T) T { return a & b }) }

// BitOr sets z = x | y.
func BitOr[T Integer](z, x, y []T) { Zip(z, x, y, func(a, b T) T { return a | b }) }

// BitXor sets z = x ^ y.
func BitXor[T Integer](z, x, y []T) { Zip(z, x, y, func(a, b T) T { return a ^ b }) }

// BitNot sets y = ^x.
func BitNot[T Integer](y, x []T) { Map(y, x, func(v T) T { return ^v }) }
