package core

import (
	"fmt"
	"reflect"
	"slices"
)

// Attrs holds the attributes of a node by name. Values have one of these Go
// types: string, int64, float32, bool, DType, Shape, *Tensor, Func; slices of
// them; Placeholder.
type Attrs map[string]any

// A Func is the value of a function attribute: a function's name and its own
// attributes.
type Func struct {
	Name  string
	Attrs Attrs
	body  *FunctionBody // of functions that no library has
}

// A Placeholder stands for an attribute of the enclosing function.
type Placeholder string

// NormalAttr converts what a Go program writes (an int, a []int) to the one
// type that attributes have.
func NormalAttr(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float64:
		return float32(v)
	case []int:
		return convert[int64](v)
	case []float64:
		return convert[float32](v)
	case []byte:
		return string(v)
	}
	return v
}

func convert[T, S int | int64 | float32 | float64](in []S) []T {
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = T(v)
	}
	return out
}

// attrKinds maps the names that signatures use to the Go type of the value.
var attrKinds = map[string]reflect.Type{
	"string": reflect.TypeFor[string](), "int": reflect.TypeFor[int64](), "float": reflect.TypeFor[float32](),
	"bool": reflect.TypeFor[bool](), "type": reflect.TypeFor[DType](), "shape": reflect.TypeFor[Shape](),
	"tensor": reflect.TypeFor[*Tensor](), "func": reflect.TypeFor[Func](),
}

// AttrEqual reports whether two attribute values are the same.
func AttrEqual(a, b any) bool {
	x, ok := a.(*Tensor)
	y, ok2 := b.(*Tensor)
	if ok && ok2 {
		return x == y || TensorsEqual(x, y)
	}
	return reflect.DeepEqual(a, b)
}

// TensorsEqual reports whether a and b have the same type, shape and bits.
func TensorsEqual(a, b *Tensor) bool {
	if a == nil || b == nil || a.dtype != b.dtype || !slices.Equal(a.shape, b.shape) {
		return a == b
	}
	if a.buf != nil && b.buf != nil {
		return a.Addressable() && b.Addressable() && string(a.buf.Bytes()) == string(b.buf.Bytes())
	}
	if (a.buf == nil) != (b.buf == nil) {
		return false // one has been released
	}
	return reflect.DeepEqual(a.obj, b.obj)
}

// Check reports whether v is a value that attribute d admits.
func (d *AttrDef) Check(v any) error {
	if _, ok := v.(Placeholder); ok {
		return nil
	}
	want := attrKinds[d.Kind]
	if d.List {
		want = reflect.SliceOf(want)
	}
	if got := reflect.TypeOf(v); got != want {
		return Errorf(InvalidArgument, "attr %q must be %s, got %T", d.Name, d.TypeName(), v)
	}
	if err := d.checkMinimum(v); err != nil {
		return err
	}
	if hasNil(v) {
		return Errorf(InvalidArgument, "attr %q must not be a nil tensor", d.Name)
	}
	return d.checkAllowed(v)
}

// hasNil reports whether v is or holds a tensor that is nil.
func hasNil(v any) bool {
	switch v := v.(type) {
	case *Tensor:
		return v == nil
	case []*Tensor:
		return slices.Contains(v, nil)
	}
	return false
}

// TypeName returns the attribute's type in signature notation: "list(int)".
func (d *AttrDef) TypeName() string {
	if d.List {
		return "list(" + d.Kind + ")"
	}
	return d.Kind
}

func (d *AttrDef) checkMinimum(v any) error {
	if !d.HasMin {
		return nil
	}
	n := int64(0)
	if i, ok := v.(int64); ok {
		n = i
	} else {
		n = int64(reflect.ValueOf(v).Len())
	}
	if n < d.Min {
		what := "value"
		if d.List {
			what = "length"
		}
		return Errorf(InvalidArgument, "attr %q must have %s at least %d, got %d", d.Name, what, d.Min, n)
	}
	return nil
}

func (d *AttrDef) checkAllowed(v any) error {
	switch v := v.(type) {
	case DType:
		return d.checkType(v)
	case []DType:
		for _, t := range v {
			if err := d.checkType(t); err != nil {
				return err
			}
		}
	case string:
		if len(d.Strings) > 0 && !slices.Contains(d.Strings, v) {
			return Errorf(InvalidArgument, "attr %q must be one of %q, got %q", d.Name, d.Strings, v)
		}
	case []string:
		for _, s := range v {
			if len(d.Strings) > 0 && !slices.Contains(d.Strings, s) {
				return Errorf(InvalidArgument, "attr %q must be one of %q, got %q", d.Name, d.Strings, s)
			}
		}
	}
	return nil
}

func (d *AttrDef) checkType(t DType) error {
	switch {
	case t != Invalid && !t.Valid():
		return Errorf(InvalidArgument, "attr %q must be a known type, got %v", d.Name, t)
	case len(d.Types) > 0 && !slices.Contains(d.Types, t.Base()):
		return Errorf(InvalidArgument, "attr %q must be one of %v, got %v", d.Name, d.Types, t)
	}
	return nil
}

// String formats attributes in the order of their names.
func (a Attrs) String() string {
	s := ""
	for _, k := range sortedKeys(a) {
		s += fmt.Sprintf(" %s=%v", k, a[k])
	}
	if s == "" {
		return "[]"
	}
	return "[" + s[1:] + "]"
}
