package kernel

// down says which elements a loop down columns goes over: width columns of
// rows that are stride elements apart.
type down struct{ rows, stride, width int }

// reach is the number of elements from the first one to the last.
func (d down) reach() int { return (d.rows-1)*d.stride + d.width }

// eachStrip calls f for strips of at most n columns.
func (d down) eachStrip(n int, f func(at, width int)) {
	for at := 0; at < d.width; at += n {
		f(at, min(n, d.width-at))
	}
}

// each calls f for every element, with its column and its place.
func (d down) each(f func(c, i int)) {
	for r := range d.rows {
		for c := range d.width {
			f(c, r*d.stride+c)
		}
	}
}

// hasVectorSums reports whether columnSums runs in vector instructions.
func hasVectorSums() bool { return simdColumns.columnSums != nil }

// columnSums adds rows of x to sum, one after the other.
func columnSums(d down, sum, x []float32) {
	if d.rows == 0 || d.width == 0 {
		return
	}
	sum, x = sum[:d.width], x[:d.reach()]
	if simdColumns.columnSums != nil {
		for at := 0; at < d.width; at += simdColumns.sumStrip { // calls are short
			simdColumns.columnSums(&sum[at], &x[at], d.rows, d.stride, min(simdColumns.sumStrip, d.width-at))
		}
		return
	}
	d.each(func(c, i int) { sum[c] += x[i] })
}

// columnMoments adds x-about to sum and (x-about)² to squares, by column.
func columnMoments(d down, sum, squares, x, about []float32) {
	if d.rows == 0 || d.width == 0 {
		return
	}
	sum, squares, about, x = sum[:d.width], squares[:d.width], about[:d.width], x[:d.reach()]
	if simdColumns.columnMoments != nil {
		d.eachStrip(simdColumns.strip, func(at, n int) {
			simdColumns.columnMoments(&sum[at], &squares[at], &x[at], &about[at], d.rows, d.stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		v := x[i] - about[c]
		sum[c] += v
		squares[c] += v * v
	})
}

// columnProducts adds dy to sum and dy·(x-about) to products, by column.
func columnProducts(d down, sum, products, dy, x, about []float32) {
	if d.rows == 0 || d.width == 0 {
		return
	}
	sum, products, about, dy, x = sum[:d.width], products[:d.width], about[:d.width], dy[:d.reach()], x[:d.reach()]
	if simdColumns.columnProducts != nil {
		d.eachStrip(simdColumns.strip, func(at, n int) {
			simdColumns.columnProducts(&sum[at], &products[at], &dy[at], &x[at], &about[at], d.rows, d.stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		sum[c] += dy[i]
		products[c] += dy[i] * (x[i] - about[c])
	})
}

// normalize sets y = (x-about)·factor + shift.
func normalize(d down, y, x, about, factor, shift []float32) {
	if d.rows == 0 || d.width == 0 {
		return
	}
	y, x, about, factor, shift = y[:d.reach()], x[:d.reach()], about[:d.width], factor[:d.width], shift[:d.width]
	if simdColumns.normalize != nil {
		d.eachStrip(simdColumns.strip, func(at, n int) {
			simdColumns.normalize(&y[at], &x[at], &about[at], &factor[at], &shift[at], d.rows, d.stride, n)
		})
		return
	}
	d.each(func(c, i int) { y[i] = (x[i]-about[c])*factor[c] + shift[c] })
}

// normGrad sets z = (dy - shift - (x-about)·slope)·factor.
func normGrad(d down, z, dy, x, about, slope, shift, factor []float32) {
	if d.rows == 0 || d.width == 0 {
		return
	}
	z, dy, x = z[:d.reach()], dy[:d.reach()], x[:d.reach()]
	about, slope, shift, factor = about[:d.width], slope[:d.width], shift[:d.width], factor[:d.width]
	if simdColumns.normGrad != nil {
		d.eachStrip(simdColumns.strip, func(at, n int) {
			simdColumns.normGrad(&z[at], &dy[at], &x[at], &about[at], &slope[at], &shift[at], &factor[at], d.rows, d.stride, n)
		})
		return
	}
	d.each(func(c, i int) { z[i] = (dy[i] - shift[c] - (x[i]-about[c])*slope[c]) * factor[c] })
}
