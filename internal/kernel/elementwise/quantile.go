package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// Quantiles of the normal distribution in single precision, by the quotients of polynomials of Cephes'
// ndtri, as TensorFlow has them: of the distance to the middle, and in tails of less than e^-2 of
// √(-2·log tail) and its logarithm.

// A ratio is a quotient of polynomials, the highest coefficients first.
type ratio struct{ over, under []float32 }

var (
	quantileMiddle = ratio{
		[]float32{-5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1, -1.23916583867381258016e0},
		[]float32{1, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
			2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0},
	}
	quantileTail = ratio{
		[]float32{4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
			1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2, -8.57456785154685413611e-4},
		[]float32{1, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1,
			1.50425385692907503408e1, 2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4},
	}
	quantileEnd = ratio{ // where the root is 8 at least
		[]float32{3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
			2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6, 6.23974539184983293730e-9},
		[]float32{1, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0,
			2.16236993594496635890e-1, 1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9},
	}
)

func (r ratio) of(x float32) float32 { return horner(x, r.over) / horner(x, r.under) }

func (r ratio) lanes(c *machine.Code, x machine.Value) machine.Value {
	return c.Div(hornerLanes(c, x, r.over), hornerLanes(c, x, r.under))
}

const (
	leastMiddle = 0.13533528323661269189 // e^-2
	rootTwoPi   = 2.50662827463100050242
)

// middleOf is the quantile at a distance from the middle.
func middleOf(d float32) float32 {
	square := float32(d * d)
	return (float32(d*float32(square*quantileMiddle.of(square))) + d) * rootTwoPi
}

func middleLanes(c *machine.Code, d machine.Value) machine.Value {
	square := c.Mul(d, d)
	return c.Mul(c.Add(c.Mul(d, c.Mul(square, quantileMiddle.lanes(c, square))), d), c.Float(rootTwoPi))
}

// tailOf is the quantile of what is missing to 1, by the root and its logarithm.
func tailOf(root, log float32) float32 {
	z, r := 1/root, quantileTail
	if root >= 8 {
		r = quantileEnd
	}
	return root - log/root - float32(z*r.of(z))
}

func tailLanes(c *machine.Code, root, log machine.Value) machine.Value {
	z := c.Div(c.Float(1), root)
	r := c.Pick(c.GreaterEqual(root, c.Float(8)), quantileEnd.lanes(c, z), quantileTail.lanes(c, z))
	return c.Sub(c.Sub(root, c.Div(log, root)), c.Mul(z, r))
}

// A quantile is a function of a tail and of a distance to the middle.
type quantile struct {
	tail        func(x float32) float32
	tailLanes   unaryLanes
	middle      func(x float32) float32
	middleLanes unaryLanes
	// signed is the sign of a result, in the highest bit of a word.
	signed      func(x float32) uint32
	signedLanes unaryLanes
	scale       float32 // of results
}

// loop returns the function of all x. It is made of what is before logarithms, between and after.
func (q quantile) loop() func(y, x []float32) {
	tails := CompiledMap(Lanes1(q.tailLanes), func(y, x []float32) { kernel.Map(y, x, q.tail) })
	ends := Compile(q.endLanes)
	return func(y, x []float32) {
		EachBlock(len(y), func(lo, hi int, roots []float32) {
			EachBlock(hi-lo, func(_, _ int, logs []float32) {
				y, x := y[lo:hi], x[lo:hi]
				tails(roots, x)
				Log(roots, roots)
				quantileRoots(roots, roots)
				Log(logs, roots)
				if !ends.Run(len(y), Along(x), Along(roots), Along(logs), Along(y)) {
					for i := range y {
						y[i] = q.end(x[i], roots[i], logs[i])
					}
				}
			})
		})
	}
}

var quantileRoots = CompiledMap(Lanes1(func(c *machine.Code, log machine.Value) machine.Value {
	return c.Sqrt(c.Mul(c.Float(-2), log))
}), func(y, x []float32) {
	kernel.Map(y, x, func(log float32) float32 { return float32(math.Sqrt(float64(-2 * log))) })
})

func (q quantile) end(x, root, log float32) float32 {
	switch tail := q.tail(x); {
	case tail > leastMiddle:
		return q.middle(x) * q.scale
	case tail == 0:
		return math.Float32frombits(q.signed(x) | 0x7f800000)
	default:
		y := tailOf(root, log) * q.scale
		return math.Float32frombits(math.Float32bits(y) ^ q.signed(x))
	}
}

func (q quantile) endLanes(c *machine.Code, in []machine.Value) (machine.Value, bool) {
	x, root, log := in[0], in[1], in[2]
	tail, scale := q.tailLanes(c, x), c.Float(q.scale)
	end := c.Pick(c.Equal(tail, c.Word(0)), c.Literal(float32(math.Inf(1))), c.Mul(tailLanes(c, root, log), scale))
	end = c.Xor(end, q.signedLanes(c, x))
	return c.Pick(c.Greater(tail, c.Literal(leastMiddle)), c.Mul(q.middleLanes(c, x), scale), end), true
}

var ndtri = quantile{
	tail: func(x float32) float32 {
		if x <= 1-leastMiddle {
			return x
		}
		return 1 - x
	},
	tailLanes: func(c *machine.Code, x machine.Value) machine.Value {
		return c.Pick(lowerLanes(c, x), x, c.Sub(c.Float(1), x))
	},
	middle: func(x float32) float32 { return middleOf(x - 0.5) },
	middleLanes: func(c *machine.Code, x machine.Value) machine.Value {
		return middleLanes(c, c.Sub(x, c.Float(0.5)))
	},
	signed: func(x float32) uint32 {
		if x <= 1-leastMiddle {
			return 1 << 31
		}
		return 0
	},
	signedLanes: func(c *machine.Code, x machine.Value) machine.Value {
		return c.Pick(lowerLanes(c, x), c.Word(1<<31), c.Word(0))
	},
	scale: 1,
}

func lowerLanes(c *machine.Code, x machine.Value) machine.Value {
	return c.GreaterEqual(c.Float(1-leastMiddle), x)
}

// erfinv is the quantile of (x+1)/2 by another factor. That sum would lose a small x.
var erfinv = quantile{
	tail: func(x float32) float32 { return 0.5 - 0.5*abs32(x) },
	tailLanes: func(c *machine.Code, x machine.Value) machine.Value {
		half := c.Float(0.5)
		return c.Sub(half, c.Mul(half, c.Abs(x)))
	},
	middle: func(x float32) float32 { return middleOf(0.5 * x) },
	middleLanes: func(c *machine.Code, x machine.Value) machine.Value {
		return middleLanes(c, c.Mul(c.Float(0.5), x))
	},
	signed: func(x float32) uint32 { return math.Float32bits(x) & (1 << 31) },
	signedLanes: func(c *machine.Code, x machine.Value) machine.Value {
		return c.And(x, c.Word(1<<31))
	},
	scale: math.Sqrt2 / 2,
}

// Ndtri sets y to the quantiles x of the standard normal distribution, Erfinv to the inverses of the
// error function.
var Ndtri, Erfinv = ndtri.loop(), erfinv.loop()
