package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// patchElements is how many elements of patches are put side by side: they
// stay in the second-level cache.
const patchElements = 64 << 10

// patchSize is the number of elements a window covers.
func (v *Conv) patchSize() int { return v.Taps() * v.InC }

// patchLines is the number of lines of windows whose patches are made at a
// time.
func (v *Conv) patchLines(most int) int {
	return max(1, most/max(1, v.Out[2]*v.patchSize()))
}

// convolvePatches copies what each window covers and multiplies that.
func convolvePatches[T numeric.Number](par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	step, n := v.patchLines(patchElements), v.Out[2]*v.OutC
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		patches := memory.Make[T](min(step, hi-lo) * v.Out[2] * v.patchSize())
		for i := lo; i < hi; i += step {
			end := min(hi, i+step)
			patchMatrix(kernel.Serial, v, patches, x, i, end)
			g := gemm.NewGemm((end-i)*v.Out[2], v.OutC, v.patchSize(), v.thin(), false)
			gemm.MatMul(kernel.Serial, g, y[i*n:end*n], patches, w, e.At(i*n))
		}
	})
}

// spaced reports whether results depend on one position each, some apart, and are so many that
// copying those takes little time beside their product with the filters.
func (v *Conv) spaced() bool {
	one, enough := [3]int{1, 1, 1}, 128
	return v.Kernel == one && v.Stride != one && v.Groups == 1 && v.OutC >= enough
}

// spacedElements is how many elements are copied at a time: enough rows for a product to share.
const spacedElements = 1 << 20

// convolveSpaced copies the positions that are seen and multiplies these.
func convolveSpaced[T numeric.Number](par kernel.Par, v *Conv, y, x, w []T, e gemm.Epilogue[T]) {
	lines, step, n := v.Batch*v.LinesOut(), v.patchLines(spacedElements), v.Out[2]*v.OutC
	seen := memory.Make[T](min(step, lines) * v.Out[2] * v.InC)
	for i := 0; i < lines; i += step {
		end := min(lines, i+step)
		par(end-i, max(1, kernel.ElementGrain/(v.Out[2]*v.InC)), func(lo, hi int) {
			fillPatches(v, seen[lo*v.Out[2]*v.InC:], x, i+lo, i+hi)
		})
		gemm.MatMul(par, gemm.NewGemm((end-i)*v.Out[2], v.OutC, v.InC, false, false), y[i*n:end*n], seen, w, e.At(i*n))
	}
}

// fillPatches copies what the windows of lines [lo, hi) cover, 0 outside of
// the image.
func fillPatches[T any](v *Conv, dst, x []T, lo, hi int) {
	n := v.Out[2] * v.patchSize()
	for i := lo; i < hi; i++ {
		fillPatchLine(v, dst[(i-lo)*n:(i-lo+1)*n], x, i)
	}
}

func fillPatchLine[T any](v *Conv, dst, x []T, i int) {
	n, od, oh := v.Line(i)
	row := v.Kernel[2] * v.InC
	for kd := range v.Kernel[0] {
		d, inD := v.At(0, od, kd)
		for kh := range v.Kernel[1] {
			h, inH := v.At(1, oh, kh)
			var src []T
			if inD && inH {
				src = x[((n*v.In[0]+d)*v.In[1]+h)*v.In[2]*v.InC:][:v.In[2]*v.InC]
			}
			fillPatchRow(v, dst[(kd*v.Kernel[1]+kh)*row:], src)
		}
	}
}

// fillPatchRow copies one row of each window of a line from src, nil for a
// line outside of the image.
func fillPatchRow[T any](v *Conv, dst, src []T) {
	size, row := v.patchSize(), v.Kernel[2]*v.InC
	for o := range v.Out[2] {
		to := dst[o*size : o*size+row]
		if src == nil {
			clear(to)
			continue
		}
		lo, hi := v.Clip(2, o)
		clear(to[:min(lo, v.Kernel[2])*v.InC])
		if lo < hi {
			copyTaps(v, to[lo*v.InC:hi*v.InC], src, o*v.Stride[2]-v.Pad[2]+lo*v.Dilation[2])
		}
		clear(to[min(hi, v.Kernel[2])*v.InC:])
	}
}

// copyTaps copies neighbouring taps from position p on.
func copyTaps[T any](v *Conv, dst, src []T, p int) {
	if v.Dilation[2] == 1 {
		copy(dst, src[p*v.InC:])
		return
	}
	for ; len(dst) > 0; p += v.Dilation[2] {
		copy(dst[:v.InC], src[p*v.InC:])
		dst = dst[v.InC:]
	}
}
