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
	wide, run := repeated(v, w, v.run()), v.run()*v.C
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

// DilateBack adds the gradients g of results to z, the gradient of images or of the filter, given the taps that the
// results are sums of; tap -1 is none. Additions to one element are made in the order of the results.
func DilateBack[T numeric.Real](par kernel.Par, v *Depthwise, z, g []T, from []int32, ofFilter bool) {
	if len(g) == 0 {
		return
	}
	images := par
	if ofFilter {
		images = func(n, _ int, f func(lo, hi int)) { f(0, n) } // all images have one sum
	}
	lines, width := v.LinesOut(), v.Out[2]*v.C
	images(v.Batch, 1, func(lo, hi int) {
		first := make([]int, v.Taps())
		for i := lo * lines; i < hi*lines; i++ {
			move := v.firstSources(i, first, ofFilter)
			for o := range v.Out[2] {
				at := i*width + o*v.C
				addBySource(z, g[at:at+v.C], from[at:at+v.C], first, o*move)
			}
		}
	})
}

// firstSources finds which element of images, or of the filter, belongs to each tap of the first window of a line,
// and returns how far the next window's is from it.
func (v *Depthwise) firstSources(line int, first []int, ofFilter bool) int {
	if ofFilter {
		for tap := range first {
			first[tap] = tap * v.C
		}
		return 0
	}
	v.eachRow(line, func(tap, in int) {
		for kw := range v.Kernel[2] {
			first[tap+kw] = (in*v.In[2] + kw*v.Dilation[2] - v.Pad[2]) * v.C
		}
	})
	return v.Stride[2] * v.C
}

// addBySource adds one window's gradients, a channel each, to the elements that its results are sums of.
func addBySource[T numeric.Real](z, g []T, from []int32, first []int, move int) {
	for c, tap := range from[:len(g)] {
		if tap >= 0 {
			z[first[tap]+move+c] += g[c]
		}
	}
}
