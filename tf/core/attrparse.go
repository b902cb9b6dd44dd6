package core

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// cutDefault splits at the "=" that begins a default value, not at ">=".
func cutDefault(s string) (kind, def string, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] == '=' && (i == 0 || s[i-1] != '>') {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// kindSets are the names that signatures have for sets of types.
var kindSets = map[string][]DType{"numbertype": numberTypes, "realnumbertype": realNumberTypes, "quantizedtype": quantizedTypes}

func (d *AttrDef) parseKind(k string) error {
	if inner, ok := within(k, "list(", ")"); ok {
		d.List, k = true, inner
	}
	if set, ok := within(k, "{", "}"); ok {
		return d.parseSet(splitList(set, ','))
	}
	switch {
	case kindSets[k] != nil:
		d.Kind, d.Types = "type", kindSets[k]
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
		if s, ok := unquote(it); ok {
			d.Strings = append(d.Strings, s)
			continue
		}
		t, ok := DTypeByName(it)
		if !ok {
			return fmt.Errorf("unknown type %q", it)
		}
		d.Types = append(d.Types, t)
	}
	if (len(d.Strings) > 0) == (len(d.Types) > 0) {
		return fmt.Errorf("a set must be of strings or of types, got %q", items)
	}
	d.Kind = "type"
	if len(d.Strings) > 0 {
		d.Kind = "string"
	}
	return nil
}

// unquote takes the quotes, of either kind, off s.
func unquote(s string) (string, bool) {
	if inner, ok := strings.CutPrefix(s, "'"); ok {
		return strings.CutSuffix(inner, "'")
	}
	if inner, ok := strings.CutPrefix(s, `"`); ok {
		return strings.CutSuffix(inner, `"`)
	}
	return s, false
}

func (d *AttrDef) parseValue(s string) (any, error) {
	if !d.List {
		return d.parseOne(s)
	}
	inner, ok := within(s, "[", "]")
	if !ok {
		return nil, fmt.Errorf("a default list must stand in brackets, got %q", s)
	}
	return d.parseListValue(splitList(inner, ','))
}

func (d *AttrDef) parseOne(s string) (any, error) {
	switch d.Kind {
	case "string":
		if v, ok := unquote(s); ok {
			return v, nil
		}
	case "int":
		return strconv.ParseInt(s, 10, 64)
	case "float":
		f, err := strconv.ParseFloat(s, 32)
		if math.IsNaN(f) {
			err = fmt.Errorf("NaN is no default")
		}
		return float32(f), err
	case "bool":
		return strconv.ParseBool(s)
	case "type":
		if t, ok := DTypeByName(strings.ToLower(strings.TrimPrefix(s, "DT_"))); ok {
			return t, nil
		}
	case "shape":
		return parseShape(s)
	case "tensor":
		return parseBytes(s)
	case "func":
		return Func{}, nil
	}
	return nil, fmt.Errorf("bad default %q for %s", s, d.Kind)
}

// parseBytes reads "uint8[255, 0]", the only tensors that are defaults.
func parseBytes(s string) (*Tensor, error) {
	inner, ok := within(s, "uint8[", "]")
	if !ok {
		return nil, fmt.Errorf("a tensor must be bytes in brackets, got %q", s)
	}
	var vals []uint8
	for _, f := range splitList(inner, ',') {
		v, err := strconv.ParseUint(f, 10, 8)
		if err != nil {
			return nil, err
		}
		vals = append(vals, uint8(v))
	}
	return FromSlice(vals)
}

// parseShape reads "{ unknown_rank: true }", "{}" or "[2, -1]".
func parseShape(s string) (Shape, error) {
	if inner, ok := within(s, "{", "}"); ok {
		s = "[" + inner + "]"
	}
	inner, ok := within(s, "[", "]")
	switch {
	case !ok:
		return nil, fmt.Errorf("a shape must stand in brackets, got %q", s)
	case strings.ReplaceAll(inner, " ", "") == "unknown_rank:true":
		return nil, nil
	}
	shape := Shape{}
	for _, f := range splitList(inner, ',') {
		n, err := strconv.Atoi(f)
		if err != nil || n < -1 {
			return nil, fmt.Errorf("bad size %q", f)
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
	case "tensor":
		return typed[*Tensor](vals), nil
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
