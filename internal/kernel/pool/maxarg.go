package pool

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/memory"
)

const (
	argElements  = 2048    // about how many elements are compared at a time, in the first-level cache
	mostNumbered = 1 << 12 // elements of a window have numbers
)

// keepGreaterCode puts elements of operand 2, which is what operand 3 says in all windows, in the
// place of lesser ones, operand 0, with which operand 1 says.
var keepGreaterCode = elementwise.CompileMany(2, func(c *machine.Code, in []machine.Value) {
	greater := c.Greater(in[2], in[0])
	c.Store(c.Pick(greater, in[2], in[0]), machine.Word)
	c.Store(c.Pick(greater, in[3], in[1]), machine.Word)
})

// An argFinder finds the first of the greatest elements of windows side by side.
type argFinder struct {
	*Pool
	best, at, tap []float32 // of some windows; at has numbers of elements, as words
	numbers       []float32 // these words
	pixels        []int64   // where they are, from the first one of a window on
}

// argRuns is MaxPoolArg for float32.
func argRuns(par kernel.Par, v *Pool, arg []int64, x []float32) {
	most := v.mostCovered()
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		n := max(1, argElements/v.C) * v.C
		room, loan := memory.Lend[float32](3*n + most)
		defer loan.Return()
		f := &argFinder{v, room[:n], room[n : 2*n], room[2*n : 3*n], room[3*n:], make([]int64, most)}
		for i := range f.numbers {
			f.numbers[i] = math.Float32frombits(uint32(i))
		}
		v.eachRun(lo, hi, func(r *run) { f.run(arg[r.window*v.C:(r.window+r.count)*v.C], x, r) })
	})
}

func (f *argFinder) run(arg []int64, x []float32, r *run) {
	if len(r.offsets) == 0 {
		kernel.Fill(arg, -1)
		return
	}
	for t, off := range r.offsets {
		f.pixels[t] = int64(off / f.C)
	}
	step := len(f.best) / f.C
	for w := 0; w < r.count; w += step {
		n := min(step, r.count-w)
		f.find(x, r, w, n)
		at := kernel.Words[uint32](f.at)
		for k := range n {
			dst, first := arg[(w+k)*f.C:][:f.C], int64(r.pixel+(w+k)*f.Stride[2])
			for c, t := range at[k*f.C:][:f.C] {
				dst[c] = first + f.pixels[t]
			}
		}
	}
}

// find sets at for windows w to w+n of a run.
func (f *argFinder) find(x []float32, r *run, w, n int) {
	size := n * f.C
	best, at := f.best[:size], f.at[:size]
	clear(at)
	for t, off := range r.offsets {
		tap := f.taps(x[(r.pixel+w*f.Stride[2])*f.C+off:], n)
		if t == 0 {
			copy(best, tap)
			continue
		}
		if keepGreaterCode.Run(size, elementwise.Along(best), elementwise.Along(at), elementwise.Along(tap), elementwise.Shared(&f.numbers[t]), elementwise.Along(best), elementwise.Along(at)) {
			continue
		}
		for i, v := range tap {
			if v > best[i] {
				best[i], at[i] = v, f.numbers[t]
			}
		}
	}
}

// taps returns the pixels of n windows that begin with x, side by side.
func (f *argFinder) taps(x []float32, n int) []float32 {
	if f.Stride[2] == 1 {
		return x[:n*f.C]
	}
	for k := range n {
		copy(f.tap[k*f.C:(k+1)*f.C], x[k*f.Stride[2]*f.C:])
	}
	return f.tap[:n*f.C]
}
