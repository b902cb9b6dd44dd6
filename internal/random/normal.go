package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/memory"
)

// NormalFloat32 fills out with standard normal numbers, beginning with group.
func NormalFloat32(base Philox, group uint64, out []float32) {
	base.eachNormals(group, len(out), func(v []float32) { out = out[copy(out, v):] })
}

// eachNormals gives f standard normal numbers, beginning with group, in chunks, until
// there were n or more.
func (p Philox) eachNormals(group uint64, n int, f func(v []float32)) {
	p.Skip(group)
	v, loan := memory.Lend[float32](min((n+Group-1)/Group*Group, chunk))
	defer loan.Return()
	p.eachWords(n, func(words []uint32) {
		normalsOf(v, words)
		f(v[:len(words)])
	})
}

// NormalHalf fills out with standard normal numbers, beginning with group.
func NormalHalf(base Philox, group uint64, out []uint16) {
	fillNormal16(base, group, out, halfFrom)
}

// NormalBFloat16 fills out with standard normal numbers, beginning with group.
func NormalBFloat16(base Philox, group uint64, out []uint16) {
	fillNormal16(base, group, out, bfloat16From)
}

func fillNormal16(base Philox, group uint64, out []uint16, round func(float32) uint16) {
	base.eachNormals(group, len(out), func(v []float32) {
		n := min(len(v), len(out))
		for i, f := range v[:n] {
			out[i] = round(f)
		}
		out = out[n:]
	})
}

// NormalFloat64 fills out with standard normal numbers, beginning with group.
// Unlike all others they may differ from TensorFlow's in the last bits, as those
// differ between machines with and without a fused multiply-add.
func NormalFloat64(base Philox, group uint64, out []float64) {
	base.Skip(group)
	for ; len(out) >= Group64; out = out[Group64:] {
		out[0], out[1] = boxMuller64(base.Next())
	}
	if len(out) > 0 {
		out[0], _ = boxMuller64(base.Next())
	}
}

// boxMuller makes two independent normal numbers from two words.
func boxMuller(w0, w1 uint32) (float32, float32) {
	const smallest = 1e-7 // keeps the logarithm finite
	u := max(float32From(w0), smallest)
	angle := float32(2 * math.Pi * float64(float32From(w1)))
	radius := sqrtf(-2 * logf(u))
	sin, cos := sincosf(angle)
	return sin * radius, cos * radius
}

// boxMuller64 makes two independent normal numbers from four words.
func boxMuller64(w0, w1, w2, w3 uint32) (float64, float64) {
	const smallest = 1e-7
	u := max(float64From(w0, w1), smallest)
	angle := float64(2 * math.Pi * float64From(w2, w3))
	radius := math.Sqrt(-2 * math.Log(u))
	sin, cos := math.Sincos(angle)
	return sin * radius, cos * radius
}
