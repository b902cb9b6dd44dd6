package stablehlo

import "strings"

// enums are the words of VHLO's enumerations by the codes of their attributes. A dash
// is a number without a word.
var enums = map[uint64][]string{
	3:  strings.Fields("EQ NE GE GT LE LT"),
	4:  strings.Fields("NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED"),
	5:  strings.Fields("API_VERSION_UNSPECIFIED API_VERSION_ORIGINAL API_VERSION_STATUS_RETURNING API_VERSION_STATUS_RETURNING_UNIFIED API_VERSION_TYPED_FFI"),
	7:  strings.Fields("FFT IFFT RFFT IRFFT"),
	11: strings.Fields("DEFAULT HIGH HIGHEST"),
	12: strings.Fields("DEFAULT THREE_FRY PHILOX"),
	13: strings.Fields("- UNIFORM NORMAL"),
	16: strings.Fields("TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"),
	19: strings.Fields("DEFAULT HIGHEST TOLERANCE"),
}

// vhloAttrs are the codes of VHLO's other attributes.
var vhloAttrs map[uint64]func(*cursor) Attr

func init() {
	vhloAttrs = map[uint64]func(*cursor) Attr{
		1:  func(c *cursor) Attr { return Array(c.attrList()) },
		2:  (*cursor).boolAttr,
		6:  (*cursor).dictAttr,
		8:  func(c *cursor) Attr { return c.floatOf(c.scalar()) },
		9:  func(c *cursor) Attr { return c.intOf(c.scalar()) },
		10: func(c *cursor) Attr { return Alias{Output: c.ints(), Operand: c.int(), Inner: c.ints()} },
		14: func(c *cursor) Attr { return String(c.string()) },
		15: func(c *cursor) Attr { return c.dense(c.typ()) },
		17: func(c *cursor) Attr { return TypeAttr{c.typ()} },
		18: func(c *cursor) Attr { return Bounds(c.shape()) },
		20: (*cursor).accuracyAttr,
		21: func(c *cursor) Attr { return Dict{"pre_size": i64(c.int()), "size": i64(c.int())} },
		22: (*cursor).axisAttr,
		23: func(c *cursor) Attr { return Dict{"mesh": c.attr(), "axes": c.attr()} },
		24: func(c *cursor) Attr { return Dict{"name": c.attr(), "size": i64(c.int())} },
		25: func(c *cursor) Attr { return dict("axes", c.attr(), "device_ids", c.optionalAttr()) },
	}
}

// vhloAttr reads an attribute in VHLO's encoding: a code and what it needs.
func (c *cursor) vhloAttr() Attr {
	code := c.uint()
	if words, ok := enums[code]; ok {
		return c.enum(words)
	}
	if f, ok := vhloAttrs[code]; ok {
		return f(c)
	}
	c.unsupported("the code of an attribute must be one of VHLO's, got %d", code)
	return nil
}

func (c *cursor) enum(words []string) Attr {
	w := *at(c, "word of an enumeration", words, c.uint())
	if w == "-" {
		c.corrupt("a word of an enumeration must have a meaning, got none of %q", words)
	}
	return Enum(w)
}

func (c *cursor) boolAttr() Attr {
	n := c.uint()
	if n > 1 {
		c.corrupt("a boolean must be 0 or 1, got %d", n)
	}
	return Bool(n == 1)
}

// dictAttr reads attributes behind the attributes that are their names.
func (c *cursor) dictAttr() Attr {
	d := Dict{}
	for n := c.count("attributes"); n > 0 && !c.failed(); n-- {
		name := c.text()
		if _, twice := d[name]; twice {
			c.corrupt("the names in a dictionary must differ, got %q twice", name)
		}
		d[name] = c.attr()
	}
	return d
}

func (c *cursor) accuracyAttr() Attr {
	return Dict{"atol": c.double(), "rtol": c.double(), "ulps": i64(c.int()), "mode": c.attr()}
}

func (c *cursor) axisAttr() Attr {
	name := c.attr()
	var sub Attr
	if c.uint() != 0 {
		sub = c.attr()
	}
	return dict("name", name, "sub_axis_info", sub)
}

func i64(n int64) Int { return Int{Elem: "i64", Value: n} }

// dict returns a dictionary without its second part if that is nil.
func dict(a string, v Attr, b string, w Attr) Dict {
	d := Dict{a: v}
	if w != nil {
		d[b] = w
	}
	return d
}
