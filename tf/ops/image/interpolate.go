package image

import (
	"math"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// bilinear takes the two nearest pixels by their distances.
func bilinear(r resizing, i int) taps {
	at := r.source(i)
	low := float32(math.Floor(float64(at)))
	lerp := at - low
	lower, upper := max(int(low), 0), min(int(math.Ceil(float64(at))), r.in-1)
	return taps{[]int{min(lower, r.in-1), max(upper, 0)}, []float32{1 - lerp, lerp}}
}

// cubicSteps is how finely the curves of bicubic are known, as in TensorFlow.
const cubicSteps = 1 << 10

// cubicTable returns a cubic curve through points at distances 0 to 1 and 1 to
// 2, in turn, of the given slope.
func cubicTable(a float64) []float32 {
	t := core.Make[float32](2 * (cubicSteps + 1))
	for i := range cubicSteps + 1 {
		x := float64(float32(float64(i) / cubicSteps))
		t[2*i] = float32(((a+2)*x-(a+3))*x*x + 1)
		x++
		t[2*i+1] = float32(((a*x-5*a)*x+8*a)*x - 4*a)
	}
	return t
}

// With centers of pixels that meet, the curve is that of Keys.
var (
	cubicCurve = sync.OnceValue(func() []float32 { return cubicTable(-0.75) })
	keysCurve  = sync.OnceValue(func() []float32 { return cubicTable(-0.5) })
)

// bicubic takes the four nearest pixels. Pixels outside of the image are left
// out, or the nearest inside stand for them.
func bicubic(r resizing, i int) taps {
	at := r.source(i)
	first := floor(at)
	offset := int(math.RoundToEven(float64((at - float32(first)) * cubicSteps)))
	curve := cubicCurve()
	if r.halfPixels {
		curve = keysCurve()
	}
	t := taps{make([]int, 4), []float32{
		curve[2*offset+1], curve[2*offset], curve[2*(cubicSteps-offset)], curve[2*(cubicSteps-offset)+1],
	}}
	for k := range t.at {
		pixel := first + k - 1
		t.at[k] = within(pixel, r.in)
		if r.halfPixels && t.at[k] != pixel {
			t.weight[k] = 0
		}
	}
	if r.halfPixels {
		normalize(t.weight)
	}
	return t
}

// normalize divides weights by their sum, if that is not nearly 0.
func normalize(w []float32) {
	sum := float32(0)
	for _, v := range w {
		sum += v
	}
	if math.Abs(float64(sum)) < 1000*0x1p-126 {
		return
	}
	by := 1 / sum
	for k := range w {
		w[k] *= by
	}
}

// area takes all pixels that the new one covers, by how much. Corners of a single pixel
// are not aligned: a new pixel would cover nothing.
func area(r resizing, i int) taps {
	if r.in == 1 {
		return taps{at: []int{0}, weight: []float32{1}}
	}
	begin, end := float32(i)*r.scale, float32(i+1)*r.scale
	var t taps
	for v := floor(begin); v < int(math.Ceil(float64(end))); v++ {
		x := float32(v)
		covered := float32(1)
		switch {
		case x < begin && x+1 > end:
			covered = r.scale
		case x < begin:
			covered = x + 1 - begin
		case x+1 > end:
			covered = end - x
		}
		t.at, t.weight = append(t.at, within(v, r.in)), append(t.weight, covered/r.scale)
	}
	return t
}
