package stablehlo

// An Attr is an attribute of an operation: one of the types below.
type Attr interface{ attr() }

type (
	// Array is a list of attributes.
	Array []Attr
	// Bool is true or false.
	Bool bool
	// Dict has attributes by name.
	Dict map[string]Attr
	// Enum is a word of an enumeration, as "LT" or "TOTALORDER", by StableHLO's names.
	Enum string
	// Float is a number of type Elem.
	Float struct {
		Elem  Elem
		Value float64
	}
	// Int is an integer of type Elem. One of ui64 has its bits in Value.
	Int struct {
		Elem  Elem
		Value int64
	}
	// String is a text or bytes.
	String string
	// Symbol is the name of a function.
	Symbol string
	// Dense is a constant tensor. Data has its elements in little-endian order, row by
	// row, or one element that stands for all (Splat). Booleans take a byte each, 0 or 1;
	// integers of fewer than 8 bits take a byte each, too.
	Dense struct {
		Type  Type
		Data  []byte
		Splat bool
	}
	// TypeAttr is a type.
	TypeAttr struct{ Type Type }
	// Alias says that a result of a custom call shares memory with an operand.
	Alias struct {
		Output  []int64
		Operand int64
		Inner   []int64
	}
	// Bounds are the bounds of the sizes of a type that has this as its encoding.
	Bounds []int64
	// Unit is an attribute that is there, and no more.
	Unit struct{}
)

func (Array) attr()    {}
func (Bool) attr()     {}
func (Dict) attr()     {}
func (Enum) attr()     {}
func (Float) attr()    {}
func (Int) attr()      {}
func (String) attr()   {}
func (Symbol) attr()   {}
func (Dense) attr()    {}
func (TypeAttr) attr() {}
func (Alias) attr()    {}
func (Bounds) attr()   {}
func (Unit) attr()     {}
