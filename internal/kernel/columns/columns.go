package columns

// Down says which elements a loop down columns goes over: width columns of
// rows that are stride elements apart.
type Down struct{ Rows, Stride, Width int }

// reach is the number of elements from the first one to the last.
func (d Down) reach() int { return (d.Rows-1)*d.Stride + d.Width }

// eachStrip calls f for strips of at most n columns.
func (d Down) eachStrip(n int, f func(at, width int)) {
	for at := 0; at < d.Width; at += n {
		f(at, min(n, d.Width-at))
	}
}

// each calls f for every element, with its column and its place.
func (d Down) each(f func(c, i int)) {
	for r := range d.Rows {
		for c := range d.Width {
			f(c, r*d.Stride+c)
		}
	}
}

// HasVectorSums reports whether columnSums runs in vector instructions.
func HasVectorSums() bool { return simd.columnSums != nil }

// Sums adds rows of x to sum, one after the other.
func Sums(d Down, sum, x []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	sum, x = sum[:d.Width], x[:d.reach()]
	if simd.columnSums != nil {
		d.fold(simd.columnSums, sum, x)
		return
	}
	d.each(func(c, i int) { sum[c] += x[i] })
}

// fold runs a loop that keeps one number a column.
func (d Down) fold(loop func(kept, x *float32, rows, stride, width int), kept, x []float32) {
	for at := 0; at < d.Width; at += simd.sumStrip { // calls are short
		loop(&kept[at], &x[at], d.Rows, d.Stride, min(simd.sumStrip, d.Width-at))
	}
}

// Max sets most to the maximum of it and the rows of x, one after the other. NaN stays; of two
// zeros the later one is taken.
func Max(d Down, most, x []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	most, x = most[:d.Width], x[:d.reach()]
	if simd.columnMax != nil {
		d.fold(simd.columnMax, most, x)
		return
	}
	d.each(func(c, i int) {
		if m := most[c]; m == m && !(m > x[i]) {
			most[c] = x[i]
		}
	})
}

// Min is Max for the minimum.
func Min(d Down, least, x []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	least, x = least[:d.Width], x[:d.reach()]
	if simd.columnMin != nil {
		d.fold(simd.columnMin, least, x)
		return
	}
	d.each(func(c, i int) {
		if m := least[c]; m == m && !(m < x[i]) {
			least[c] = x[i]
		}
	})
}

// Moments adds x-about to sum and (x-about)² to squares, by column.
func Moments(d Down, sum, squares, x, about []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	sum, squares, about, x = sum[:d.Width], squares[:d.Width], about[:d.Width], x[:d.reach()]
	if simd.columnMoments != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.columnMoments(&sum[at], &squares[at], &x[at], &about[at], d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		v := x[i] - about[c]
		sum[c] += v
		squares[c] += v * v
	})
}

// Products adds dy to sum and dy·(x-about) to products, by column.
func Products(d Down, sum, products, dy, x, about []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	sum, products, about, dy, x = sum[:d.Width], products[:d.Width], about[:d.Width], dy[:d.reach()], x[:d.reach()]
	if simd.columnProducts != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.columnProducts(&sum[at], &products[at], &dy[at], &x[at], &about[at], d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		sum[c] += dy[i]
		products[c] += dy[i] * (x[i] - about[c])
	})
}

// Normalize sets y = (x-about)·factor + shift.
func Normalize(d Down, y, x, about, factor, shift []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	y, x, about, factor, shift = y[:d.reach()], x[:d.reach()], about[:d.Width], factor[:d.Width], shift[:d.Width]
	if simd.normalize != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.normalize(&y[at], &x[at], &about[at], &factor[at], &shift[at], d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) { y[i] = (x[i]-about[c])*factor[c] + shift[c] })
}

// NormGrad sets z = (dy - shift - (x-about)·slope)·factor.
func NormGrad(d Down, z, dy, x, about, slope, shift, factor []float32) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	z, dy, x = z[:d.reach()], dy[:d.reach()], x[:d.reach()]
	about, slope, shift, factor = about[:d.Width], slope[:d.Width], shift[:d.Width], factor[:d.Width]
	if simd.normGrad != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.normGrad(&z[at], &dy[at], &x[at], &about[at], &slope[at], &shift[at], &factor[at], d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) { z[i] = (dy[i] - shift[c] - (x[i]-about[c])*slope[c]) * factor[c] })
}
