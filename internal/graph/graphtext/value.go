package graphtext

import (
	"strconv"

	"github.com/gorge-tf/gorge/tf/core"
)

// value reads the value of an attribute. Of one that the op does not declare
// (d is nil) the text tells the kind.
func (sc *scanner) value(d *core.AttrDef) (any, error) {
	if d == nil {
		return sc.untyped()
	}
	if d.List {
		return sc.listValue(d.Kind)
	}
	return sc.one(d.Kind)
}

func (sc *scanner) one(kind string) (any, error) {
	switch kind {
	case "string":
		return sc.text()
	case "int":
		return number(sc, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) })
	case "float":
		f, err := number(sc, func(s string) (float64, error) { return strconv.ParseFloat(s, 32) })
		return float32(f), err
	case "bool":
		return number(sc, strconv.ParseBool)
	case "type":
		return sc.dtype()
	case "shape":
		return sc.shape()
	case "tensor":
		return sc.tensor()
	case "func":
		name, err := sc.text()
		return core.Func{Name: name}, err
	}
	return nil, sc.fail("attributes of kind " + kind + " have no text form")
}

func number[T any](sc *scanner, parse func(string) (T, error)) (T, error) {
	before := *sc
	v, err := parse(sc.word())
	if err != nil {
		return v, before.fail("must be a number or truth value")
	}
	return v, nil
}

func (sc *scanner) dtype() (core.DType, error) {
	before := *sc
	d, ok := core.DTypeByName(sc.word())
	if !ok {
		return core.Invalid, before.fail("must be a type")
	}
	return d, nil
}

// shape reads [2,?] or <unknown>.
func (sc *scanner) shape() (core.Shape, error) {
	if !sc.eat('[') {
		if before := *sc; sc.word() != "<unknown>" {
			return nil, before.fail("a shape has the form [2,?] or <unknown>")
		}
		return nil, nil
	}
	s := core.Shape{}
	for !sc.eat(']') {
		if before := *sc; len(s) > 0 && !sc.eat(',') {
			return nil, before.fail("sizes are separated by commas")
		}
		before := *sc
		w := sc.word()
		n, err := strconv.Atoi(w)
		switch {
		case w == "?":
			n = -1
		case err != nil || n < 0:
			return nil, before.fail("a size must be a number or ?")
		}
		s = append(s, n)
	}
	return s, nil
}

// listValue reads (a, b).
func (sc *scanner) listValue(kind string) (any, error) {
	switch kind {
	case "string":
		return listOf[string](sc, kind)
	case "int":
		return listOf[int64](sc, kind)
	case "float":
		return listOf[float32](sc, kind)
	case "bool":
		return listOf[bool](sc, kind)
	case "type":
		return listOf[core.DType](sc, kind)
	case "shape":
		return listOf[core.Shape](sc, kind)
	case "tensor":
		return listOf[*core.Tensor](sc, kind)
	}
	return listOf[core.Func](sc, kind)
}

func listOf[T any](sc *scanner, kind string) (any, error) {
	if !sc.eat('(') {
		return nil, sc.fail("a list has the form (a, b)")
	}
	out := []T{}
	err := sc.list(')', func(sc *scanner) error {
		v, err := sc.one(kind)
		if err == nil {
			out = append(out, v.(T))
		}
		return err
	})
	return out, err
}

// untyped reads a string, a list of strings, a truth value, a number or a type.
func (sc *scanner) untyped() (any, error) {
	sc.blank()
	switch {
	case sc.done():
		return nil, sc.fail("an attribute needs a value")
	case sc.s[sc.at] == '"':
		return sc.text()
	case sc.s[sc.at] == '(':
		return listOf[string](sc, "string")
	}
	for _, kind := range []string{"int", "bool", "float", "type"} {
		again := *sc
		if v, err := again.one(kind); err == nil {
			*sc = again
			return v, nil
		}
	}
	return nil, sc.fail("an attribute that the op does not declare must be a string, strings, a number, a truth value or a type")
}
