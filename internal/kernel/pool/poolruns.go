package pool

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
)

// A run is windows side by side that cover the same elements, from the first
// one of each on: all but those at the ends of a line.
type run struct {
	window, count int   // the first one, in the batch, and how many
	pixel         int   // that the first window begins with, in the batch
	offsets       []int // of all pixels it covers from there on, in elements, in order
	lines         int   // on which these lie
	below         []int // room for the offsets of lines
}

// eachRun calls f for the windows of lines [lo, hi), in order.
func (v *Pool) eachRun(lo, hi int, f func(r *run)) {
	if v.C == 0 {
		return
	}
	var lines []int
	r := &run{}
	for i := lo; i < hi; i++ {
		n, od, oh := v.Line(i)
		lines = v.coveredLines(lines[:0], n, od, oh)
		for o := 0; o < v.Out[2]; o += r.count {
			r.window = i*v.Out[2] + o
			v.setRun(r, lines, o)
			f(r)
		}
	}
}

// setRun finds what window o of a line that covers the given lines of the image
// covers, and how many after it cover the same.
func (v *Pool) setRun(r *run, lines []int, o int) {
	w0, w1 := v.Clip(2, o)
	r.offsets, r.count, r.lines = r.offsets[:0], 1, len(lines)
	if len(lines) == 0 || w0 == w1 {
		return
	}
	first, _ := v.At(2, o, w0)
	r.pixel = lines[0] + first
	for _, l := range lines {
		for k := range w1 - w0 {
			r.offsets = append(r.offsets, (l-lines[0]+k*v.Dilation[2])*v.C)
		}
	}
	if w1-w0 == v.Kernel[2] {
		for o+r.count < v.Out[2] && v.whole(o+r.count) {
			r.count++
		}
	}
}

// whole reports whether the image has all that window o of a line covers.
func (v *Pool) whole(o int) bool {
	first, inside := v.At(2, o, 0)
	return inside && first+(v.Kernel[2]-1)*v.Dilation[2] < v.In[2]
}

// loops are vector loops that join the elements of windows, and elements at the same place of lines.
type loops struct {
	windows func(y, x *float32, offsets *int, taps, channels, count, step int)
	lines   func(z, x, y []float32)
}

// poolRuns pools by vector loops; end gets each result, or whatever there was
// of windows that cover nothing, and how many elements it is of.
func poolRuns(par kernel.Par, v *Pool, y, x []float32, l loops, end func(y []float32, taps int)) {
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		room, loan := memory.Lend[float32](v.In[2] * v.C)
		defer loan.Return()
		v.eachRun(lo, hi, func(r *run) {
			dst := y[r.window*v.C : (r.window+r.count)*v.C]
			if taps := len(r.offsets); taps > 0 {
				from := x[r.pixel*v.C:]
				if v.worthLines(r) {
					from, taps = v.joinLines(room, from, r, l), taps/r.lines
				}
				v.joinWindows(dst, from, r, taps, l)
			}
			end(dst, len(r.offsets))
		})
	})
}

// joinWindows joins the first taps elements of each window. What windows that move by one pixel
// begin with lies side by side, so that a run is one window of more channels: few of them would
// fill no group of vectors.
func (v *Pool) joinWindows(dst, x []float32, r *run, taps int, l loops) {
	channels, count := v.C, r.count
	if v.Stride[2] == 1 {
		channels, count = len(dst), 1
	}
	l.windows(&dst[0], &x[0], &r.offsets[0], taps, channels, count, v.Stride[2]*v.C)
}

// worthLines reports whether windows overlap so much that it takes less to join what lies below
// each other first.
func (v *Pool) worthLines(r *run) bool {
	beside := len(r.offsets) / r.lines
	return r.lines > 1 && r.count > 2*beside && r.count*v.C >= 64 && r.lines*v.Stride[2]+beside+1 < len(r.offsets)
}

// manyLines are joined faster in one pass, which reads as many streams at once. Few of them come
// from memory sooner as streams of their own.
const manyLines = 4

// joinLines sets room to what lies below each other in the lines of a run, which begins where x
// does. To the loop over windows, many lines are one window of all the elements of a line.
func (v *Pool) joinLines(room, x []float32, r *run, l loops) []float32 {
	beside := len(r.offsets) / r.lines
	n := (r.count-1)*v.Stride[2]*v.C + r.offsets[beside-1] + v.C
	room, r.below = room[:n], r.below[:0]
	if r.lines >= manyLines {
		for i := range r.lines {
			r.below = append(r.below, r.offsets[i*beside])
		}
		l.windows(&room[0], &x[0], &r.below[0], r.lines, n, 1, 0)
		return room
	}
	line := func(i int) []float32 { return x[r.offsets[i*beside]:][:n] }
	l.lines(room, line(0), line(1))
	for i := 2; i < r.lines; i++ {
		l.lines(room, room, line(i))
	}
	return room
}
