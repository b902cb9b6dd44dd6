package kernel

// The loops of batch normalization go once over what lies in memory. What
// belongs to channels, repeated, is at least as long as the rest.

// normalize sets y = (x-about)·factor + shift.
func normalize(y, x, about, factor, shift []float32) {
	n := len(y)
	if n == 0 {
		return
	}
	x, about, factor, shift = x[:n], about[:n], factor[:n], shift[:n]
	if simd.normalize != nil {
		simd.normalize(&y[0], &x[0], &about[0], &factor[0], &shift[0], n)
		return
	}
	for i := range y {
		y[i] = (x[i]-about[i])*factor[i] + shift[i]
	}
}

// addSquares sets acc += (x-about)².
func addSquares(acc, x, about []float32) {
	n := len(acc)
	if n == 0 {
		return
	}
	x, about = x[:n], about[:n]
	if simd.addSquares != nil {
		simd.addSquares(&acc[0], &x[0], &about[0], n)
		return
	}
	for i := range acc {
		d := x[i] - about[i]
		acc[i] += d * d
	}
}

// addProducts sets sum += d and acc += d·(x-about).
func addProducts(sum, acc, d, x, about []float32) {
	n := len(sum)
	if n == 0 {
		return
	}
	acc, d, x, about = acc[:n], d[:n], x[:n], about[:n]
	if simd.addProducts != nil {
		simd.addProducts(&sum[0], &acc[0], &d[0], &x[0], &about[0], n)
		return
	}
	for i := range sum {
		sum[i] += d[i]
		acc[i] += d[i] * (x[i] - about[i])
	}
}

// normGrad sets z = (d - shift - (x-about)·slope)·factor.
func normGrad(z, d, x, about, slope, shift, factor []float32) {
	n := len(z)
	if n == 0 {
		return
	}
	d, x, about, slope, shift, factor = d[:n], x[:n], about[:n], slope[:n], shift[:n], factor[:n]
	if simd.normGrad != nil {
		simd.normGrad(&z[0], &d[0], &x[0], &about[0], &slope[0], &shift[0], &factor[0], n)
		return
	}
	for i := range z {
		z[i] = (d[i] - shift[i] - (x[i]-about[i])*slope[i]) * factor[i]
	}
}
