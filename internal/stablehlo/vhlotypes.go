package stablehlo

// scalars are the codes of VHLO's types that stand for an element and need no more.
var scalars = map[uint64]Elem{
	0: "i1", 2: "bf16", 3: "f16", 4: "f32", 5: "f64", 6: "f8E4M3FN", 7: "f8E5M2", 9: "index",
	10: "i4", 11: "i8", 12: "i16", 13: "i32", 14: "i64", 15: "ui4", 16: "ui8", 17: "ui16", 18: "ui32", 19: "ui64",
	27: "f8E4M3FNUZ", 28: "f8E5M2FNUZ", 29: "f8E4M3B11FNUZ", 31: "i2", 32: "ui2", 34: "tf32", 35: "f8E4M3", 36: "f8E3M4",
	37: "f4E2M1FN", 38: "f6E2M3FN", 39: "f6E3M2FN", 40: "f8E8M0FNU",
}

// plain are the codes of VHLO's other types that need no more.
var plain = map[uint64]Kind{22: Token, 26: Witness, 33: None}

// composed are the codes of VHLO's types that have parts.
var composed map[uint64]func(*cursor) Type

func init() {
	composed = map[uint64]func(*cursor) Type{
		1:  (*cursor).complexType,
		8:  func(c *cursor) Type { return Type{Kind: Function, Args: c.typeList(), Results: c.typeList()} },
		20: (*cursor).tensorType,
		21: (*cursor).boundedType,
		23: func(c *cursor) Type { return Type{Kind: Tuple, Elems: c.typeList()} },
		24: (*cursor).quantizedType,
		25: func(c *cursor) Type { return c.of(Type{Kind: Unranked}) },
		30: (*cursor).axisQuantizedType,
		41: func(c *cursor) Type { return c.of(Type{Kind: Buffer, Shape: c.shape()}) },
		42: func(c *cursor) Type { return Type{Kind: Future, Elems: c.typeList()} },
	}
}

// vhloType reads a type in VHLO's encoding: a code and what it needs.
func (c *cursor) vhloType() Type {
	code := c.uint()
	if e, ok := scalars[code]; ok {
		return Type{Kind: Scalar, Elem: e}
	}
	if k, ok := plain[code]; ok {
		return Type{Kind: k}
	}
	if f, ok := composed[code]; ok {
		return f(c)
	}
	c.unsupported("the code of a type must be one of VHLO's, got %d", code)
	return Type{}
}

// scalar reads the type of an element.
func (c *cursor) scalar() Type {
	t := c.typ()
	if t.Kind != Scalar {
		c.corrupt("the type of an element must be one of a number, got %v", t)
	}
	return t
}

// of completes a type of several elements.
func (c *cursor) of(t Type) Type {
	e := c.scalar()
	t.Elem, t.Quantized = e.Elem, e.Quantized
	return t
}

func (c *cursor) complexType() Type {
	e := c.scalar()
	if e.Elem != "f32" && e.Elem != "f64" || e.Quantized {
		c.corrupt("the parts of a complex number must be f32 or f64, got %s", e.Elem)
	}
	return Type{Kind: Scalar, Elem: "complex<" + e.Elem + ">"}
}

// smallest is how MLIR says that a size is not known.
const smallest = -1 << 63

// shape reads the sizes of a tensor.
func (c *cursor) shape() []int64 {
	s := c.ints()
	for i, n := range s {
		switch {
		case n == smallest:
			s[i] = Dynamic
		case n < 0:
			c.corrupt("a size must be at least 0, got %d", n)
		}
	}
	return s
}

func (c *cursor) tensorType() Type { return c.of(Type{Kind: Tensor, Shape: c.shape()}) }

// boundedType reads a tensor with an encoding, which is one of bounds.
func (c *cursor) boundedType() Type {
	a := c.attr()
	b, ok := a.(Bounds)
	if !ok {
		c.unsupported("the encoding of a tensor must be its bounds, got %T", a)
	}
	t := c.tensorType()
	t.Bounds = b
	if len(b) > 0 && len(b) != len(t.Shape) {
		c.corrupt("a tensor must have a bound for each size, got %d for %d", len(b), len(t.Shape))
	}
	return t
}

// stored reads the beginning of a quantized type: flags, the type that stores and the
// one that is meant.
func (c *cursor) stored() Type {
	c.uint()
	t := c.scalar()
	c.scalar()
	t.Quantized = true
	return t
}

func (c *cursor) quantizedType() Type {
	t := c.stored()
	c.double() // scale
	c.int()    // zero point
	c.int()    // the least value that is stored
	c.int()    // the largest
	return t
}

func (c *cursor) axisQuantizedType() Type {
	t := c.stored()
	c.uint() // the axis
	c.int()
	c.int()
	for range c.count("scales") {
		c.double()
	}
	c.ints() // zero points
	return t
}
