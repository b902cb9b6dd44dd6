package random

import "math"

// cutoff is where truncated normal numbers end on both sides.
const cutoff = 2

// The number of words that a group of truncated normal numbers takes is not
// known beforehand, so every group has a stretch of the stream for itself.
const (
	truncatedStride   = 256 // blocks from group to group
	truncatedStride64 = 128
)

// TruncatedNormalFloat32 fills out with normal numbers between −2 and 2,
// beginning with group.
func TruncatedNormalFloat32(base Philox, group uint64, out []float32) {
	fillTruncated(base, group, out, func(v float32) float32 { return v })
}

// TruncatedNormalHalf fills out with normal numbers between −2 and 2, beginning
// with group.
func TruncatedNormalHalf(base Philox, group uint64, out []uint16) {
	fillTruncated(base, group, out, halfFrom)
}

// TruncatedNormalBFloat16 fills out with normal numbers between −2 and 2,
// beginning with group.
func TruncatedNormalBFloat16(base Philox, group uint64, out []uint16) {
	fillTruncated(base, group, out, bfloat16From)
}

// TruncatedNormalFloat64 fills out with normal numbers between −2 and 2,
// beginning with group. What [NormalFloat64] says of the last bits holds here
// too.
func TruncatedNormalFloat64(base Philox, group uint64, out []float64) {
	base.Skip(group * truncatedStride64)
	for len(out) > 0 {
		n := truncatedGroup64(base, out[:min(Group64, len(out))])
		base.Skip(truncatedStride64)
		out = out[n:]
	}
}

func fillTruncated[T any](base Philox, group uint64, out []T, round func(float32) T) {
	base.Skip(group * truncatedStride)
	for len(out) > 0 {
		n := truncatedGroup(base, out[:min(Group, len(out))], round)
		base.Skip(truncatedStride)
		out = out[n:]
	}
}

// truncatedGroup fills one group and returns its length. Whether a number
// counts is decided before it is rounded.
func truncatedGroup[T any](p Philox, out []T, round func(float32) T) int {
	n := 0
	keep := func(v float32) {
		if n < len(out) && -cutoff < v && v < cutoff {
			out[n] = round(v)
			n++
		}
	}
	for n < len(out) {
		w0, w1, w2, w3 := p.Next()
		a, b := boxMuller(w0, w1)
		c, d := boxMuller(w2, w3)
		keep(a)
		keep(b)
		keep(c)
		keep(d)
	}
	return n
}

func truncatedGroup64(p Philox, out []float64) int {
	n := 0
	for n < len(out) {
		a, b := boxMuller64(p.Next())
		for _, v := range [...]float64{a, b} {
			if n < len(out) && math.Abs(v) < cutoff {
				out[n] = v
				n++
			}
		}
	}
	return n
}
