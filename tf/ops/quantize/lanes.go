package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
)

// What turns numbers into quantized ones of 8 bits, and back, in machine code, to the bits of
// the loops beside which it is run. A whole number from 0 to 255 is the last byte of the sum
// of it and 2^23, whose unit is 1.
const units = 1 << 23

// within bounds x by hi and then lo; NaN stays.
func within(c *machine.Code, x, lo, hi machine.Value) machine.Value {
	return c.Max(c.Min(x, hi), lo)
}

// roundedAway rounds halves away from zero: what floor cuts off is exact.
func roundedAway(c *machine.Code, x machine.Value) machine.Value {
	size := c.Abs(x)
	whole := c.Floor(size)
	const belowHalf = 0x3effffff
	up := c.PickPositive(c.Sub(c.Sub(size, whole), c.Word(belowHalf)), c.Float(1), c.Word(0))
	return c.Or(c.Add(whole, up), c.And(x, c.Word(1<<31)))
}

// toByte returns the byte, as 8 bits with sign or without, of a whole number, made to fit;
// NaN becomes the least.
func toByte(c *machine.Code, x machine.Value, signed bool) machine.Value {
	shift, flip := float32(0), uint32(0)
	if signed {
		shift, flip = 128, 0x80
	}
	x = c.Add(x, c.Float(shift))
	x = c.WherePositive(x, x)
	x = c.Add(c.Min(x, c.Float(255)), c.Float(units))
	return c.Xor(x, c.Word(flip))
}

// quantizeLanes compute x quantized: mode MinCombined of numbers without sign, of those with
// one, mode Scaled rounding away from zero, and mode MinFirst, whose half is its offset. Operands 1 to 4 are lo, hi, scale and half.
var quantizeLanes = [...]func(signed bool) *elementwise.Compiled{
	combined: func(signed bool) *elementwise.Compiled {
		return compiled(func(c *machine.Code, in []machine.Value) machine.Value {
			x := c.Mul(c.Sub(within(c, in[0], in[1], in[2]), in[1]), in[3])
			if signed {
				return toByte(c, roundedAway(c, c.Sub(x, in[4])), true)
			}
			return toByte(c, c.Floor(c.Add(x, c.Float(0.5))), false)
		})
	},
	scaled: func(signed bool) *elementwise.Compiled {
		return compiled(func(c *machine.Code, in []machine.Value) machine.Value {
			return toByte(c, roundedAway(c, c.Mul(within(c, in[0], in[1], in[2]), in[3])), signed)
		})
	},
	first: func(signed bool) *elementwise.Compiled {
		return compiled(func(c *machine.Code, in []machine.Value) machine.Value {
			return toByte(c, c.Sub(roundedAway(c, c.Mul(in[0], in[3])), in[4]), signed)
		})
	},
}

// The kinds of quantizeLanes.
const (
	combined = iota
	scaled
	first
)

func compiled(f func(c *machine.Code, in []machine.Value) machine.Value) *elementwise.Compiled {
	return elementwise.Compile(func(c *machine.Code, in []machine.Value) (machine.Value, bool) { return f(c, in), true })
}

// toBytes holds what quantizes to 8 bits, by kind, without sign and with one.
var toBytes = func() (all [3][2]*elementwise.Compiled) {
	for kind, f := range quantizeLanes {
		all[kind] = [2]*elementwise.Compiled{f(false), f(true)}
	}
	return all
}()

// parameters are what all elements of a slice are computed with: lo, hi, scale and half.
type parameters [4]float32

// byCode runs machine code of a kind, or reports that there is none for Q.
func byCode[Q quantum](kind int, p *parameters, y []Q, x []float32) bool {
	signed := 0
	switch any(y).(type) {
	case []int8:
		signed = 1
	case []uint8:
	default:
		return false
	}
	return toBytes[kind][signed].Run(len(y), elementwise.Along(x[:len(y)]), elementwise.Shared(&p[0]), elementwise.Shared(&p[1]), elementwise.Shared(&p[2]), elementwise.Shared(&p[3]), elementwise.Along(y))
}

// fromBytes holds what a byte, without sign or with one, stands for: (x + half)·scale + lo.
var fromBytes = [2]*elementwise.Compiled{fromByte(0), fromByte(0x80)}

func fromByte(flip uint32) *elementwise.Compiled {
	return compiled(func(c *machine.Code, in []machine.Value) machine.Value {
		x := c.Sub(c.Or(c.Xor(in[0], c.Word(flip)), c.Float(units)), c.Float(units+float32(flip)))
		return c.Add(c.Mul(c.Add(x, in[3]), in[2]), in[1])
	})
}

// dequantized runs machine code, or reports that there is none for Q.
func dequantized[Q quantum](lo, scale, half float32, y []float32, x []Q) bool {
	signed := 0
	switch any(x).(type) {
	case []int8:
		signed = 1
	case []uint8:
	default:
		return false
	}
	return fromBytes[signed].Run(len(y), elementwise.Along(x[:len(y)]), elementwise.Shared(&lo), elementwise.Shared(&scale), elementwise.Shared(&half), elementwise.Along(y))
}

// fakeLanes compute nudged.rounded; operands 1 to 5 are min, max, inverse, zero and scale.
func fakeLanes(c *machine.Code, in []machine.Value) machine.Value {
	x := c.Mul(c.Sub(within(c, in[0], in[1], in[2]), in[1]), in[3])
	return c.Mul(c.Floor(c.Add(c.Sub(x, in[4]), c.Float(0.5))), in[5])
}

// fakeOne is of one range for all, fakeEach of one for each element.
var fakeOne, fakeEach = compiled(fakeLanes), compiled(fakeLanes)

// round sets y to what is left of x after quantization.
func (r *nudged) round(y, x []float32) {
	if r.empty {
		clear(y)
		return
	}
	if fakeOne.Run(len(y), elementwise.Along(x[:len(y)]), elementwise.Shared(&r.min), elementwise.Shared(&r.max),
		elementwise.Shared(&r.inverse), elementwise.Shared(&r.zero), elementwise.Shared(&r.scale), elementwise.Along(y)) {
		return
	}
	for i, v := range x[:len(y)] {
		y[i] = r.rounded(v)
	}
}

// gateLanes compute dy where x lies within the bounds, operands 2 and 3, else a 0.
var gateLanes = compiled(func(c *machine.Code, in []machine.Value) machine.Value {
	inside := c.And(c.GreaterEqual(in[1], in[2]), c.GreaterEqual(in[3], in[1]))
	return c.Pick(inside, in[0], c.Mul(in[0], c.Word(0)))
})

// gate sets dx to dy where x lies within the range.
func (r *nudged) gate(dx, dy, x []float32) {
	if !r.empty && gateLanes.Run(len(dx), elementwise.Along(dy[:len(dx)]), elementwise.Along(x[:len(dx)]), elementwise.Shared(&r.min), elementwise.Shared(&r.max), elementwise.Along(dx)) {
		return
	}
	for i, v := range x[:len(dx)] {
		if dx[i] = dy[i]; !r.inside(v) {
			dx[i] *= 0
		}
	}
}

// simulateLanes compute simulation.round to even; operands 1 to 4 are lo, hi, scale and inverse.
var simulateLanes = compiled(func(c *machine.Code, in []machine.Value) machine.Value {
	return c.Mul(c.RoundToEven(c.Mul(within(c, in[0], in[1], in[2]), in[3])), in[4])
})

// roundCode is simulation.round in machine code, or reports that there is none for T. What has no
// given range has an infinite one.
func roundCode[T float](y, x []T, s scaling[T]) bool {
	to, ok := any(y).([]float32)
	if !ok {
		return false
	}
	from, v := any(x).([]float32), [4]float32{float32(s.lo), float32(s.hi), float32(s.scale), float32(s.inverse)}
	return simulateLanes.Run(len(to), elementwise.Along(from[:len(to)]), elementwise.Shared(&v[0]), elementwise.Shared(&v[1]), elementwise.Shared(&v[2]), elementwise.Shared(&v[3]), elementwise.Along(to))
}

// boundLanes bound bytes without sign from above and below.
var boundLanes = compiled(func(c *machine.Code, in []machine.Value) machine.Value {
	return c.IntMin(c.IntMax(in[0], in[1]), in[2])
})

// bound sets y to max and then min of x and bounds.
func bound[Q quantum](y, x []Q, lo, hi Q) {
	if to, ok := any(y).([]uint8); ok {
		l, h := math.Float32frombits(uint32(lo)), math.Float32frombits(uint32(hi)) // whole numbers, as words
		if boundLanes.Run(len(to), elementwise.Along(any(x).([]uint8)[:len(to)]), elementwise.Shared(&l), elementwise.Shared(&h), elementwise.Along(to)) {
			return
		}
	}
	for i, v := range x[:len(y)] {
		y[i] = min(max(v, lo), hi)
	}
}
