package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

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

// fillTruncated makes the numbers of the first two blocks of many groups together. They
// are enough for nearly all groups; the others are made by themselves.
func fillTruncated[T any](base Philox, group uint64, out []T, round func(float32) T) {
	base.Skip(group * truncatedStride)
	words, ofWords := memory.Lend[uint32](min((len(out)+Group-1)/Group*Group, chunk))
	normals, ofNormals := memory.Lend[float32](2 * len(words))
	defer ofWords.Return()
	defer ofNormals.Return()
	first, second := normals[:len(words)], normals[len(words):]
	for len(out) > 0 {
		words = words[:min((len(out)+Group-1)/Group*Group, len(words))]
		at, next := base, base
		next.Skip(1)
		base.fillWords(words, truncatedStride)
		normalsOf(first, words)
		next.fillWords(words, truncatedStride)
		normalsOf(second, words)
		for i := 0; i < len(words); i += Group {
			g := out[:min(Group, len(out))]
			if n := counting(g, first[i:i+Group], round); n+counting(g[n:], second[i:i+Group], round) < len(g) {
				truncatedGroup(at, g, round)
			}
			at.Skip(truncatedStride)
			out = out[len(g):]
		}
	}
}

// counting puts those of v that count into out until it is full, and returns how many.
func counting[T any](out []T, v []float32, round func(float32) T) (n int) {
	for _, f := range v {
		if n < len(out) && -cutoff < f && f < cutoff {
			out[n] = round(f)
			n++
		}
	}
	return n
}

// truncatedGroup fills one group and returns its length. Whether a number
// counts is decided before it is rounded.
func truncatedGroup[T any](p Philox, out []T, round func(float32) T) int {
	n := 0
	for n < len(out) {
		w0, w1, w2, w3 := p.Next()
		var v [Group]float32
		v[0], v[1] = boxMuller(w0, w1)
		v[2], v[3] = boxMuller(w2, w3)
		n += counting(out[n:], v[:], round)
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
