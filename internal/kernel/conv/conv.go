package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/sliding"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Conv describes a convolution of images [batch depth height width channels]
// with filters [depth height width channels/groups outputs]. Channels and
// outputs are split into groups that have nothing to do with each other.
type Conv struct {
	sliding.Window
	Batch, InC, OutC, Groups int
	// Plain: results are sums of the products of pixels and filters and of nothing else, so that
	// those of integers are exact as far as the type goes.
	Plain bool
	// Kept is not nil for filters that are the same in most convolutions that it is given to. Which
	// convolutions are computed as points depends on whether it is, and not on what it keeps, so that
	// results do not.
	Kept *KeptFilters
}

// convFlops are worth a task of their own: some 20 µs.
const convFlops = 1 << 20

// groupC is the number of channels each output sees.
func (v *Conv) groupC() int { return v.InC / v.Groups }

// groupOut is the number of outputs of a group.
func (v *Conv) groupOut() int { return v.OutC / v.Groups }

// lineGrain is the number of lines of windows that are worth a task.
func (v *Conv) lineGrain() int {
	return max(1, convFlops/max(1, 2*v.Out[2]*v.Taps()*v.groupC()*v.OutC))
}

// flushing is par that takes subnormal numbers for 0, where v takes long enough.
func (v *Conv) flushing(par kernel.Par) kernel.Par {
	if 2*v.Batch*v.LinesOut()*v.Out[2]*v.Taps()*v.groupC()*v.OutC < kernel.FlushLeast {
		return par
	}
	return kernel.Flushing(par)
}

// Convolve computes y from images x and filters w. Each result is the sum over
// the taps in order, whatever the threads.
func Convolve[T numeric.Number](par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	rows := v.Batch * v.LinesOut() * v.Out[2]
	if v.pointwise() && rows > 0 && v.OutC > 0 {
		gemm.MatMul(par, gemm.NewGemm(rows, v.OutC, v.InC, false, false), y, x, w, e)
		return
	}
	if v.spaced() && rows > 0 && v.InC > 0 {
		convolveSpaced(par, v, y, x, w, e)
		return
	}
	par = v.flushing(par)
	switch {
	case rows == 0 || v.OutC == 0:
	case v.far():
		convolveFar(v, y, x, w, e)
	case convolveFast(par, v, y, x, w, e):
	case v.Groups == 1 && v.Kernel[2]*v.InC <= narrowRow:
		convolvePatches(par, v, y, x, w, e)
	default:
		convolveLines(par, v, y, x, w, e)
	}
}

// vectorLoops holds what convolves with vector instructions; nil: the portable loops do.
// The gradients for images return false where another way is faster. The gradients
// for filters make no patches.
type vectorLoops struct {
	convolve32   func(par kernel.Par, v *Conv, y, x, w []float32, e gemm.Epilogue[float32])
	convolve64   func(par kernel.Par, v *Conv, y, x, w []float64, e gemm.Epilogue[float64])
	backInput32  func(par kernel.Par, v *Conv, dx, dy, w []float32) bool
	backInput64  func(par kernel.Par, v *Conv, dx, dy, w []float64) bool
	backFilter32 func(par kernel.Par, v *Conv, dw, x, dy []float32)
	backFilter64 func(par kernel.Par, v *Conv, dw, x, dy []float64)

	depthwiseSums func(y, x, w *float32, taps *int, n, channels, count, xStep, yStep int)
	// depthwiseProducts add up the products for one tap and for three; steps are the fields of
	// productSteps.
	depthwiseProducts1, depthwiseProducts3 func(dw, x, dy *float32, steps *int)
	tiles                                  tileLoops
}

// simd is set once, before main starts, by the file of the architecture.
var simd vectorLoops

// convolveFast runs the loop of the element type, if there is one.
func convolveFast[T numeric.Number](par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) bool {
	if len(x) == 0 || len(w) == 0 {
		return false
	}
	switch y := any(y).(type) {
	case []float32:
		if simd.convolve32 != nil {
			e, _ := any(e).(gemm.Epilogue[float32])
			simd.convolve32(par, v, y, any(x).([]float32), any(w).([]float32), biasApart(e))
			return true
		}
	case []float64:
		if simd.convolve64 != nil {
			e, _ := any(e).(gemm.Epilogue[float64])
			simd.convolve64(par, v, y, any(x).([]float64), any(w).([]float64), biasApart(e))
			return true
		}
	}
	return false
}

// narrowRow is the length of a filter's row up to which the products by rows
// would be too small.
const narrowRow = 16

// pointwise reports whether each result depends on one position only, the same
// one.
func (v *Conv) pointwise() bool {
	one := [3]int{1, 1, 1}
	return v.Kernel == one && v.Stride == one && v.Pad == [3]int{} && v.In == v.Out && v.Groups == 1
}

// convolveLines multiplies the rows of images where they lie: the windows of
// one line are the overlapping rows of a matrix.
func convolveLines[T numeric.Number](par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	n := v.Out[2] * v.OutC
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		p := newPaddedLines(v, x)
		for i := lo; i < hi; i++ {
			dst := y[i*n : (i+1)*n]
			convolveLine(v, p, dst, w, i)
			e.At(i*n).Apply(gemm.Gemm{LDC: v.OutC}, dst, 0, v.Out[2], 0, v.OutC)
		}
	})
}

// convolveLine computes line i of the windows.
func convolveLine[T numeric.Number](v *Conv, p *paddedLines[T], dst, w []T, i int) {
	n, od, oh := v.Line(i)
	more, tapSize := false, v.groupC()*v.OutC
	for kd := range v.Kernel[0] {
		d, inside := v.At(0, od, kd)
		if !inside {
			continue
		}
		for kh := range v.Kernel[1] {
			if h, inside := v.At(1, oh, kh); inside {
				tap := (kd*v.Kernel[1] + kh) * v.Kernel[2]
				convolveRow(v, dst, p.line(n, d, h), w[tap*tapSize:], more)
				more = true
			}
		}
	}
	if !more {
		clear(dst)
	}
}

// convolveRow adds the product of one row of the image with one row of the
// filters.
func convolveRow[T numeric.Number](v *Conv, dst, src, w []T, more bool) {
	g := gemm.Gemm{M: v.Out[2], N: v.OutC, K: v.Kernel[2] * v.InC, LDA: v.Stride[2] * v.InC, LDB: v.OutC, LDC: v.OutC, Accumulate: more}
	if v.Groups == 1 && (v.Dilation[2] == 1 || v.Kernel[2] == 1) {
		serialMatMul(g, dst, src, w)
		return
	}
	g.N, g.K = v.groupOut(), v.groupC()
	for kw := range v.Kernel[2] {
		g.Accumulate = more || kw > 0
		for k := range v.Groups {
			serialMatMul(g, dst[k*g.N:], src[kw*v.Dilation[2]*v.InC+k*g.K:], w[kw*g.K*v.OutC+k*g.N:])
		}
	}
}

// serialMatMul is MatMul on the calling goroutine.
func serialMatMul[T numeric.Number](g gemm.Gemm, c, a, b []T) {
	gemm.MatMul(kernel.Serial, g, c, a, b, gemm.Epilogue[T]{})
}

// paddedLines gives lines of images zeros at both ends.
type paddedLines[T numeric.Number] struct {
	v     *Conv
	x     []T
	lines [][]T // by depth and height, as many as a window covers
	held  []int // which line each of them is, -1 for none
}

func newPaddedLines[T numeric.Number](v *Conv, x []T) *paddedLines[T] {
	p := &paddedLines[T]{v: v, x: x}
	if v.Pad[2] == 0 && v.Width() <= v.In[2] {
		return p
	}
	d, h := p.spans()
	p.lines, p.held = make([][]T, d*h), make([]int, d*h)
	kernel.Fill(p.held, -1)
	return p
}

// spans returns how many depths and heights of an image a window reaches over.
func (p *paddedLines[T]) spans() (d, h int) {
	v := p.v
	return min((v.Kernel[0]-1)*v.Dilation[0]+1, v.In[0]), min((v.Kernel[1]-1)*v.Dilation[1]+1, v.In[1])
}

// line returns a line of image n.
func (p *paddedLines[T]) line(n, d, h int) []T {
	v := p.v
	at, size := (n*v.In[0]+d)*v.In[1]+h, v.In[2]*v.InC
	src := p.x[at*size : (at+1)*size]
	if p.lines == nil {
		return src
	}
	spanD, spanH := p.spans()
	slot := d%spanD*spanH + h%spanH
	if p.held[slot] == at {
		return p.lines[slot]
	}
	if p.lines[slot] == nil {
		p.lines[slot] = memory.Make[T](v.Width() * v.InC)
	}
	p.held[slot] = at
	if left := v.Pad[2] * v.InC; left < len(p.lines[slot]) {
		copy(p.lines[slot][left:], src)
	}
	return p.lines[slot]
}
