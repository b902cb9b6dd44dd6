//go:build amd64 && !noasm

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// heavy reports whether filters do not stay in the second-level cache. Each task then brings those that it
// takes once more, so that tasks take whole images, and some of the outputs, instead of lines.
func (b *engine[T]) heavy(v *Conv) bool {
	return v.Groups == 1 && v.Taps()*v.InC*v.OutC > 2*b.room
}

// heavyTasks is how many tasks there should be for threads to share well.
const heavyTasks = 8

// heavyGrid cuts a convolution into blocks of lines and ranges of outputs.
type heavyGrid[T numeric.Float] struct {
	*engine[T]
	*Conv
	lines   int // of a block at most
	blocks  int // of an image at one depth
	columns int // ranges of outputs
}

func (b *engine[T]) newHeavyGrid(v *Conv) heavyGrid[T] {
	g := heavyGrid[T]{engine: b, Conv: v}
	g.lines = kernel.CeilDiv(v.Out[1], kernel.CeilDiv(v.Out[1], v.blockLines(b.room)))
	g.blocks = kernel.CeilDiv(v.Out[1], g.lines)
	g.columns = min(kernel.CeilDiv(v.OutC, b.micro.panel()), kernel.CeilDiv(heavyTasks, v.Batch*v.Out[0]*g.blocks))
	return g
}

// tasks is how many tasks there are.
func (g *heavyGrid[T]) tasks() int { return g.Batch * g.Out[0] * g.blocks * g.columns }

// task returns the lines and the outputs of a task.
func (g *heavyGrid[T]) task(i int) (lo, hi, first, end int) {
	block, column := i/g.columns, i%g.columns
	image, at := block/g.blocks*g.Out[1], block%g.blocks*g.lines
	panel := g.micro.panel()
	panels := kernel.CeilDiv(g.OutC, panel)
	return image + at, image + min(at+g.lines, g.Out[1]), column * panels / g.columns * panel, min(g.OutC, (column+1)*panels/g.columns*panel)
}

// convolveHeavy is convolve for heavy filters.
func (b *engine[T]) convolveHeavy(par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	g, n := b.newHeavyGrid(v), v.Out[2]*v.OutC
	par(g.tasks(), 1, func(i, end int) {
		p := b.scratch.Get().(*workspace[T])
		defer b.scratch.Put(p)
		c := &convolver[T]{engine: b, Conv: v, workspace: p, y: y, w: w, bias: e.Bias}
		for ; i < end; i++ {
			lo, hi, first, last := g.task(i)
			c.columns(x, lo, hi, first, last)
			if g.columns == 1 {
				e.Finish(y, lo*n, hi*n)
			}
		}
	})
	if g.columns > 1 && (e.Activate != nil || e.Done != nil) { // tasks have parts of rows
		par(v.Batch*v.LinesOut(), max(1, kernel.ElementGrain/n), func(lo, hi int) { e.Finish(y, lo*n, hi*n) })
	}
}
