//go:build amd64 && !noasm

package conv

import (
	"runtime"
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// Windows of 3×3 that move by 1 are convolved by fewer products: Winograd's F(2×2, 3×3).
// A tile of 2×2 results takes 16 products for each channel and output instead of 36.
// Images and filters are transformed into 4×4 points by sums (see tools/asmgen), each
// point of all tiles is a product of matrices, and the results are sums of points again:
//
//	V = Bᵀ·d·B,  U = G·g·Gᵀ,  M[p] = V[p]·U[p] for 16 points p,  y = Aᵀ·M·A
//
// A result depends on the pixels of its own window alone, as it does otherwise, and on the
// order of sums that the shapes give. It differs from the plain sum by a few roundings of
// the largest product that its window could have: the greatest pixel times the greatest
// element of the filters, summed over the channels. Sums of integers are exact as long as
// four times as large ones are. Results that are not finite are computed again the plain way, so
// that infinities stay what they are.

// winogradKernels are the transforms for one instruction set; tools/asmgen says what each does.
type winogradKernels struct {
	images  func(v *float32, point, gap int, l0, l1, l2, l3 *float32, pixel, channels, count int)
	grads   func(v *float32, point, gap int, l0, l1 *float32, pixel, channels, count int)
	results func(y00, y01, y10, y11 *float32, skip int, m *float32, point int, bias *float32, outs, count int, check *float32)
	filters func(u *float32, point, row int, w *float32, tap, line, rows, width int)
	sums    func(w *float32, tap int, u *float32, point, n int, check *float32)
}

var winogradAVX2 = winogradKernels{winogradImagesAVX2, winogradGradsAVX2, winogradResultsAVX2, winogradFiltersAVX2, winogradSumsAVX2}

var winogradAVX512 = winogradKernels{winogradImagesAVX512, winogradGradsAVX512, winogradResultsAVX512, winogradFiltersAVX512, winogradSumsAVX512}

const (
	winogradPoints = 16
	floatBytes     = 4
)

// winograd convolves float32. It may be shared.
type winograd struct {
	*engine[float32]
	winogradKernels
	scratch, shared sync.Pool // of *winogradScratch and *winogradShared
}

func newWinograd(e *engine[float32], k winogradKernels) *winograd {
	return &winograd{engine: e, winogradKernels: k,
		scratch: sync.Pool{New: func() any { return new(winogradScratch) }},
		shared:  sync.Pool{New: func() any { return new(winogradShared) }}}
}

// winogradShared is memory of a convolution, which its goroutines share: points of filters, of images and
// of gradients, and a bias of zeros.
type winogradShared struct{ u, v, g, zeros []float32 }

// winogradScratch is memory of a goroutine.
type winogradScratch struct {
	v, m  []float32 // points of images and of results
	lines []float32 // of images, between zeros
	held  [4]int    // which line each of them is, -1 for none
	other []float32 // takes results outside of images
	check [16]float32
}

// convolve is Convolve.
func (b *winograd) convolve(par kernel.Par, v *Conv, y, x, w []float32, e gemm.Epilogue[float32]) {
	if !b.pays(v) {
		b.engine.convolve(par, v, y, x, w, e)
		return
	}
	b.convolveTiles(par, v, y, x, w, e)
}

// convolveTiles convolves by tiles.
func (b *winograd) convolveTiles(par kernel.Par, v *Conv, y, x, w []float32, e gemm.Epilogue[float32]) {
	// The assembly checks no bounds.
	_, _, _ = x[v.Batch*v.LinesIn()*v.In[2]*v.InC-1], w[v.Taps()*v.InC*v.OutC-1], y[v.Batch*v.LinesOut()*v.Out[2]*v.OutC-1]
	c, m := b.newTiling(v), b.shared.Get().(*winogradShared)
	defer b.shared.Put(m)
	if e.Bias == nil {
		m.zeros = tiles.GrowAligned(m.zeros, v.OutC) // memory is made of zeros
		e.Bias = m.zeros[:v.OutC]
	}
	c.y, c.x, c.w, c.epilogue = y, x, w, e
	m.u = tiles.GrowAligned(m.u, winogradPoints*c.uPoint())
	for at := 0; at < v.OutC; at += c.columns {
		part := winogradColumns{winogradTiling: c, u: m.u, first: at, width: min(c.columns, v.OutC-at)}
		part.transformFilters(par)
		par(kernel.CeilDiv(c.count(), c.group), 1, part.convolve)
	}
}

// pays reports whether this takes less time than the plain way.
func (b *winograd) pays(v *Conv) bool {
	const perTile, overhead = 40, 115
	return b.cheaper(v, perTile, overhead)
}

// cheaper compares the cycles of tiles with those of a plain convolution, each of about one vector product: those for the
// points of a tile, for each vector of channels and outputs, those for the points of the filters, and
// in percent how much longer the products of points take than others.
func (b *winograd) cheaper(v *Conv, perTile, overhead int) bool {
	if !v.winogradApplies() {
		return false
	}
	const near, perFilter, perFarFilter = 1 << 14, 60, 300 // measured
	lanes := b.micro.lanes
	in, outs := kernel.CeilDiv(v.InC, lanes), kernel.CeilDiv(v.OutC, lanes)
	filters := perFilter * v.InC * outs
	if v.InC*v.OutC > near { // their points leave the second-level cache
		filters = perFarFilter * v.InC * outs
	}
	t := b.newTiling(v)
	n := t.count() * t.wide
	mine := winogradPoints*n*v.InC*outs*overhead/100 + n*perTile*(in+outs) + filters
	return mine < v.Batch*v.LinesOut()*v.Out[2]*v.Taps()*v.InC*outs
}

// winogradApplies reports whether windows are of 3×3 and move by 1.
func (v *Conv) winogradApplies() bool {
	one := [3]int{1, 1, 1}
	return v.Kernel == [3]int{1, 3, 3} && v.Stride == one && v.Dilation == one && v.Pad[0] == 0 && v.In[0] == v.Out[0] &&
		v.Groups == 1 && !v.Plain
}

// winogradTiling is a convolution in tiles. Lines of tiles are numbered over all images.
type winogradTiling struct {
	*winograd
	*Conv
	high, wide int // tiles of an image
	group      int // lines of tiles at a time
	columns    int // outputs at a time
	ldv        int // elements from a tile to the next, of a point of images

	y, x, w  []float32
	epilogue gemm.Epilogue[float32]
}

// newTiling cuts results into tiles. The points of a group of tiles stay in the second-level
// cache if that is enough of them, the points of the filters in what cores share.
func (b *winograd) newTiling(v *Conv) winogradTiling {
	const filters, enough = 1 << 20, 48
	t := winogradTiling{winograd: b, Conv: v, high: kernel.CeilDiv(v.Out[1], 2), wide: kernel.CeilDiv(v.Out[2], 2)}
	panel := b.micro.panel()
	t.columns = min(v.OutC, max(1, filters/winogradPoints/v.InC/panel)*panel)
	t.ldv = pointRow(v.InC)
	most := max(enough, 3*b.room/(winogradPoints*(t.ldv+t.columns)))
	worthwhile := kernel.CeilDiv(convFlops, 2*winogradPoints*t.wide*v.InC*t.columns)
	t.group = max(1, min(most/t.wide, max(worthwhile, kernel.CeilDiv(t.count(), 2*runtime.GOMAXPROCS(0)))))
	return t
}

// count is the number of lines of tiles.
func (t *winogradTiling) count() int { return t.Batch * t.In[0] * t.high }

// lines returns the lines of results that lines [lo, hi) of tiles are.
func (t *winogradTiling) lines(lo, hi int) (first, end int) {
	line := func(i int) int { return i/t.high*t.Out[1] + i%t.high*2 }
	return line(lo), line(hi)
}

// winogradColumns are some of the outputs of a convolution.
type winogradColumns struct {
	winogradTiling
	u            []float32 // by point, panel of columns and channel
	first, width int
}

// uPoint is the number of elements from a point of the filters to the next.
func (t *winogradTiling) uPoint() int {
	return pointSize(kernel.CeilDiv(t.columns, t.micro.panel()) * t.micro.panel() * t.InC)
}

// transformFilters sets u.
func (c *winogradColumns) transformFilters(par kernel.Par) {
	const rows = 8 // so few that their lines of memory are still at hand for the next columns
	par(kernel.CeilDiv(c.InC, rows), max(1, kernel.ElementGrain/64/c.width), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.transformRows(i*rows, min((i+1)*rows, c.InC))
		}
	})
}

// transformRows sets the points of the filters for channels [lo, hi).
func (c *winogradColumns) transformRows(lo, hi int) {
	panel, lanes := c.micro.panel(), c.micro.lanes
	for j := 0; j < kernel.CeilDiv(c.width, panel)*panel; j += lanes {
		u := &c.u[j/panel*panel*c.InC+lo*panel+j%panel]
		width := max(0, min(lanes, c.width-j))
		w := &c.w[min(lo*c.OutC+c.first+j, len(c.w)-1)]
		c.filters(u, c.uPoint()*floatBytes, panel*floatBytes, w, c.InC*c.OutC*floatBytes, c.OutC*floatBytes, hi-lo, width)
	}
}

// convolve computes groups [lo, hi) of lines of tiles.
func (c winogradColumns) convolve(lo, hi int) {
	s := c.winograd.scratch.Get().(*winogradScratch)
	defer c.winograd.scratch.Put(s)
	c.prepare(s)
	for i := lo; i < hi; i++ {
		begin, end := i*c.group, min((i+1)*c.group, c.count())
		c.transformImages(s, s.v, pointSize((end-begin)*c.wide*c.ldv), begin, end)
		c.multiply(s, (end-begin)*c.wide)
		first, last := c.lines(begin, end)
		if !c.transformResults(s, begin, end) {
			c.again(first, last)
		}
		if c.first+c.width == c.OutC {
			c.finish(first, last)
		}
	}
}

// again computes lines of results the plain way.
func (c *winogradColumns) again(first, end int) {
	plain := gemm.Epilogue[float32]{Bias: c.epilogue.Bias}
	c.engine.lines(c.Conv, c.y, c.x, c.w, plain, first, end)
}

// finish does what follows to lines of results.
func (c *winogradColumns) finish(first, end int) {
	n := c.Out[2] * c.OutC
	if c.epilogue.Activate != nil {
		c.epilogue.Activate(c.y[first*n : end*n])
	}
	if c.epilogue.Done != nil {
		c.epilogue.Done(first*n, end*n)
	}
}

// prepare makes room for groups of tiles.
func (t *winogradTiling) prepare(s *winogradScratch) {
	n := t.group * t.wide
	t.prepareLines(s)
	s.v = tiles.GrowAligned(s.v, winogradPoints*pointSize(n*t.ldv))
	s.m = tiles.GrowAligned(s.m, winogradPoints*pointSize(n*t.columns))
}

// prepareLines makes room for lines.
func (t *winogradTiling) prepareLines(s *winogradScratch) {
	line := max(t.padded(), 2*t.wide*t.OutC)
	s.lines = tiles.GrowAligned(s.lines, 4*t.padded()+line) // the last one is of zeros
	clear(s.lines[4*t.padded() : 4*t.padded()+line])
	s.other = tiles.GrowAligned(s.other, 4*t.wide*t.OutC)
	s.held = [4]int{-1, -1, -1, -1}
}

// pointRow is the number of elements from a tile to the next for so many channels: tiles of a product that
// are a large power of 2 apart would share a set of the first-level cache.
func pointRow(channels int) int {
	if channels%256 == 0 {
		return channels + 16
	}
	return channels
}

// pointSize is the number of elements from a point to the next: points that are a multiple of
// a page apart would share a set of the first-level cache.
func pointSize(n int) int { return n + 16 }

// padded is the number of elements of a line of an image with what tiles see around it.
func (t *winogradTiling) padded() int { return (2*t.wide + 2) * t.InC }

// line returns line h of image n with zeros around it.
func (t *winogradTiling) line(s *winogradScratch, n, h int) *float32 {
	size := t.In[2] * t.InC
	if h < 0 || h >= t.In[1] {
		return &s.lines[4*t.padded()]
	}
	at := n*t.In[1] + h
	src := t.x[at*size : (at+1)*size]
	if t.Pad[2] == 0 && len(src) >= t.padded() {
		return &src[0]
	}
	slot := h & 3 // the lines that a tile sees follow each other
	line := s.lines[slot*t.padded() : (slot+1)*t.padded()]
	if s.held[slot] != at {
		s.held[slot] = at
		padLine(t.Pad[2]*t.InC, line, src)
	}
	return &line[0]
}

// transformImages sets the points of lines [lo, hi) of tiles, so many elements apart.
func (t *winogradTiling) transformImages(s *winogradScratch, v []float32, point, lo, hi int) {
	for i := lo; i < hi; i++ {
		n, h := i/t.high, i%t.high*2-t.Pad[1]
		t.images(&v[(i-lo)*t.wide*t.ldv], point*floatBytes, (t.ldv-t.InC)*floatBytes, t.line(s, n, h), t.line(s, n, h+1), t.line(s, n, h+2), t.line(s, n, h+3),
			t.InC*floatBytes, t.InC, t.wide)
	}
}

// multiply sets the points of the results of so many tiles.
func (c *winogradColumns) multiply(s *winogradScratch, n int) {
	panel := c.micro.panel()
	cut := tiles.Cut(n, c.micro.tileM)
	steps := tiles.EqualBlocks(c.InC, c.convSteps())
	vPoint, mPoint := pointSize(n*c.ldv), pointSize(n*c.width)
	for p := range winogradPoints {
		for j := 0; j < c.width; j += panel {
			u := c.u[p*c.uPoint()+j*c.InC:]
			width := min(panel, c.width-j)
			for k := 0; k < c.InC; k += steps {
				runs := [2]kRun{{0, 0, min(steps, c.InC-k)}}
				for i := range cut.Tiles {
					row, h := cut.Tile(i)
					c.micro.runsTile(h, width)(&runs[0].a, &s.v[p*vPoint+row*c.ldv+k], c.ldv, &u[k*panel], panel,
						&s.m[p*mPoint+row*c.width+j], c.width, min(k, 1), nil, width)
				}
			}
		}
	}
}

// transformResults sets lines [lo, hi) of tiles of y. It reports whether they are finite.
func (c *winogradColumns) transformResults(s *winogradScratch, lo, hi int) bool {
	point := pointSize((hi-lo)*c.wide*c.width) * floatBytes
	finite := true
	for i := lo; i < hi; i++ {
		m := s.m[(i-lo)*c.wide*c.width:]
		first, end := c.lines(i, i+1)
		y0 := c.y[first*c.Out[2]*c.OutC+c.first:]
		y1 := s.other
		if end-first == 2 {
			y1 = y0[c.Out[2]*c.OutC:]
		}
		whole := c.Out[2] / 2
		finite = c.resultsOf(s, m, y0, y1, point, whole, c.OutC) && finite
		if whole < c.wide {
			at := 2 * whole * c.OutC
			finite = c.resultsOf(s, m[whole*c.width:], y0[at:], y1[at:], point, 1, 0) && finite
		}
	}
	return finite
}

// resultsOf sets count tiles of two lines. The second result of a line is right of the first one, or
// outside of the image.
func (c *winogradColumns) resultsOf(s *winogradScratch, m, y0, y1 []float32, point, count, right int) bool {
	if count == 0 {
		return true
	}
	y01, y11 := &s.other[2*c.wide*c.OutC], &s.other[2*c.wide*c.OutC]
	if right > 0 {
		y01, y11 = &y0[right], &y1[right]
	}
	c.results(&y0[0], y01, &y1[0], y11, (2*c.OutC-c.width)*floatBytes, &m[0], point, &c.epilogue.Bias[c.first], c.width, count, &s.check[0])
	return zeros(s.check[:c.micro.lanes])
}

// zeros reports whether x holds nothing else, no NaN in particular.
func zeros(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
