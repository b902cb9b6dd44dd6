package kernel

// expShifted sets y = e^(x-shift) and returns the sum of y.
func expShifted[T Float](y, x []T, shift T) T {
	if yf, ok := asF32(y); ok && simdFold.expShift != nil {
		xf, _ := asF32(x)
		sf, _ := scalarF32(shift)
		s, _ := any(simdFold.expShift(yf, xf[:len(yf)], sf)).(T)
		return s
	}
	SubScalar(y, x, shift)
	Exp(y, y)
	return Sum(y)
}
