package core

import (
	"fmt"
	"io"
	"strings"

	"github.com/gorge-tf/gorge/internal/numeric"
)

// How much of a tensor is printed.
const (
	wholeElements = 10 // so many elements are printed without a gap
	edgeElements  = 3  // at both ends of a longer dimension
)

// String formats t as "float32[2,3]{1, 2, 3, ...}": type, shape and elements. Up to
// ten elements are one list. More are nested by dimension, and of dimensions longer
// than six the three at each end stand for all, as in TensorFlow's tf.print:
// "int32[100,2]{{0, 1}, {2, 3}, {4, 5}, ..., {194, 195}, {196, 197}, {198, 199}}".
func (t *Tensor) String() string {
	if t == nil {
		return "<nil>"
	}
	head := fmt.Sprintf("%v%v", t.dtype, t.shape)
	if !t.Addressable() {
		return head + "{in " + t.buf.Space() + "}"
	}
	p := printer{shape: t.shape, open: "{", comma: ", ", shut: "}", element: t.format, edge: t.edge()}
	if t.Len() <= wholeElements {
		p.shape = Shape{t.Len()}
	}
	p.WriteString(head)
	p.print(0, 0)
	return p.String()
}

// Format implements [fmt.Formatter]. The verbs v and s give String. Other verbs
// format each element, in nested brackets as slices of slices and NumPy's arrays are
// printed, with the gaps that String has: "%.1f" gives "[[1.0 2.0] [3.0 4.0]]".
func (t *Tensor) Format(s fmt.State, verb rune) {
	form := fmt.FormatString(s, verb)
	if verb == 'v' || verb == 's' || t == nil || !t.Addressable() {
		plain := strings.NewReplacer("#", "", "+", "", string(verb), "s").Replace(form)
		_, _ = fmt.Fprintf(s, plain, t.String())
		return
	}
	element := func(i int) string { return fmt.Sprintf(form, t.printable(i)) }
	p := printer{shape: t.shape, open: "[", comma: " ", shut: "]", element: element, edge: t.edge()}
	if t.Len() == 0 && manyBrackets(t.shape) {
		p.shape = Shape{0}
	}
	p.print(0, 0)
	_, _ = io.WriteString(s, p.String())
}

// manyBrackets reports whether a tensor of nothing, printed dimension by dimension, would be
// long: a shape such as [2,2,...,2,0] has as many pairs of brackets as one likes.
func manyBrackets(s Shape) bool {
	const many = 100
	n := 1
	for _, d := range s {
		if n *= min(d, 2*edgeElements); n == 0 || n > many {
			break
		}
	}
	return n > many
}

// edge returns how many elements at each end of a long dimension are printed; 0: all.
func (t *Tensor) edge() int {
	if 0 < t.Len() && t.Len() <= wholeElements {
		return 0
	}
	return edgeElements // also of dimensions of nothing, which may be long
}

// A printer writes the elements of a tensor, nested by dimension.
type printer struct {
	strings.Builder
	shape             Shape
	open, comma, shut string
	element           func(i int) string
	edge              int // elements at each end of a dimension; 0: all
}

// print writes what dimension d has from element at on.
func (p *printer) print(d, at int) {
	if d == len(p.shape) {
		p.WriteString(p.element(at))
		return
	}
	p.WriteString(p.open)
	n, stride := p.shape[d], p.shape[d+1:].NumElements()
	for i := 0; i < n; i++ {
		if i > 0 {
			p.WriteString(p.comma)
		}
		if p.edge > 0 && i == p.edge && n > 2*p.edge {
			p.WriteString("..." + p.comma)
			i = n - p.edge
		}
		p.print(d+1, at+i*stride)
	}
	p.WriteString(p.shut)
}

// format returns element i as String prints it.
func (t *Tensor) format(i int) string {
	v := t.printable(i)
	if s, ok := v.(string); ok && t.dtype == String {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}

// printable returns element i as a value that package fmt can print: numbers that Go
// does not have as those that it has, the name of a resource, the type of a variant.
func (t *Tensor) printable(i int) any {
	switch t.dtype {
	case Float8E5M2:
		return numeric.Float8E5M2.Decode(Data[uint8](t)[i])
	case Float8E4M3:
		return numeric.Float8E4M3FN.Decode(Data[uint8](t)[i])
	}
	switch dtypes[t.dtype].storage {
	case Float16:
		return Data[Half](t)[i].Float32()
	case BFloat16:
		return Data[BF16](t)[i].Float32()
	case Resource:
		return t.Handles()[i].Name
	case Variant:
		return fmt.Sprintf("%T", t.Variants()[i].Value)
	}
	return t.At(i)
}
