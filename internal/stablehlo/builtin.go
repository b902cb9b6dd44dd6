package stablehlo

// builtinAttrs are the codes of MLIR's own attributes that artifacts have outside of
// VHLO: names, and what the dictionaries of operations and of the module consist of.
// Locations have codes, too, but nothing reads them.
var builtinAttrs map[uint64]func(*cursor) Attr

// builtinTypes are the codes of MLIR's own types.
var builtinTypes map[uint64]func(*cursor) Type

func init() {
	builtinAttrs = map[uint64]func(*cursor) Attr{
		0:  func(c *cursor) Attr { return Array(c.attrList()) },
		1:  (*cursor).dictAttr,
		2:  func(c *cursor) Attr { return String(c.string()) },
		3:  (*cursor).typedString,
		4:  func(c *cursor) Attr { return Symbol(c.text()) },
		6:  func(c *cursor) Attr { return TypeAttr{c.typ()} },
		7:  func(*cursor) Attr { return Unit{} },
		8:  func(c *cursor) Attr { return c.intOf(c.scalar()) },
		9:  func(c *cursor) Attr { return c.floatOf(c.scalar()) },
		18: func(c *cursor) Attr { return c.dense(c.typ()) },
	}
	builtinTypes = map[uint64]func(*cursor) Type{
		0:  (*cursor).integerType,
		1:  func(*cursor) Type { return Type{Kind: Scalar, Elem: "index"} },
		2:  func(c *cursor) Type { return Type{Kind: Function, Args: c.typeList(), Results: c.typeList()} },
		3:  func(*cursor) Type { return Type{Kind: Scalar, Elem: "bf16"} },
		4:  func(*cursor) Type { return Type{Kind: Scalar, Elem: "f16"} },
		5:  func(*cursor) Type { return Type{Kind: Scalar, Elem: "f32"} },
		6:  func(*cursor) Type { return Type{Kind: Scalar, Elem: "f64"} },
		9:  (*cursor).complexType,
		12: func(*cursor) Type { return Type{Kind: None} },
		13: (*cursor).tensorType,
		15: func(c *cursor) Type { return Type{Kind: Tuple, Elems: c.typeList()} },
		18: func(c *cursor) Type { return c.of(Type{Kind: Unranked}) },
	}
}

func (c *cursor) builtinAttr() Attr {
	code := c.uint()
	if f, ok := builtinAttrs[code]; ok {
		return f(c)
	}
	c.unsupported("MLIR's own attributes must be those of names and plain values, got code %d", code)
	return nil
}

func (c *cursor) builtinType() Type {
	code := c.uint()
	if f, ok := builtinTypes[code]; ok {
		return f(c)
	}
	c.unsupported("MLIR's own types must be those of tensors and plain values, got code %d", code)
	return Type{}
}

// typedString reads a string that has a type, which means nothing here.
func (c *cursor) typedString() Attr {
	s := String(c.string())
	c.typ()
	return s
}

// integerType reads a type of integers: the width, and whether it is without sign (0,
// as all of StableHLO's but those with "ui"), signed (1) or unsigned (2).
func (c *cursor) integerType() Type {
	n := c.uint()
	for e, width := range bitsOf {
		unsigned := e[0] == 'u'
		if e != "index" && n>>2 == uint64(width) && (n&3 == 2) == unsigned && n&3 != 3 {
			return Type{Kind: Scalar, Elem: e}
		}
	}
	c.unsupported("the width of an integer must be one of StableHLO's, got %d", n>>2)
	return Type{}
}
