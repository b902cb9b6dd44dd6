package stablehlo

import (
	"maps"
	"slices"
	"strings"
)

// A setKey says which attributes an operation has: most have the same as others.
type setKey struct {
	name       string
	dict, prop uint64 // numbers in their tables, 0 for none
}

// unversioned returns the name of an operation without its version.
func unversioned(name string) string {
	if i := strings.LastIndex(name, "_v"); i > 0 {
		return name[:i]
	}
	return name
}

// emptyInts is an attribute without integers.
var emptyInts = Dense{Type: Type{Kind: Tensor, Elem: "i64", Shape: []int64{0}}}

// added are the attributes that later versions of operations have, with the values by
// which they mean what the earlier ones did.
var added = map[string]map[string]Attr{
	"gather":               {"operand_batching_dims": emptyInts, "start_indices_batching_dims": emptyInts},
	"dynamic_gather":       {"operand_batching_dims": emptyInts, "start_indices_batching_dims": emptyInts},
	"scatter":              {"input_batching_dims": emptyInts, "scatter_indices_batching_dims": emptyInts},
	"send":                 {"source_target_pairs": emptyInts},
	"recv":                 {"source_target_pairs": emptyInts},
	"collective_broadcast": {"has_dynamic_root": Bool(false)},
	"custom_call":          {"result_tilings": Array{}},
}

// removed are the attributes that only earlier versions of operations have: this one
// says nothing, as the operation has an operand for it.
var removed = map[string]string{"dynamic_conv": "padding"}

// accurate are the operations to which an accuracy was added.
var accurate = []string{"cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic",
	"rsqrt", "sine", "sqrt", "tan", "tanh"}

func init() {
	zero := Float{Elem: "f64"}
	usual := Dict{"atol": zero, "rtol": zero, "ulps": i64(0), "mode": Enum("DEFAULT")}
	for _, name := range accurate {
		added[name] = map[string]Attr{"result_accuracy": usual}
	}
}

// symbols are the attributes that are strings in VHLO and name functions.
var symbols = map[string]string{"call": "callee", "composite": "decomposition", "custom_call": "called_computations"}

// upgrade makes an operation's attributes those of its newest version, in StableHLO's
// form: without such as VHLO has for what is not given.
func (c *cursor) upgrade(name string, attrs map[string]Attr) {
	for key, a := range added[name] {
		if _, given := attrs[key]; !given {
			attrs[key] = a
		}
	}
	delete(attrs, removed[name])
	if key, ok := symbols[name]; ok {
		attrs[key] = c.symbol(attrs[key])
	}
	maps.DeleteFunc(attrs, func(_ string, a Attr) bool {
		t, ok := a.(TypeAttr)
		return ok && t.Type.Kind == None
	})
}

// symbol makes a name of a function of a string, or names of several.
func (c *cursor) symbol(a Attr) Attr {
	switch a := a.(type) {
	case String:
		return Symbol(a)
	case Array:
		c.spend(len(a))
		out := slices.Clone(a)
		for i := range out {
			if s, ok := a[i].(String); ok {
				out[i] = Symbol(s)
			}
		}
		return out
	}
	return a
}
