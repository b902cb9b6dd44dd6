package conv

import "github.com/gorge-tf/gorge/internal/kernel"

// A tileLoop computes tiles of pixels of two lines by a filter of 3 by 3 taps; steps are the
// fields of tileSteps. It adds up what tapSums does, in its order.
type tileLoop = func(y, x, w *float32, steps *int)

// tileLoops are for tiles of so many units of a line, see extent. Images of so many bytes are
// near: they stay in the second-level cache.
type tileLoops struct {
	columns int
	near    int
	windows [2]tileLoop // 1 and 2 apart
	spread  tileLoop    // the gradient for images of windows 2 apart
}

// tileSteps is what the loops are told: where x and y begin, how many channels and tiles
// there are, how many bytes lines, pixels, tiles and taps are apart, what is missing of the
// source, and how far after a tile's x what only the next one meets is. The assembly reads the
// fields by their order.
type tileSteps struct {
	x, y, channels, count, xLine, xPixel, xNext, yLine, yPixel, yNext, tap, missing, ahead int
}

// The bits of what is missing, in the order in which the assembly goes through a tile.
const (
	missFirstColumn = 1 << iota
	missLastColumn
	missFirstLine
	missLastLine
	nothingAhead // says that nothing is worth fetching for the next tile
)

// leastTiled is how many results make up for what it takes to lay tiles.
const leastTiled = 2048

// An extent is the lines or the columns along which tiles lie: unit u of the result, which has
// some pixels from u*pixels-pad on, meets so many positions of the source from u*from+at on.
// Tiles may have the units [lo, hi): they miss one position at most on either side.
type extent struct {
	pixels, pad               int
	size, from, at, positions int
	lo, hi                    int
}

// within sets the range to what is possible of [lo, hi).
func (e extent) within(lo, hi int) extent {
	e.lo = max(lo, kernel.CeilDiv(max(0, -1-e.at), e.from))
	if last := e.size + 1 - e.positions - e.at; last >= 0 {
		e.hi = min(hi, last/e.from+1)
	}
	return e
}

// meets is how many positions n units meet.
func (e *extent) meets(n int) int { return (n-1)*e.from + e.positions }

// missing returns first and last, where n units from u on miss positions there.
func (e *extent) missing(u, n, first, last int) (bits int) {
	at := u*e.from + e.at
	if at < 0 {
		bits = first
	}
	if at+e.meets(n) > e.size {
		bits |= last
	}
	return bits
}

// forwardExtent is dimension i of the results: a unit is a pixel.
func (v *Depthwise) forwardExtent(i int) extent {
	return extent{pixels: 1, size: v.In[i], from: v.Stride[i], at: -v.Pad[i], positions: 3}.within(0, v.Out[i])
}

// backExtent is dimension i of the images' gradient: a unit is a pixel where windows are 1
// apart, and else two, of which the first is covered by the windows on both sides.
func (v *Depthwise) backExtent(i int) extent {
	if v.Stride[i] == 1 {
		return extent{pixels: 1, size: v.Out[i], from: 1, at: v.Pad[i] - 2, positions: 3}.within(0, v.In[i])
	}
	e := extent{pixels: 2, pad: v.Pad[i], size: v.Out[i], from: 1, at: -1, positions: 2}
	return e.within((v.Pad[i]+1)/2, min(v.Out[i], (v.In[i]+v.Pad[i])/2))
}

// depthwiseTiles are the tiles of a convolution or of its gradient for images.
type depthwiseTiles struct {
	sum           tileLoop
	down, along   extent
	lines         int // units of lines that a tile has
	columns       int
	height, width int // of the result
	// back says that tiles go through the source from its last position to the first, as the
	// taps of gradients do.
	back  bool
	steps tileSteps
	runs  []tileRun
	rest  []track // pixels of lines that no tile has
}

// A tileRun is some tiles of a line from a unit on, which miss the same columns.
type tileRun struct{ first, count, missing int }

// sameSets is how many channels put all pixels into a few sets of a first-level cache. Tiles of
// windows that are 2 apart share too little of what they meet to make up for that.
const sameSets = 512

// tiled says whether there are loops for tiles of v, and these gain.
func (v *Depthwise) tiled() bool {
	stride := v.Stride[1]
	if stride == 2 && v.C%sameSets == 0 {
		return false
	}
	return !v.beside() && simd.tiles.columns > 0 && v.Batch*v.Out[1]*v.Out[2]*v.C >= leastTiled && v.Kernel == [3]int{1, 3, 3} && v.Dilation[1] == 1 && v.Dilation[2] == 1 &&
		stride == v.Stride[2] && stride <= 2 && v.In[0] == 1 && v.Out[0] == 1 && v.Pad[0] == 0
}

// forwardTiles are those of the results, of which tracks are the lines; nil if there are none.
func (v *Depthwise) forwardTiles(tracks []track) *depthwiseTiles {
	if !v.tiled() {
		return nil
	}
	t := &depthwiseTiles{
		sum: simd.tiles.windows[v.Stride[1]-1], down: v.forwardExtent(1), along: v.forwardExtent(2),
		lines: 2, height: v.Out[1], width: v.Out[2],
	}
	return t.lay(v.Batch, v.C, tracks)
}

// backTiles are those of the images' gradient; nil if there are none.
func (v *Depthwise) backTiles(tracks []track) *depthwiseTiles {
	if !v.tiled() {
		return nil
	}
	t := &depthwiseTiles{
		sum: simd.tiles.windows[0], down: v.backExtent(1), along: v.backExtent(2),
		lines: 2, height: v.In[1], width: v.In[2], back: true,
	}
	if v.Stride[1] == 2 {
		t.sum, t.lines = simd.tiles.spread, 1
	}
	return t.lay(v.Batch, v.C, tracks)
}

// lay sets where tiles lie in a line; nil if it has no place for one.
func (t *depthwiseTiles) lay(batch, channels int, tracks []track) *depthwiseTiles {
	t.columns = simd.tiles.columns
	lo, hi := t.along.lo, t.along.hi
	if lo+t.columns > hi || t.down.lo+t.lines > t.down.hi {
		return nil
	}
	first, last := t.order(missFirstColumn, missLastColumn)
	for u := lo; u < hi; u += t.columns {
		u = min(u, hi-t.columns) // the last tile computes some pixels once more
		r := tileRun{first: u, count: 1, missing: t.along.missing(u, t.columns, first, last)}
		if n := len(t.runs); n > 0 && t.runs[n-1].missing == r.missing && t.runs[n-1].first+t.runs[n-1].count*t.columns == u {
			t.runs[n-1].count++
		} else {
			t.runs = append(t.runs, r)
		}
	}
	for i := range tracks {
		for _, part := range [][2]int{{0, lo*t.along.pixels - t.along.pad}, {hi*t.along.pixels - t.along.pad, t.width}} {
			if p := tracks[i].part(part[0], part[1], t.along.size); p.count > 0 {
				t.rest = append(t.rest, p)
			}
		}
	}
	t.setSteps(channels)
	if hi-lo <= 2*t.columns || 4*channels*t.along.size*t.down.size*batch <= simd.tiles.near {
		t.steps.missing = nothingAhead // the next tile is elsewhere, or all is near anyway
	}
	return t
}

// order returns the bits of the first and the last position of the source.
func (t *depthwiseTiles) order(first, last int) (int, int) {
	if t.back {
		return last, first
	}
	return first, last
}

// part returns the pixels of a track that are in [lo, hi), where lines of the source have a width.
func (t *track) part(lo, hi, width int) track {
	a, b := kernel.CeilDiv(max(0, lo-t.first), t.step), min(t.count, kernel.CeilDiv(max(0, hi-t.first), t.step))
	p := track{first: t.first + a*t.step, step: t.step, count: max(0, b-a), from: t.from}
	for _, c := range t.columns {
		p.columns = append(p.columns, column{c.kw, c.at + a*t.from})
	}
	p.within(width)
	return p
}

// setSteps sets the steps that all tiles share.
func (t *depthwiseTiles) setSteps(channels int) {
	pixel := 4 * channels
	s := tileSteps{
		channels: channels, tap: pixel, xLine: pixel * t.along.size, xPixel: pixel, xNext: t.columns * t.along.from * pixel,
		yLine: pixel * t.width, yPixel: t.along.pixels * pixel, yNext: t.columns * t.along.pixels * pixel,
	}
	s.ahead = t.along.meets(t.columns)*pixel + s.xLine*(3-t.down.from)
	if t.back {
		s.xLine, s.xPixel, s.yPixel, s.ahead = -s.xLine, -s.xPixel, -s.yPixel, s.xNext
		if t.lines == 2 {
			s.yLine = -s.yLine
		}
	}
	t.steps = s
}

// place returns the line with which a tile of two lines begins that has line i, of lines
// [lo, hi) that may be computed, and the first of its units.
func (t *depthwiseTiles) place(i, lo, hi int) (first, unit int, ok bool) {
	if t == nil {
		return 0, 0, false
	}
	h := i % t.height
	if t.lines == 2 && (i+1 == hi || h+2 > t.down.hi) && i > lo && h > 0 {
		i, h = i-1, h-1 // computes a line once more
	}
	unit = (h + t.down.pad) / t.down.pixels
	return i, unit, unit*t.down.pixels-t.down.pad == h && unit >= t.down.lo && unit+t.lines <= t.down.hi && i+2 <= hi
}

// tile computes the tiles of line i and the next one of the result, which have a unit of lines.
func (s *tapSums) tile(dst []float32, t *depthwiseTiles, i, unit int) {
	lines := t.down.size * (i / t.height)
	line, column, y := lines+unit*t.down.from+t.down.at, t.along.at, i
	pixel := -t.along.pad
	if t.back {
		line, column = line+t.down.meets(t.lines)-1, column+t.along.meets(t.columns)-1
		y, pixel = i+t.lines-1, pixel+(t.columns-1)*t.along.pixels
	}
	first, last := t.order(missFirstLine, missLastLine)
	missing := t.down.missing(unit, t.lines, first, last)
	some := max(1, kernel.VectorChunk/(18*t.columns*s.channels))
	for _, r := range t.runs {
		for n := 0; n < r.count; n += some {
			u := r.first + n*t.columns
			s.steps = t.steps
			s.steps.x = 4 * s.channels * (line*t.along.size + u*t.along.from + column)
			s.steps.y = 4 * s.channels * (y*t.width + u*t.along.pixels + pixel)
			s.steps.count, s.steps.missing = min(some, r.count-n), t.steps.missing|r.missing|missing
			t.sum(&dst[0], &s.src[0], &s.filter[0], &s.steps.x)
		}
	}
}
