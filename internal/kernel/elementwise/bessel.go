package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// Modified Bessel functions of the first kind in single precision: the sums of Chebyshev polynomials
// of Cephes' i0ef and i1ef, in x up to 8 and in 1/x beyond, as TensorFlow has them.

// A bessel is such a function, times e^-|x|.
type bessel struct {
	near, far []float32
	odd       bool // x times the sum, with the sign of x
}

var (
	besselI0 = bessel{
		near: []float32{-1.30002500998624804212e-8, 6.04699502254191894932e-8, -2.67079385394061173391e-7,
			1.11738753912010371815e-6, -4.41673835845875056359e-6, 1.64484480707288970893e-5,
			-5.75419501008210370398e-5, 1.88502885095841655729e-4, -5.76375574538582365885e-4,
			1.63947561694133579842e-3, -4.32430999505057594430e-3, 1.05464603945949983183e-2,
			-2.37374148058994688156e-2, 4.93052842396707084878e-2, -9.49010970480476444210e-2,
			1.71620901522208775349e-1, -3.04682672343198398683e-1, 6.76795274409476084995e-1},
		far: []float32{3.39623202570838634515e-9, 2.26666899049817806459e-8, 2.04891858946906374183e-7,
			2.89137052083475648297e-6, 6.88975834691682398426e-5, 3.36911647825569408990e-3,
			8.04490411014108831608e-1},
	}
	besselI1 = bessel{
		near: []float32{9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7,
			-8.56872026469545474066e-7, 3.47025130813767847674e-6, -1.32731636560394358279e-5,
			4.78156510755005422638e-5, -1.61760815825896745588e-4, 5.12285956168575772895e-4,
			-1.51357245063125314899e-3, 4.15642294431288815669e-3, -1.05640848946261981558e-2,
			2.47264490306265168283e-2, -5.29459812080949914269e-2, 1.02643658689847095384e-1,
			-1.76416518357834055153e-1, 2.52587186443633654823e-1},
		far: []float32{-3.83538038596423702205e-9, -2.63146884688951950684e-8, -2.51223623787020892529e-7,
			-3.88256480887769039346e-6, -1.10588938762623716291e-4, -9.76109749136146840777e-3,
			7.78576235018280120474e-1},
		odd: true,
	}
)

func (b bessel) of(x float32) float32 {
	size := abs32(x)
	var y float32
	if size <= 8 {
		y = clenshaw(float32(0.5*size)-2, b.near)
		if b.odd {
			y *= size
		}
	} else {
		y = clenshaw(32/size-2, b.far) / float32(math.Sqrt(float64(size)))
	}
	if b.odd {
		return math.Float32frombits(math.Float32bits(y) | math.Float32bits(x)&(1<<31))
	}
	return y
}

func (b bessel) lanes(c *machine.Code, x machine.Value) machine.Value {
	size, two := c.Abs(x), c.Float(2)
	near := clenshawLanes(c, c.Sub(c.Mul(c.Float(0.5), size), two), b.near)
	if b.odd {
		near = c.Mul(near, size)
	}
	far := c.Div(clenshawLanes(c, c.Sub(c.Div(c.Literal(32), size), two), b.far), c.Sqrt(size))
	y := c.Pick(c.GreaterEqual(c.Float(8), size), near, far)
	if b.odd {
		y = c.Or(y, c.And(x, c.Word(1<<31)))
	}
	return y
}

// scaled is the function as a loop.
func (b bessel) scaled() func(y, x []float32) {
	return CompiledMap(Lanes1(b.lanes), func(y, x []float32) { kernel.Map(y, x, b.of) })
}

// unscaled is the function without the factor e^-|x|. It is multiplied by e^(|x|/2) twice: e^|x| may
// be infinite though the product is not.
func (b bessel) unscaled() func(y, x []float32) {
	times := Compile(Lanes2(func(c *machine.Code, x, half machine.Value) machine.Value {
		return c.Mul(c.Mul(b.lanes(c, x), half), half)
	}))
	return func(y, x []float32) {
		EachBlock(len(y), func(lo, hi int, half []float32) {
			y, x := y[lo:hi], x[lo:hi]
			halfSizes(half, x)
			Exp(half, half)
			if !times.Run(len(y), Along(x), Along(half), Along(y)) {
				for i, h := range half {
					y[i] = b.of(x[i]) * h * h
				}
			}
		})
	}
}

var halfSizes = CompiledMap(Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
	return c.Mul(c.Abs(x), c.Float(0.5))
}), func(y, x []float32) { kernel.Map(y, x, func(v float32) float32 { return abs32(v) * 0.5 }) })

// BesselI0 and the others set y to Bessel functions of the first kind of x; those with e have the
// factor e^-|x|.
var (
	BesselI0, BesselI0e = besselI0.unscaled(), besselI0.scaled()
	BesselI1, BesselI1e = besselI1.unscaled(), besselI1.scaled()
)
