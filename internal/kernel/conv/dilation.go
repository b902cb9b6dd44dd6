package conv

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// leastDilated channels are worth vector loops where pixels are not side by side.
const leastDilated = 16

// Dilate sets y to the greatest sums of images and filter w under each window,
// the least number there is for windows outside of the image. If from is not
// nil, it is told of the tap of the first of the greatest, -1 if there is none.
func Dilate[T numeric.Real](par kernel.Par, v *Depthwise, y, x, w []T, from []int32) {
	if yf, ok := kernel.AsFloat32(y); ok && (v.Stride[2] == 1 || v.C >= leastDilated) {
		xf, _ := kernel.AsFloat32(x)
		wf, _ := kernel.AsFloat32(w)
		if from == nil {
			dilateRuns(par, v, yf, xf, wf)
		} else {
			dilateTaps(par, v, yf, xf, wf, from)
		}
		return
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dilateLine(v, i, y, x, w, from)
		}
	})
}

// dilateRuns is Dilate by vector loops, for runs of pixels at a time. These
// keep a sum that is not a number, which is never the greatest: lines that
// have one are computed again.
func dilateRuns(par kernel.Par, v *Depthwise, y, x, w []float32) {
	wide, run := repeated(v, w, v.run()), v.run()*v.C
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		sums, loan := memory.Lend[float32](run)
		defer loan.Return()
		for i := lo; i < hi; i++ {
			dst := y[i*v.Out[2]*v.C : (i+1)*v.Out[2]*v.C]
			kernel.Fill(dst, numeric.Lowest[float32]())
			v.eachRow(i, func(tap, in int) {
				src := x[in*v.In[2]*v.C:]
				for kw := range v.Kernel[2] {
					v.eachRun(kw, func(p, o, n int) {
						n *= v.C
						elementwise.Add(sums[:n], src[p*v.C:][:n], wide[(tap+kw)*run:][:n])
						elementwise.Max(dst[o*v.C:][:n], sums[:n], dst[o*v.C:][:n])
					})
				}
			})
			if slices.ContainsFunc(dst, func(v float32) bool { return v != v }) {
				dilateLine(v, i, y, x, w, nil)
			}
		}
	})
}

func dilateLine[T numeric.Real](v *Depthwise, i int, y, x, w []T, from []int32) {
	first, n := i*v.Out[2]*v.C, v.Out[2]*v.C
	kernel.Fill(y[first:first+n], numeric.Lowest[T]())
	if from != nil {
		kernel.Fill(from[first:first+n], -1)
	}
	v.eachRow(i, func(tap, in int) {
		for kw := range v.Kernel[2] {
			for o := range v.Out[2] {
				p, inside := v.At(2, o, kw)
				if !inside {
					continue
				}
				image, filter := (in*v.In[2]+p)*v.C, (tap+kw)*v.C
				at := first + o*v.C
				best, add := y[at:][:v.C], w[filter:][:v.C]
				for c, val := range x[image:][:v.C] {
					if sum := val + add[c]; sum > best[c] {
						best[c] = sum
						if from != nil {
							from[at+c] = int32(tap + kw)
						}
					}
				}
			}
		}
	})
}
