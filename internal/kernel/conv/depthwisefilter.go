package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/memory"
)

// filterParts is into how many parts a batch's lines are divided at most: each has sums of its
// own, so that threads do not change the order of additions. partWork is how many elements
// of the results' gradient a part has, at least, for each of its sums; otherwise channels
// are divided, blockChannels or more a block.
const filterParts, partWork, blockChannels = 32, 8, 128

// productSteps is what products of pixels are told: how many channels, pixels of a line and
// lines there are, and how many bytes they are apart. dw and tap are the distances of taps
// side by side in the filter and in the images. The assembly reads the fields by their order.
type productSteps struct{ channels, count, x, dy, lines, xLine, dyLine, tap, dw int }

// filterGrad computes the gradient of the filter from parts of lines and blocks of channels.
type filterGrad struct {
	*Depthwise
	x, dy         []float32
	down          track // the windows of a column, whose columns are the rows of the filter
	along         track // the windows of a line
	parts, blocks int
}

// backFilter32 computes the gradient dw for the filter.
func (v *Depthwise) backFilter32(par kernel.Par, dw, x, dy []float32) {
	v.checkBounds(dy, x, dw)
	f := &filterGrad{Depthwise: v, x: x, dy: dy, down: v.downTrack(), along: v.forwardTrack()}
	lines := v.Batch * v.LinesOut()
	f.parts = min(lines, max(1, min(filterParts, lines*v.Out[2]/(partWork*v.Taps()))))
	f.blocks = max(1, min(filterParts/f.parts, v.C/blockChannels))
	sums := dw
	if f.parts > 1 {
		sums = memory.Make[float32](f.parts * len(dw))
	} else {
		clear(dw)
	}
	par(f.parts*f.blocks, max(1, v.lineGrain()*f.parts*f.blocks/lines), func(lo, hi int) {
		p := &products{filterGrad: f}
		for i := lo; i < hi; i++ {
			part, block := i/f.blocks, i%f.blocks
			p.dw, p.c0, p.c1 = sums[part*len(dw):(part+1)*len(dw)], block*v.C/f.blocks, (block+1)*v.C/f.blocks
			p.addLines(part*lines/f.parts, (part+1)*lines/f.parts)
		}
	})
	if f.parts == 1 {
		return
	}
	copy(dw, sums)
	for p := 1; p < f.parts; p++ {
		elementwise.Add(dw, dw, sums[p*len(dw):(p+1)*len(dw)])
	}
}

// downTrack is the track of the first windows of all lines, with a column for each row of the
// filter.
func (v *Depthwise) downTrack() track {
	t := track{step: 1, count: v.Out[1], from: v.Stride[1]}
	for kh := range v.Kernel[1] {
		t.columns = append(t.columns, column{kh, kh*v.Dilation[1] - v.Pad[1]})
	}
	return t
}

// products adds the products of a part's lines, for channels [c0, c1), to dw.
type products struct {
	*filterGrad
	dw     []float32
	c0, c1 int
	steps  productSteps
}

// addLines adds what lines [lo, hi) of the results give, image by image.
func (p *products) addLines(lo, hi int) {
	for lo < hi {
		n, od, oh := p.Line(lo)
		end := min(hi, lo+p.Out[1]-oh)
		for kd := range p.Kernel[0] {
			if d, inside := p.At(0, od, kd); inside {
				p.addBand(band{image: (n*p.In[0] + d) * p.In[1], result: lo - oh, lo: oh, hi: oh + end - lo}, kd*p.Kernel[1])
			}
		}
		lo = end
	}
}

// A band is lines [lo, hi) of a plane of the results, of which result is the first line, and
// the plane of images that they meet, of which image is the first line.
type band struct{ image, result, lo, hi int }

// addBand adds what a band gives, for each row of the filter, of which the plane has the first.
func (p *products) addBand(b band, first int) {
	for _, row := range p.down.columns {
		lo, hi := p.down.meets(row, p.In[1])
		if lo, hi = max(lo, b.lo), min(hi, b.hi); lo < hi {
			p.addRow(run{
				lines: hi - lo, tap: (first + row.kw) * p.Kernel[2],
				at: (b.image + row.at + lo*p.down.from) * p.In[2], result: (b.result + lo) * p.Out[2],
			})
		}
	}
}

// A run is some lines of images, from pixel at on, and of the results, from pixel result on,
// that meet in the row of the filter that begins with a tap.
type run struct{ lines, tap, at, result int }

// addRow adds the products for all columns of a row, by threes where these are left.
func (p *products) addRow(r run) {
	columns := p.along.columns
	for ; len(columns) >= 3; columns = columns[3:] {
		three := track{count: p.along.count, from: p.along.from, columns: columns[:3]}
		three.within(p.In[2])
		p.add(simd.depthwiseProducts3, r, columns[0], three.lo, three.hi)
		for _, c := range three.columns {
			lo, hi := p.along.meets(c, p.In[2])
			p.add(simd.depthwiseProducts1, r, c, lo, min(hi, three.lo))
			p.add(simd.depthwiseProducts1, r, c, max(lo, three.hi), hi)
		}
	}
	for _, c := range columns {
		lo, hi := p.along.meets(c, p.In[2])
		p.add(simd.depthwiseProducts1, r, c, lo, hi)
	}
}

// add adds the products of windows [lo, hi) of the lines, from a column on, in calls of bounded
// length.
func (p *products) add(sum func(dw, x, dy *float32, steps *int), r run, c column, lo, hi int) {
	n, step := p.C, p.along.from
	p.steps = productSteps{
		channels: p.c1 - p.c0, x: 4 * step * n, dy: 4 * n, dw: 4 * n, tap: 4 * p.Dilation[2] * n,
		xLine: 4 * p.down.from * p.In[2] * n, dyLine: 4 * p.Out[2] * n,
	}
	some := max(1, kernel.VectorChunk/p.steps.channels)
	for ; lo < hi; lo += some {
		p.steps.count = min(some, hi-lo)
		rows := max(1, some/p.steps.count)
		for i := 0; i < r.lines; i += rows {
			p.steps.lines = min(rows, r.lines-i)
			x := (r.at + i*p.down.from*p.In[2] + c.at + lo*step) * n
			dy := (r.result + i*p.Out[2] + lo) * n
			sum(&p.dw[(r.tap+c.kw)*n+p.c0], &p.x[x+p.c0], &p.dy[dy+p.c0], &p.steps.channels)
		}
	}
}
