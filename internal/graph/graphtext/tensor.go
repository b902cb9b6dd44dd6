package graphtext

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// mostElements bounds the tensors that a text can make: a few letters must not
// ask for a lot of memory.
const mostElements = 1 << 16

// tensor reads float32[2]{1, 2}. One element stands for all.
func (sc *scanner) tensor() (*core.Tensor, error) {
	d, err := sc.dtype()
	if err != nil {
		return nil, err
	}
	s, err := sc.shape()
	if err != nil {
		return nil, err
	}
	if n := s.NumElements(); n < 0 || n > mostElements {
		return nil, sc.fail("a tensor must have a known shape of moderate size")
	}
	set := setters[d]
	if set == nil {
		return nil, sc.fail(fmt.Sprintf("tensors of %v have no text form", d))
	}
	return sc.elements(core.NewTensor(d, s), set)
}

func (sc *scanner) elements(t *core.Tensor, set setter) (*core.Tensor, error) {
	if !sc.eat('{') {
		return nil, sc.fail("a tensor has the form float32[2]{1, 2}")
	}
	var items []string
	err := sc.list('}', func(sc *scanner) (err error) {
		item := ""
		if t.DType() == core.String {
			item, err = sc.text()
		} else {
			item = sc.word()
		}
		items = append(items, item)
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(items) != t.Len() && len(items) != 1 {
		return nil, sc.fail(fmt.Sprintf("the elements must fill the shape %v: there are %d", t.Shape(), len(items)))
	}
	for i := range t.Len() {
		if err := set(t, i, items[min(i, len(items)-1)]); err != nil {
			return nil, sc.fail(fmt.Sprintf("an element must be a %v: %v", t.DType(), err))
		}
	}
	return t, nil
}

// setter sets one element of a tensor.
type setter func(t *core.Tensor, i int, s string) error

var setters = map[core.DType]setter{
	core.Float32: set(func(s string) (float32, error) { f, err := strconv.ParseFloat(s, 32); return float32(f), err }),
	core.Float64: set(func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }),
	core.Int8:    set(parseInt[int8](8)), core.Int16: set(parseInt[int16](16)), core.Int32: set(parseInt[int32](32)), core.Int64: set(parseInt[int64](64)),
	core.Uint8: set(parseUint[uint8](8)), core.Uint16: set(parseUint[uint16](16)), core.Uint32: set(parseUint[uint32](32)), core.Uint64: set(parseUint[uint64](64)),
	core.Bool:   set(strconv.ParseBool),
	core.String: set(func(s string) (string, error) { return s, nil }),
}

func set[T core.Elem](parse func(string) (T, error)) setter {
	return func(t *core.Tensor, i int, s string) error {
		v, err := parse(s)
		core.Data[T](t)[i] = v
		return err
	}
}

func parseInt[T int8 | int16 | int32 | int64](bits int) func(string) (T, error) {
	return func(s string) (T, error) { v, err := strconv.ParseInt(s, 10, bits); return T(v), err }
}

func parseUint[T uint8 | uint16 | uint32 | uint64](bits int) func(string) (T, error) {
	return func(s string) (T, error) { v, err := strconv.ParseUint(s, 10, bits); return T(v), err }
}

// formatTensor writes t as tensor reads it.
func formatTensor(t *core.Tensor) string {
	items := make([]string, t.Len())
	same := true
	for i := range items {
		if t.DType() == core.String {
			items[i] = strconv.Quote(core.Data[string](t)[i])
		} else {
			items[i] = fmt.Sprint(t.At(i))
		}
		same = same && items[i] == items[0]
	}
	if same && len(items) > 1 {
		items = items[:1]
	}
	return fmt.Sprintf("%v%v{%s}", t.DType(), t.Shape(), strings.Join(items, ", "))
}
