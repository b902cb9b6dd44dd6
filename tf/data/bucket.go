package data

import (
	"context"
	"slices"
	"sort"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A BucketOptions adjusts BucketByLength.
type BucketOptions struct {
	// Shapes and Padding are those of PaddedBatch; nil stands for the elements'
	// own shapes and for zeros.
	Shapes  []tf.Shape
	Padding []*tf.Tensor
	// PadToBoundary pads sizes that are open to the largest length that the bucket
	// takes. Elements of the last bucket, which has no end, are errors then.
	PadToBoundary bool
	// NoPadding makes batches of elements of equal shapes.
	NoPadding     bool
	DropRemainder bool
}

// BucketByLength makes batches of elements of similar length, so that little of
// them is padding. Bucket i takes lengths from boundaries[i-1] to below
// boundaries[i], which must grow, and gives batches of sizes[i] elements; there is
// one bucket, and one size, more than boundaries.
func (d *Dataset) BucketByLength(length func(in []*tf.Tensor) (int, error), boundaries, sizes []int, o BucketOptions) *Dataset {
	if length == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		if err := checkBuckets(boundaries, sizes); err != nil {
			return nil, err
		}
		batch := func(bucket int64, group *Dataset) *Dataset {
			return o.batch(group, boundaries, sizes, int(bucket)).within()
		}
		spec, err := o.spec(d, sizes[0])
		if err != nil {
			return nil, err
		}
		bucket := func(in []*tf.Tensor) (int64, error) {
			n, err := length(in)
			return int64(sort.Search(len(boundaries), func(i int) bool { return boundaries[i] > n })), err
		}
		size := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{core.Scalar(int64(sizes[core.Data[int64](in[0])[0]]))}, nil
		}
		return dataset.GroupByWindow(in, keyed(bucket), grouping(batch), size, spec), nil
	})
}

func checkBuckets(boundaries, sizes []int) error {
	if len(sizes) != len(boundaries)+1 {
		return tf.Errorf(tf.InvalidArgument, "there must be one batch size more than boundaries, got %d sizes for %d boundaries", len(sizes), len(boundaries))
	}
	for i, b := range boundaries {
		if i > 0 && b <= boundaries[i-1] {
			return tf.Errorf(tf.InvalidArgument, "boundaries must grow, got %v", boundaries)
		}
	}
	if i := slices.IndexFunc(sizes, func(n int) bool { return n <= 0 }); i >= 0 {
		return tf.Errorf(tf.InvalidArgument, "batch sizes must be greater than zero, size %d is %d", i, sizes[i])
	}
	return nil
}

// batch makes batches of the elements of a bucket.
func (o *BucketOptions) batch(group *Dataset, boundaries, sizes []int, bucket int) *Dataset {
	switch {
	case o.NoPadding:
		return group.Batch(sizes[bucket], o.DropRemainder)
	case !o.PadToBoundary:
		return group.PaddedBatch(sizes[bucket], o.Shapes, o.Padding, o.DropRemainder)
	case bucket == len(boundaries):
		return result(nil, tf.Errorf(tf.InvalidArgument, "with PadToBoundary lengths must be below the last boundary, %v", boundaries))
	}
	shapes := o.Shapes
	if shapes == nil {
		shapes = group.Shapes()
	}
	full := make([]tf.Shape, len(shapes))
	for i, s := range shapes {
		full[i] = s.Clone()
		for k, n := range s {
			if n < 0 {
				full[i][k] = boundaries[bucket] - 1
			}
		}
	}
	return group.PaddedBatch(sizes[bucket], full, o.Padding, o.DropRemainder)
}

// spec returns what is known of the batches: the shapes of padding, but not how many
// elements a bucket has.
func (o *BucketOptions) spec(d *Dataset, size int) (*dataset.Spec, error) {
	like := d.Batch(size, false)
	if !o.NoPadding {
		like = d.PaddedBatch(size, o.Shapes, o.Padding, false)
	}
	shapes := make([]tf.Shape, len(like.Shapes()))
	for i, s := range like.Shapes() {
		if s != nil {
			shapes[i] = append(tf.Shape{-1}, s[1:]...)
		}
	}
	return specOf(like.Types(), shapes), like.Err()
}
