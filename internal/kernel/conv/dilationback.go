package conv

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// dilateCode puts sums of operands 2 and 3 in the place of lesser ones, operand 0, and the tap
// that they are of, operand 4, beside them. A sum that is not a number is never the greatest.
var dilateCode = elementwise.CompileMany(2, func(c *machine.Code, in []machine.Value) {
	sum := c.Add(in[2], in[3])
	greater := c.Greater(sum, in[0])
	c.Store(c.Pick(greater, sum, in[0]), machine.Word)
	c.Store(c.Pick(greater, in[4], in[1]), machine.Word)
})

// dilateTaps is Dilate that tells of taps, for runs of pixels at a time.
func dilateTaps(par kernel.Par, v *Depthwise, y, x, w []float32, from []int32) {
	wide, run := repeated(v, w), v.run()*v.C
	numbers := memory.Make[float32](v.Taps())
	for i := range numbers {
		numbers[i] = math.Float32frombits(uint32(i))
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			best, at := y[i*v.Out[2]*v.C:(i+1)*v.Out[2]*v.C], from[i*v.Out[2]*v.C:(i+1)*v.Out[2]*v.C]
			kernel.Fill(best, numeric.Lowest[float32]())
			kernel.Fill(at, -1)
			v.eachRow(i, func(tap, in int) {
				src := x[in*v.In[2]*v.C:]
				for kw := range v.Kernel[2] {
					v.eachRun(kw, func(p, o, n int) {
						n *= v.C
						keepSums(best[o*v.C:][:n], at[o*v.C:][:n], src[p*v.C:][:n], wide[(tap+kw)*run:][:n], &numbers[tap+kw])
					})
				}
			})
		}
	})
}

func keepSums(best []float32, at []int32, x, w []float32, tap *float32) {
	if dilateCode.Run(len(best), elementwise.Along(best), elementwise.Along(at), elementwise.Along(x), elementwise.Along(w), elementwise.Shared(tap), elementwise.Along(best), elementwise.Along(at)) {
		return
	}
	for i, v := range x {
		if sum := v + w[i]; sum > best[i] {
			best[i], at[i] = sum, int32(math.Float32bits(*tap))
		}
	}
}

// DilationSources returns which elements of images, or of the filter, results are the sums of,
// given their taps; -1 for those that are of none.
func DilationSources(par kernel.Par, v *Depthwise, from []int32, ofFilter bool) []int {
	out := memory.Make[int](len(from))
	if len(out) == 0 {
		return out
	}
	par(v.Batch*v.LinesOut(), v.lineGrain(), func(lo, hi int) {
		first := make([]int, v.Taps()) // for window 0 of a line
		for i := lo; i < hi; i++ {
			v.eachRow(i, func(tap, in int) {
				for kw := range v.Kernel[2] {
					if first[tap+kw] = (in*v.In[2] + kw*v.Dilation[2] - v.Pad[2]) * v.C; ofFilter {
						first[tap+kw] = (tap + kw) * v.C
					}
				}
			})
			for o := range v.Out[2] {
				at, move := (i*v.Out[2]+o)*v.C, o*v.Stride[2]*v.C
				if ofFilter {
					move = 0
				}
				dst := out[at : at+v.C]
				for c, tap := range from[at : at+v.C] {
					if dst[c] = -1; tap >= 0 {
						dst[c] = first[tap] + move + c
					}
				}
			}
		}
	})
	return out
}
