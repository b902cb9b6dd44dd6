package image

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	contrastBlock = 1024 // about how many elements stay in the first-level cache
	contrastSums  = 16   // how many numbers are added in single precision
)

// A contrast stretches images of some channels by vector loops, a number of
// whole pixels at a time.
type contrast struct {
	sums   []float32 // of blocks
	shift  []float32 // what is added to each element of a block
	totals []float64 // of each channel
}

func newContrast(depth int) *contrast {
	n := max(1, contrastBlock/depth) * depth
	return &contrast{core.Make[float32](n), core.Make[float32](n), core.Make[float64](depth)}
}

// stretch moves the pixels of an image away from the mean of their channel: it
// multiplies them by factor and adds mean·(1-factor), as TensorFlow does.
func (k *contrast) stretch(y, x []float32, factor float32) {
	k.sum(x)
	depth, block := len(k.totals), len(k.shift)
	for i := range k.shift {
		mean := k.totals[i%depth] / float64(len(x)/depth)
		k.shift[i] = float32(mean) * (1 - factor)
	}
	for lo := 0; lo < len(x); lo += block {
		hi := min(lo+block, len(x))
		elementwise.MulScalar(y[lo:hi], x[lo:hi], factor)
		elementwise.Add(y[lo:hi], y[lo:hi], k.shift)
	}
}

// sum sets totals to the sums of the channels. Few numbers are added in single
// precision, these sums in double precision.
func (k *contrast) sum(x []float32) {
	block, depth := len(k.sums), len(k.totals)
	clear(k.totals)
	for len(x) > 0 {
		clear(k.sums)
		for range contrastSums {
			n := min(block, len(x))
			elementwise.Add(k.sums[:n], k.sums[:n], x)
			x = x[n:]
		}
		for lo := 0; lo < block; lo += depth {
			for ch, v := range k.sums[lo : lo+depth] {
				k.totals[ch] += float64(v)
			}
		}
	}
}
