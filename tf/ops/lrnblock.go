package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// lrnElements is about how many elements are normalized at a time: what is
// computed of them stays in the first-level cache.
const lrnElements = 1024

// A lrnBlock normalizes some pixels at a time by vector loops. Sums over
// channels are sums of views of one buffer, shifted by one channel or more: in
// it each pixel has gap zeros before its channels, and the last has as many
// behind.
type lrnBlock struct {
	*lrnAttrs
	depth, gap  int
	padded, sum []float32 // of pixels with their zeros
	norms, room []float32 // of pixels
	loan        *core.Loan
}

// eachBlock calls f for ranges of elements of images of shape s, all channels
// of a pixel together.
func (a *lrnAttrs) eachBlock(c *core.OpContext, s tf.Shape, f func(b *lrnBlock, lo, hi int)) {
	if s.NumElements() == 0 {
		return
	}
	depth := s[3]
	pixels := max(1, lrnElements/depth)
	c.ParallelFor(s.NumElements()/depth, max(pixels, elementGrain/(8*depth)), func(lo, hi int) {
		b := newLRNBlock(a, depth, pixels)
		defer b.loan.Return()
		for at := lo; at < hi; at += pixels {
			f(b, at*depth, min(at+pixels, hi)*depth)
		}
	})
}

func newLRNBlock(a *lrnAttrs, depth, pixels int) *lrnBlock {
	b := &lrnBlock{lrnAttrs: a, depth: depth, gap: min(a.radius, depth-1)}
	n := pixels*(depth+b.gap) + b.gap
	all, loan := core.Lend[float32](2*n + 2*pixels*depth)
	b.padded, b.sum, b.loan = all[:n], all[n:2*n], loan
	b.norms, b.room = all[2*n:][:pixels*depth], all[2*n+pixels*depth:]
	return b
}

// setNorms sets n to bias + alpha·(sum of squares around each element).
func (b *lrnBlock) setNorms(n, x []float32) {
	elementwise.Square(n, x)
	b.around(n, n)
	elementwise.MulScalar(n, n, b.alpha)
	elementwise.AddScalar(n, n, b.bias)
}

// around sets y to the sums of x over the channels around each element. It
// adds up 1, 2, 4... of them by shifts, and those parts of a window that are
// bits of its width.
func (b *lrnBlock) around(y, x []float32) {
	pixels, step := len(x)/b.depth, b.depth+b.gap
	end := pixels*step + b.gap
	part, sum := b.padded[:end], b.sum[:end-2*b.gap]
	for p := range pixels {
		clear(part[p*step:][:b.gap])
		copy(part[p*step+b.gap:], x[p*b.depth:(p+1)*b.depth])
	}
	clear(part[end-b.gap:])
	width := 2*b.gap + 1
	copy(sum, part) // a window's width is odd
	for at, size := 1, 1; at < width; {
		elementwise.Add(part[:len(part)-size], part[:len(part)-size], part[size:])
		part = part[:len(part)-size]
		if size *= 2; width&size != 0 {
			elementwise.Add(sum, sum, part[at:][:len(sum)])
			at += size
		}
	}
	for p := range pixels {
		copy(y[p*b.depth:(p+1)*b.depth], sum[p*step:])
	}
}

// powers raises norms to the power of -beta.
func (b *lrnBlock) powers(n []float32) {
	if b.beta == 0.5 {
		elementwise.Rsqrt(n, n)
		return
	}
	by := b.room[:len(n)]
	kernel.Fill(by, -b.beta)
	elementwise.Pow(n, n, by)
}

// back sets dx to dy·norm^-beta - 2·alpha·beta·x·(sum of dy·y/norm around each
// element).
func (b *lrnBlock) back(dx, dy, x, y []float32) {
	n := b.norms[:len(x)]
	b.setNorms(n, x)
	elementwise.Mul(dx, dy, y)
	elementwise.Div(dx, dx, n)
	b.around(dx, dx)
	elementwise.Mul(dx, dx, x)
	elementwise.MulScalar(dx, dx, -2*b.alpha*b.beta)
	b.powers(n)
	elementwise.Mul(n, n, dy)
	elementwise.Add(dx, dx, n)
}
