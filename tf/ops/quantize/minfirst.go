package quantize

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// A minFirst is a range whose minimum, rounded to a whole number of steps, is
// the least quantized number.
type minFirst[Q quantum] struct{ lo, hi float32 }

// steps returns how many steps there are between the bounds.
func (minFirst[Q]) steps() float64 { return float64(highest64[Q]() - lowest64[Q]()) }

func lowest64[Q quantum]() int64  { return int64(numeric.Lowest[Q]()) }
func highest64[Q quantum]() int64 { return int64(numeric.Highest[Q]()) }

// perUnit returns how many quantized numbers there are to 1.
func (f minFirst[Q]) perUnit() float32 {
	if f.hi == f.lo {
		return 0
	}
	return float32(f.steps() / float64(f.hi-f.lo))
}

// step returns how far quantized numbers are apart.
func (f minFirst[Q]) step() float32 { return float32(float64(f.hi-f.lo) / f.steps()) }

// quantize sets y to the quantized numbers of x.
func (f minFirst[Q]) quantize(y []Q, x []float32) {
	scale := f.perUnit()
	offset := roundAway(f.lo*scale) - lowest[Q]()
	if !byCode(first, &parameters{0, 0, scale, offset}, y, x) {
		kernel.Map2(y, x, func(v float32) Q { return saturated[Q](roundAway(v*scale) - offset) })
	}
}

// origin returns what the least quantized number stands for.
func (f minFirst[Q]) origin() float32 {
	if f.hi == f.lo {
		return f.lo
	}
	return roundAway(f.lo/f.step()) * f.step()
}

// dequantize sets y to what x stands for. Of 32 bits, x less the lowest number would
// lose all digits behind the seventh.
func (f minFirst[Q]) dequantize(y []float32, x []Q) {
	step := f.step()
	zero := f.origin() - float32(lowest[Q]()*step) // what 0 stands for
	if !dequantized(zero, step, 0, y, x) {
		kernel.Map2(y, x, func(v Q) float32 { return zero + float32(float32(v)*step) })
	}
}
