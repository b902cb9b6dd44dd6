package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// ConvolveBackInput computes the gradient dx of Convolve for its images from
// that of its results, dy.
func ConvolveBackInput[T numeric.Number](par kernel.Par, v *Conv, dx, dy, w []T) {
	if len(dx) == 0 {
		return
	}
	if len(dy) == 0 || len(w) == 0 {
		clear(dx)
		return
	}
	if v.far() {
		clear(dx)
		v.eachProduct(func(i, j, k int) { dx[j] += dy[i] * w[k] })
		return
	}
	if v.pointwise() { // the filters are turned around as they are packed
		gemm.MatMul(par, gemm.NewGemm(v.Batch*v.LinesIn()*v.In[2], v.InC, v.OutC, false, true), dx, dy, w, gemm.Epilogue[T]{})
		return
	}
	par = v.flushing(par)
	if backInputFast(par, v, dx, dy, w) {
		return
	}
	if back, ok := v.mirrored(); ok {
		Convolve(par, back, dx, dy, mirrorFilter(par, v, w), gemm.Epilogue[T]{})
		return
	}
	wt := swapChannels(par, v, w)
	n := v.In[2] * v.InC
	par(v.Batch*v.LinesIn(), v.lineGrain(), func(lo, hi int) {
		line := memory.Make[T](max(v.Width(), v.Pad[2]+v.In[2]) * v.InC)
		for i := lo; i < hi; i++ {
			clear(line)
			collectLine(v, line, dy, wt, i)
			copy(dx[i*n:(i+1)*n], line[v.Pad[2]*v.InC:])
		}
	})
}

// mirrored returns the convolution with the filters turned around that
// computes the gradient, if there is one: windows have to move by 1.
func (v *Conv) mirrored() (*Conv, bool) {
	b := *v
	b.In, b.Out, b.InC, b.OutC = v.Out, v.In, v.OutC, v.InC
	for i := range b.Pad {
		b.Pad[i] = (v.Kernel[i]-1)*v.Dilation[i] - v.Pad[i]
		if b.Pad[i] < 0 || v.Stride[i] != 1 {
			return nil, false
		}
	}
	return &b, v.Groups == 1
}

// mirrorFilter turns the filters around and exchanges inputs and outputs.
func mirrorFilter[T numeric.Number](par kernel.Par, v *Conv, w []T) []T {
	wt := memory.Make[T](len(w))
	n, last := v.InC*v.OutC, v.Taps()-1
	swap := layout.NewTransposition([]int{v.InC, v.OutC}, []int{1, 0})
	par(v.Taps(), max(1, kernel.ElementGrain/max(1, n)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			layout.TransposeNumbers(kernel.Serial, swap, wt[(last-i)*n:(last-i+1)*n], w[i*n:(i+1)*n])
		}
	})
	return wt
}

// swapChannels transposes the matrix of each tap to [outputs channels].
func swapChannels[T numeric.Number](par kernel.Par, v *Conv, w []T) []T {
	wt := memory.Make[T](len(w))
	swapChannelsInto(par, v, wt, w)
	return wt
}

func swapChannelsInto[T numeric.Number](par kernel.Par, v *Conv, wt, w []T) {
	layout.TransposeNumbers(par, layout.NewTransposition([]int{v.Taps(), v.groupC(), v.OutC}, []int{0, 2, 1}), wt, w)
}

// collectLine adds to a padded line of images what all windows that cover
// parts of it give back.
func collectLine[T numeric.Number](v *Conv, line, dy, wt []T, i int) {
	n, d, h := i/v.LinesIn(), i%v.LinesIn()/v.In[1], i%v.In[1]
	for kd := range v.Kernel[0] {
		od, inside := v.From(0, d, kd)
		if !inside {
			continue
		}
		for kh := range v.Kernel[1] {
			if oh, inside := v.From(1, h, kh); inside {
				src := dy[((n*v.Out[0]+od)*v.Out[1]+oh)*v.Out[2]*v.OutC:]
				tap := (kd*v.Kernel[1] + kh) * v.Kernel[2]
				collectRow(v, line, src, wt[tap*v.groupC()*v.OutC:])
			}
		}
	}
}

// collectRow adds the product of one row of gradients with each tap of a row
// of the filters. The results of one tap do not overlap.
func collectRow[T numeric.Number](v *Conv, line, dy, wt []T) {
	g := gemm.Gemm{M: v.Out[2], N: v.groupC(), K: v.groupOut(), LDA: v.OutC, LDB: v.groupC(), LDC: v.Stride[2] * v.InC, Accumulate: true}
	for kw := range v.Kernel[2] {
		for k := range v.Groups {
			serialMatMul(g, line[kw*v.Dilation[2]*v.InC+k*g.N:], dy[k*g.K:], wt[(kw*v.OutC+k*g.K)*g.N:])
		}
	}
}

// backPatchElements is how many elements of patches are multiplied at a time
// for the filters: long enough for the sums to stay in registers.
const backPatchElements = 512 << 10

// ConvolveBackFilter computes the gradient dw of Convolve for its filters from
// its images and the gradient of its results, dy.
func ConvolveBackFilter[T numeric.Number](par kernel.Par, v *Conv, dw, x, dy []T) {
	if len(dy) == 0 || len(x) == 0 {
		clear(dw)
		return
	}
	if v.far() {
		clear(dw)
		v.eachProduct(func(i, j, k int) { dw[k] += dy[i] * x[j] })
		return
	}
	if v.pointwise() {
		gemm.MatMul(par, gemm.NewGemm(v.InC, v.OutC, v.Batch*v.LinesOut()*v.Out[2], true, false), dw, x, dy, gemm.Epilogue[T]{})
		return
	}
	par = v.flushing(par)
	if backFilterFast(par, v, dw, x, dy) {
		return
	}
	lines, step := v.Batch*v.LinesOut(), v.patchLines(backPatchElements)
	patches := memory.Make[T](min(step, lines) * v.Out[2] * v.patchSize())
	for i := 0; i < lines; i += step {
		end := min(lines, i+step)
		patchMatrix(par, v, patches, x, i, end)
		addFilters(par, v, dw, patches, dy[i*v.Out[2]*v.OutC:], (end-i)*v.Out[2], i > 0)
	}
}

// backInputFast runs the loop of the element type, if there is one.
func backInputFast[T numeric.Number](par kernel.Par, v *Conv, dx, dy, w []T) bool {
	switch dx := any(dx).(type) {
	case []float32:
		return simd.backInput32 != nil && simd.backInput32(par, v, dx, any(dy).([]float32), any(w).([]float32))
	case []float64:
		return simd.backInput64 != nil && simd.backInput64(par, v, dx, any(dy).([]float64), any(w).([]float64))
	}
	return false
}

// backFilterFast runs the loop of the element type, if there is one.
func backFilterFast[T numeric.Number](par kernel.Par, v *Conv, dw, x, dy []T) bool {
	switch dw := any(dw).(type) {
	case []float32:
		if simd.backFilter32 != nil {
			simd.backFilter32(par, v, dw, any(x).([]float32), any(dy).([]float32))
			return true
		}
	case []float64:
		if simd.backFilter64 != nil {
			simd.backFilter64(par, v, dw, any(x).([]float64), any(dy).([]float64))
			return true
		}
	}
	return false
}

// addFilters multiplies the patches of some windows with their gradients.
func addFilters[T numeric.Number](par kernel.Par, v *Conv, dw, patches, dy []T, windows int, more bool) {
	if v.Groups == 1 {
		g := gemm.NewGemm(v.patchSize(), v.OutC, windows, !v.thin(), false)
		g.Accumulate = more
		gemm.MatMul(par, g, dw, patches, dy, gemm.Epilogue[T]{})
		return
	}
	c, out := v.groupC(), v.groupOut()
	g := gemm.Gemm{M: c, N: out, K: windows, TransA: true, LDA: v.patchSize(), LDB: v.OutC, LDC: v.OutC, Accumulate: more}
	for tap := range v.Taps() {
		for k := range v.Groups {
			gemm.MatMul(par, g, dw[tap*c*v.OutC+k*out:], patches[tap*v.InC+k*c:], dy[k*out:], gemm.Epilogue[T]{})
		}
	}
}
