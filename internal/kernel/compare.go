package kernel

// Equal sets z = x == y.
func Equal[T comparable](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a == b }) }

// NotEqual sets z = x != y.
func NotEqual[T comparable](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a != b }) }

// Less sets z = x < y.
func Less[T Real](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a < b }) }

// LessEqual sets z = x <= y.
func LessEqual[T Real](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a <= b }) }

// Greater sets z = x > y.
func Greater[T Real](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a > b }) }

// GreaterEqual sets z = x >= y.
func GreaterEqual[T Real](z []bool, x, y []T) { Zip2(z, x, y, func(a, b T) bool { return a >= b }) }

// And sets z = x && y.
func And(z, x, y []bool) { Zip(z, x, y, func(a, b bool) bool { return a && b }) }

// Or sets z = x || y.
func Or(z, x, y []bool) { Zip(z, x, y, func(a, b bool) bool { return a || b }) }

// Select sets z to x where c holds and to y elsewhere.
func Select[T any](z []T, c []bool, x, y []T) {
	c, x, y = c[:len(z)], x[:len(z)], y[:len(z)]
	for i := range z {
		if c[i] {
			z[i] = x[i]
		} else {
			z[i] = y[i]
		}
	}
}
