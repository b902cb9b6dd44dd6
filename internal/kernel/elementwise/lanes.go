package elementwise

import "github.com/gorge-tf/gorge/internal/machine"

// What operations are in machine code, to the bits of the vector loops. An operation that
// is not here is computed by its loop.

type (
	unaryLanes  = func(c *machine.Code, x machine.Value) machine.Value
	binaryLanes = func(c *machine.Code, x, y machine.Value) machine.Value
)

// Lanes1 returns what machine code computes of one operand.
func Lanes1(f unaryLanes) machine.Lanes {
	return func(c *machine.Code, in []machine.Value) (machine.Value, bool) { return f(c, in[0]), true }
}

// Lanes2 returns what machine code computes of two operands.
func Lanes2(f binaryLanes) machine.Lanes {
	return func(c *machine.Code, in []machine.Value) (machine.Value, bool) { return f(c, in[0], in[1]), true }
}

// inBytes makes lanes that read or write bools ask whether that is possible.
func inBytes(l machine.Lanes) machine.Lanes {
	return func(c *machine.Code, in []machine.Value) (machine.Value, bool) {
		if !c.Bytes() {
			return 0, false
		}
		return l(c, in)
	}
}

// TestLanes is Lanes2 for results that are bools.
func TestLanes(f binaryLanes) machine.Lanes { return inBytes(Lanes2(f)) }

// The lanes of comparisons of float32.
var (
	GreaterLanes      = TestLanes((*machine.Code).Greater)
	GreaterEqualLanes = TestLanes((*machine.Code).GreaterEqual)
	LessLanes         = TestLanes(func(c *machine.Code, x, y machine.Value) machine.Value { return c.Greater(y, x) })
	LessEqualLanes    = TestLanes(func(c *machine.Code, x, y machine.Value) machine.Value { return c.GreaterEqual(y, x) })
	EqualLanes        = TestLanes((*machine.Code).Equal)
	NotEqualLanes     = TestLanes((*machine.Code).NotEqual)
)

// in returns loops with the form of float32 or of int32, if T is one and has it.
func (l Loops[R, T]) in(f32, i32 binaryLanes) Loops[R, T] {
	var f binaryLanes
	switch any(*new(T)).(type) {
	case float32:
		f = f32
	case int32:
		f = i32
	}
	if f != nil {
		l.Lanes = Lanes2(f)
	}
	if ints, ok := any(&l).(*Loops[int32, int32]); ok && f != nil {
		compileInts(ints)
	}
	return l
}

// scalarLast exchanges operands as the loops of commutative operations do: which of two
// NaNs is the result depends on their order.
func scalarLast(f binaryLanes) binaryLanes {
	return func(c *machine.Code, x, y machine.Value) machine.Value {
		if c.Spreads(x) {
			x, y = y, x
		}
		return f(c, x, y)
	}
}

func squareLanes(c *machine.Code, x machine.Value) machine.Value { return c.Mul(x, x) }

func squaredDifferenceLanes(c *machine.Code, x, y machine.Value) machine.Value {
	return squareLanes(c, c.Sub(x, y))
}

// SquareLanes are those of Square.
var SquareLanes = Lanes1(squareLanes)

// ReciprocalLanes are those of Reciprocal.
var ReciprocalLanes = Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.Div(c.Float(1), x) })

// Relu6Lanes are those of Relu and MinScalar with 6.
var Relu6Lanes = Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
	return c.Min(c.Positive(x), c.Float(6))
})

// Relu6GradLanes are those of the gradient: 6-x is positive exactly where x < 6.
var Relu6GradLanes = Lanes2(func(c *machine.Code, dy, x machine.Value) machine.Value {
	return c.WherePositive(c.WherePositive(dy, x), c.Sub(c.Float(6), x))
})

// LeakyReluLanes returns those of the rectifier that leaves alpha of negative values, which
// is not NaN: then it depends on the order of operands which NaN results.
func LeakyReluLanes(alpha float32) machine.Lanes {
	return Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
		return c.PickPositive(x, x, c.Mul(x, c.Float(alpha)))
	})
}

// LeakyReluGradLanes returns those of its gradient.
func LeakyReluGradLanes(alpha float32) machine.Lanes {
	return Lanes2(func(c *machine.Code, dy, x machine.Value) machine.Value {
		return c.PickPositive(x, dy, c.Mul(dy, c.Float(alpha)))
	})
}

// TanhGradLanes are those of TanhGrad.
var TanhGradLanes = Lanes2(func(c *machine.Code, y, dy machine.Value) machine.Value {
	return c.Mul(dy, c.NegMulAdd(y, y, c.Float(1)))
})

// SigmoidGradLanes are those of SigmoidGrad.
var SigmoidGradLanes = Lanes2(func(c *machine.Code, y, dy machine.Value) machine.Value {
	return c.Mul(c.Mul(dy, y), c.Sub(c.Float(1), y))
})

// SumLanes are those of the sum of all operands.
func SumLanes(c *machine.Code, in []machine.Value) (machine.Value, bool) {
	sum := in[0]
	for _, x := range in[1:] {
		sum = c.Add(sum, x)
	}
	return sum, true
}

// SelectLanes are those of Select for elements of four bytes.
var SelectLanes = inBytes(func(c *machine.Code, in []machine.Value) (machine.Value, bool) {
	return c.Pick(in[0], in[1], in[2]), true
})

// NotLanes are those of Not.
var NotLanes = inBytes(Lanes1(func(c *machine.Code, x machine.Value) machine.Value { return c.Xor(x, c.Word(1)) }))
