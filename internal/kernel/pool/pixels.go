package pool

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Windows of any pixels, as fractional pooling has them: pixels holds the first element of each.

// mostPixels of a window at most are one call into assembly, which nothing interrupts.
const mostPixels = 4096

// fewChannels take less time than a call for them.
const fewChannels = 8

// vectorPixels runs a vector loop for a window, if it has the type, the size and elements inside x.
func vectorPixels[T any](f func(y, x *float32, offsets *int, taps, channels, count, step int), y, x []T, pixels []int) bool {
	yf, ok := kernel.AsFloat32(y)
	if !ok || f == nil || len(y) < fewChannels || len(pixels) == 0 || len(pixels) > mostPixels {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	for _, p := range pixels {
		_ = xf[p : p+len(yf)]
	}
	f(&yf[0], &xf[0], &pixels[0], len(pixels), len(yf), 1, 0)
	return true
}

// MaxPixels sets y to the greatest element of each channel and the least number there is if none
// is greater: NaN and infinity below it count for nothing. It may change the order of pixels.
func MaxPixels[T numeric.Real](y, x []T, pixels []int) {
	least := numeric.Lowest[T]()
	slices.Reverse(pixels) // the first one of equal zeros stays: the loops keep the last
	if vectorPixels(simd.poolMax, y, x, pixels) && !slices.ContainsFunc(y, func(v T) bool { return !(v >= least) }) {
		return
	}
	kernel.Fill(y, least)
	for _, p := range pixels {
		for i, v := range x[p : p+len(y)] {
			if v >= y[i] {
				y[i] = v
			}
		}
	}
}

// SumPixels sets y to the sum of each channel.
func SumPixels[T numeric.Number](y, x []T, pixels []int) {
	if vectorPixels(simd.poolSum, y, x, pixels) {
		return
	}
	clear(y)
	for _, p := range pixels {
		part := x[p : p+len(y)]
		if len(y) >= fewChannels {
			elementwise.Add(y, y, part)
			continue
		}
		for i, v := range part {
			y[i] += v
		}
	}
}
