//go:build amd64 && !noasm

package conv

import (
	"os"
	"runtime"
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// Windows of 3×3 and more that move by 1 are convolved by fewer products: Winograd's F(2×2, 3×3).
// A tile of 2×2 results takes 16 products for each channel and output instead of 36.
// Images and filters are transformed into 4×4 points by sums (see tools/asmgen), each
// point of all tiles is a product of matrices, and the results are sums of points again:
//
//	V = Bᵀ·d·B,  U = G·g·Gᵀ,  M[p] = V[p]·U[p] for 16 points p,  y = Aᵀ·M·A
//
// Larger windows are sums of blocks of up to 3×3 taps, each over pixels of its own. A block of less
// than 3 taps in a line or column is one with zeros, whose last points are zeros, too: 5×5 taps
// take 49 products instead of 100.
//
// A result depends on the pixels of its own window alone, as it does otherwise, and on the
// order of sums that the shapes give. It differs from the plain sum by a few roundings of
// the largest product that its window could have: the greatest pixel times the greatest
// element of the filters, summed over the channels. Sums of integers are exact as long as
// four times as large ones are. Results that are not finite are computed again the plain way,
// so that infinities stay what they are.

// winogradVariable, set to "off", makes all convolutions plain sums of products: to tell whether a difference
// comes from here.
const winogradVariable = "GORGE_WINOGRAD"

var winogradOff = sync.OnceValue(func() bool { return os.Getenv(winogradVariable) == "off" })

// winogradKernels are the transforms for one instruction set; tools/asmgen says what each does.
type winogradKernels struct {
	images  func(v *float32, point, gap int, l0, l1, l2, l3 *float32, pixel, channels, count int)
	grads   func(v *float32, point, gap int, l0, l1 *float32, pixel, channels, count int)
	results func(y00, y01, y10, y11 *float32, skip int, m *float32, point int, bias *float32, outs, count int, check *float32)
	filters func(u *float32, point, row int, taps **float32, line, rows, width int)
	sums    func(taps **float32, u *float32, point, n int, check *float32)
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
	scratch sync.Pool // of *winogradScratch
	shared  sharedPool
	shares  keptShares
}

func newWinograd(e *engine[float32], k winogradKernels) *winograd {
	return &winograd{engine: e, winogradKernels: k,
		scratch: sync.Pool{New: func() any { return new(winogradScratch) }}}
}

// winogradShared is memory of a convolution, which its goroutines share: points of filters, of images and
// of gradients, zeros, and what takes the gradient of taps that there are not.
type winogradShared struct {
	u, v, g, zeros, other []float32
	lending
}

// winogradScratch is memory of a goroutine.
type winogradScratch struct {
	v, m  []float32 // points of images and of results
	lines []float32 // of images, between zeros
	held  [4]int    // which line each of them is, -1 for none
	other []float32 // takes results outside of images
	check [16]float32
	runs  [2]kRun // the steps of a product, and an end
	taps  [9]*float32
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
	c, m := b.newTiling(v), b.shared.get()
	defer b.shared.put(m)
	m.zeros = tiles.GrowAligned(m.zeros, filterRows*v.OutC) // memory is made of zeros
	if e.Bias == nil {
		e.Bias = m.zeros[:v.OutC]
	}
	c.y, c.x, c.w, c.epilogue = y, x, w, e
	for at := 0; at < v.OutC; at += c.columns {
		part := winogradColumns{winogradTiling: c, zeros: m.zeros, first: at, width: min(c.columns, v.OutC-at)}
		part.setPoints(par, m)
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
	if !v.winogradApplies() || winogradOff() {
		return false
	}
	lanes := b.micro.lanes
	in, outs := kernel.CeilDiv(v.InC, lanes), kernel.CeilDiv(v.OutC, lanes)
	filters := filterCycles(v.InC*v.OutC) * v.InC * outs
	t := b.newTiling(v)
	n, points := t.count()*t.wide, 0
	for _, block := range t.blocks {
		points += block.points()
	}
	// Threads meet once more, and wait for the points of filters, which then come from the cache of another.
	const start, shared = 20000, 3
	mine := points*n*v.InC*outs*overhead/100 + n*perTile*(len(t.blocks)*in+outs) + start
	if v.Kept == nil || t.columns < v.OutC {
		mine += shared * len(t.blocks) * filters
	}
	return mine < v.Batch*v.LinesOut()*v.Out[2]*v.Taps()*v.InC*outs
}

// filterCycles are those for the points of a vector of filters, as measured: they depend on which cache takes the points
// of filters of so many elements.
func filterCycles(elements int) int {
	switch {
	case elements <= 1<<9:
		return 60
	case elements <= 1<<16:
		return 150
	}
	return 300
}

// winogradApplies reports whether windows are of 3×3 or more and move by 1.
func (v *Conv) winogradApplies() bool {
	one := [3]int{1, 1, 1}
	return v.Kernel[0] == 1 && v.Kernel[1] >= 3 && v.Kernel[2] >= 3 && v.Stride == one && v.Dilation == one &&
		v.Pad[0] == 0 && v.In[0] == v.Out[0] && v.Groups == 1 && !v.Plain
}

// winogradBlock is a block of up to 3×3 taps of a window.
type winogradBlock struct{ top, left, high, wide int }

// winogradBlocks cuts a window into blocks; the first one is of 3×3.
func (v *Conv) winogradBlocks() (blocks []winogradBlock) {
	for i := 0; i < v.Kernel[1]; i += 3 {
		for j := 0; j < v.Kernel[2]; j += 3 {
			blocks = append(blocks, winogradBlock{i, j, min(3, v.Kernel[1]-i), min(3, v.Kernel[2]-j)})
		}
	}
	return blocks
}

// has reports whether point p is not always zero.
func (b winogradBlock) has(p int) bool { return (p/4 < 3 || b.high == 3) && (p%4 < 3 || b.wide == 3) }

// points is the number of points that are not always zero.
func (b winogradBlock) points() (n int) {
	for p := range winogradPoints {
		if b.has(p) {
			n++
		}
	}
	return n
}

// taps sets the addresses of the taps of a block within filters, from element at of each on: those that there
// are not are at other.
func (t *winogradTiling) taps(b winogradBlock, w []float32, at int, other *float32) (taps [9]*float32) {
	for i := range taps {
		taps[i] = other
		if i/3 < b.high && i%3 < b.wide {
			tap := (b.top+i/3)*t.Kernel[2] + b.left + i%3
			taps[i] = &w[tap*t.InC*t.OutC+at]
		}
	}
	return taps
}

// winogradTiling is a convolution in tiles. Lines of tiles are numbered over all images.
type winogradTiling struct {
	*winograd
	*Conv
	high, wide int // tiles of an image
	group      int // lines of tiles at a time
	columns    int // outputs at a time
	ldv        int // elements from a tile to the next, of a point of images
	blocks     []winogradBlock

	y, x, w  []float32
	epilogue gemm.Epilogue[float32]
}

// newTiling cuts results into tiles. The points of a group of tiles take a quarter of the second-level
// cache if that is enough of them: filters, images and results need room, too. The points of the filters may
// be more, and stay in the cache that cores share.
func (b *winograd) newTiling(v *Conv) winogradTiling {
	const enough = 48
	t := winogradTiling{winograd: b, Conv: v, high: kernel.CeilDiv(v.Out[1], 2), wide: kernel.CeilDiv(v.Out[2], 2), blocks: v.winogradBlocks()}
	panel := b.micro.panel()
	t.columns = min(v.OutC, max(1, t.filterPoints()/(winogradPoints*len(t.blocks)*v.InC)/panel)*panel)
	t.ldv = pointRow(v.InC)
	most := max(enough, b.room/(winogradPoints*(t.ldv+t.columns)))
	t.group = max(1, kernel.CeilDiv(t.count(), t.groups(max(1, most/t.wide))))
	return t
}

// filterPoints is how many elements points of filters may be at a time. Where tiles are few their transformation again for
// other outputs costs little, and fewer points take less memory and stay closer. Points that are kept are those of all outputs.
func (t *winogradTiling) filterPoints() int {
	const most, few, tiles = 1 << 20, 1 << 18, 256
	if t.Kept == nil && t.count()*t.wide <= tiles {
		return few
	}
	return most
}

// groups is how many groups of at most so many lines there are: as many for each thread if lines suffice, and several
// where each is worth a task.
func (t *winogradTiling) groups(most int) int {
	const each = 4
	threads := runtime.GOMAXPROCS(0)
	worthwhile := 2 * winogradPoints * len(t.blocks) * t.count() * t.wide * t.InC * t.columns / convFlops
	n := max(kernel.CeilDiv(t.count(), most), min(each*threads, worthwhile))
	return max(1, kernel.CeilDiv(n, threads)*threads)
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
	u            []float32 // by block, point, panel of columns and channel
	zeros        []float32 // filterRows lines of filters that there are not
	first, width int
}

// uPoint is the number of elements from a point of the filters to the next.
func (t *winogradTiling) uPoint() int {
	return pointSize(kernel.CeilDiv(t.columns, t.micro.panel()) * t.micro.panel() * t.InC)
}

// uOf is the points of a block.
func (c *winogradColumns) uOf(block int) []float32 { return c.u[block*winogradPoints*c.uPoint():] }

// setPoints sets u: to the points that are kept, or computes them.
func (c *winogradColumns) setPoints(par kernel.Par, m *winogradShared) {
	if c.width == c.OutC && c.Kept != nil {
		if p := c.keptPoints(par); p != nil {
			c.u = p.u
			return
		}
	}
	m.u = tiles.GrowAligned(m.u, c.pointsSize())
	c.u = m.u
	c.transformFilters(par)
}

// keptPoints returns the points of all outputs, if they are kept. It computes them once the filters are held.
func (c *winogradColumns) keptPoints(par kernel.Par) *keptPoints {
	w := &c.w[0]
	if p := c.Kept.of(w); p != nil {
		return p
	}
	h := c.Kept.holding(w)
	if h == nil {
		return nil
	}
	key := c.filterKey(c.w)
	p := c.shares.find(key)
	if p == nil {
		p = &keptPoints{w: w, u: tiles.GrowAligned[float32](nil, c.pointsSize()), by: h.by}
		c.u = p.u
		c.transformFilters(par)
		c.shares.add(key, p)
	}
	c.Kept.keep(p, h)
	return p
}

// pointsSize is the number of elements of u.
func (c *winogradColumns) pointsSize() int { return len(c.blocks) * winogradPoints * c.uPoint() }

// filterRows is how many rows of filters are transformed at a time: so few that their lines of memory are still at hand
// for the next columns.
const filterRows = 16

// transformFilters sets u.
func (c *winogradColumns) transformFilters(par kernel.Par) {
	n := kernel.CeilDiv(c.InC, filterRows)
	par(n*len(c.blocks), max(1, kernel.ElementGrain/64/c.width), func(lo, hi int) {
		s := c.winograd.scratch.Get().(*winogradScratch)
		for i := lo; i < hi; i++ {
			rows := i % n * filterRows
			c.transformRows(s, i/n, rows, min(rows+filterRows, c.InC))
		}
		clear(s.taps[:])
		c.winograd.scratch.Put(s)
	})
}

// transformRows sets the points of a block of the filters for channels [lo, hi).
func (c *winogradColumns) transformRows(s *winogradScratch, block, lo, hi int) {
	panel, lanes := c.micro.panel(), c.micro.lanes
	for j := 0; j < kernel.CeilDiv(c.width, panel)*panel; j += lanes {
		u := &c.uOf(block)[j/panel*panel*c.InC+lo*panel+j%panel]
		width := max(0, min(lanes, c.width-j))
		s.taps = c.taps(c.blocks[block], c.w, min(lo*c.OutC+c.first+j, c.InC*c.OutC-1), &c.zeros[0])
		c.filters(u, c.uPoint()*floatBytes, panel*floatBytes, &s.taps[0], c.OutC*floatBytes, hi-lo, width)
	}
}

// convolve computes groups [lo, hi) of lines of tiles.
func (c winogradColumns) convolve(lo, hi int) {
	s := c.winograd.scratch.Get().(*winogradScratch)
	defer c.winograd.scratch.Put(s)
	c.prepare(s)
	for i := lo; i < hi; i++ {
		begin, end := i*c.group, min((i+1)*c.group, c.count())
		for block := range c.blocks {
			c.transformImages(s, block, s.v, pointSize((end-begin)*c.wide*c.ldv), begin, end)
			c.multiply(s, block, (end-begin)*c.wide)
		}
		c.transformResults(s, begin, end)
		if c.first+c.width == c.OutC {
			c.finish(c.lines(begin, end))
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
	c.epilogue.Finish(c.y, first*n, end*n)
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
func (t *winogradTiling) padded() int { return (2*t.wide + 2 + (t.Kernel[2]-1)/3*3) * t.InC }

// line returns line h of image n with zeros around it.
func (t *winogradTiling) line(s *winogradScratch, n, h int) []float32 {
	size := t.In[2] * t.InC
	if h < 0 || h >= t.In[1] {
		return s.lines[4*t.padded():]
	}
	at := n*t.In[1] + h
	src := t.x[at*size : (at+1)*size]
	if t.Pad[2] == 0 && len(src) >= t.padded() {
		return src
	}
	slot := h & 3 // the lines that a tile sees follow each other
	line := s.lines[slot*t.padded() : (slot+1)*t.padded()]
	if s.held[slot] != at {
		s.held[slot] = at
		padLine(t.Pad[2]*t.InC, line, src)
	}
	return line
}

// transformImages sets the points of a block for lines [lo, hi) of tiles, so many elements apart.
func (t *winogradTiling) transformImages(s *winogradScratch, block int, v []float32, point, lo, hi int) {
	b := t.blocks[block]
	at := b.left * t.InC
	for i := lo; i < hi; i++ {
		n, h := i/t.high, i%t.high*2-t.Pad[1]+b.top
		l0, l1, l2, l3 := t.line(s, n, h), t.line(s, n, h+1), t.line(s, n, h+2), t.line(s, n, h+3)
		t.images(&v[(i-lo)*t.wide*t.ldv], point*floatBytes, (t.ldv-t.InC)*floatBytes, &l0[at], &l1[at], &l2[at], &l3[at], t.InC*floatBytes, t.InC, t.wide)
	}
}

// multiply sets the points of the results of so many tiles, or adds those of a block that is not the first.
func (c *winogradColumns) multiply(s *winogradScratch, block, n int) {
	vPoint, mPoint := pointSize(n*c.ldv), pointSize(n*c.width)
	for p := range winogradPoints {
		if c.blocks[block].has(p) {
			c.multiplyPoint(s, c.uOf(block)[p*c.uPoint():], s.v[p*vPoint:], s.m[p*mPoint:], n, min(block, 1))
		}
	}
}

// multiplyPoint sets a point of the results of n tiles, or adds to it with beta 1.
func (c *winogradColumns) multiplyPoint(s *winogradScratch, u, v, m []float32, n, beta int) {
	panel, cut, steps := c.micro.panel(), tiles.Cut(n, c.micro.tileM), tiles.EqualBlocks(c.InC, c.convSteps())
	for j := 0; j < c.width; j += panel {
		width := min(panel, c.width-j)
		for k := 0; k < c.InC; k += steps {
			s.runs[0].k = min(steps, c.InC-k)
			for i := range cut.Tiles {
				row, h := cut.Tile(i)
				c.micro.runsTile(h, width)(&s.runs[0].a, &v[row*c.ldv+k], c.ldv, &u[j*c.InC+k*panel], panel, &m[row*c.width+j], c.width, max(beta, min(k, 1)), nil, width, aheadOf[float32](steps*panel, i, panel))
			}
		}
	}
}

// transformResults sets lines [lo, hi) of tiles of y. Those that are not finite are computed
// again, each by itself: how many are a group depends on the threads.
func (c *winogradColumns) transformResults(s *winogradScratch, lo, hi int) {
	point := pointSize((hi-lo)*c.wide*c.width) * floatBytes
	for i := lo; i < hi; i++ {
		m := s.m[(i-lo)*c.wide*c.width:]
		first, end := c.lines(i, i+1)
		y0 := c.y[first*c.Out[2]*c.OutC+c.first:]
		y1 := s.other
		if end-first == 2 {
			y1 = y0[c.Out[2]*c.OutC:]
		}
		whole := c.Out[2] / 2
		finite := c.resultsOf(s, m, y0, y1, point, whole, c.OutC)
		if whole < c.wide {
			at := 2 * whole * c.OutC
			finite = c.resultsOf(s, m[whole*c.width:], y0[at:], y1[at:], point, 1, 0) && finite
		}
		if !finite {
			c.again(first, end)
		}
	}
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
