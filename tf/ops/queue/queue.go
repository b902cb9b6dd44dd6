package queue

import (
	"path"
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// A Queue is a queue in a graph: its handle, and what is known of its elements,
// so that what is dequeued has shapes.
type Queue struct {
	Handle tf.Output
	Types  []tf.DType // of the components, priorities included
	Shapes []tf.Shape // of the components; empty: unknown
}

// NewFIFO adds a queue whose elements come out in the order in which they went
// in. Its node is called fifo_queue unless opts name it. Errors are those of
// [FIFOQueueV2].
func NewFIFO(g *tf.Graph, types []tf.DType, o Opts, opts ...tf.Option) *Queue {
	return &Queue{FIFOQueueV2(g, types, options("fifo_queue", o, opts)...), types, o.Shapes}
}

// NewPaddingFIFO adds a queue in order whose batches are padded with zeros
// where shapes leave sizes open. Its node is called padding_fifo_queue unless
// opts name it. Errors are those of [PaddingFIFOQueueV2].
func NewPaddingFIFO(g *tf.Graph, types []tf.DType, o Opts, opts ...tf.Option) *Queue {
	return &Queue{PaddingFIFOQueueV2(g, types, options("padding_fifo_queue", o, opts)...), types, o.Shapes}
}

// NewRandomShuffle adds a queue whose elements come out in random order. Its
// node is called random_shuffle_queue unless opts name it. Errors are those of
// [RandomShuffleQueueV2].
func NewRandomShuffle(g *tf.Graph, types []tf.DType, o Opts, opts ...tf.Option) *Queue {
	return &Queue{RandomShuffleQueueV2(g, types, options("random_shuffle_queue", o, opts)...), types, o.Shapes}
}

// NewPriority adds a queue that gives out the element of the lowest priority,
// which is the first component of each and not named in types and shapes. Its
// node is called priority_queue unless opts name it. Errors are those of
// [PriorityQueueV2].
func NewPriority(g *tf.Graph, types []tf.DType, o Opts, opts ...tf.Option) *Queue {
	q := &Queue{PriorityQueueV2(g, types, options("priority_queue", o, opts)...), append([]tf.DType{tf.Int64}, types...), nil}
	if len(o.Shapes) > 0 {
		q.Shapes = append([]tf.Shape{{}}, o.Shapes...)
	}
	return q
}

func options(name string, o Opts, opts []tf.Option) []tf.Option {
	return tf.Join(opts, tf.Name(name), o)
}

// Name returns the name of the queue's node, without its scopes.
func (q *Queue) Name() string { return path.Base(q.Handle.Operation().Name) }

// named puts the name of an op on the queue, and its place beside the queue,
// before a caller's options.
func (q *Queue) named(suffix string, opts []tf.Option) []tf.Option {
	if q.Handle.Err() != nil {
		return opts
	}
	return tf.Join(opts, tf.Name(q.Name()+suffix))
}

// Enqueue puts one element in. Errors are those of [QueueEnqueueV2].
func (q *Queue) Enqueue(components []tf.Output, opts ...tf.Option) *tf.Operation {
	return QueueEnqueueV2(q.Handle, components, q.named("_enqueue", opts)...)
}

// EnqueueMany puts the rows of its components in, one after the other. Errors
// are those of [QueueEnqueueManyV2].
func (q *Queue) EnqueueMany(components []tf.Output, opts ...tf.Option) *tf.Operation {
	return QueueEnqueueManyV2(q.Handle, components, q.named("_EnqueueMany", opts)...)
}

// Dequeue takes one element out. The results have the queue's shapes if it has
// any. Errors are those of [QueueDequeueV2].
func (q *Queue) Dequeue(opts ...tf.Option) []tf.Output {
	out := QueueDequeueV2(q.Handle, q.Types, q.named("_Dequeue", opts)...)
	for i, s := range q.Shapes[:min(len(q.Shapes), len(out))] { // others fail the step
		out[i].SetShape(s)
	}
	return out
}

// DequeueMany takes n elements out, as the rows of its results. The results
// have the queue's shapes behind a dimension of n. Errors are those of
// [QueueDequeueManyV2].
func (q *Queue) DequeueMany(n tf.Output, opts ...tf.Option) []tf.Output {
	out := QueueDequeueManyV2(q.Handle, n, q.Types, q.named("_DequeueMany", opts)...)
	return q.batched(out, constant(n))
}

// DequeueUpTo is DequeueMany that is content with fewer once the queue is
// closed. Errors are those of [QueueDequeueUpToV2].
func (q *Queue) DequeueUpTo(n tf.Output, opts ...tf.Option) []tf.Output {
	return q.batched(QueueDequeueUpToV2(q.Handle, n, q.Types, q.named("_DequeueUpTo", opts)...), -1)
}

// batched tells the shapes of batches of n rows.
func (q *Queue) batched(out []tf.Output, n int) []tf.Output {
	for i, s := range q.Shapes[:min(len(q.Shapes), len(out))] {
		out[i].SetShape(append(tf.Shape{n}, s...))
	}
	return out
}

// constant returns the value of a constant scalar, -1 for others.
func constant(n tf.Output) int {
	if n.Err() != nil || n.Operation().OpName() != "Const" {
		return -1
	}
	v, err := n.Operation().TensorAttr("value").Ints()
	if err != nil || len(v) != 1 {
		return -1
	}
	return v[0]
}

// Close lets nothing more in. Errors are those of [QueueCloseV2].
func (q *Queue) Close(opts ...tf.Option) *tf.Operation {
	return QueueCloseV2(q.Handle, q.named("_Close", opts)...)
}

// Size returns the number of elements in the queue. The result is an int32
// scalar.
func (q *Queue) Size(opts ...tf.Option) tf.Output {
	return QueueSizeV2(q.Handle, q.named("_Size", opts)...)
}

// IsClosed reports whether the queue lets nothing more in. The result is a
// scalar bool.
func (q *Queue) IsClosed(opts ...tf.Option) tf.Output {
	return QueueIsClosedV2(q.Handle, q.named("_Is_Closed", opts)...)
}

// FromList returns a queue that is whichever of queues index, a scalar, points
// to. Their elements must be alike. No queues, and one that is nil, are refused with
// INVALID_ARGUMENT.
func FromList(index tf.Output, queues []*Queue, opts ...tf.Option) *Queue {
	if len(queues) == 0 || slices.Contains(queues, nil) {
		err := tf.Errorf(tf.InvalidArgument, "FromList must be given queues, one at least and none nil, got %d", len(queues))
		return &Queue{Handle: tf.Failed(index.Graph(), "FromList", err).Output(0)}
	}
	handles := make([]tf.Output, len(queues))
	for i, q := range queues {
		handles[i] = q.Handle
	}
	all := tf.Apply(nil, "Pack", handles).Output(0)
	return &Queue{tf.Apply(nil, "Gather", []tf.Output{all, index}, opts...).Output(0), queues[0].Types, queues[0].Shapes}
}
