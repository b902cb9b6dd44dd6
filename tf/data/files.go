package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// CSVOptions say how files of comma-separated values are read.
type CSVOptions struct {
	Compression string // "", "GZIP" or "ZLIB"
	Header      bool   // the first line of each file has no values
	Delim       byte   // 0: a comma
	NoQuotes    bool   // quotes are characters as others
	NA          string // stands for no value, as an empty field does
	// Select has the numbers of the columns that are read; nil: all.
	Select []int64
}

// CSV returns the records of files, one scalar for each column. The form is
// that of RFC 4180. There is a default for each: a vector with the value of
// what is missing, of type float32, float64, int32, int64 or string, without
// a value if nothing may be missing. An error concerns one record.
func CSV(names []string, defaults []*tf.Tensor, o CSVOptions) *Dataset {
	if len(defaults) == 0 {
		return result(nil, tf.Errorf(tf.InvalidArgument, "CSV needs a default for each column: a vector of its type, without a value if nothing may be missing; got none"))
	}
	if o.Delim == 0 {
		o.Delim = ','
	}
	shapes := make([]tf.Shape, len(defaults))
	for i := range shapes {
		shapes[i] = tf.Shape{}
	}
	own, err := enter(defaults)
	if err != nil {
		return result(nil, err)
	}
	return result(dataset.CSV{
		Names: names, Compression: o.Compression, Header: o.Header, Delim: o.Delim, Quotes: !o.NoQuotes, NA: o.NA, Select: o.Select,
		Defaults: own, Shapes: shapes,
	}.Open())
}

// MatchingFiles returns the names of files that match one of the patterns,
// sorted.
func MatchingFiles(patterns ...string) *Dataset { return result(dataset.Matching(patterns), nil) }

// CacheFile keeps the elements in files that begin with prefix, once an iterator
// has been through all, for iterators of this process and later ones.
func (d *Dataset) CacheFile(prefix string) *Dataset {
	return d.sure(func(in dataset.Dataset) dataset.Dataset { return dataset.CacheFile(in, prefix) })
}

// Save writes the elements to a directory, in TensorFlow's form. compression is
// "" or "GZIP".
func (d *Dataset) Save(ctx context.Context, dir, compression string) error {
	saved := d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return dataset.Save(in, dir, compression, nil) })
	for _, err := range saved.All(ctx) {
		if err != nil {
			return err
		}
	}
	return saved.Err()
}

// Load returns the elements, of the given types and shapes (nil: any), that were
// saved to a directory, here or by TensorFlow.
func Load(dir, compression string, types []tf.DType, shapes []tf.Shape) *Dataset {
	spec, err := declared(types, shapes)
	if err != nil {
		return result(nil, err)
	}
	all := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		shards, err := dataset.Of(in[0])
		if err != nil {
			return nil, err
		}
		itself := func(_ context.Context, shard []*core.Tensor) ([]*core.Tensor, error) { return shard, nil }
		return []*core.Tensor{dataset.Value(dataset.FlatMap(shards, itself, spec))}, nil
	}
	return result(dataset.Load(dir, compression, spec, all))
}
