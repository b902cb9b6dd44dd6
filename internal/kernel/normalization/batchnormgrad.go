package normalization

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/columns"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

// A Gate is a rectifier that follows a normalization: it gives its result y where that is greater
// than 0, and Most at most. Gradients pass it where 0 < y < Most.
type Gate struct {
	Offset []float32 // of the normalization, by channel
	Most   float32   // NaN: there is no such bound
}

// normGrad is the gradient of a normalization being computed; the vectors are tiles.
type normGrad struct {
	*BatchNorm
	about, slope, shift []float32
	gate                columns.Gate // its factor is that of the normalization
	gated               bool
}

// products adds to the sums of a chunk.
func (n *normGrad) products(w *normChunk, at int, d columns.Down, dy, x []float32) {
	if n.gated {
		columns.GatedProducts(d, w.sum, w.square, dy[at:], x[at:], n.about[w.c0:], n.gate.At(w.c0))
		return
	}
	columns.Products(d, w.sum, w.square, dy[at:], x[at:], n.about[w.c0:])
}

// scaleSums returns by channel the sums of dy and of dy·(x-mean).
func (n *normGrad) scaleSums(par kernel.Par, dy, x []float32) (sum, product []float64) {
	g, c := n.grid(), n.C
	sums, products := make([]float64, g.rows*c), make([]float64, g.rows*c)
	g.each(par, func(w *normChunk) {
		n.eachDown(w.lo, w.hi, w.c0, w.c1, func(at int, d columns.Down) { n.products(w, at, d, dy, x) })
		for i := w.c0; i < w.c1; i++ {
			sums[w.row*c+i], products[w.row*c+i] = w.fold(w.sum, i-w.c0), w.fold(w.square, i-w.c0)
		}
	})
	sum, product = make([]float64, c), make([]float64, c)
	for i := range g.rows {
		elementwise.Add(sum, sum, sums[i*c:][:c])
		elementwise.Add(product, product, products[i*c:][:c])
	}
	return sum, product
}

// apply sets dx.
func (n *normGrad) apply(par kernel.Par, dx, dy, x []float32) {
	n.eachRows(par, func(at int, d columns.Down) {
		if n.gated {
			columns.GatedNormGrad(d, dx[at:], dy[at:], x[at:], n.about, n.slope, n.shift, n.gate)
			return
		}
		columns.NormGrad(d, dx[at:], dy[at:], x[at:], n.about, n.slope, n.shift, n.gate.Factor)
	})
}

// Grad computes the gradients of Normalize for x, scale and offset from that
// of y, or of what a gate, which may be nil, gives of y. Where mean and variance are those of x
// (training), x acts through them too. The bits are those of two steps.
func (b *BatchNorm) Grad(par kernel.Par, training bool, gate *Gate, dx, dScale, dOffset, dy, x, scale, mean, variance []float32) {
	f, factor := make([]float32, b.C), make([]float32, b.C)
	b.setFactors(f, variance)
	elementwise.Mul(factor, f, scale)
	n := &normGrad{BatchNorm: b, about: b.tile(mean), gate: columns.Gate{Factor: b.tile(factor)}}
	if gate != nil {
		n.gated, n.gate.Offset, n.gate.Most = true, b.tile(gate.Offset), gate.Most
	}
	sum, product := n.scaleSums(par, dy, x)
	slope, shift := make([]float32, b.C), make([]float32, b.C)
	for c := range f {
		dOffset[c], dScale[c] = float32(sum[c]), float32(product[c]*float64(f[c]))
		if rows := float64(b.Rows); training {
			slope[c] = float32(product[c] / rows * float64(f[c]) * float64(f[c]))
			shift[c] = float32(sum[c] / rows)
		}
	}
	n.slope, n.shift = b.tile(slope), b.tile(shift)
	n.apply(par, dx, dy, x)
}
