package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// A sortKey says how a comparator compares the elements of an operand. zeros makes -0
// and 0 equal, nans all NaN.
type sortKey struct {
	operand     int
	part        string // of complex numbers: Real or Imag
	descending  bool
	zeros, nans bool
}

// comparator returns the keys by which a region of 2n arguments orders elements:
// arguments 2i and 2i+1 are two elements of operand i.
func comparator(b *stablehlo.Block, n int) ([]sortKey, bool) {
	if b == nil || len(b.Args) != 2*n || len(b.Ops) == 0 || len(b.Terminator().Operands) != 1 {
		return nil, false
	}
	c := &comparing{block: b}
	return c.order(nil, b.Terminator().Operands[0], 2*n)
}

// comparing recognizes what a comparator computes.
type comparing struct{ block *stablehlo.Block }

// order appends the keys of a value: a less than, or one that other keys follow where
// the elements are equal. depth bounds the keys.
func (c *comparing) order(keys []sortKey, v *stablehlo.Value, depth int) ([]sortKey, bool) {
	if v.Def == nil || depth == 0 {
		return nil, false
	}
	x := v.Def.Operands
	switch {
	case v.Def.Name == "compare":
		k, ok := c.compare(v.Def, "LT", "GT")
		return append(keys, k), ok
	case v.Def.Name == "or" && len(x) == 2:
		if all, ok := c.follow(keys, x[0], x[1], depth); ok {
			return all, true
		}
		return c.follow(keys, x[1], x[0], depth)
	case v.Def.Name == "select" && len(x) == 3:
		return c.chosen(keys, x[0], x[1], x[2], depth)
	}
	return nil, false
}

// follow recognizes "less, or equal and what follows".
func (c *comparing) follow(keys []sortKey, less, both *stablehlo.Value, depth int) ([]sortKey, bool) {
	if both.Def == nil || both.Def.Name != "and" || len(both.Def.Operands) != 2 {
		return nil, false
	}
	x, y := both.Def.Operands[0], both.Def.Operands[1]
	if all, ok := c.chosen(keys, x, y, less, depth); ok {
		return all, true
	}
	return c.chosen(keys, y, x, less, depth)
}

// chosen recognizes "what follows if equal, else less".
func (c *comparing) chosen(keys []sortKey, equal, rest, less *stablehlo.Value, depth int) ([]sortKey, bool) {
	if equal.Def == nil || equal.Def.Name != "compare" || less.Def == nil || less.Def.Name != "compare" {
		return nil, false
	}
	k, ok := c.compare(less.Def, "LT", "GT")
	e, same := c.compare(equal.Def, "EQ", "EQ")
	if !ok || !same || e.operand != k.operand || e.part != k.part {
		return nil, false
	}
	return c.order(append(keys, k), rest, depth-1)
}

// compare recognizes the comparison of two elements of an operand in one of two
// directions, of which the second one is of descending order.
func (c *comparing) compare(op *stablehlo.Op, up, down string) (sortKey, bool) {
	dir, _ := op.Attr("comparison_direction").(stablehlo.Enum)
	if len(op.Operands) != 2 || string(dir) != up && string(dir) != down {
		return sortKey{}, false
	}
	a, b := op.Operands[0], op.Operands[1]
	t, _ := op.Attr("compare_type").(stablehlo.Enum)
	total := t == "TOTALORDER"
	if v, ok := totallyOrdered(a); ok {
		w, both := totallyOrdered(b)
		if !both {
			return sortKey{}, false
		}
		a, b, total = v, w, true
	}
	x, kx := c.element(a)
	y, ky := c.element(b)
	if x < 0 || y != x^1 || kx != ky {
		return sortKey{}, false
	}
	kx.operand = x / 2
	kx.descending = (string(dir) == down) != (x%2 == 1)
	if !total {
		kx.zeros, kx.nans = true, true
	}
	return kx, true
}

// partNames has the ops by which keys are parts of complex numbers.
var partNames = map[string]string{"real": "Real", "imag": "Imag"}

// element returns the argument that a value is, or is a part of, but for zeros and NaN that
// are made one, each once; -1 if it is another value. More selects, of which modules may have very
// many, are not followed.
func (c *comparing) element(v *stablehlo.Value) (int, sortKey) {
	var k sortKey
	tested := []*stablehlo.Value(nil)
	for v.Def != nil && partNames[v.Def.Name] == "" {
		x := v.Def.Operands
		if v.Def.Name != "select" || len(x) != 3 || x[0].Def == nil || x[0].Def.Name != "compare" {
			return -1, k
		}
		switch {
		case !k.zeros && isZeroTest(x[0].Def) && isConstant(x[1], isZero):
			k.zeros = true
		case !k.nans && isNaNTest(x[0].Def) && isConstant(x[1], isNaN):
			k.nans = true
		default:
			return -1, k
		}
		tested = append(tested, x[0].Def.Operands[0])
		v = x[2]
	}
	if slices.ContainsFunc(tested, func(t *stablehlo.Value) bool { return t != v }) {
		return -1, k
	}
	if v.Def != nil {
		if len(v.Def.Operands) != 1 {
			return -1, k
		}
		k.part, v = partNames[v.Def.Name], v.Def.Operands[0]
	}
	return c.argument(v), k
}

// argument returns the number of an argument, -1 if a value is another block's.
func (c *comparing) argument(v *stablehlo.Value) int {
	if args := c.block.Args; v.Index < 0 || v.Index >= len(args) || args[v.Index] != v {
		return -1
	}
	return v.Index
}

// isZeroTest reports whether op is x == 0.
func isZeroTest(op *stablehlo.Op) bool {
	return op.Attr("comparison_direction") == stablehlo.Enum("EQ") && len(op.Operands) == 2 && isConstant(op.Operands[1], isZero)
}

// isNaNTest reports whether op is x != x.
func isNaNTest(op *stablehlo.Op) bool {
	return op.Attr("comparison_direction") == stablehlo.Enum("NE") && len(op.Operands) == 2 && op.Operands[0] == op.Operands[1]
}

// isConstant reports whether v is a constant scalar whose bits have a property.
func isConstant(v *stablehlo.Value, is func(e stablehlo.Elem, bits uint64) bool) bool {
	if v.Def == nil || v.Def.Name != "constant" {
		return false
	}
	d, ok := v.Def.Attr("value").(stablehlo.Dense)
	if !ok || len(d.Data) == 0 || len(d.Data) > 8 {
		return false
	}
	bits := uint64(0)
	for i, b := range d.Data {
		bits |= uint64(b) << (8 * i)
	}
	return is(d.Type.Elem, bits)
}

// signs are the bits of signs, exponents those of the greatest number, infinite or not, by type.
var (
	signs     = map[stablehlo.Elem]uint64{"f16": 1 << 15, "bf16": 1 << 15, "f32": 1 << 31, "f64": 1 << 63, "f8E5M2": 1 << 7, "f8E4M3FN": 1 << 7}
	exponents = map[stablehlo.Elem]uint64{"f16": 0x7c00, "bf16": 0x7f80, "f32": 0x7f800000, "f64": 0x7ff << 52, "f8E5M2": 0x7c, "f8E4M3FN": 0x7e}
)

func isZero(e stablehlo.Elem, bits uint64) bool { return bits&^signs[e] == 0 }

func isNaN(e stablehlo.Elem, bits uint64) bool {
	return exponents[e] != 0 && bits&^signs[e] > exponents[e]
}
