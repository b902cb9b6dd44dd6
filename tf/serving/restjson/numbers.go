package restjson

import (
	"math"
	"strconv"
	"unsafe"
)

// number reads a number, or a word that stands for one.
func (p *parser) number() error {
	begin := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	switch c := p.peek(); {
	case c == 'N':
		return p.special(begin, "NaN")
	case c == 'I':
		return p.infinity(begin)
	case c == '0':
		p.pos++
	case c >= '1' && c <= '9':
		p.digits()
	default:
		return p.error("Invalid value.")
	}
	float := false
	if p.peek() == '.' {
		float = true
		p.pos++
		if p.digits() == 0 {
			return p.error("Miss fraction part in number.")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		float = true
		p.pos++
		if c := p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		if p.digits() == 0 {
			return p.error("Miss exponent in number.")
		}
	}
	return p.addNumber(begin, float)
}

// addNumber adds a number, which must not be too large for a double.
func (p *parser) addNumber(begin int, float bool) error {
	s := loan(p.src[begin:p.pos])
	if !float && len(s) > 18 {
		_, err := strconv.ParseInt(s, 10, 64)
		_, uerr := strconv.ParseUint(s, 10, 64)
		float = err != nil && uerr != nil
	}
	if float {
		if x, _ := strconv.ParseFloat(s, 64); math.IsInf(x, 0) {
			return p.errorAt("Number too big to be stored in double.", begin)
		}
	}
	p.scalar(node{kind: number, float: float}, begin)
	return nil
}

func (p *parser) digits() (n int) {
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.pos++
		n++
	}
	return n
}

func (p *parser) special(begin int, word string) error {
	if !p.take(word) {
		return p.error("Invalid value.")
	}
	p.scalar(node{kind: number, float: true}, begin)
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
	p.scalar(node{kind: number, float: true}, begin)
	return nil
}

// float64 returns the value of a number.
func (d *document) float64(n int32) float64 {
	x, _ := strconv.ParseFloat(loan(d.raw(n)), 64) // knows NaN, Inf and Infinity; the syntax has been checked
	return x
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
