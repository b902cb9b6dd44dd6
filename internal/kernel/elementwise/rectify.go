package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// SoftsignLanes are those of Softsign.
var SoftsignLanes = Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
	return c.Div(x, c.Add(c.Abs(x), c.Float(1)))
})

// Softsign sets y = x/(|x|+1), rounded as TensorFlow does.
func Softsign[T numeric.Float](y, x []T) {
	kernel.Map(y, x, func(v T) T { return v / (T(math.Abs(float64(v))) + 1) })
}

// SoftsignGradLanes are those of SoftsignGrad.
var SoftsignGradLanes = Lanes2(func(c *machine.Code, d, x machine.Value) machine.Value {
	s := c.Add(c.Abs(x), c.Float(1))
	return c.Div(d, c.Mul(s, s))
})

// SoftsignGrad sets dx = dy/(|x|+1)².
func SoftsignGrad[T numeric.Float](dx, dy, x []T) {
	kernel.Zip(dx, dy, x, func(d, v T) T {
		s := T(math.Abs(float64(v))) + 1
		return d / (s * s)
	})
}

// The constants of Selu, which make activations keep mean 0 and variance 1.
const (
	SeluScale = 1.0507009873554804934193349852946
	SeluAlpha = 1.7580993408473768599402175208123 // scale included
)

// EluGradLanes are those of EluGrad.
var EluGradLanes = Lanes2(func(c *machine.Code, d, y machine.Value) machine.Value {
	return c.PickPositive(c.Neg(y), c.Mul(c.Add(y, c.Float(1)), d), d)
})

// EluGrad sets dx to dy, where the result y of Elu is negative to dy·(y+1).
func EluGrad[T numeric.Float](dx, dy, y []T) {
	kernel.Zip(dx, dy, y, func(d, y T) T {
		if y < 0 {
			return (y + 1) * d
		}
		return d
	})
}

// SeluGradLanes are those of SeluGrad.
var SeluGradLanes = Lanes2(func(c *machine.Code, d, y machine.Value) machine.Value {
	return c.PickPositive(c.Neg(y), c.Mul(c.Add(y, c.Float(SeluAlpha)), d), c.Mul(d, c.Float(SeluScale)))
})

// SeluGrad is the gradient of Selu by its result y.
func SeluGrad[T numeric.Float](dx, dy, y []T) {
	kernel.Zip(dx, dy, y, func(d, y T) T {
		if y < 0 {
			return (y + SeluAlpha) * d
		}
		return d * SeluScale
	})
}

var scaleElu = CompiledMap(Lanes1(func(c *machine.Code, y machine.Value) machine.Value {
	return c.Mul(y, c.PickPositive(c.Neg(y), c.Float(SeluAlpha), c.Float(SeluScale)))
}), func(y, x []float32) {
	kernel.Map(y, x, func(v float32) float32 {
		if v < 0 {
			return v * SeluAlpha
		}
		return v * SeluScale
	})
})

// Selu32 is Selu of float32: Elu, scaled.
func Selu32(y, x []float32) {
	EachBlock(len(y), func(lo, hi int, _ []float32) {
		Elu(y[lo:hi], x[lo:hi])
		scaleElu(y[lo:hi], y[lo:hi])
	})
}

// SoftplusGrad32 sets dx = dy/(e^-x+1), each operation rounded as TensorFlow does.
func SoftplusGrad32(dx, dy, x []float32) {
	EachBlock(len(dx), func(lo, hi int, buf []float32) {
		Neg(buf, x[lo:hi])
		Exp(buf, buf)
		AddScalar(buf, buf, 1)
		Div(dx[lo:hi], dy[lo:hi], buf)
	})
}

// ClipLanes are those of ClipTo with bounds that all elements share.
func ClipLanes(c *machine.Code, in []machine.Value) (machine.Value, bool) {
	x := c.Pick(c.Greater(in[0], in[2]), in[2], in[0])
	return c.Pick(c.Greater(in[1], x), in[1], x), true
}

var clipTo = Compile(ClipLanes)

// ClipTo bounds x by high and then by low. What equals a bound, or does not compare with it, stays
// as it is, as in TensorFlow.
func ClipTo[T numeric.Real](z, x []T, low, high T) {
	if zf, ok := kernel.AsFloat32(z); ok && clip32(zf, x, low, high) {
		return
	}
	kernel.Map(z, x, func(v T) T { return Clipped(v, low, high) })
}

func clip32(z []float32, x, low, high any) bool {
	l, h := low.(float32), high.(float32)
	return clipTo.Run(len(z), Along(x.([]float32)[:len(z)]), Shared(&l), Shared(&h), Along(z))
}

// Clipped is ClipTo for one number.
func Clipped[T numeric.Real](v, low, high T) T {
	if v > high {
		v = high
	}
	if v < low {
		v = low
	}
	return v
}
