// Package example makes and reads tf.Example records, the form in which
// TensorFlow's programs keep training data. Records go into TFRecord files; the
// ops in tf/ops/parsing make tensors of them.
package example

import (
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	wire "github.com/gorge-tf/gorge/internal/wire/example"
	"github.com/gorge-tf/gorge/tf"
)

// A Feature is a list of values of one kind: at most one of its fields is not
// nil.
type Feature struct {
	Strings []string
	Floats  []float32
	Ints    []int64
}

// Strings returns a feature of strings.
func Strings(v ...string) Feature { return Feature{Strings: append([]string{}, v...)} }

// Floats returns a feature of numbers.
func Floats(v ...float32) Feature { return Feature{Floats: append([]float32{}, v...)} }

// Ints returns a feature of integers.
func Ints(v ...int64) Feature { return Feature{Ints: append([]int64{}, v...)} }

// An Example is a set of named features.
type Example map[string]Feature

// Marshal returns the record of an example. Equal examples have equal records.
func (e Example) Marshal() []byte { return field(nil, 1, e.features()) }

// features returns a Features message.
func (e Example) features() (b []byte) {
	for _, name := range slices.Sorted(maps.Keys(e)) {
		entry := field(nil, 1, []byte(name))
		b = field(b, 1, field(entry, 2, e[name].marshal()))
	}
	return b
}

// field appends a field of bytes.
func field(b []byte, n protowire.Number, contents []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), contents)
}

func (f Feature) marshal() []byte {
	var list []byte
	switch {
	case f.Strings != nil:
		for _, s := range f.Strings {
			list = field(list, 1, []byte(s))
		}
		return field(nil, protowire.Number(wire.Strings), list)
	case f.Floats != nil:
		for _, v := range f.Floats {
			list = protowire.AppendFixed32(list, math.Float32bits(v))
		}
		return field(nil, protowire.Number(wire.Floats), packed(list))
	case f.Ints != nil:
		for _, v := range f.Ints {
			list = protowire.AppendVarint(list, uint64(v))
		}
		return field(nil, protowire.Number(wire.Ints), packed(list))
	}
	return nil
}

// packed returns a list of packed numbers.
func packed(numbers []byte) []byte {
	if len(numbers) == 0 {
		return nil
	}
	return field(nil, 1, numbers)
}

// Unmarshal reads a record.
func Unmarshal(record []byte) (Example, error) {
	e, good := Example{}, true
	ok := wire.Features(string(record), e.collect(&good))
	if !ok || !good {
		return nil, tf.Errorf(tf.InvalidArgument, "the record is no tf.Example")
	}
	return e, nil
}

// collect returns a function that adds features, and notes those that are bad.
func (e Example) collect(good *bool) func(string, wire.Feature) {
	return func(name string, v wire.Feature) {
		f, ok := unmarshal(v)
		e[name] = f
		*good = *good && ok
	}
}

func unmarshal(v wire.Feature) (f Feature, ok bool) {
	switch v.Kind {
	case wire.Strings:
		f.Strings, ok = v.AppendStrings([]string{})
	case wire.Floats:
		f.Floats, ok = v.AppendFloats([]float32{})
	case wire.Ints:
		f.Ints, ok = v.AppendInts([]int64{})
	default:
		ok = true
	}
	return f, ok
}

// A Sequence is an example with features that have one entry for each step of a
// sequence.
type Sequence struct {
	Context Example
	Lists   map[string][]Feature
}

// Marshal returns the record of a sequence, a tf.SequenceExample.
func (s Sequence) Marshal() []byte {
	var lists []byte
	for _, name := range slices.Sorted(maps.Keys(s.Lists)) {
		var steps []byte
		for _, f := range s.Lists[name] {
			steps = field(steps, 1, f.marshal())
		}
		lists = field(lists, 1, field(field(nil, 1, []byte(name)), 2, steps))
	}
	return field(field(nil, 1, s.Context.features()), 2, lists)
}

// UnmarshalSequence reads the record of a sequence.
func UnmarshalSequence(record []byte) (Sequence, error) {
	s, good := Sequence{Example{}, map[string][]Feature{}}, true
	ok := wire.Sequence(string(record), s.Context.collect(&good), func(name string, steps []wire.Feature) {
		list := make([]Feature, len(steps))
		for i, v := range steps {
			f, ok := unmarshal(v)
			list[i] = f
			good = good && ok
		}
		s.Lists[name] = list
	})
	if !ok || !good {
		return Sequence{}, tf.Errorf(tf.InvalidArgument, "the record is no tf.SequenceExample")
	}
	return s, nil
}
