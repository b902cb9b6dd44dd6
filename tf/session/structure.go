package session

import (
	"context"
	"fmt"
	"reflect"

	"github.com/gorge-tf/gorge/tf"
)

// FetchAs runs a step and returns what it fetches in the form that the program
// wants it: fetches is an Output, an *Operation, or a structure of them
// (structs, slices, arrays, maps and pointers, as deep as need be), R has the same
// structure with values in their places. Fields are matched by name; those of R
// that fetches lacks stay zero.
//
// The place of an Output may be a *tf.Tensor, an element type for a tensor of
// one element, or slices of one for each dimension; a []T takes any
// shape, row by row. The place of an *Operation stays zero.
func FetchAs[R any](ctx context.Context, s *Session, feeds Feeds, fetches any) (R, error) {
	var out R
	var w walker
	if err := w.list(reflect.ValueOf(fetches), reflect.TypeFor[R](), "fetches"); err != nil {
		return out, err
	}
	got, err := s.Run(ctx, feeds, w.leaves...)
	if err != nil {
		return out, err
	}
	w.values = got
	return out, w.fill(reflect.ValueOf(fetches), reflect.ValueOf(&out).Elem(), "fetches")
}

// walker goes through a structure of fetches twice, in the same order: to list
// its leaves, and to put values in their places.
type walker struct {
	leaves []tf.Fetchable
	values []*tf.Tensor
}

var (
	outputType    = reflect.TypeFor[tf.Output]()
	operationType = reflect.TypeFor[*tf.Operation]()
	tensorType    = reflect.TypeFor[*tf.Tensor]()
)

// leaf returns v as a fetch, if it is one.
func leaf(v reflect.Value) (tf.Fetchable, bool) {
	if !v.IsValid() {
		return nil, false
	}
	switch v.Type() {
	case outputType, operationType:
		f, ok := v.Interface().(tf.Fetchable)
		return f, ok
	}
	return nil, false
}

// absent reports whether field i of v is the shape that indexed slices may
// lack.
func absent(v reflect.Value, i int) bool {
	return v.Type() == reflect.TypeFor[tf.IndexedSlices]() && v.Type().Field(i).Name == "DenseShape" && v.Field(i).IsZero()
}

// list lists the leaves of v, and checks that to can take their values.
func (w *walker) list(v reflect.Value, to reflect.Type, path string) error {
	if f, ok := leaf(v); ok {
		w.leaves = append(w.leaves, f)
		return nil
	}
	if !v.IsValid() {
		return tf.Errorf(tf.InvalidArgument, "%s must be an output, an operation or a structure of them, got nil", path)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if to.Kind() == reflect.Pointer && to != tensorType && v.Kind() == reflect.Pointer {
			to = to.Elem()
		}
		return w.list(v.Elem(), to, path)
	case reflect.Struct:
		return w.listFields(v, to, path)
	case reflect.Slice, reflect.Array:
		return w.listElements(v, to, path)
	case reflect.Map:
		return w.listEntries(v, to, path)
	}
	return tf.Errorf(tf.InvalidArgument, "%s must be an output, an operation or a structure of them, got %v", path, v.Type())
}

func (w *walker) listFields(v reflect.Value, to reflect.Type, path string) error {
	if to.Kind() != reflect.Struct {
		return mismatch(path, v.Type(), to)
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() || absent(v, i) {
			continue
		}
		place, ok := to.FieldByName(f.Name)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "the result must have a place for each fetch: %v has no field %s for %s.%s", to, f.Name, path, f.Name)
		}
		if err := w.list(v.Field(i), place.Type, path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) listElements(v reflect.Value, to reflect.Type, path string) error {
	if to.Kind() != reflect.Slice && (to.Kind() != reflect.Array || to.Len() != v.Len()) {
		return mismatch(path, v.Type(), to)
	}
	for i := range v.Len() {
		if err := w.list(v.Index(i), to.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) listEntries(v reflect.Value, to reflect.Type, path string) error {
	if to.Kind() != reflect.Map || to.Key() != v.Type().Key() {
		return mismatch(path, v.Type(), to)
	}
	for _, k := range sortedKeys(v) {
		if err := w.list(v.MapIndex(k), to.Elem(), fmt.Sprintf("%s[%v]", path, k)); err != nil {
			return err
		}
	}
	return nil
}

func mismatch(path string, from, to reflect.Type) error {
	return tf.Errorf(tf.InvalidArgument, "the result must have the structure of the fetches: %s is a %v, its place a %v", path, from, to)
}
