package session

import (
	"fmt"
	"reflect"

	"github.com/gorge-tf/gorge/tf"
)

// FeedsOf pairs a structure of outputs with one of values of the same form,
// whose leaves are [tf.Value]s.
func FeedsOf(outputs, values any) (Feeds, error) {
	f := Feeds{}
	return f, pair(f, reflect.ValueOf(outputs), reflect.ValueOf(values), "feeds")
}

// pair adds the outputs of a structure to f with the values that stand in the
// same places of another.
func pair(f Feeds, out, v reflect.Value, path string) error {
	for v.IsValid() && v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case !out.IsValid() || !v.IsValid():
		return tf.Errorf(tf.InvalidArgument, "%s must have an output and a value, one is nil", path)
	case out.Type() == outputType:
		return pairLeaf(f, out.Interface().(tf.Output), v, path)
	case out.Kind() == reflect.Interface:
		return pair(f, out.Elem(), v, path)
	case out.Kind() == reflect.Pointer:
		if v.Kind() == reflect.Pointer && v.Type() != tensorType {
			v = v.Elem()
		}
		return pair(f, out.Elem(), v, path)
	case out.Kind() == reflect.Struct && v.Kind() == reflect.Struct:
		return pairFields(f, out, v, path)
	case sameLength(out, v):
		return pairElements(f, out, v, path)
	case out.Kind() == reflect.Map && v.Kind() == reflect.Map && out.Type().Key() == v.Type().Key():
		return pairEntries(f, out, v, path)
	}
	return tf.Errorf(tf.InvalidArgument, "the values must have the structure of the outputs: %s is a %v, its value a %v", path, out.Type(), v.Type())
}

func pairLeaf(f Feeds, x tf.Output, v reflect.Value, path string) error {
	val, ok := v.Interface().(tf.Value)
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "the value fed for %s must be a tf.Value, got %v", path, v.Type())
	}
	f[x] = val
	return nil
}

func pairFields(f Feeds, out, v reflect.Value, path string) error {
	for i := range out.NumField() {
		name := out.Type().Field(i).Name
		if !out.Type().Field(i).IsExported() || absent(out, i) {
			continue
		}
		if err := pair(f, out.Field(i), v.FieldByName(name), path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func sameLength(a, b reflect.Value) bool {
	list := func(v reflect.Value) bool { return v.Kind() == reflect.Slice || v.Kind() == reflect.Array }
	return list(a) && list(b) && a.Len() == b.Len()
}

func pairElements(f Feeds, out, v reflect.Value, path string) error {
	for i := range out.Len() {
		if err := pair(f, out.Index(i), v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func pairEntries(f Feeds, out, v reflect.Value, path string) error {
	for _, k := range sortedKeys(out) {
		if err := pair(f, out.MapIndex(k), v.MapIndex(k), fmt.Sprintf("%s[%v]", path, k)); err != nil {
			return err
		}
	}
	return nil
}
