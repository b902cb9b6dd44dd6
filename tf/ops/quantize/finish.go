package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A finish is what becomes of sums of products, numbers of 32 bits, in ops that
// TensorFlow has oneDNN compute: what they stand for, plus biases and numbers
// that were there before, less what is below 0, in steps of the result. The last
// dimension of sums has a factor and a bias for each index.
type finish struct {
	factor  []float32 // for each index, or for all
	bias    []float32 // nil for none
	add     func(i int) float32
	relu    bool
	perUnit float32 // steps to 1
}

// newFinish returns the finish of sums whose factors have steps of these sizes.
func newFinish(left float32, right []float32, result float32) *finish {
	f := &finish{factor: core.Make[float32](len(right)), perUnit: 1 / result}
	for i, step := range right {
		f.factor[i] = left * step
	}
	return f
}

// at returns what the sum at index i becomes.
func (f *finish) at(i, channel int, sum int32) float32 {
	v := float32(sum) * f.factor[channel%len(f.factor)]
	if f.bias != nil {
		v += f.bias[channel]
	}
	if f.add != nil {
		v += f.add(i)
	}
	if f.relu {
		v = max(v, 0)
	}
	return v * f.perUnit
}

// into makes out what becomes of sums with so many channels.
func (f *finish) into(c *core.OpContext, out *core.Tensor, sums []int32, channels int) {
	switch out.DType() {
	case tf.QInt8:
		finishAs(c, f, core.Data[int8](out), sums, channels)
	case tf.QUint8:
		finishAs(c, f, core.Data[uint8](out), sums, channels)
	case tf.QInt32:
		finishAs(c, f, core.Data[int32](out), sums, channels)
	case tf.BFloat16:
		y := core.Borrow[float32](c, len(sums))
		f.floats(c, y, sums, channels)
		elementwise.Narrow(core.Data[tf.BF16](out), y)
	default:
		f.floats(c, core.Data[float32](out), sums, channels)
	}
}

func (f *finish) floats(c *core.OpContext, y []float32, sums []int32, channels int) {
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = f.at(i, i%channels, sums[i])
		}
	})
}

// finishAs rounds to the nearest number of Q, of two the even one.
func finishAs[Q quantum](c *core.OpContext, f *finish, y []Q, sums []int32, channels int) {
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = bounded[Q](float32(math.RoundToEven(float64(f.at(i, i%channels, sums[i])))))
		}
	})
}

// farther returns the greater absolute value of the bounds: that of the lower one if they
// do not compare.
func (r span) farther() float32 { return greater(abs(r.lo), abs(r.hi)) }

// symmetricLevel is level for numbers of which the least one is left out where
// there is no number opposite to it.
func symmetricLevel[Q quantum](r span) float32 {
	least := lowest64[Q]()
	if least < -highest64[Q]() {
		least++
	}
	return (r.hi - r.lo) / float32(highest64[Q]()-least)
}

// filterSteps returns how far the numbers of 8 bits of each range are apart,
// with 0 in the middle.
func filterSteps(lo, hi []float32) []float32 {
	out := reach(lo, hi)
	for i, r := range out {
		out[i] = float32(float64(r) / 127)
	}
	return out
}

// biases returns input i, float32 or whole numbers of the given steps.
func biases(t *core.Tensor, perStep []float32) []float32 {
	if t.DType() != tf.QInt32 {
		return core.Data[float32](t)
	}
	out := core.Make[float32](t.Len())
	for i, v := range core.Data[int32](t) {
		out[i] = float32(v) / perStep[i%len(perStep)]
	}
	return out
}
