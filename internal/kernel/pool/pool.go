package pool

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Pool describes how images [batch depth height width channels] are pooled,
// each channel by itself.
type Pool struct {
	sliding.Window
	Batch, C int
}

// poolElements are worth a task of their own.
const poolElements = 16 << 10

func (v *Pool) lineGrain() int { return max(1, poolElements/max(1, v.Out[2]*v.Taps()*v.C)) }

func (v *Pool) imageGrain() int {
	return max(1, poolElements/max(1, v.LinesOut()*v.Out[2]*v.Taps()*v.C))
}

// countable is how many elements of a window the vector loop for gradients of maxima tells
// apart: it numbers them in float32.
const countable = 1 << 24

// mostCovered is how many positions inside an image a window covers at most: it may be far
// larger than the image.
func (v *Pool) mostCovered() int {
	return min(v.Kernel[0], v.In[0]) * min(v.Kernel[1], v.In[1]) * min(v.Kernel[2], v.In[2])
}

// covered are the positions inside the image that one window covers: n in each
// of some lines, step apart. A position is the number of a pixel in the batch.
type covered struct {
	lines    []int // position 0 of each line, in order
	first, n int   // of the positions in a line
	step     int
}

// eachWindow calls f for the windows of lines [lo, hi).
func (v *Pool) eachWindow(lo, hi int, f func(window int, t *covered)) {
	most := min(v.Kernel[0], v.In[0]) * min(v.Kernel[1], v.In[1]) // a window may be far larger than an image
	t := covered{lines: make([]int, 0, most), step: v.Dilation[2]}
	for i := lo; i < hi; i++ {
		n, od, oh := v.Line(i)
		t.lines = v.coveredLines(t.lines[:0], n, od, oh)
		for ow := range v.Out[2] {
			w0, w1 := v.Clip(2, ow)
			t.first, _ = v.At(2, ow, w0)
			t.n = w1 - w0
			f(i*v.Out[2]+ow, &t)
		}
	}
}

// coveredLines appends the lines of image n that the windows of an output line
// cover.
func (v *Pool) coveredLines(lines []int, n, od, oh int) []int {
	d0, d1 := v.Clip(0, od)
	h0, h1 := v.Clip(1, oh)
	for kd := d0; kd < d1; kd++ {
		d, _ := v.At(0, od, kd)
		for kh := h0; kh < h1; kh++ {
			h, _ := v.At(1, oh, kh)
			lines = append(lines, ((n*v.In[0]+d)*v.In[1]+h)*v.In[2])
		}
	}
	return lines
}

// MaxPool sets y to the greatest elements of each window, the least number
// there is for windows outside of the image.
func MaxPool[T numeric.Real](par kernel.Par, v *Pool, y, x []T) {
	if len(y) == 0 {
		return // as elsewhere: any number of lines may have no elements
	}
	if yf, ok := kernel.AsFloat32(y); ok && simd.poolMax != nil {
		xf, _ := kernel.AsFloat32(x)
		poolRuns(par, v, yf, xf, loops{simd.poolMax, elementwise.Max[float32]}, func(y []float32, taps int) {
			if taps == 0 {
				kernel.Fill(y, numeric.Lowest[float32]())
			}
		})
		return
	}
	switch y := any(y).(type) {
	case []uint8:
		if maxBytes(par, v, y, any(x).([]uint8)) {
			return
		}
	case []int8:
		if maxBytes(par, v, y, any(x).([]int8)) {
			return
		}
	}
	poolLines(par, v, y, x, elementwise.Max[T], func(dst []T, count int) {
		if count == 0 {
			kernel.Fill(dst, numeric.Lowest[T]())
		}
	})
}

// poolLines joins the elements of each window: first those below each other,
// for all windows of a line at once, then those beside each other. end gets the
// result, or whatever there was if the window covers nothing.
func poolLines[T memory.Plain](par kernel.Par, v *Pool, y, x []T, join func(z, x, y []T), end func(dst []T, count int)) {
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		width := v.In[2] * v.C
		joined, loan := memory.Lend[T](width)
		defer loan.Return()
		var lines []int
		for i := lo; i < hi; i++ {
			n, od, oh := v.Line(i)
			lines = v.coveredLines(lines[:0], n, od, oh)
			src := joined
			for k, l := range lines {
				switch line := x[l*v.C : l*v.C+width]; k {
				case 0:
					src = line
				default:
					join(joined, src, line)
					src = joined
				}
			}
			joinBeside(v, i, len(lines), y, src, join, end)
		}
	})
}

// joinBeside joins the elements of the windows of output line i, given what lies
// below each other in so many lines.
func joinBeside[T any](v *Pool, i, lines int, y, src []T, join func(z, x, y []T), end func(dst []T, count int)) {
	for ow := range v.Out[2] {
		at := (i*v.Out[2] + ow) * v.C
		dst := y[at : at+v.C]
		w0, w1 := v.Clip(2, ow)
		if lines == 0 || w0 == w1 {
			end(dst, 0)
			continue
		}
		w, _ := v.At(2, ow, w0)
		tap := func(k int) []T { return src[(w+k*v.Dilation[2])*v.C:][:v.C] }
		if w1 == w0+1 {
			copy(dst, tap(0))
		} else {
			join(dst, tap(0), tap(1))
		}
		for k := 2; k < w1-w0; k++ {
			join(dst, dst, tap(k))
		}
		end(dst, lines*(w1-w0))
	}
}

// MaxPoolArg sets arg to the pixel of the batch, by channel, that holds the
// first of the greatest elements of each window, -1 for windows outside of the
// image.
func MaxPoolArg[T numeric.Real](par kernel.Par, v *Pool, arg []int64, x []T) {
	if len(arg) == 0 {
		return
	}
	if xf, ok := kernel.AsFloat32(x); ok && simd.poolMax != nil && v.mostCovered() <= mostNumbered {
		argRuns(par, v, arg, xf)
		return
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		best := make([]T, v.C)
		v.eachWindow(lo, hi, func(i int, t *covered) {
			at := arg[i*v.C : (i+1)*v.C]
			kernel.Fill(at, -1)
			for _, line := range t.lines {
				for k := range t.n {
					p := line + t.first + k*t.step
					keepGreater(best, at, x[p*v.C:(p+1)*v.C], int64(p))
				}
			}
		})
	})
}

// keepGreater puts the elements of x, all at position p, in the place of lesser
// ones.
func keepGreater[T numeric.Real](best []T, at []int64, x []T, p int64) {
	for c, v := range x {
		if at[c] < 0 || v > best[c] {
			best[c], at[c] = v, p
		}
	}
}

// MaxPoolGrad gives each window's gradient dy to the element it took.
func MaxPoolGrad[T numeric.Real](par kernel.Par, v *Pool, dx, dy []T, arg []int64) {
	clear(dx)
	if len(dy) == 0 {
		return
	}
	n := v.LinesOut() * v.Out[2]
	par(v.Batch, v.imageGrain(), func(lo, hi int) {
		for i := lo * n; i < hi*n; i++ {
			d := dy[i*v.C : (i+1)*v.C]
			for c, at := range arg[i*v.C : (i+1)*v.C] {
				if at >= 0 {
					dx[int(at)*v.C+c] += d[c]
				}
			}
		}
	})
}

// MaxPoolBack sets dx to the gradients of images x from those of their maxima,
// dy: the first of the greatest elements of each window gets it, if a gate, which may be nil,
// lets it pass. Only float32 has gates.
func MaxPoolBack[T numeric.Real](par kernel.Par, v *Pool, gate *Gate, dx, x, dy []T) {
	if len(dy) == 0 {
		clear(dx)
		return
	}
	dxf, ok := kernel.AsFloat32(dx)
	xf, _ := kernel.AsFloat32(x)
	dyf, _ := kernel.AsFloat32(dy)
	if !ok || simd.poolMaxGrad == nil || v.mostCovered() > countable {
		arg, loan := memory.Lend[int64](len(dy))
		defer loan.Return()
		MaxPoolArg(par, v, arg, x)
		MaxPoolGrad(par, v, dx, dy, arg)
		if ok && gate != nil {
			gate.shut(par, dxf, xf)
		}
		return
	}
	b := v.maxBack(dxf, xf, dyf, gate)
	par(v.Batch, v.imageGrain(), func(lo, hi int) {
		for n := max(1, clearAtOnce/max(1, b.image)); lo < hi; lo += n {
			b.images(lo, min(lo+n, hi))
		}
	})
}

// MaxPoolGather sets y to the elements of x that arg chooses, 0 where it
// chooses none.
func MaxPoolGather[T numeric.Real](par kernel.Par, v *Pool, y, x []T, arg []int64) {
	if len(y) == 0 {
		return
	}
	par(len(y)/v.C, max(1, poolElements/v.C), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst := y[i*v.C : (i+1)*v.C]
			clear(dst)
			for c, at := range arg[i*v.C : (i+1)*v.C] {
				if at >= 0 {
					dst[c] = x[int(at)*v.C+c]
				}
			}
		}
	})
}

// AvgPool sets y to the means of each window's elements inside the image.
func AvgPool[T numeric.Float](par kernel.Par, v *Pool, y, x []T) { sumPool(par, v, y, x, true) }

// SumPool sets y to the sums of each window's elements inside the image.
func SumPool[T numeric.Float](par kernel.Par, v *Pool, y, x []T) { sumPool(par, v, y, x, false) }

func sumPool[T numeric.Float](par kernel.Par, v *Pool, y, x []T, mean bool) {
	if len(y) == 0 {
		return
	}
	if yf, ok := kernel.AsFloat32(y); ok && simd.poolSum != nil {
		xf, _ := kernel.AsFloat32(x)
		poolRuns(par, v, yf, xf, loops{simd.poolSum, elementwise.Add[float32]}, func(y []float32, taps int) {
			switch {
			case taps == 0:
				clear(y)
			case mean:
				elementwise.MulScalar(y, y, 1/float32(taps))
			}
		})
		return
	}
	poolLines(par, v, y, x, elementwise.Add[T], func(dst []T, count int) {
		switch {
		case count == 0:
			clear(dst)
		case mean:
			elementwise.MulScalar(dst, dst, 1/T(count))
		}
	})
}

// AvgPoolWhole is AvgPool for whole numbers: the means are rounded to the nearest,
// those in the middle to the even one.
func AvgPoolWhole[T numeric.Signed](par kernel.Par, v *Pool, y, x []T) {
	if len(y) == 0 {
		return
	}
	poolLines(par, v, y, x, elementwise.Add[T], func(dst []T, count int) {
		if count == 0 {
			clear(dst)
			return
		}
		for i, sum := range dst {
			dst[i] = T(math.RoundToEven(float64(sum) / float64(count)))
		}
	})
}

// AvgPoolGrad shares each window's gradient dy among its elements: those of a line first, for all
// lines that windows beside each other cover.
func AvgPoolGrad[T numeric.Float](par kernel.Par, v *Pool, dx, dy []T) {
	clear(dx)
	if len(dy) == 0 {
		return
	}
	par(v.Batch, v.imageGrain(), func(lo, hi int) {
		width := v.In[2] * v.C
		room, loan := memory.Lend[T](v.C + width)
		defer loan.Return()
		part, shared := room[width:], room[:width]
		var lines []int
		for i := lo * v.LinesOut(); i < hi*v.LinesOut(); i++ {
			n, od, oh := v.Line(i)
			if lines = v.coveredLines(lines[:0], n, od, oh); len(lines) == 0 {
				continue
			}
			shareLine(v, shared, dy[i*v.Out[2]*v.C:(i+1)*v.Out[2]*v.C], part, len(lines))
			for _, l := range lines {
				to := dx[l*v.C : l*v.C+width]
				elementwise.Add(to, to, shared)
			}
		}
	})
}

// shareLine sets shared to what each of so many lines gets of a line of gradients.
func shareLine[T numeric.Float](v *Pool, shared, dy, part []T, lines int) {
	clear(shared)
	for o := range v.Out[2] {
		w0, w1 := v.Clip(2, o)
		if w0 == w1 {
			continue
		}
		first, _ := v.At(2, o, w0)
		elementwise.MulScalar(part, dy[o*v.C:(o+1)*v.C], 1/T(lines*(w1-w0)))
		for k := range w1 - w0 {
			to := shared[(first+k*v.Dilation[2])*v.C:][:v.C]
			elementwise.Add(to, to, part)
		}
	}
}
