package columns

// A Gate is what follows a normalization: it gives y = (x-about)·factor + offset where that is
// greater than 0, and Most at most. Gradients pass it where 0 < y < Most.
type Gate struct {
	Factor, Offset []float32 // by column
	Most           float32   // NaN: there is no such bound
}

// At returns the gate of columns from c on.
func (g Gate) At(c int) Gate { return Gate{g.Factor[c:], g.Offset[c:], g.Most} }

// pass returns what is left of the gradient dy of x in column c: dy, or 0.
func (g *Gate) pass(c int, dy, x, about float32) float32 {
	if y := (x-about)*g.Factor[c] + g.Offset[c]; y > 0 && !(y >= g.Most) {
		return dy
	}
	return 0
}

// GatedProducts is [Products], of gradients dy that pass a gate.
func GatedProducts(d Down, sum, products, dy, x, about []float32, g Gate) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	sum, products, about, dy, x = sum[:d.Width], products[:d.Width], about[:d.Width], dy[:d.reach()], x[:d.reach()]
	if factor, offset := g.Factor[:d.Width], g.Offset[:d.Width]; simd.columnProductsGated != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.columnProductsGated(&sum[at], &products[at], &dy[at], &x[at], &about[at], &factor[at], &offset[at], g.Most, d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		passed := g.pass(c, dy[i], x[i], about[c])
		sum[c] += passed
		products[c] += passed * (x[i] - about[c]) // NaN where x is infinite, also if passed is 0
	})
}

// GatedNormGrad is [NormGrad] of a factor that is the gate's, of gradients dy that pass it.
func GatedNormGrad(d Down, z, dy, x, about, slope, shift []float32, g Gate) {
	if d.Rows == 0 || d.Width == 0 {
		return
	}
	z, dy, x = z[:d.reach()], dy[:d.reach()], x[:d.reach()]
	about, slope, shift = about[:d.Width], slope[:d.Width], shift[:d.Width]
	if factor, offset := g.Factor[:d.Width], g.Offset[:d.Width]; simd.normGradGated != nil {
		d.eachStrip(simd.strip, func(at, n int) {
			simd.normGradGated(&z[at], &dy[at], &x[at], &about[at], &slope[at], &shift[at], &factor[at], &offset[at], g.Most, d.Rows, d.Stride, n)
		})
		return
	}
	d.each(func(c, i int) {
		z[i] = (g.pass(c, dy[i], x[i], about[c]) - shift[c] - (x[i]-about[c])*slope[c]) * g.Factor[c]
	})
}
