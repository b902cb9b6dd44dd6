package stablehlo

import "slices"

// Kind says what a type is.
type Kind uint8

// The kinds of types.
const (
	Tensor   Kind = iota + 1 // a ranked tensor: Elem and Shape
	Unranked                 // a tensor of unknown rank: Elem
	Scalar                   // a bare number, which occurs in attributes only: Elem
	Token                    // orders effects
	Tuple                    // Elems
	Function                 // Args, Results
	None
	Buffer  // memory that custom calls share: Elem and Shape
	Future  // what an asynchronous operation gives: Elems
	Witness // that a constraint of shapes holds
)

// An Elem is the type of a tensor's elements, by StableHLO's name: "f32", "bf16",
// "f8E4M3FN", "i1" (booleans), "i8", "ui8", "i64", "complex<f32>", "index".
type Elem string

// Dynamic is a size that is not known before the module runs.
const Dynamic = -1

// A Type is the type of a value.
type Type struct {
	Kind          Kind
	Elem          Elem
	Shape         []int64 // of tensors; Dynamic for unknown sizes
	Bounds        []int64 // of dynamic sizes, if the type has some
	Elems         []Type  // of tuples
	Args, Results []Type  // of functions
	Quantized     bool    // elements are quantized, which is not supported beyond this flag; Elem is what stores them
}

// Equal says whether two types are the same.
func (t Type) Equal(u Type) bool {
	return t.Kind == u.Kind && t.Elem == u.Elem && t.Quantized == u.Quantized &&
		slices.Equal(t.Shape, u.Shape) && slices.Equal(t.Bounds, u.Bounds) &&
		slices.EqualFunc(t.Elems, u.Elems, Type.Equal) &&
		slices.EqualFunc(t.Args, u.Args, Type.Equal) && slices.EqualFunc(t.Results, u.Results, Type.Equal)
}

// composed says whether a type consists of others.
func (t Type) composed() bool { return len(t.Elems)+len(t.Args)+len(t.Results) > 0 }

// parts returns of how many types a type consists, or some number above most.
func (t Type) parts(most int) int {
	n := 1
	for _, list := range [][]Type{t.Elems, t.Args, t.Results} {
		for _, part := range list {
			if n > most {
				return n
			}
			n += part.parts(most - n)
		}
	}
	return n
}
