package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An ArgDef is one input or output of an op. Exactly one of Type, TypeAttr and
// ListAttr says what type it has.
type ArgDef struct {
	Name     string
	Type     DType  // a fixed type
	TypeAttr string // the attr (of kind type) that gives the type
	NumAttr  string // the attr (of kind int) that gives the length, for a list of one type
	ListAttr string // the attr (of kind list(type)) that gives length and types
	Ref      bool
}

// IsList reports whether the argument is a list of tensors.
func (a *ArgDef) IsList() bool { return a.NumAttr != "" || a.ListAttr != "" }

// An AttrDef is one attribute of an op.
type AttrDef struct {
	Name    string
	Kind    string // string, int, float, bool, type, shape, tensor, func
	List    bool
	HasMin  bool
	Min     int64
	Types   []DType  // allowed types; empty: all
	Strings []string // allowed strings; empty: all
	Default any      // nil: the attribute has to be given
}

// numberTypes are TensorFlow's "numbertype" and "realnumbertype".
var (
	numberTypes = []DType{Float32, Float64, Int32, Uint8, Int16, Int8, Complex64, Int64, QInt8, QUint8, QInt32,
		BFloat16, QInt16, QUint16, Uint16, Complex128, Float16, Uint32, Uint64}
	realNumberTypes = []DType{Float32, Float64, Int32, Uint8, Int16, Int8, Int64, BFloat16, Uint16, Float16, Uint32, Uint64}
	quantizedTypes  = []DType{QInt8, QUint8, QInt32, QInt16, QUint16}
)

// parseArgs parses "a: T; b: N * T; c: Ref(float)".
func parseArgs(s string) (args []ArgDef, err error) {
	for _, part := range splitList(s, ';') {
		name, typ, err := splitName(part)
		if err != nil {
			return nil, fmt.Errorf("argument %w", err)
		}
		a := ArgDef{Name: name}
		if err := a.parseType(typ); err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
		if slices.ContainsFunc(args, func(b ArgDef) bool { return b.Name == name }) {
			return nil, fmt.Errorf("two arguments are named %s", name)
		}
		args = append(args, a)
	}
	return args, nil
}

// splitName splits "name: rest".
func splitName(s string) (name, rest string, err error) {
	name, rest, _ = strings.Cut(s, ":")
	name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
	if !isIdentifier(name) || rest == "" {
		return "", "", fmt.Errorf("%q: want name: type", s)
	}
	return name, rest, nil
}

func isIdentifier(s string) bool {
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func (a *ArgDef) parseType(typ string) error {
	if num, rest, ok := strings.Cut(typ, "*"); ok {
		a.NumAttr, typ = strings.TrimSpace(num), strings.TrimSpace(rest)
		if !isIdentifier(a.NumAttr) {
			return fmt.Errorf("bad length %q", num)
		}
	}
	if inner, ok := within(typ, "Ref(", ")"); ok {
		a.Ref, typ = true, inner
	}
	if d, ok := DTypeByName(typ); ok {
		a.Type = d
		return nil
	}
	if !isIdentifier(typ) {
		return fmt.Errorf("bad type %q", typ)
	}
	a.TypeAttr = typ // a list attr is told apart when the attrs are known
	return nil
}

// within returns what is between open and end, if s begins and ends so.
func within(s, open, end string) (string, bool) {
	inner, ok := strings.CutPrefix(s, open)
	if !ok {
		return s, false
	}
	inner, ok = strings.CutSuffix(inner, end)
	return strings.TrimSpace(inner), ok
}

// parseAttrs parses "T: {float, double} = float; N: int >= 1; s: list(int) = [1, 2]".
func parseAttrs(s string) (attrs []AttrDef, err error) {
	for _, part := range splitList(s, ';') {
		name, rest, err := splitName(part)
		if err != nil {
			return nil, fmt.Errorf("attr %w", err)
		}
		d := AttrDef{Name: name}
		if err := d.parse(rest); err != nil {
			return nil, fmt.Errorf("attr %s: %w", name, err)
		}
		if slices.ContainsFunc(attrs, func(b AttrDef) bool { return b.Name == name }) {
			return nil, fmt.Errorf("two attrs are named %s", name)
		}
		attrs = append(attrs, d)
	}
	return attrs, nil
}

func (d *AttrDef) parse(s string) error {
	kind, def, hasDefault := cutDefault(s)
	kind, minimum, hasMin := strings.Cut(kind, ">=")
	if hasMin {
		n, err := strconv.ParseInt(strings.TrimSpace(minimum), 10, 64)
		if err != nil {
			return err
		}
		d.HasMin, d.Min = true, n
	}
	if err := d.parseKind(strings.TrimSpace(kind)); err != nil {
		return err
	}
	if !hasDefault {
		return nil
	}
	v, err := d.parseValue(strings.TrimSpace(def))
	if err != nil {
		return err
	}
	d.Default = v
	return d.Check(v)
}
