package data

import (
	"context"
	"iter"
	"slices"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/record"
)

// Range returns the numbers from start up to stop, as int64 scalars.
func Range(start, stop int64) *Dataset { return result(dataset.Range(start, stop, 1, tf.Int64)) }

// FromTensors returns one element of the given components, which are copied.
func FromTensors(components ...*tf.Tensor) *Dataset {
	own, err := some(components)
	if err != nil {
		return result(nil, err)
	}
	return result(dataset.Tensors(own), nil)
}

// FromTensorSlices returns the rows of the components, which must have as many
// each. They are copied, unless the program has given them away (tf.Adopt).
func FromTensorSlices(components ...*tf.Tensor) *Dataset {
	own, err := some(components)
	if err != nil {
		return result(nil, err)
	}
	return result(dataset.Slices(own))
}

// some is enter for what an element is made of, which has a component at least.
func some(components []*tf.Tensor) ([]*core.Tensor, error) {
	if len(components) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "an element must have a component, got none")
	}
	return enter(components)
}

// FromGenerator returns what a Go iterator gives, elements of the given types
// and shapes. Each iterator over the dataset calls generate again. A generator
// that panics gives an error. One that waits for something is not interrupted:
// Close of the iterator waits until it goes on.
func FromGenerator(types []tf.DType, shapes []tf.Shape, generate func() iter.Seq2[[]*tf.Tensor, error]) *Dataset {
	if generate == nil {
		return noFunction()
	}
	if len(types) != len(shapes) {
		return result(nil, tf.Errorf(tf.InvalidArgument, "a generator must have a shape for each type, got %d types and %d shapes", len(types), len(shapes)))
	}
	spec := &dataset.Spec{Types: types, Shapes: shapes}
	return result(dataset.Generate(spec, func() (dataset.Func, func()) {
		elements := generate()
		if elements == nil {
			return noSequence, func() {}
		}
		next, stop := iter.Pull2(elements)
		return shaped(func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
			e, err, ok := next()
			if !ok {
				return nil, dataset.End
			}
			if err != nil {
				return nil, dataset.FuncError(err)
			}
			return enter(e)
		}, 0, spec), stop
	}), nil)
}

// noSequence is what a generator gives that has none.
func noSequence(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
	return nil, tf.Errorf(tf.InvalidArgument, "a generator must return a sequence, got nil")
}

// Zip returns elements with the components of one element of each dataset, as
// long as all have one.
func Zip(inputs ...*Dataset) *Dataset {
	all, err := inner(inputs)
	switch {
	case err != nil:
		return result(nil, err)
	case len(all) == 0:
		return result(nil, tf.Errorf(tf.InvalidArgument, "Zip needs a dataset, got none"))
	}
	return result(dataset.Zip(all), nil)
}

// TextLine returns the lines of text files, one after the other. compression is
// "", "GZIP" or "ZLIB".
func TextLine(names []string, compression string) *Dataset {
	return result(dataset.Lines(names, compression))
}

// TFRecord returns the records of TFRecord files, one after the other.
// compression is "", "GZIP" or "ZLIB". A file that is cut short is an error, unless
// opts has [record.Unfinished].
func TFRecord(names []string, compression string, opts ...record.Option) *Dataset {
	if slices.Contains(opts, record.Unfinished) {
		return result(dataset.UnfinishedRecords(names, compression))
	}
	return result(dataset.Records(names, compression))
}

// FixedLength returns the stretches of length bytes that files have between a
// header and a footer of the given lengths. compression is "", "GZIP" or "ZLIB".
func FixedLength(names []string, compression string, header, length, footer int64) *Dataset {
	return result(dataset.FixedLength(names, compression, header, length, footer))
}
