package data

import (
	"context"
	"errors"
	"runtime"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A SnapshotOptions adjusts Snapshot.
type SnapshotOptions struct {
	// Compression of the files: "SNAPPY", "GZIP" or "NONE". "AUTO" and "" leave the
	// choice to the dataset, which takes SNAPPY as TensorFlow does.
	Compression string
	// Shard tells the number of the shard that an element is written to. nil:
	// elements go around among as many shards as there are cores.
	Shard func(in []*tf.Tensor) (int64, error)
	// Reader makes what is read of the datasets of the shards. nil: the next element
	// of each shard in turn. There is a shard at least. Without Shard, elements in shards have their number in
	// the dataset as a further component, which comes first; Reader must keep it.
	Reader func(shards []*Dataset) *Dataset
}

// Snapshot keeps the elements in files of a directory: the first iterator that goes
// through all of d writes them, later ones read them and compute nothing of d. An
// iterator that is closed before the end leaves nothing that is read; the next one
// writes again. Several iterators, of several processes too, may be at it at once:
// each writes files of its own, and those of the last one to end count.
//
// Nothing tells what d computes: the directory must be d's alone, and be removed when
// d becomes another one. What is in it has TensorFlow's form. TensorFlow's own snapshots
// are in directories below the path that the program gives, named by a number; such a
// directory can be read, and tf.data.Dataset.load reads those that are written here.
func (d *Dataset) Snapshot(path string, o SnapshotOptions) *Dataset {
	if d.Err() != nil {
		return d
	}
	if path == "" {
		return result(nil, tf.Errorf(tf.InvalidArgument, "a snapshot must have a directory, got none"))
	}
	if o.Shard != nil {
		return d.with(func(in dataset.Dataset) (dataset.Dataset, error) { return o.keep(in, path, keyed(o.Shard)) })
	}
	return d.Enumerate(0).with(func(in dataset.Dataset) (dataset.Dataset, error) {
		kept, err := o.keep(in, path, aroundCores)
		if err != nil {
			return nil, err
		}
		return dataset.Map(kept, withoutFirst, d.d.Spec(), true), nil
	})
}

func (o *SnapshotOptions) keep(in dataset.Dataset, path string, shard dataset.Func) (dataset.Dataset, error) {
	compression, err := o.compression()
	if err != nil {
		return nil, err
	}
	s := dataset.Snapshot{Read: path, Write: path, Compression: compression, Shard: shard, Reader: o.reader(in.Spec())}
	return dataset.Keep(in, s)
}

// compression returns what files of elements call it.
func (o *SnapshotOptions) compression() (string, error) {
	switch o.Compression {
	case "", "AUTO":
		return "SNAPPY", nil
	case "NONE":
		return "", nil
	case "SNAPPY", "GZIP":
		return o.Compression, nil
	}
	return "", tf.Errorf(tf.InvalidArgument, "the compression of a snapshot must be AUTO, GZIP, SNAPPY or NONE, got %q", o.Compression)
}

// aroundCores deals elements, which begin with their number, out to the shards.
func aroundCores(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	return []*core.Tensor{core.Scalar(core.Data[int64](in[0])[0] % int64(runtime.NumCPU()))}, nil
}

// withoutFirst drops the first component.
func withoutFirst(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) { return in[1:], nil }

// reader returns the function that gets a dataset of the datasets of shards, and makes
// one of elements of a spec.
func (o *SnapshotOptions) reader(spec *dataset.Spec) dataset.Func {
	read := o.Reader
	if read == nil {
		read = inTurn
	}
	return called(func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		shards, err := shardsOf(ctx, in[0])
		if err != nil {
			return nil, err
		}
		if len(shards) == 0 {
			return []*core.Tensor{dataset.Value(dataset.List(spec, nil))}, nil
		}
		switch d := read(shards); {
		case d == nil:
			return nil, tf.Errorf(tf.InvalidArgument, "the reader of a snapshot must return a dataset, got nil")
		case d.Err() != nil:
			return nil, d.Err()
		default:
			return []*core.Tensor{dataset.Value(d.d)}, spec.Admits(d.d.Spec())
		}
	})
}

// shardsOf returns the datasets that are the elements of the dataset in a tensor.
func shardsOf(ctx context.Context, t *core.Tensor) ([]*Dataset, error) {
	all, err := dataset.Of(t)
	if err != nil {
		return nil, err
	}
	it, err := all.Iterate()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	var out []*Dataset
	for {
		e, err := it.Next(ctx)
		if errors.Is(err, dataset.End) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, opened(dataset.Of(e[0])))
	}
}

// inTurn takes the next element of each shard in turn. All shards are in the cycle, so
// that elements come in their order, whatever the number of cores that wrote them.
func inTurn(shards []*Dataset) *Dataset {
	next := func(in []*core.Tensor) *Dataset { return shards[core.Data[int64](in[0])[0]] }
	numbers := Range(0, int64(len(shards))).within()
	return opened(dataset.Interleave(numbers.d, made(next), shards[0].d.Spec(), int64(len(shards)), 1, 0))
}
