//go:build amd64 && !noasm

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// The gradient of a convolution for a line of images is a convolution of lines
// of the results' gradient once more: positions a stride of the window apart
// see the same taps of the filters, in windows that move by 1. Where there are
// so few channels that they do not fill a vector, neighbouring positions stand
// side by side, as if they were channels.

// spread says which positions of a line are computed as one row of a tile:
// those of a block that begin at first, so many side by side.
type spread struct {
	block, side int // positions; a block is a multiple of the stride
	lo, hi      int // the results a block sees, from its first one on
}

// resultOf returns the result, counted from the block's first one, that tap kw
// of the filters joins with a position of a block.
func (v *Conv) resultOf(position, kw int) (int, bool) {
	at := position + v.Pad[2] - kw*v.Dilation[2]
	return at / v.Stride[2], at%v.Stride[2] == 0
}

// spreadOver returns the spread by blocks of this length, so many positions
// side by side.
func (v *Conv) spreadOver(block, side int) spread {
	s := spread{block: block, side: side, lo: v.Out[2], hi: -v.Kernel[2] * v.Dilation[2]}
	for position := range block {
		for kw := range v.Kernel[2] {
			if o, ok := v.resultOf(position, kw); ok {
				s.lo, s.hi = min(s.lo, o), max(s.hi, o+1)
			}
		}
	}
	s.hi = max(s.lo, s.hi)
	return s
}

// bestSpread returns the spread that takes the least time for a line.
func (b *engine[T]) bestSpread(v *Conv) spread {
	stride, lanes := v.Stride[2], b.micro.lanes
	best := v.spreadOver(stride, 1)
	if v.Groups > 1 {
		return best
	}
	// Another spread has to be worth the trouble.
	cost := b.rowsCost(kernel.CeilDiv(v.In[2], stride), kernel.CeilDiv(v.InC, lanes)) * v.Kernel[2] * 3 / 4
	for block := stride; block*v.InC <= 2*lanes && block <= v.In[2]; block += stride {
		s, vecs := v.spreadOver(block, block), kernel.CeilDiv(block*v.InC, lanes)
		rows := b.rowsCost(v.In[2]/block, vecs) + b.rowsCost(min(1, v.In[2]%block), vecs)
		if c := rows * (s.hi - s.lo); c < cost {
			best, cost = s, c
		}
	}
	return best
}

// rowsCost is the time for a step of the tiles of so many rows of vectors: a
// multiplication follows the one before in the same sum some multiplications
// later.
func (b *engine[T]) rowsCost(rows, vecs int) int {
	const latency = 8
	return max(rows*vecs, tiles.Cut(rows, b.micro.tileM).Tiles*latency)
}

// spreader computes lines of the gradient for images.
type spreader[T numeric.Float] struct {
	*engine[T]
	*Conv
	*workspace[T]
	spread
	dx, w []T
	ldw   int // elements from a row of w to the next
	left  int // zeros before the results of a line
	width int // of a line of results with the zeros around it
}

// byPanels reports whether filters are laid out by the columns of a full tile: rows of
// all channels are so far apart that each takes a page and that few places of a cache
// can hold them.
func (c *spreader[T]) byPanels() bool {
	panel := c.micro.panel()
	return c.side == 1 && c.Groups == 1 && c.InC > panel && c.InC%panel == 0
}

// layFilters puts the filters into c.w, which may be kept.
func (c *spreader[T]) layFilters(par kernel.Par, kept *[]T, w []T) {
	c.ldw = c.side * c.groupC()
	switch {
	case c.side > 1:
		c.w = sideBySide(c.Conv, c.spread, w)
	case c.byPanels():
		c.ldw = c.micro.panel()
		c.w = grown(kept, len(w))
		swapPanels(par, c.Conv, c.ldw, c.w, w)
	default:
		c.w = grown(kept, len(w))
		swapChannelsInto(par, c.Conv, c.w, w)
	}
}

// grown returns n elements of memory that is kept.
func grown[T numeric.Float](kept *[]T, n int) []T {
	if cap(*kept) < n {
		*kept = memory.Make[T](n)
	}
	return (*kept)[:n]
}

// swapPanels lays out filters as [taps panels outputs panel]: those of so many channels
// each.
func swapPanels[T numeric.Float](par kernel.Par, v *Conv, panel int, wt, w []T) {
	n := panel * v.OutC
	swap := layout.NewTransposition([]int{panel, v.OutC}, []int{1, 0})
	par(len(w)/n, max(1, kernel.ElementGrain/n), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			layout.TransposeNumbers(kernel.Serial, swap, wt[i*n:(i+1)*n], w[i*n:(i+1)*n])
		}
	})
}

// backInput is ConvolveBackInput. It returns false where convolving with the
// filters turned around is better.
func (b *engine[T]) backInput(par kernel.Par, v *Conv, dx, dy, w []T) bool {
	s := b.bestSpread(v)
	if _, ok := v.mirrored(); ok && s.side == 1 {
		return false
	}
	// The assembly checks no bounds.
	_, _ = dy[v.Batch*v.LinesOut()*v.Out[2]*v.OutC-1], dx[v.Batch*v.LinesIn()*v.In[2]*v.InC-1]
	proto := spreader[T]{engine: b, Conv: v, spread: s, dx: dx, left: max(0, -s.lo)}
	last := (kernel.CeilDiv(v.In[2], s.block) - 1) * s.block / v.Stride[2]
	proto.width = proto.left + max(v.Out[2], last+s.hi)
	kept := b.swapped.Get().(*[]T)
	defer b.swapped.Put(kept)
	proto.layFilters(par, kept, w)
	grain := v.lineGrain()
	if b.heavy(v) && v.Batch*v.In[0] >= heavyTasks {
		grain = max(grain, v.In[1])
	}
	par(v.Batch*v.LinesIn(), grain, func(lo, hi int) {
		p := b.scratch.Get().(*workspace[T])
		defer b.scratch.Put(p)
		c := proto
		c.workspace = p
		most := max(1, b.room/(v.Kernel[0]*c.width*v.OutC))
		for lo < hi {
			end := min(hi, lo+most, (lo/v.In[1]+1)*v.In[1])
			c.block(dy, lo, end)
			lo = end
		}
	})
	return true
}

// sideBySide lays out the filters as [depth height results outputs positions
// channels].
func sideBySide[T numeric.Float](v *Conv, s spread, w []T) []T {
	row, rows := s.block*v.InC, v.Kernel[0]*v.Kernel[1]
	out := memory.Make[T](rows * (s.hi - s.lo) * v.OutC * row)
	for i := range rows * v.Kernel[2] {
		for position := range s.block {
			o, ok := v.resultOf(position, i%v.Kernel[2])
			if !ok {
				continue
			}
			dst := out[(i/v.Kernel[2]*(s.hi-s.lo)+o-s.lo)*v.OutC*row+position*v.InC:]
			for c := range v.InC {
				for k, x := range w[(i*v.InC+c)*v.OutC : (i*v.InC+c+1)*v.OutC] {
					dst[k*row+c] = x
				}
			}
		}
	}
	return out
}

// block computes lines [lo, hi) of images at one depth of one of them.
func (c *spreader[T]) block(dy []T, lo, hi int) {
	n, d, h := c.LineIn(lo)
	d0, d1 := c.Seeing(0, d, d)
	h0, h1 := c.Seeing(1, h, h+hi-lo-1)
	lines := pad(padding{c.Out, c.OutC, c.left, c.width}, c.workspace, dy, [3]int{n, d0, h0}, [3]int{n + 1, d1, h1})
	c.listRuns(lines, lo, hi)
	panel, columns := c.micro.panel(), c.side*c.groupC()
	for part := range c.lists.parts {
		for g := range c.Groups {
			for j := 0; j < columns; j += panel {
				for i := range (hi - lo) * c.firsts() {
					runs := c.lists.at(i, part)
					if part > 0 && c.lists.empty(i, part) {
						continue // there is nothing to add
					}
					c.tiles(lines.data[g*c.groupOut():], runs, spreadTiles{
						line: lo + i/c.firsts(), first: i % c.firsts(), group: g, column: j, width: min(panel, columns-j), beta: min(part, 1),
					})
				}
			}
		}
	}
}

// firsts is the number of positions that begin a row of a tile in a block.
func (s spread) firsts() int { return s.block / s.side }

// spreadTiles are some columns of the tiles of a line, those that begin at the
// same position of all blocks.
type spreadTiles struct{ line, first, group, column, width, beta int }

// tiles computes them.
func (c *spreader[T]) tiles(dy []T, runs *int, s spreadTiles) {
	positions := c.In[2] - s.first
	if positions <= 0 {
		return
	}
	block, columns := c.spread.block, c.side*c.groupC()
	dx := c.dx[(s.line*c.In[2]+s.first)*c.InC+s.group*c.groupC()+s.column:]
	w := &c.w[s.group*c.groupOut()*columns+c.columnOfFilters(s.column)]
	tile := func(o, h, width int) {
		lda, ldc := block/c.Stride[2]*c.OutC, block*c.InC
		c.micro.runsTile(h, width)(runs, &dy[o*lda], lda, w, c.ldw, &dx[o*ldc], ldc, s.beta, nil, width, 0)
	}
	t := tiles.Cut((positions+block-c.side)/block, c.micro.tileM)
	for n := range t.Tiles {
		o, h := t.Tile(n)
		tile(o, h, s.width)
	}
	// What is left of the last block is as long as its line has positions.
	if rest := positions%block*c.InC - s.column; c.side > 1 && rest > 0 {
		tile(positions/block, 1, min(s.width, rest))
	}
}

// columnOfFilters is where the filters of the channels from one on begin.
func (c *spreader[T]) columnOfFilters(column int) int {
	if c.ldw == c.side*c.groupC() {
		return column
	}
	return column * c.OutC
}

// listRuns lists the runs of lines [lo, hi) of images, for each of the
// positions that begin rows.
func (c *spreader[T]) listRuns(m *paddedImages[T], lo, hi int) {
	c.lists.reset(c.Taps()/c.Kernel[2]*(c.hi-c.lo)*c.groupOut(), c.convSteps())
	for i := lo; i < hi; i++ {
		n, d, h := c.LineIn(i)
		for first := range c.firsts() {
			c.lists.begin()
			for row := range c.Kernel[0] * c.Kernel[1] {
				od, inD := c.From(0, d, row/c.Kernel[1])
				if oh, inH := c.From(1, h, row%c.Kernel[1]); inD && inH {
					c.addRow(m.at(n, od, oh), row, first)
				}
			}
			c.lists.end()
		}
	}
}

// addRow adds the runs of a row of the filters over a line of results.
func (c *spreader[T]) addRow(line, row, first int) {
	size, columns := elementSize[T](), c.side*c.groupC()
	if c.side > 1 {
		results := c.hi - c.lo
		r := kRun{(line + (c.left+c.lo)*c.OutC) * size, row * results * c.OutC * columns * size, results * c.OutC}
		c.lists.add(r, size, columns*size)
		return
	}
	for kw := range c.Kernel[2] {
		if o, ok := c.resultOf(first, kw); ok {
			r := kRun{(line + (c.left+o)*c.OutC) * size, (row*c.Kernel[2] + kw) * c.OutC * columns * size, c.groupOut()}
			c.lists.add(r, size, c.ldw*size)
		}
	}
}
