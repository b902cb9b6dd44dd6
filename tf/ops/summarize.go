package ops

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// summarize formats the first most elements of t, all if most is negative, as
// TensorFlow's assertions do: "[1 2][3...]...".
func summarize(t *core.Tensor, most int) string {
	p := newPrinter(t, most)
	if f := p.element; f == nil || t.Rank() == 0 {
		p.flat()
	} else {
		p.dim(0)
	}
	if t.Len() > p.most {
		p.WriteString("...")
	}
	return p.String()
}

// A printer writes a part of a tensor's elements.
type printer struct {
	strings.Builder
	t       *core.Tensor
	most    int
	next    int // the element to write next
	element func(i int) string
}

func newPrinter(t *core.Tensor, most int) *printer {
	if most < 0 || most > t.Len() {
		most = t.Len()
	}
	return &printer{t: t, most: most, element: elementText(t)}
}

// flat writes elements in a row, those that have no text as "?".
func (p *printer) flat() {
	for i := range p.most {
		if i > 0 {
			p.WriteByte(' ')
		}
		if p.element == nil {
			p.WriteByte('?')
		} else {
			p.WriteString(p.element(i))
		}
	}
}

// dim writes what is left of dimension d and those inside it.
func (p *printer) dim(d int) {
	if p.next >= p.most {
		return
	}
	if d == p.t.Rank()-1 {
		p.row(d)
		return
	}
	for range p.t.Dim(d) {
		begun := p.next < p.most
		if begun {
			p.WriteByte('[')
		}
		p.dim(d + 1)
		if begun {
			p.WriteByte(']')
		}
	}
}

// row writes what is left of the last dimension.
func (p *printer) row(d int) {
	for i := range p.t.Dim(d) {
		if p.next >= p.most {
			if d != 0 {
				p.WriteString("...")
			}
			return
		}
		if i > 0 {
			p.WriteByte(' ')
		}
		p.WriteString(p.element(p.next))
		p.next++
	}
}

// summarizeEnds formats t as numpy does: of every dimension the first and the
// last ends elements, all if ends is negative.
func summarizeEnds(t *core.Tensor, ends int) string {
	p := newPrinter(t, ends)
	if quoted := p.element; t.DType() == tf.String {
		p.element = func(i int) string { return `"` + quoted(i) + `"` }
	}
	switch {
	case t.Rank() == 0 && ends == 0:
		p.WriteString("...")
	case t.DType() == tf.Bool && t.Len() == 0: // has no brackets in TensorFlow
	case p.element == nil && t.Rank() == 0:
		p.flat()
	case p.element == nil:
		p.WriteByte('[')
		p.flat()
		if p.most < t.Len() {
			p.WriteString("...")
		}
		p.WriteByte(']')
	default:
		p.ends(0, 0)
	}
	return p.String()
}

// ends writes dimension d of the part that begins at element at.
func (p *printer) ends(d, at int) {
	if d == p.t.Rank() {
		p.WriteString(p.element(at))
		return
	}
	n, step := p.t.Dim(d), product(p.t.Shape()[d+1:])
	p.WriteByte('[')
	for i := range min(p.most, n) {
		if i > 0 {
			p.gap(d)
		}
		p.ends(d+1, at+i*step)
	}
	if n-p.most > p.most {
		p.gap(d)
		p.WriteString("...")
	}
	for i := max(p.most, n-p.most); i < n; i++ {
		p.gap(d)
		p.ends(d+1, at+i*step)
	}
	p.WriteByte(']')
}

// gap separates the elements of dimension d.
func (p *printer) gap(d int) {
	last := p.t.Rank() - 1
	if d == last {
		p.WriteByte(' ')
		return
	}
	p.WriteString(strings.Repeat("\n", last-d))
	p.WriteString(strings.Repeat(" ", d+1))
}

// elementText returns how the elements of t are written, nil if they are not.
func elementText(t *core.Tensor) func(i int) string {
	switch {
	case t.DType() == tf.String:
		v := core.Data[string](t)
		return func(i int) string { return escaped(v[i]) }
	case t.DType() == tf.Float64:
		v := core.Data[float64](t)
		return func(i int) string { return number64(v[i]) }
	case t.DType() == tf.Bool:
		v := core.Data[bool](t)
		return func(i int) string { return strconv.Itoa(int(flag(v[i]))) }
	case t.DType() == tf.Float32:
		v := core.Data[float32](t)
		return func(i int) string { return number32(v[i]) }
	case t.DType() == tf.Float16:
		v := core.Data[tf.Half](t)
		return func(i int) string { return number32(v[i].Float32()) }
	case t.DType() == tf.BFloat16:
		v := core.Data[tf.BF16](t)
		return func(i int) string { return number32(v[i].Float32()) }
	case t.DType().IsInteger():
		return func(i int) string { return integerText(t, i) }
	}
	if f, ok := float8s[t.DType()]; ok {
		v := core.Data[uint8](t)
		return func(i int) string { return float8Text(f, v[i]) }
	}
	return nil
}

// float8Text writes the sign of NaN too.
func float8Text(f numeric.Float8, b uint8) string {
	v := f.Decode(b)
	if v != v && b > 0x7f {
		return negativeNaN
	}
	return number32(v)
}

// flag is 1 for true.
func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func integerText(t *core.Tensor, i int) string {
	switch v := t.At(i).(type) {
	case int8:
		return strconv.Itoa(int(v))
	case int16:
		return strconv.Itoa(int(v))
	case int32:
		return strconv.Itoa(int(v))
	case int64:
		return strconv.FormatInt(v, 10)
	case uint8:
		return strconv.Itoa(int(v))
	case uint16:
		return strconv.Itoa(int(v))
	case uint32:
		return strconv.FormatUint(uint64(v), 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	}
	return "?"
}

// negativeNaN is NaN with its sign.
const negativeNaN = "-nan"

// number32 writes v with 6 digits, or 9 if those do not tell it.
func number32(v float32) string {
	if v != v && math.Signbit(float64(v)) {
		return negativeNaN
	}
	s := general(float64(v), 6)
	if back, err := strconv.ParseFloat(s, 32); err == nil && float32(back) == v {
		return s
	}
	return general(float64(v), 9)
}

// number64 writes v with 15 digits, or 17 if those do not tell it.
func number64(v float64) string {
	if v != v && math.Signbit(v) {
		return negativeNaN
	}
	s := general(v, 15)
	if back, err := strconv.ParseFloat(s, 64); err == nil && back == v {
		return s
	}
	return general(v, 17)
}

// general formats v as C's %.*g does.
func general(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	number, exponent := generalParts(v, digits)
	return trimZeros(number) + exponent
}

// generalParts formats a finite v as C's %#.*g does, the exponent apart.
func generalParts(v float64, digits int) (number, exponent string) {
	s := strconv.FormatFloat(v, 'e', digits-1, 64)
	mantissa, exp, _ := strings.Cut(s, "e")
	x, _ := strconv.Atoi(exp)
	if x >= -4 && x < digits {
		return strconv.FormatFloat(v, 'f', digits-1-x, 64), ""
	}
	return mantissa, "e" + exp
}

// trimZeros cuts the zeros at the end of a fraction.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// escaped writes s as in a C program, bytes of UTF-8 text as they are.
func escaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			b.WriteString(escapedByte(c))
		}
	}
	return b.String()
}

func escapedByte(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '"', '\'', '\\':
		return `\` + string(rune(c))
	}
	if c < ' ' || c == 0x7f {
		return `\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
	}
	return string(rune(c))
}
