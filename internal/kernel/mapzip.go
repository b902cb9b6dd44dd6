package kernel

// Map sets y[i] = f(x[i]); y may be x. Call it with a function literal, in a
// function of its own: Map and the literal are then inlined and the loop runs
// at full speed. A function value from elsewhere costs a call per element.
func Map[T any](y, x []T, f func(T) T) {
	x = x[:len(y)]
	for i := range y {
		y[i] = f(x[i])
	}
}

// Map2 is Map between two types.
func Map2[R, T any](y []R, x []T, f func(T) R) {
	x = x[:len(y)]
	for i := range y {
		y[i] = f(x[i])
	}
}

// Zip sets z[i] = f(x[i], y[i]); z may be x or y. See Map.
func Zip[T any](z, x, y []T, f func(a, b T) T) {
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] = f(x[i], y[i])
	}
}

// Zip2 is Zip with a result of another type.
func Zip2[R, T any](z []R, x, y []T, f func(a, b T) R) {
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] = f(x[i], y[i])
	}
}

// Fill sets every element of y to v: some one by one, then by copies of them.
func Fill[T any](y []T, v T) {
	const first, most = 16, 1024
	for i := range y[:min(len(y), first)] {
		y[i] = v
	}
	for n := first; n < len(y); {
		n += copy(y[n:], y[:min(n, most)])
	}
}
