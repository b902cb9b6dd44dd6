package session

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// fill puts the next values into to, which has the structure of v.
func (w *walker) fill(v, to reflect.Value, path string) error {
	if _, ok := leaf(v); ok {
		t := w.values[0]
		w.values = w.values[1:]
		return place(t, to, path)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.Kind() == reflect.Pointer && to.Kind() == reflect.Pointer && to.Type() != tensorType {
			to.Set(reflect.New(to.Type().Elem()))
			to = to.Elem()
		}
		return w.fill(v.Elem(), to, path)
	case reflect.Struct:
		return w.fillFields(v, to, path)
	case reflect.Map:
		return w.fillEntries(v, to, path)
	}
	if to.Kind() == reflect.Slice {
		to.Set(reflect.MakeSlice(to.Type(), v.Len(), v.Len()))
	}
	for i := range v.Len() {
		if err := w.fill(v.Index(i), to.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) fillFields(v, to reflect.Value, path string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || absent(v, i) {
			continue
		}
		if err := w.fill(v.Field(i), to.FieldByName(f.Name), path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) fillEntries(v, to reflect.Value, path string) error {
	to.Set(reflect.MakeMapWithSize(to.Type(), v.Len()))
	for _, k := range sortedKeys(v) {
		e := reflect.New(to.Type().Elem()).Elem()
		if err := w.fill(v.MapIndex(k), e, fmt.Sprintf("%s[%v]", path, k)); err != nil {
			return err
		}
		to.SetMapIndex(k, e)
	}
	return nil
}

// sortedKeys returns the keys of a map in an order that is the same each time.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// place stores a value; there is none for operations.
func place(t *tf.Tensor, to reflect.Value, path string) error {
	if t == nil {
		return nil
	}
	if tensorType.AssignableTo(to.Type()) {
		to.Set(reflect.ValueOf(t))
		return nil
	}
	all, err := elements(t)
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "%s: %s", path, tf.AsError(err).Message())
	}
	switch {
	case all.Type() == to.Type():
		to.Set(all)
		return nil
	case all.Type().Elem() == to.Type() && t.Len() == 1:
		to.Set(all.Index(0))
		return nil
	case depth(to.Type(), all.Type().Elem()) == t.Rank() && t.Rank() > 0:
		to.Set(nest(all, to.Type(), t.Shape()))
		return nil
	}
	return tf.Errorf(tf.InvalidArgument, "the place of a fetch must fit its value: %s is %v%v, its place %v", path, t.DType(), t.Shape(), to.Type())
}

// depth returns how many slices of each other t is, of elements elem; -1 if it is
// none.
func depth(t, elem reflect.Type) (n int) {
	for ; t.Kind() == reflect.Slice; t = t.Elem() {
		n++
	}
	if t != elem {
		return -1
	}
	return n
}

// nest divides elements into slices of slices.
func nest(all reflect.Value, to reflect.Type, s tf.Shape) reflect.Value {
	if len(s) == 1 {
		return all.Slice3(0, s[0], s[0])
	}
	out := reflect.MakeSlice(to, s[0], s[0])
	n := s[1:].NumElements()
	for i := range s[0] {
		out.Index(i).Set(nest(all.Slice(i*n, (i+1)*n), to.Elem(), s[1:]))
	}
	return out
}

// elements returns the elements of t as a slice of its type.
func elements(t *tf.Tensor) (reflect.Value, error) {
	get := readers[t.DType()]
	if get == nil {
		return reflect.Value{}, tf.Errorf(tf.InvalidArgument, "the place of a value of type %v must be a *tf.Tensor", t.DType())
	}
	return get(t)
}

func reader[T tf.Elem](t *tf.Tensor) (reflect.Value, error) {
	v, err := tf.Values[T](t)
	return reflect.ValueOf(v), err
}

// readers return the elements of tensors, by type.
var readers = map[tf.DType]func(*tf.Tensor) (reflect.Value, error){
	tf.Float32: reader[float32], tf.Float64: reader[float64], tf.Float16: reader[tf.Half], tf.BFloat16: reader[tf.BF16],
	tf.Int8: reader[int8], tf.Int16: reader[int16], tf.Int32: reader[int32], tf.Int64: reader[int64],
	tf.Uint8: reader[uint8], tf.Uint16: reader[uint16], tf.Uint32: reader[uint32], tf.Uint64: reader[uint64],
	tf.Bool: reader[bool], tf.String: reader[string], tf.Complex64: reader[complex64], tf.Complex128: reader[complex128],
	tf.QInt8: reader[int8], tf.QUint8: reader[uint8], tf.QInt16: reader[int16], tf.QUint16: reader[uint16], tf.QInt32: reader[int32],
}
