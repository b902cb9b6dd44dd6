package image

import (
	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A resizerBack gives the gradient dy of each new pixel to the old ones it is made of, whose
// gradients are dx of shape s, rows and columns one after the other. What has fewer rows is
// between the two; shapes alone decide it, since it changes the last bits.
type resizerBack struct {
	s             tf.Shape
	dx, dy        []float32
	rows, columns []taps
}

func (r *resizerBack) run(c *core.OpContext) {
	if len(r.dy) == 0 || len(r.dx) == 0 {
		clear(r.dx)
		return
	}
	width, line := r.widths()
	if len(r.rows) < r.s[1] {
		c.ParallelFor(r.s[0], max(1, grain/(len(r.rows)*line)), r.columnsFirst)
		return
	}
	of := r.partsOfRows()
	c.ParallelFor(r.s[0]*r.s[1], max(1, grain/max(width, line)), func(lo, hi int) { r.rowsFirst(of, lo, hi) })
}

// widths are how many elements rows of old and of new pixels have.
func (r *resizerBack) widths() (old, new int) { return r.s[2] * r.s[3], len(r.columns) * r.s[3] }

// partsOfRows returns, by old row, the new rows it is part of and the weights.
func (r *resizerBack) partsOfRows() []taps {
	of := core.Make[taps](r.s[1])
	for i, row := range r.rows {
		for k, at := range row.at {
			of[at].at, of[at].weight = append(of[at].at, i), append(of[at].weight, row.weight[k])
		}
	}
	return of
}

// rowsFirst makes rows lo to hi of dx of sums of rows of dy.
func (r *resizerBack) rowsFirst(of []taps, lo, hi int) {
	width, line := r.widths()
	sum, loan := core.Lend[float32](line)
	defer loan.Return()
	var parts [][]float32
	for i := lo; i < hi; i++ {
		first, row := i/r.s[1]*len(r.rows), of[i%r.s[1]]
		parts = parts[:0]
		for _, at := range row.at {
			parts = append(parts, r.dy[(first+at)*line:][:line])
		}
		sumRows(sum, parts, row.weight)
		spreadLine(r.dx[i*width:(i+1)*width], sum, r.columns, r.s[3])
	}
}

// columnsFirst adds rows of dy, when their pixels have been given to those of an old row, to the
// rows of dx of images lo to hi.
func (r *resizerBack) columnsFirst(lo, hi int) {
	width, line := r.widths()
	clear(r.dx[lo*r.s[1]*width : hi*r.s[1]*width])
	old, loan := core.Lend[float32](width)
	defer loan.Return()
	for i := lo * len(r.rows); i < hi*len(r.rows); i++ {
		spreadLine(old, r.dy[i*line:(i+1)*line], r.columns, r.s[3])
		first, row := i/len(r.rows)*r.s[1], r.rows[i%len(r.rows)]
		for k, at := range row.at {
			descent.Axpy(r.dx[(first+at)*width:][:width], row.weight[k], old)
		}
	}
}

// spreadLine sets old pixels to the sums of the new ones that they are part of, with weights.
func spreadLine(old, new []float32, columns []taps, channels int) {
	clear(old)
	for o, column := range columns {
		src := new[o*channels:][:channels]
		for k, at := range column.at {
			dst, w := old[at*channels:][:channels], column.weight[k]
			switch {
			case channels == 3:
				dst, src := dst[:3], src[:3]
				dst[0], dst[1], dst[2] = dst[0]+float32(w*src[0]), dst[1]+float32(w*src[1]), dst[2]+float32(w*src[2])
			case channels <= fewChannels:
				for c, v := range src {
					dst[c] += float32(w * v)
				}
			default:
				descent.Axpy(dst, w, src)
			}
		}
	}
}
