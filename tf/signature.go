package tf

import (
	"fmt"
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
		name, typ, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("argument %q: want name: type", part)
		}
		a := ArgDef{Name: strings.TrimSpace(name)}
		a.parseType(strings.TrimSpace(typ))
		args = append(args, a)
	}
	return args, nil
}

func (a *ArgDef) parseType(typ string) {
	if num, rest, ok := strings.Cut(typ, "*"); ok {
		a.NumAttr, typ = strings.TrimSpace(num), strings.TrimSpace(rest)
	}
	if inner, ok := strings.CutPrefix(typ, "Ref("); ok {
		a.Ref, typ = true, strings.TrimSuffix(inner, ")")
	}
	if d, ok := DTypeByName(typ); ok {
		a.Type = d
		return
	}
	a.TypeAttr = typ // a list attr is told apart when the attrs are known
}

// parseAttrs parses "T: {float, double} = float; N: int >= 1; s: list(int) = [1, 2]".
func parseAttrs(s string) (attrs []AttrDef, err error) {
	for _, part := range splitList(s, ';') {
		name, rest, ok := strings.Cut(part, ":")
		if !ok {
			return nil, fmt.Errorf("attr %q: want name: type", part)
		}
		d := AttrDef{Name: strings.TrimSpace(name)}
		if err := d.parse(strings.TrimSpace(rest)); err != nil {
			return nil, fmt.Errorf("attr %s: %w", d.Name, err)
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
	d.Default = v
	return err
}

// cutDefault splits at the "=" that begins a default value, not at ">=".
func cutDefault(s string) (kind, def string, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '=' && (i == 0 || s[i-1] != '>') {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

func (d *AttrDef) parseKind(k string) error {
	if inner, ok := strings.CutPrefix(k, "list("); ok {
		d.List, k = true, strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	}
	switch {
	case k == "numbertype" || k == "realnumbertype" || k == "quantizedtype":
		d.Kind = "type"
		d.Types = map[string][]DType{"numbertype": numberTypes, "realnumbertype": realNumberTypes, "quantizedtype": quantizedTypes}[k]
	case strings.HasPrefix(k, "{"):
		return d.parseSet(splitList(strings.Trim(k, "{} "), ','))
	case attrKinds[k] != nil:
		d.Kind = k
	default:
		return fmt.Errorf("unknown type %q", k)
	}
	return nil
}

// parseSet reads the members of {…}: strings in quotes or types.
func (d *AttrDef) parseSet(items []string) error {
	for _, it := range items {
		if strings.HasPrefix(it, "'") || strings.HasPrefix(it, `"`) {
			d.Kind = "string"
			d.Strings = append(d.Strings, strings.Trim(it, `'"`))
			continue
		}
		t, ok := DTypeByName(it)
		if !ok {
			return fmt.Errorf("unknown type %q", it)
		}
		d.Kind = "type"
		d.Types = append(d.Types, t)
	}
	return nil
}

func (d *AttrDef) parseValue(s string) (any, error) {
	if d.List {
		return d.parseListValue(splitList(strings.Trim(s, "[] "), ','))
	}
	return d.parseOne(s)
}

func (d *AttrDef) parseOne(s string) (any, error) {
	switch d.Kind {
	case "string":
		return strings.Trim(s, `'"`), nil
	case "int":
		return strconv.ParseInt(s, 10, 64)
	case "float":
		f, err := strconv.ParseFloat(s, 32)
		return float32(f), err
	case "bool":
		return strconv.ParseBool(s)
	case "type":
		if t, ok := DTypeByName(strings.ToLower(strings.TrimPrefix(s, "DT_"))); ok {
			return t, nil
		}
	case "shape":
		return parseShape(s)
	case "func":
		return Func{}, nil
	}
	return nil, fmt.Errorf("bad default %q for %s", s, d.Kind)
}

// parseShape reads "{ unknown_rank: true }", "{}" or "[2, -1]".
func parseShape(s string) (Shape, error) {
	if strings.Contains(s, "unknown_rank") {
		return nil, nil
	}
	shape := Shape{}
	for _, f := range splitList(strings.Trim(s, "{}[] "), ',') {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		shape = append(shape, n)
	}
	return shape, nil
}

func (d *AttrDef) parseListValue(items []string) (any, error) {
	vals := make([]any, len(items))
	for i, it := range items {
		v, err := d.parseOne(it)
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	switch d.Kind {
	case "string":
		return typed[string](vals), nil
	case "int":
		return typed[int64](vals), nil
	case "float":
		return typed[float32](vals), nil
	case "bool":
		return typed[bool](vals), nil
	case "type":
		return typed[DType](vals), nil
	case "shape":
		return typed[Shape](vals), nil
	}
	return typed[Func](vals), nil
}

func typed[T any](vals []any) []T {
	out := make([]T, len(vals))
	for i, v := range vals {
		out[i] = v.(T)
	}
	return out
}

// splitList splits s at sep outside of brackets and quotes and trims the parts.
func splitList(s string, sep byte) (parts []string) {
	depth, start, quote := 0, 0, byte(0)
	add := func(end int) {
		if p := strings.TrimSpace(s[start:end]); p != "" {
			parts = append(parts, p)
		}
		start = end + 1
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			add(i)
		}
	}
	add(len(s))
	return parts
}
