package restjson

import (
	"math"
	"strconv"
	"unsafe"
)

// A literal is a number as it is written: mantissa·10^exponent.
type literal struct {
	mantissa uint64
	exponent int
	negative bool
	long     bool // the mantissa has more digits than fit
}

// maxMantissa is the largest mantissa that one more digit may be added to.
const maxMantissa = (math.MaxUint64 - 9) / 10

// number reads a number, or a word that stands for one.
func (p *parser) number() error {
	begin, n := p.pos, literal{}
	if p.peek() == '-' {
		n.negative = true
		p.pos++
	}
	switch c := p.peek(); {
	case c == 'N':
		return p.nan(begin)
	case c == 'I':
		return p.infinity(begin)
	case c == '0':
		p.pos++
	case c >= '1' && c <= '9':
		p.digits(&n)
	default:
		return p.error("Invalid value.")
	}
	float := false
	if p.peek() == '.' {
		float = true
		p.pos++
		digits := p.digits(&n)
		if digits == 0 {
			return p.error("Miss fraction part in number.")
		}
		n.exponent -= digits
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		float = true
		if err := p.exponent(&n); err != nil {
			return err
		}
	}
	return p.addNumber(begin, float, &n)
}

// exponent reads an exponent.
func (p *parser) exponent(n *literal) error {
	p.pos++
	minus := p.peek() == '-'
	if minus || p.peek() == '+' {
		p.pos++
	}
	e := literal{}
	if p.digits(&e) == 0 {
		return p.error("Miss exponent in number.")
	}
	n.long = n.long || e.mantissa > 1000 // no double has such an exponent: the slow way decides
	if minus {
		n.exponent -= int(min(e.mantissa, 1000))
	} else {
		n.exponent += int(min(e.mantissa, 1000))
	}
	return nil
}

// addNumber adds a number, which must not be too large for a double.
func (p *parser) addNumber(begin int, float bool, n *literal) error {
	s := loan(p.src[begin:p.pos])
	if !float && len(s) > 18 {
		_, err := strconv.ParseInt(s, 10, 64)
		_, uerr := strconv.ParseUint(s, 10, 64)
		float = err != nil && uerr != nil
	}
	x, ok := n.float64()
	if !ok {
		x, _ = strconv.ParseFloat(s, 64)
	}
	if math.IsInf(x, 0) {
		return p.errorAt("Number too big to be stored in double.", begin)
	}
	p.addValue(begin, float, x)
	return nil
}

// addValue adds a number whose value is known.
func (p *parser) addValue(begin int, float bool, x float64) {
	bits := math.Float64bits(x)
	p.nodes = append(p.nodes, node{kind: number, float: float, begin: int32(begin), end: int32(p.pos), next: int32(bits >> 32), size: int32(bits)})
}

// powers are the powers of ten that a double has exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float64 returns the double that is nearest to n if one operation on doubles that
// are exact gives it (Clinger, How to Read Floating Point Numbers Accurately, 1990):
// then it is rounded once.
func (n *literal) float64() (x float64, ok bool) {
	if n.long || n.mantissa > 1<<53 {
		return 0, false
	}
	x = float64(n.mantissa)
	if n.negative {
		x = -x
	}
	switch e := n.exponent; {
	case e >= 0 && e < len(powers):
		return x * powers[e], true
	case e < 0 && -e < len(powers):
		return x / powers[-e], true
	}
	return 0, false
}

// digits reads digits and appends them to the mantissa of n.
func (p *parser) digits(n *literal) int {
	begin, pos, m := p.pos, p.pos, n.mantissa
	for pos < len(p.src) {
		c := p.src[pos] - '0'
		if c > 9 {
			break
		}
		if m > maxMantissa {
			n.long = true
		} else {
			m = m*10 + uint64(c)
		}
		pos++
	}
	p.pos, n.mantissa = pos, m
	return pos - begin
}

// nan reads NaN, whose sign counts for nothing.
func (p *parser) nan(begin int) error {
	if !p.take("NaN") {
		return p.error("Invalid value.")
	}
	p.addValue(begin, true, math.NaN())
	return nil
}

// addWord adds a word that stands for a number.
func (p *parser) addWord(begin int) error {
	x, err := strconv.ParseFloat(loan(p.src[begin:p.pos]), 64) // which knows the words
	if err != nil {
		return p.errorAt("Invalid value.", begin)
	}
	p.addValue(begin, true, x)
	return nil
}

// infinity reads Inf or Infinity.
func (p *parser) infinity(begin int) error {
	if !p.take("Inf") {
		return p.error("Invalid value.")
	}
	if p.peek() == 'i' && !p.take("inity") {
		return p.error("Invalid value.")
	}
	return p.addWord(begin)
}

// float64 returns the value of a number.
func (d *document) float64(n int32) float64 { return d.nodes[n].float64() }

func (x *node) float64() float64 {
	return math.Float64frombits(uint64(uint32(x.next))<<32 | uint64(uint32(x.size)))
}

// int64 returns the value of a number that is written as an integer and lies in a
// range.
func (d *document) int64(n int32, low, high int64) (int64, bool) {
	if !d.is(n, number) || d.nodes[n].float {
		return 0, false
	}
	x, err := strconv.ParseInt(loan(d.raw(n)), 10, 64)
	return x, err == nil && x >= low && x <= high
}

// uint64 is int64 for types without sign.
func (d *document) uint64(n int32, high uint64) (uint64, bool) {
	if !d.is(n, number) || d.nodes[n].float {
		return 0, false
	}
	x, err := strconv.ParseUint(loan(d.raw(n)), 10, 64)
	return x, err == nil && x <= high
}

// loan returns b as a string without a copy, for as long as b does not change.
func loan(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
