package machine

import "math"

// Word is a constant in all lanes.
//
//go:noinline
func (c *Code) Word(w uint32) Value {
	for _, v := range c.consts {
		if c.insts[v].word == w {
			return v
		}
	}
	v := c.add(inst{op: constant, word: w})
	c.consts = append(c.consts, v)
	return v
}

// Float is a float32 in all lanes.
func (c *Code) Float(f float32) Value { return c.Word(math.Float32bits(f)) }

// Literal is a float32 in all lanes that takes a register only until it is used, for code with more
// constants than there are registers: each use is to have one of its own.
//
//go:noinline
func (c *Code) Literal(f float32) Value {
	return c.add(inst{op: literal, word: math.Float32bits(f)})
}

// Add returns x + y of float32. If both are NaN the result is that of x, as with all
// operations on two of them.
func (c *Code) Add(x, y Value) Value { return c.compute(add, x, y) }

// Sub returns x - y.
func (c *Code) Sub(x, y Value) Value { return c.compute(sub, x, y) }

// Mul returns x · y.
func (c *Code) Mul(x, y Value) Value { return c.compute(mul, x, y) }

// Div returns x / y.
func (c *Code) Div(x, y Value) Value { return c.compute(div, x, y) }

// Sqrt returns √x.
func (c *Code) Sqrt(x Value) Value { return c.compute(sqrt, x) }

// Floor returns the greatest whole number that is not above x.
func (c *Code) Floor(x Value) Value { return c.rounded(x, down) }

// Ceil returns the least whole number that is not below x.
func (c *Code) Ceil(x Value) Value { return c.rounded(x, up) }

// RoundToEven returns the whole number next to x, the even one of two.
func (c *Code) RoundToEven(x Value) Value { return c.rounded(x, toEven) }

func (c *Code) rounded(x Value, m mode) Value {
	v := c.compute(round, x)
	c.insts[v].mode = m
	return v
}

// NegMulAdd returns z - x·y, rounded once.
func (c *Code) NegMulAdd(x, y, z Value) Value { return c.compute(fnma, x, y, z) }

// Max returns the greater of x and y, NaN if either is, y if they are equal.
func (c *Code) Max(x, y Value) Value { return c.orNaN(rawMax, x, y) }

// Min returns the lesser of x and y, NaN if either is, y if they are equal.
func (c *Code) Min(x, y Value) Value { return c.orNaN(rawMin, x, y) }

func (c *Code) orNaN(o op, x, y Value) Value {
	return c.compare(choose, unordered, x, x, x, c.compute(o, x, y))
}

func (c *Code) compare(o op, p predicate, args ...Value) Value {
	v := c.compute(o, args...)
	c.insts[v].pred = p
	return v
}

// Neg returns -x.
func (c *Code) Neg(x Value) Value { return c.compute(xor, x, c.Word(1<<31)) }

// Abs returns |x|.
func (c *Code) Abs(x Value) Value { return c.compute(and, x, c.Word(1<<31-1)) }

// Sign returns -1, 0 or 1, and x where that is NaN.
func (c *Code) Sign(x Value) Value {
	one := c.compute(or, c.compute(and, x, c.Word(1<<31)), c.Float(1))
	return c.compare(choose, unordered, x, x, x, c.compare(keep, notEqual, x, c.Word(0), one))
}

// Positive returns x where it is positive or NaN, else 0.
func (c *Code) Positive(x Value) Value { return c.compare(keep, notLessEqual, x, c.Word(0), x) }

// WherePositive returns x where y is positive, else 0.
func (c *Code) WherePositive(x, y Value) Value { return c.compare(keep, greater, y, c.Word(0), x) }

// PickPositive returns x where t is positive, else y.
func (c *Code) PickPositive(t, x, y Value) Value {
	return c.compare(choose, greater, t, c.Word(0), x, y)
}

// Greater returns 1 where x > y, else 0: a bool as a word.
func (c *Code) Greater(x, y Value) Value { return c.truth(greater, x, y) }

// GreaterEqual returns 1 where x >= y, else 0.
func (c *Code) GreaterEqual(x, y Value) Value { return c.truth(greaterEqual, x, y) }

// Equal returns 1 where x == y, else 0.
func (c *Code) Equal(x, y Value) Value { return c.truth(equal, x, y) }

// NotEqual returns 1 where x != y, else 0.
func (c *Code) NotEqual(x, y Value) Value { return c.truth(notEqual, x, y) }

func (c *Code) truth(p predicate, x, y Value) Value { return c.compare(keep, p, x, y, c.Word(1)) }

// Pick returns x where the word t is not 0, else y.
func (c *Code) Pick(t, x, y Value) Value { return c.compute(pick, t, x, y) }

// And returns the bits that x and y share.
func (c *Code) And(x, y Value) Value { return c.compute(and, x, y) }

// Or returns the bits that x or y has.
func (c *Code) Or(x, y Value) Value { return c.compute(or, x, y) }

// Xor returns the bits that differ.
func (c *Code) Xor(x, y Value) Value { return c.compute(xor, x, y) }

// IntAdd returns x + y of int32.
func (c *Code) IntAdd(x, y Value) Value { return c.compute(intAdd, x, y) }

// IntSub returns x - y of int32.
func (c *Code) IntSub(x, y Value) Value { return c.compute(intSub, x, y) }

// IntMul returns x · y of int32.
func (c *Code) IntMul(x, y Value) Value { return c.compute(intMul, x, y) }

// IntMax returns the greater of int32 x and y.
func (c *Code) IntMax(x, y Value) Value { return c.compute(intMax, x, y) }

// IntMin returns the lesser of int32 x and y.
func (c *Code) IntMin(x, y Value) Value { return c.compute(intMin, x, y) }

// IntAbs returns |x| of int32; the least one stays itself.
func (c *Code) IntAbs(x Value) Value { return c.compute(intAbs, x) }
