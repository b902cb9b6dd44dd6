//go:build amd64 && !noasm

package conv

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Convolutions multiply images where they lie: neighbouring windows of a line
// are overlapping rows of a matrix, the rows of the filters that meet the line
// are runs of steps of k, and the sums over all of them stay in registers.

// convolve is Convolve.
func (b *engine[T]) convolve(par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	// The assembly checks no bounds.
	_, _ = x[v.Batch*v.LinesIn()*v.In[2]*v.InC-1], w[v.Taps()*v.groupC()*v.OutC-1]
	if b.heavy(v) {
		b.convolveHeavy(par, v, y, x, w, e)
		return
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) { b.lines(v, y, x, w, e, lo, hi) })
}

// lines computes lines [lo, hi) of windows.
func (b *engine[T]) lines(v *Conv, y, x, w []T, e gemm.Epilogue[T], lo, hi int) {
	p := b.scratch.Get().(*workspace[T])
	defer b.scratch.Put(p)
	c := &convolver[T]{engine: b, Conv: v, workspace: p, y: y, w: w, bias: e.Bias}
	n, most := v.Out[2]*v.OutC, v.blockLines(b.room)
	for lo < hi {
		end := min(hi, lo+most, (lo/v.Out[1]+1)*v.Out[1])
		c.columns(x, lo, end, 0, v.groupOut())
		e.Finish(y, lo*n, end*n)
		lo = end
	}
}

// blockLines is how many lines of windows see no more than so many elements. The product of
// what it divides by may overflow: strides and dilations are as large as a graph has them.
func (v *Conv) blockLines(elements int) int {
	for _, n := range [...]int{v.Stride[1], v.Kernel[0], max(v.Width(), v.In[2]), v.InC} {
		elements /= n
	}
	return max(1, elements)
}

// convolver convolves lines of windows.
type convolver[T numeric.Float] struct {
	*engine[T]
	*Conv
	*workspace[T]
	y, w, bias []T
}

// columns computes lines [lo, hi) of windows at one depth of an image, for outputs [first, end) of each group. The first
// one begins a panel.
func (c *convolver[T]) columns(x []T, lo, hi, first, end int) {
	images := padImages(c.Conv, c.workspace, x, lo, hi)
	c.listRuns(images, lo, hi)
	panel, outs := c.micro.panel(), c.groupOut()
	for part := range c.lists.parts {
		for g := range c.Groups {
			for j := first; j < end; j += panel {
				for i := lo; i < hi; i++ {
					c.tiles(images.data[g*c.groupC():], c.lists.at(i-lo, part), i, part, g*outs+j, min(panel, end-j), c.next(first, end, j))
				}
			}
		}
	}
}

// next is how many elements of the filters after a panel at output j the one begins that is multiplied after it:
// beside it, or that of the next steps of k. There may be none.
func (c *convolver[T]) next(first, end, j int) int {
	if panel := c.micro.panel(); j+panel < end {
		return panel
	}
	return c.lists.most*c.OutC - (j - first)
}

// tiles computes the tiles of line i of windows for width outputs from j on. They fetch the panel that is so many
// elements after theirs.
func (c *convolver[T]) tiles(x []T, runs *int, i, part, j, width, next int) {
	var bias *T
	if c.bias != nil && part+1 == c.lists.parts {
		bias = &c.bias[j]
	}
	t, step := tiles.Cut(c.Out[2], c.micro.tileM), c.Stride[2]*c.InC
	y := c.y[i*c.Out[2]*c.OutC+j : (i+1)*c.Out[2]*c.OutC]
	for n := range t.Tiles {
		o, h := t.Tile(n)
		ahead := aheadOf[T](next, i*t.Tiles+n, c.OutC)
		c.micro.runsTile(h, width)(runs, &x[o*step], step, &c.w[j], c.OutC, &y[o*c.OutC], c.OutC, min(part, 1), bias, width, ahead)
	}
}

// convSteps is the number of steps of k that a tile is summed up over at a
// time: what they see of the filters stays in the second-level cache. Where
// the rows of filters are far apart, they share the sets of the cache.
func (v *Conv) convSteps() int {
	const most, fewer, farApart = 640, 384, 512
	if v.OutC >= farApart {
		return fewer
	}
	return most
}

// listRuns lists the runs of lines [lo, hi) of windows.
func (c *convolver[T]) listRuns(m *paddedImages[T], lo, hi int) {
	c.lists.reset(c.Taps()*c.groupC(), c.convSteps())
	for i := lo; i < hi; i++ {
		c.lists.begin()
		n, od, oh := c.Line(i)
		for tap := range c.Kernel[0] * c.Kernel[1] {
			kd, kh := tap/c.Kernel[1], tap%c.Kernel[1]
			d, inD := c.Conv.At(0, od, kd)
			if h, inH := c.Conv.At(1, oh, kh); inD && inH {
				c.addRow(m.at(n, d, h), tap*c.Kernel[2])
			}
		}
		c.lists.end()
	}
}

// addRow adds the run of a row of the filters, from a tap on, over a line: one
// for each tap where their channels are not side by side.
func (c *convolver[T]) addRow(line, tap int) {
	size := elementSize[T]()
	if c.Groups == 1 && (c.Dilation[2] == 1 || c.Kernel[2] == 1) {
		c.lists.add(kRun{line * size, tap * c.InC * c.OutC * size, c.Kernel[2] * c.InC}, size, c.OutC*size)
		return
	}
	for kw := range c.Kernel[2] {
		at := kRun{(line + kw*c.Dilation[2]*c.InC) * size, (tap + kw) * c.groupC() * c.OutC * size, c.groupC()}
		c.lists.add(at, size, c.OutC*size)
	}
}

// elementSize is the number of bytes of an element.
func elementSize[T numeric.Float]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}
