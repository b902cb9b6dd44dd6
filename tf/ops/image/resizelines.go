package image

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A resizer computes images y from images x of shape s. Each new row is a sum of old ones, and
// each new pixel of a row a sum of old pixels. Which is done first changes the last bits of the
// results, so that shapes alone decide it.
type resizer struct {
	s             tf.Shape
	y, x          []float32
	rows, columns []taps
	places        *elementwise.Places // those of columns, for the vector loop; nil if it does not serve
}

// rowsAtOnce is how many new rows a thread makes at least where old ones are kept.
const rowsAtOnce = 16

// run shares the new rows among threads.
func (r *resizer) run(c *core.OpContext) {
	n, atOnce := r.s[0]*len(r.rows), max(1, grain/max(r.line(), r.s[2]*r.s[3]))
	two := all(r.rows, 2) && all(r.columns, 2)
	switch {
	case r.s[3] > 1 && two:
		r.places = r.placesOf(func(t taps) elementwise.Place {
			return elementwise.Place{At: t.at[0], Next: t.at[1], AtY: t.at[0], NextY: t.at[1], V: t.weight[0], W: t.weight[1], VY: t.weight[0], WY: t.weight[1]}
		})
		c.ParallelFor(n, atOnce, r.blended)
		return
	case r.s[3] > 1 && all(r.columns, 4):
		r.places = r.placesOf(func(t taps) elementwise.Place {
			return elementwise.Place{At: t.at[0], Next: t.at[1], AtY: t.at[2], NextY: t.at[3], V: t.weight[0], W: t.weight[1], VY: t.weight[2], WY: t.weight[3]}
		})
	}
	if len(r.rows) < r.s[1] {
		c.ParallelFor(n, atOnce, r.rowsFirst)
	} else {
		c.ParallelFor(n, max(rowsAtOnce, atOnce), r.columnsFirst)
	}
}

// all reports whether all have so many taps.
func all(list []taps, n int) bool {
	return !slices.ContainsFunc(list, func(t taps) bool { return len(t.at) != n || len(t.weight) != n })
}

// placesOf returns the places of columns, given those by pixels.
func (r *resizer) placesOf(f func(taps) elementwise.Place) *elementwise.Places {
	p := core.Make[elementwise.Place](len(r.columns))
	for i, t := range r.columns {
		p[i] = f(t)
		for _, at := range []*int{&p[i].At, &p[i].Next, &p[i].AtY, &p[i].NextY} {
			*at *= r.s[3]
		}
	}
	return elementwise.NewPlaces(p, r.s[3], r.s[2]*r.s[3])
}

// blended makes new rows lo to hi of four old pixels each: columns first.
func (r *resizer) blended(lo, hi int) {
	width, line := r.s[2]*r.s[3], r.line()
	for i := lo; i < hi; i++ {
		first, row := r.place(i)
		above, below := r.x[(first+row.at[0])*width:][:width], r.x[(first+row.at[1])*width:][:width]
		elementwise.BlendPixels(r.y[i*line:(i+1)*line], above, below, r.places, row.weight[0], row.weight[1])
	}
}

// resizeLine makes new pixels y of old ones x in a row.
func (r *resizer) resizeLine(y, x []float32) {
	if r.places != nil {
		elementwise.BlendPixels(y, x, x, r.places, 1, 1)
		return
	}
	resizeLine(y, x, r.columns, r.s[3])
}

// line is the length of a new row.
func (r *resizer) line() int { return len(r.columns) * r.s[3] }

// place tells new row i of all images apart: its first old row, and its taps.
func (r *resizer) place(i int) (first int, row taps) {
	return i / len(r.rows) * r.s[1], r.rows[i%len(r.rows)]
}

// rowsFirst makes new rows lo to hi where there are fewer of them than old ones.
func (r *resizer) rowsFirst(lo, hi int) {
	width, line := r.s[2]*r.s[3], r.line()
	sum, loan := core.Lend[float32](width)
	defer loan.Return()
	var parts [][]float32
	for i := lo; i < hi; i++ {
		first, row := r.place(i)
		parts = parts[:0]
		for _, at := range row.at {
			parts = append(parts, r.x[(first+at)*width:][:width])
		}
		sumRows(sum, parts, row.weight)
		r.resizeLine(r.y[i*line:(i+1)*line], sum)
	}
}

// columnsFirst makes new rows lo to hi where an old row takes part in several: its pixels are
// summed once.
func (r *resizer) columnsFirst(lo, hi int) {
	old, line := newOldLines(r), r.line()
	defer old.release()
	var parts [][]float32
	for i := lo; i < hi; i++ {
		first, row := r.place(i)
		parts = parts[:0]
		old.turn++
		for _, at := range row.at {
			parts = append(parts, old.get(first+at))
		}
		sumRows(r.y[i*line:(i+1)*line], parts, row.weight)
	}
}

// oldLines keeps the old rows that were resized last, as many as one new row may have taps: what
// is asked for within a turn stays until its end.
type oldLines struct {
	r     *resizer
	turn  int
	lines []oldLine
}

// An oldLine is old row at of all images, resized, which turn asked for last.
type oldLine struct {
	at, turn int
	pixels   []float32
	loan     *core.Loan
}

func newOldLines(r *resizer) *oldLines {
	most := 1
	for _, row := range r.rows {
		most = max(most, len(row.at))
	}
	return &oldLines{r: r, lines: core.Make[oldLine](most)}
}

// release gives up what get has returned.
func (o *oldLines) release() {
	for _, l := range o.lines {
		if l.loan != nil {
			l.loan.Return()
		}
	}
}

// get returns old row i of all images, resized.
func (o *oldLines) get(i int) []float32 {
	oldest := &o.lines[0]
	for k := range o.lines {
		line := &o.lines[k]
		if line.at == i && line.pixels != nil {
			line.turn = o.turn
			return line.pixels
		}
		if line.turn < oldest.turn {
			oldest = line
		}
	}
	if oldest.pixels == nil {
		oldest.pixels, oldest.loan = core.Lend[float32](o.r.line())
	}
	width := o.r.s[2] * o.r.s[3]
	o.r.resizeLine(oldest.pixels, o.r.x[i*width:][:width])
	oldest.at, oldest.turn = i, o.turn
	return oldest.pixels
}

// sumRows sets dst to the sum of rows with weights.
func sumRows(dst []float32, rows [][]float32, weights []float32) {
	if len(rows) < 2 || len(weights) != len(rows) {
		clear(dst)
	} else {
		elementwise.Blend(dst, rows[0], rows[1], weights[0], weights[1])
		rows, weights = rows[2:], weights[2:]
	}
	for k, row := range rows {
		descent.Axpy(dst, weights[k], row)
	}
}

func resizeLine(y, x []float32, columns []taps, channels int) {
	for o, column := range columns {
		dst := y[o*channels : (o+1)*channels]
		if len(column.at) == 2 && len(column.weight) == 2 {
			blend(dst, x[column.at[0]*channels:][:channels], x[column.at[1]*channels:][:channels], column.weight[0], column.weight[1])
			continue
		}
		if channels == 3 {
			joinColors((*[3]float32)(dst), x, column)
			continue
		}
		clear(dst)
		for k, at := range column.at {
			w := column.weight[k]
			for ch, v := range x[at*channels:][:channels] {
				dst[ch] += w * v
			}
		}
	}
}

// joinColors sets dst to the sum of pixels of three channels with weights.
func joinColors(dst *[3]float32, x []float32, column taps) {
	var r, g, b float32
	weight := column.weight[:len(column.at)]
	for k, at := range column.at {
		p, w := (*[3]float32)(x[at*3:]), weight[k]
		r, g, b = r+w*p[0], g+w*p[1], b+w*p[2]
	}
	*dst = [3]float32{r, g, b}
}

// blend sets dst to the sum of two pixels with weights. No product is fused with the sum.
func blend(dst, a, b []float32, v, w float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for ch := range dst {
		dst[ch] = float32(v*a[ch]) + float32(w*b[ch])
	}
}
