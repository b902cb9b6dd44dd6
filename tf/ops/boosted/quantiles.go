package boosted

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// quantiles are the resource behind the handles of streams of quantiles: the
// boundaries of the buckets of each feature.
type quantiles struct {
	mu         sync.Mutex
	boundaries [][]float32
}

var _ = resource.Declare[*quantiles]("tensorflow::BoostedTreesQuantileStreamResource")

// maxStreams bounds what a number in a graph makes the program allocate.
const maxStreams = 1 << 20

func init() {
	const of = "quantile_stream_resource_handle: resource"
	registerHandle[*quantiles]("BoostedTreesQuantileStreamResourceHandleOp")
	register("BoostedTreesCreateQuantileStreamResource", of+"; epsilon: float; num_streams: int64", "", "max_elements: int = 1099511627776", noShape, compute(createQuantiles))
	register("BoostedTreesQuantileStreamResourceDeserialize", of+"; bucket_boundaries: num_streams * float", "", "num_streams: int >= 1", noShape, uses(setBoundaries))
	register("BoostedTreesQuantileStreamResourceGetBucketBoundaries", of, "bucket_boundaries: num_features * float", "num_features: int >= 0", boundariesShape, uses(getBoundaries))
	register("IsBoostedTreesQuantileStreamResourceInitialized", of, "is_initialized: bool", "", core.ScalarShape, exists[*quantiles]())
	core.Register(core.OpDef{
		Name: "BoostedTreesBucketize", In: "float_values: num_features * float; bucket_boundaries: num_features * float", Out: "buckets: num_features * int32",
		Attrs: "num_features: int >= 0", Shape: bucketizeShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(compute(bucketize)),
	})
}

// BoostedTreesQuantileStreamResourceHandleOp returns the handle of streams of
// quantiles, a scalar of type Resource. A container of characters other than
// letters, digits, dots, slashes and hyphens, and a shared name that begins
// with an underscore, are refused with INVALID_ARGUMENT in the step, a nil g
// when the graph is built. Its options are [HandleOpts].
func BoostedTreesQuantileStreamResourceHandleOp(g *tf.Graph, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "BoostedTreesQuantileStreamResourceHandleOp", nil, opts...).Output(0)
}

// BoostedTreesCreateQuantileStreamResource makes the streams of a handle,
// unless they are there: one for each feature, without boundaries. epsilon, a
// float32, says how exact training shall be and has no effect here; streams is
// an int64. Inputs that have not one element and a number of streams that is
// negative or too large are refused with INVALID_ARGUMENT in the step.
func BoostedTreesCreateQuantileStreamResource(handle, epsilon, streams tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BoostedTreesCreateQuantileStreamResource", []tf.Output{handle, epsilon, streams}, opts...)
}

// BoostedTreesQuantileStreamResourceDeserialize sets the boundaries of each
// stream, float32 vectors that are sorted. Another number of boundaries than
// streams, and boundaries that are no vectors, are refused with
// INVALID_ARGUMENT in the step, a handle without streams with NOT_FOUND.
func BoostedTreesQuantileStreamResourceDeserialize(handle tf.Output, boundaries []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BoostedTreesQuantileStreamResourceDeserialize", append([]tf.Output{handle}, boundaries...), opts...)
}

// BoostedTreesQuantileStreamResourceGetBucketBoundaries returns the boundaries
// of n features, as many as there are streams: float32 vectors. Another n than
// the number of streams is refused with INVALID_ARGUMENT in the step, a handle
// without streams with NOT_FOUND.
func BoostedTreesQuantileStreamResourceGetBucketBoundaries(handle tf.Output, n int, opts ...tf.Option) []tf.Output {
	op := tf.Apply(nil, "BoostedTreesQuantileStreamResourceGetBucketBoundaries", []tf.Output{handle}, tf.Join(opts, tf.Attr("num_features", n))...)
	out := make([]tf.Output, author.Results(op, n))
	for i := range out {
		out[i] = op.Output(i)
	}
	return out
}

// IsBoostedTreesQuantileStreamResourceInitialized tells whether a handle's
// streams exist, a scalar of bool. A handle without streams is no error.
func IsBoostedTreesQuantileStreamResourceInitialized(handle tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "IsBoostedTreesQuantileStreamResourceInitialized", []tf.Output{handle}, opts...).Output(0)
}

// BoostedTreesBucketize returns the bucket of each value, an int32 vector for
// each feature: the index of the first boundary that is not less, at most the
// last one's. Values and boundaries are float32 vectors, as many of each. NaN
// is put into the first bucket. Values and boundaries that are no vectors are
// refused with INVALID_ARGUMENT, when the graph is built if their shapes are
// known, else in the step.
func BoostedTreesBucketize(values, boundaries []tf.Output, opts ...tf.Option) []tf.Output {
	op := tf.Apply(nil, "BoostedTreesBucketize", slices.Concat(values, boundaries), tf.Join(opts, tf.Attr("num_features", len(values)))...)
	out := make([]tf.Output, len(values))
	for i := range out {
		out[i] = op.Output(i)
	}
	return out
}

func boundariesShape(c *core.Infer) error {
	for i := range c.NumOut() {
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

func bucketizeShape(c *core.Infer) error {
	for i := range c.NumIn() {
		s, err := c.Rank(i, 1)
		if err != nil {
			return err
		}
		if i < c.NumOut() {
			c.Set(i, s)
		}
	}
	return nil
}

func createQuantiles(c *core.OpContext) error {
	for i := 1; i <= 2; i++ {
		if err := single(c, i); err != nil {
			return err
		}
	}
	n := core.Data[int64](c.Input(2))[0]
	if n < 0 || n > maxStreams {
		return invalid("num_streams must be between 0 and %d, got %d", maxStreams, n)
	}
	_, err := handle.FindOrCreate(c, 0, func() (*quantiles, error) { return &quantiles{boundaries: make([][]float32, n)}, nil })
	return err
}

// check says whether the number of streams is n.
func (q *quantiles) check(n int) error {
	if len(q.boundaries) != n {
		return invalid("the resource has %d streams of quantiles, not %d", len(q.boundaries), n)
	}
	return nil
}

func setBoundaries(c *core.OpContext, q *quantiles) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.check(c.Inputs() - 1); err != nil {
		return err
	}
	boundaries := make([][]float32, len(q.boundaries)) // set together, once all are known to be right
	for i := range boundaries {
		t := c.Input(i + 1)
		if t.Rank() != 1 {
			return invalid("boundaries must be vectors, got shape %v", t.Shape())
		}
		boundaries[i] = slices.Clone(core.Data[float32](t))
	}
	q.boundaries = boundaries
	return nil
}

func getBoundaries(c *core.OpContext, q *quantiles) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.check(len(c.Out)); err != nil {
		return err
	}
	for i, b := range q.boundaries {
		t, err := c.Alloc(i, tf.Float32, tf.Shape{len(b)})
		if err != nil {
			return err
		}
		copy(core.Data[float32](t), b)
	}
	return nil
}

func bucketize(c *core.OpContext) error {
	features := c.Inputs() / 2
	for i := range features {
		values, bounds := c.Input(i), c.Input(features+i)
		if values.Rank() != 1 || bounds.Rank() != 1 {
			return invalid("values and boundaries must be vectors, got shapes %v and %v", values.Shape(), bounds.Shape())
		}
		out, err := c.Alloc(i, tf.Int32, values.Shape())
		if err != nil {
			return err
		}
		fillBuckets(core.Data[int32](out), core.Data[float32](values), core.Data[float32](bounds))
	}
	return nil
}

// fillBuckets puts NaN, which no boundary is less than, into the first bucket.
func fillBuckets(out []int32, values, bounds []float32) {
	for i, v := range values {
		at, _ := slices.BinarySearchFunc(bounds, v, func(b, v float32) int {
			if b < v {
				return -1
			}
			return 1
		})
		out[i] = int32(max(0, min(at, len(bounds)-1)))
	}
}
