package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// A DilationSource says which elements of images and filter a result of a
// dilation is the sum of; -1 if it is of none.
type DilationSource struct{ Image, Filter int }

// Dilate sets y to the greatest sums of images and filter w under each window,
// the least number there is for windows outside of the image. If from is not
// nil, it is told of the first of the greatest.
func Dilate[T numeric.Real](par kernel.Par, v *Depthwise, y, x, w []T, from []DilationSource) {
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dilateLine(v, i, y, x, w, from)
		}
	})
}

func dilateLine[T numeric.Real](v *Depthwise, i int, y, x, w []T, from []DilationSource) {
	first, n := i*v.Out[2]*v.C, v.Out[2]*v.C
	kernel.Fill(y[first:first+n], numeric.Lowest[T]())
	if from != nil {
		kernel.Fill(from[first:first+n], DilationSource{-1, -1})
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
				for c := range v.C {
					if sum := x[image+c] + w[filter+c]; sum > y[at+c] {
						y[at+c] = sum
						if from != nil {
							from[at+c] = DilationSource{image + c, filter + c}
						}
					}
				}
			}
		}
	})
}
