package xla

import "github.com/gorge-tf/gorge/internal/stablehlo"

// totallyOrdered recognizes floating-point numbers made integers of the order that IEEE
// 754 calls total, which are JAX's keys of sorting in graphs without modules:
//
//	b = bitcast(x); b ^ bitcast(bitcast(b >> all but one bit) >>> 1)
//
// It returns x.
func totallyOrdered(v *stablehlo.Value) (*stablehlo.Value, bool) {
	b, mask, ok := ofTwo(v, "xor")
	if !ok {
		return nil, false
	}
	x, ok := ofOne(b, "bitcast_convert")
	if !ok || signs[x.Type.Elem] == 0 {
		return nil, false
	}
	half, ok := ofOne(mask, "bitcast_convert")
	if !ok {
		return nil, false
	}
	all, by, ok := ofTwo(half, "shift_right_logical")
	if one, known := constantInts(by); !ok || !known || len(one) != 1 || one[0] != 1 {
		return nil, false
	}
	sign, ok := ofOne(all, "bitcast_convert")
	if !ok {
		return nil, false
	}
	same, by, ok := ofTwo(sign, "shift_right_arithmetic")
	width, known := constantInts(by)
	return x, ok && known && len(width) == 1 && width[0] == bits(dtypes[x.Type.Elem])-1 && same == b
}

// ofOne returns the operand of an operation of a name.
func ofOne(v *stablehlo.Value, name string) (*stablehlo.Value, bool) {
	if v.Def == nil || v.Def.Name != name || len(v.Def.Operands) != 1 {
		return nil, false
	}
	return v.Def.Operands[0], true
}

// ofTwo returns the operands of an operation of a name; if it is another, the value itself.
func ofTwo(v *stablehlo.Value, name string) (x, y *stablehlo.Value, ok bool) {
	if v.Def == nil || v.Def.Name != name || len(v.Def.Operands) != 2 {
		return v, v, false
	}
	return v.Def.Operands[0], v.Def.Operands[1], true
}
