package train

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
)

// BatchOptions say how tensors are put together to batches.
type BatchOptions struct {
	Threads     int  // that compute tensors; 0: 1
	Capacity    int  // of the queue; 0: 32
	EnqueueMany bool // the tensors are many examples already, one a row
	Shapes      []tf.Shape
	// DynamicPad lets sizes differ: batches are padded with zeros.
	DynamicPad             bool
	AllowSmallerFinalBatch bool
	SharedName, Name       string
	// Keep, if given, tells which examples are used: a bool scalar, or with
	// EnqueueMany a vector that has an element for each.
	Keep tf.Output

	// Of ShuffleBatch: what stays in the queue for a good mix, and the seed.
	MinAfterDequeue int
	Seed            *int64
}

// Batch returns batches of size examples, of which tensors are one. A queue and
// a queue runner are between: threads compute tensors over and over.
func Batch(tensors []tf.Output, size int, o BatchOptions) []tf.Output {
	return BatchJoin(o.repeated(tensors), size, o)
}

// repeated returns a list for each thread. A number that is none is refused by check.
func (o *BatchOptions) repeated(tensors []tf.Output) [][]tf.Output {
	return slices.Repeat([][]tf.Output{tensors}, max(orDefault(o.Threads, 1), 1))
}

// MaybeBatch is Batch of the examples that keep, see BatchOptions, lets
// through.
func MaybeBatch(tensors []tf.Output, keep tf.Output, size int, o BatchOptions) []tf.Output {
	o.Keep = keep
	return Batch(tensors, size, o)
}

// ShuffleBatch is Batch with examples in random order.
func ShuffleBatch(tensors []tf.Output, size int, o BatchOptions) []tf.Output {
	return ShuffleBatchJoin(o.repeated(tensors), size, o)
}

// MaybeShuffleBatch is ShuffleBatch of the examples that keep lets through.
func MaybeShuffleBatch(tensors []tf.Output, keep tf.Output, size int, o BatchOptions) []tf.Output {
	o.Keep = keep
	return ShuffleBatch(tensors, size, o)
}

// BatchJoin is Batch for several lists of tensors, each with a thread of its
// own. The lists must agree in types and shapes.
func BatchJoin(lists [][]tf.Output, size int, o BatchOptions) []tf.Output {
	make := queue.NewFIFO
	if o.DynamicPad {
		make = queue.NewPaddingFIFO
	}
	return o.join(make, "batch", lists, size)
}

// ShuffleBatchJoin is BatchJoin with examples in random order.
func ShuffleBatchJoin(lists [][]tf.Output, size int, o BatchOptions) []tf.Output {
	return o.join(queue.NewRandomShuffle, "shuffle_batch", lists, size)
}

// newQueue makes a queue of one of the kinds.
type newQueue func(g *tf.Graph, types []tf.DType, o queue.Opts, opts ...tf.Option) *queue.Queue

func (o *BatchOptions) join(make newQueue, name string, lists [][]tf.Output, size int) []tf.Output {
	if o.Name != "" {
		name = o.Name
	}
	switch {
	case len(lists) == 0:
		return nothingOf(name, "Expected at least one input in batch_join().")
	case len(lists[0]) == 0:
		return nothingOf(name, "Expected at least one tensor in batch().")
	}
	g := lists[0][0].Graph()
	if err := o.check(lists); err != nil {
		return slices.Repeat([]tf.Output{tf.Failed(g, name, err).Output(0)}, len(lists[0]))
	}
	q := make(g, typesOf(lists[0]), queue.Opts{
		Capacity: orDefault(o.Capacity, defaultCapacity), Shapes: o.shapes(lists), SharedName: o.SharedName,
		MinAfterDequeue: o.MinAfterDequeue, Seed: o.Seed,
	}, tf.Name(name+"_queue"))
	var enqueue []*tf.Operation
	for _, tensors := range lists {
		enqueue = append(enqueue, o.enqueue(q, tensors))
	}
	addRunner(q, enqueue...)
	n := ops.Scalar(g, int32(size))
	if o.AllowSmallerFinalBatch {
		return q.DequeueUpTo(n)
	}
	return q.DequeueMany(n)
}

// check refuses what gives no queue, or one that nothing fills.
func (o *BatchOptions) check(lists [][]tf.Output) error {
	if o.Threads < 0 {
		return tf.Errorf(tf.InvalidArgument, "Must provide queue and enqueue_ops: the threads that compute tensors must not be fewer than none, got %d", o.Threads)
	}
	if o.Shapes != nil && len(o.Shapes) != len(lists[0]) {
		return tf.Errorf(tf.InvalidArgument, "there must be as many shapes as tensors, got %d for %d", len(o.Shapes), len(lists[0]))
	}
	for _, tensors := range lists {
		if len(tensors) != len(lists[0]) {
			return tf.Errorf(tf.InvalidArgument, "all lists of tensors must be of one length, got %d and %d", len(lists[0]), len(tensors))
		}
	}
	return nil
}

func typesOf(tensors []tf.Output) []tf.DType {
	types := make([]tf.DType, len(tensors))
	for i, t := range tensors {
		types[i] = t.DType()
	}
	return types
}

// shapes returns the shapes of one example: those that are given, or what all
// lists have in common.
func (o *BatchOptions) shapes(lists [][]tf.Output) []tf.Shape {
	if o.Shapes != nil {
		return o.Shapes
	}
	shapes := make([]tf.Shape, len(lists[0]))
	for i := range shapes {
		for k, tensors := range lists {
			s := tensors[i].Shape()
			if o.EnqueueMany && len(s) > 0 {
				s = s[1:]
			}
			if k > 0 {
				s = common(shapes[i], s)
			}
			shapes[i] = s.Clone()
		}
	}
	return shapes
}

// common returns the sizes that s and t have in common, the others open.
func common(s, t tf.Shape) tf.Shape {
	if s == nil || len(s) != len(t) {
		return nil
	}
	out := s.Clone()
	for i := range out {
		if t[i] != out[i] {
			out[i] = -1
		}
	}
	return out
}

// enqueue puts one example, or one row each, into q, as far as it is kept.
func (o *BatchOptions) enqueue(q *queue.Queue, tensors []tf.Output) *tf.Operation {
	keep := o.Keep
	switch {
	case keep == (tf.Output{}) && o.EnqueueMany:
		return q.EnqueueMany(tensors)
	case keep == (tf.Output{}):
		return q.Enqueue(tensors)
	}
	g := keep.Graph()
	if !o.EnqueueMany {
		keep = ops.Reshape(keep, ops.Const(g, []int32{1}))
	} else if len(keep.Shape()) != 1 { // a scalar stands for all rows
		keep = ops.BroadcastTo(keep, ops.Slice(ops.Shape(tensors[0]), []int{0}, []int{1}))
	}
	rows := ops.Reshape(ops.Where(keep), ops.Const(g, []int32{-1}))
	kept := make([]tf.Output, len(tensors))
	for i, t := range tensors {
		if !o.EnqueueMany {
			t = ops.ExpandDims(t, ops.Scalar(g, int32(0)))
		}
		kept[i] = ops.Gather(t, rows, 0)
	}
	return q.EnqueueMany(kept)
}
