package xla

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// refused is the error of an operation that breaks a rule.
func refused(op *stablehlo.Op, format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "StableHLO's operation %s: %s", op.Name, fmt.Sprintf(format, args...))
}

// unsupported is the error of an operation in a form that has no translation.
func unsupported(op *stablehlo.Op, format string, args ...any) error {
	return tf.Errorf(tf.Unimplemented, "StableHLO's operation %s: %s", op.Name, fmt.Sprintf(format, args...))
}

// named is the error of a node that was added for an operation.
func named(op *stablehlo.Op, err error) error {
	return tf.Errorf(tf.CodeOf(err), "StableHLO's operation %s: %s", op.Name, tf.AsError(err).Message())
}

// A reading reads the attributes of an operation. It keeps the first error.
type reading struct {
	op  *stablehlo.Op
	err error
}

func (r *reading) fail(format string, args ...any) {
	if r.err == nil {
		r.err = refused(r.op, format, args...)
	}
}

// int reads an integer; otherwise stands for one that is missing.
func (r *reading) int(name string, otherwise int) int {
	switch a := r.op.Attr(name).(type) {
	case nil:
		return otherwise
	case stablehlo.Int:
		return int(a.Value)
	}
	r.fail("attribute %s must be an integer", name)
	return otherwise
}

// float reads a number.
func (r *reading) float(name string) float64 {
	if a, ok := r.op.Attr(name).(stablehlo.Float); ok {
		return a.Value
	}
	r.fail("attribute %s must be a number", name)
	return 0
}

// flag reads a boolean; a missing one is false.
func (r *reading) flag(name string) bool {
	switch a := r.op.Attr(name).(type) {
	case nil:
		return false
	case stablehlo.Bool:
		return bool(a)
	}
	r.fail("attribute %s must be a boolean", name)
	return false
}

// word reads a word of an enumeration, or "" if it is missing.
func (r *reading) word(name string) string {
	switch a := r.op.Attr(name).(type) {
	case nil:
		return ""
	case stablehlo.Enum:
		return string(a)
	}
	r.fail("attribute %s must be a word of an enumeration", name)
	return ""
}

// ints reads integers; nil stands for a missing attribute.
func (r *reading) ints(name string) []int {
	a := r.op.Attr(name)
	if a == nil {
		return nil
	}
	v, ok := integers(a)
	if !ok {
		r.fail("attribute %s must be a list of integers", name)
	}
	return v
}

// intsOf reads n integers; a missing or empty attribute stands for n times otherwise.
func (r *reading) intsOf(name string, n, otherwise int) []int {
	v := r.ints(name)
	if len(v) == 0 {
		v = make([]int, n)
		for i := range v {
			v[i] = otherwise
		}
	}
	if len(v) != n {
		r.fail("attribute %s must have %d elements, got %d", name, n, len(v))
		return make([]int, n)
	}
	return v
}

// atLeast checks that no integer of a list is less than low.
func (r *reading) atLeast(name string, v []int, low int) []int {
	for _, x := range v {
		if x < low || x > math.MaxInt32 {
			r.fail("attribute %s must have elements in [%d, %d], got %d", name, low, math.MaxInt32, x)
		}
	}
	return v
}

// pairs reads the paddings before and after n dimensions.
func (r *reading) pairs(name string, n int) [][2]int {
	v := r.atLeast(name, r.intsOf(name, 2*n, 0), -math.MaxInt32)
	p := make([][2]int, n)
	for i := range p {
		p[i] = [2]int{v[2*i], v[2*i+1]}
	}
	return p
}

// dims reads distinct dimensions of a tensor.
func (r *reading) dims(name string, rank int) []int {
	v := r.ints(name)
	seen := make([]bool, rank)
	for _, d := range v {
		switch {
		case d < 0 || d >= rank:
			r.fail("attribute %s must have dimensions in [0, %d), got %d", name, rank, d)
			return nil
		case seen[d]:
			r.fail("attribute %s must have distinct dimensions, got %d twice", name, d)
			return nil
		}
		seen[d] = true
	}
	return v
}

// integers returns the integers of an attribute.
func integers(a stablehlo.Attr) ([]int, bool) {
	switch a := a.(type) {
	case stablehlo.Dense:
		return denseInts(a)
	case stablehlo.Array:
		v := make([]int, len(a))
		for i, e := range a {
			n, ok := e.(stablehlo.Int)
			if !ok {
				return nil, false
			}
			v[i] = int(n.Value)
		}
		return v, true
	}
	return nil, false
}

// denseInts returns the elements of a constant of integers or booleans.
func denseInts(d stablehlo.Dense) ([]int, bool) {
	width, ok := map[stablehlo.Elem]int{"i1": 1, "i8": 1, "ui8": 1, "i16": 2, "ui16": 2, "i32": 4, "ui32": 4, "i64": 8, "ui64": 8, "index": 8}[d.Type.Elem]
	if !ok {
		return nil, false
	}
	n, ok := count(d.Type.Shape)
	have := len(d.Data) / width
	if !ok || !d.Splat && have != n || d.Splat && have != 1 {
		return nil, false
	}
	v := make([]int, n)
	for i := range v {
		at := i * width
		if d.Splat {
			at = 0
		}
		v[i] = littleInt(d.Data[at:at+width], d.Type.Elem)
	}
	return v, true
}

// most is how many elements an attribute of integers may have.
const most = 1 << 20

// count returns the number of elements of a shape that an attribute may have.
func count(shape []int64) (int, bool) {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > most {
			return 0, false
		}
		if n *= d; n > most {
			return 0, false
		}
	}
	return int(n), true
}

// littleInt reads an integer of little-endian order.
func littleInt(b []byte, e stablehlo.Elem) int {
	var w [8]byte
	if signed := e[0] == 'i' && e != "i1"; signed && b[len(b)-1] >= 0x80 {
		w = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
	}
	copy(w[:], b)
	return int(int64(binary.LittleEndian.Uint64(w[:])))
}

// maxFollowed is through how many operations a value is followed back: a module may have
// very many in a row, and each of them may be asked about.
const maxFollowed = 64

// origin follows a value back through operations of some names, which repeat or reshape
// their first operand.
func origin(v *stablehlo.Value, names ...string) *stablehlo.Value {
	for range maxFollowed {
		if v.Def == nil || len(v.Def.Operands) == 0 || !slices.Contains(names, v.Def.Name) {
			break
		}
		v = v.Def.Operands[0]
	}
	return v
}

// constantInts returns the integers of a value that is a constant.
func constantInts(v *stablehlo.Value) ([]int, bool) {
	if v.Def == nil || v.Def.Name != "constant" {
		return nil, false
	}
	d, ok := v.Def.Attr("value").(stablehlo.Dense)
	if !ok {
		return nil, false
	}
	return denseInts(d)
}
