package stablehlo

import (
	"math"
	"strconv"
)

// bitsOf are the widths of the elements that are integers.
var bitsOf = map[Elem]uint{"i1": 1, "i2": 2, "ui2": 2, "i4": 4, "ui4": 4, "i8": 8, "ui8": 8, "i16": 16, "ui16": 16,
	"i32": 32, "ui32": 32, "i64": 64, "ui64": 64, "index": 64}

// A floatFormat says how numbers of an element are encoded: sign (but for f8E8M0FNU),
// exponent, mantissa.
type floatFormat struct {
	exponent, mantissa uint
	bias               int
	specials           specials
}

// specials are the encodings that are no finite numbers.
type specials uint8

const (
	ieee     specials = iota // the largest exponent has the infinities and NaN
	onlyNaN                  // all ones are NaN
	negative                 // what would be -0 is NaN
	none
)

var floats = map[Elem]floatFormat{
	"f64":           {11, 52, 1023, ieee},
	"f32":           {8, 23, 127, ieee},
	"tf32":          {8, 10, 127, ieee},
	"bf16":          {8, 7, 127, ieee},
	"f16":           {5, 10, 15, ieee},
	"f8E5M2":        {5, 2, 15, ieee},
	"f8E4M3":        {4, 3, 7, ieee},
	"f8E3M4":        {3, 4, 3, ieee},
	"f8E4M3FN":      {4, 3, 7, onlyNaN},
	"f8E5M2FNUZ":    {5, 2, 16, negative},
	"f8E4M3FNUZ":    {4, 3, 8, negative},
	"f8E4M3B11FNUZ": {4, 3, 11, negative},
	"f6E2M3FN":      {2, 3, 1, none},
	"f6E3M2FN":      {3, 2, 3, none},
	"f4E2M1FN":      {2, 1, 1, none},
	"f8E8M0FNU":     {8, 0, 127, onlyNaN},
}

func (f floatFormat) bits() uint {
	if f.mantissa == 0 {
		return f.exponent
	}
	return 1 + f.exponent + f.mantissa
}

// value decodes a number.
func (f floatFormat) value(b uint64) float64 {
	if f.mantissa == 0 {
		return f.power(b)
	}
	m := b & (1<<f.mantissa - 1)
	e := b >> f.mantissa & (1<<f.exponent - 1)
	sign := 1.0
	if b>>(f.exponent+f.mantissa)&1 != 0 {
		sign = -1
	}
	if v, special := f.special(m, e, sign); special {
		return v
	}
	if e == 0 {
		return sign * math.Ldexp(float64(m), 1-f.bias-int(f.mantissa))
	}
	return sign * math.Ldexp(float64(m|1<<f.mantissa), int(e)-f.bias-int(f.mantissa))
}

// power decodes a number that is its exponent.
func (f floatFormat) power(b uint64) float64 {
	if b == 0xFF {
		return math.NaN()
	}
	return math.Ldexp(1, int(b)-f.bias)
}

func (f floatFormat) special(m, e uint64, sign float64) (float64, bool) {
	largest := e == 1<<f.exponent-1
	switch f.specials {
	case ieee:
		if largest && m == 0 {
			return sign * math.Inf(1), true
		}
		return math.NaN(), largest
	case onlyNaN:
		return math.NaN(), largest && m == 1<<f.mantissa-1
	case negative:
		return math.NaN(), sign < 0 && e == 0 && m == 0
	}
	return 0, false
}

// word reads an integer of a width: a byte, or a signed integer of variable length.
func (c *cursor) word(width uint) uint64 {
	u := uint64(0)
	if width <= 8 {
		u = uint64(c.byte())
	} else {
		u = uint64(c.int())
	}
	return u << (64 - width) >> (64 - width)
}

// double reads a number of type f64.
func (c *cursor) double() Attr {
	return Float{Elem: "f64", Value: math.Float64frombits(c.word(64))}
}

func (c *cursor) floatOf(t Type) Attr {
	f, ok := floats[t.Elem]
	if !ok || t.Quantized {
		c.corrupt("the type of a fractional number must be one of those, got %v", t)
		return nil
	}
	return Float{Elem: t.Elem, Value: f.value(c.word(f.bits()))}
}

func (c *cursor) intOf(t Type) Attr {
	width, ok := bitsOf[t.Elem]
	if !ok || t.Quantized {
		c.corrupt("the type of an integer must be one of those, got %v", t)
		return nil
	}
	u := c.word(width)
	if t.Elem == "i1" {
		return Bool(u == 1)
	}
	return integer(t.Elem, u)
}

// integer returns the integer that has some bits.
func integer(e Elem, u uint64) Int {
	unused := 64 - bitsOf[e]
	if e[0] == 'u' {
		return Int{Elem: e, Value: int64(u << unused >> unused)}
	}
	return Int{Elem: e, Value: int64(u<<unused) >> unused}
}

// text returns the integer as text.
func (i Int) text() string {
	if i.Elem[0] == 'u' {
		return strconv.FormatUint(uint64(i.Value), 10)
	}
	return strconv.FormatInt(i.Value, 10)
}
