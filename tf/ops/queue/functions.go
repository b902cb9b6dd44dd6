package queue

import "github.com/gorge-tf/gorge/tf"

// QueueEnqueueV2 puts one element into a queue. It waits while the queue is
// full, and fails with CANCELLED once it is closed. There is one component for
// each of the queue's types; other types or numbers of components, and shapes
// that are not the queue's, are refused with INVALID_ARGUMENT in the step.
func QueueEnqueueV2(handle tf.Output, components []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "QueueEnqueueV2", append([]tf.Output{handle}, components...), opts...)
}

// QueueEnqueueManyV2 puts the rows of its components, which must have as many
// each, into a queue one after the other. Each component has one dimension
// more than those of an element. It waits while the queue is full, and fails
// with CANCELLED once it is closed. A scalar, rows of unequal number, and
// types or shapes that are not the queue's are refused with INVALID_ARGUMENT
// in the step.
func QueueEnqueueManyV2(handle tf.Output, components []tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "QueueEnqueueManyV2", append([]tf.Output{handle}, components...), opts...)
}

// QueueDequeueV2 takes one element out of a queue. It waits while there is
// none, and fails with OUT_OF_RANGE once the queue is closed and empty. The
// results have the shapes with which they went in. Types that are not the
// queue's are refused with INVALID_ARGUMENT in the step.
func QueueDequeueV2(handle tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return taken("QueueDequeueV2", types, opts, handle)
}

// QueueDequeueManyV2 takes n elements out of a queue and returns them as the
// rows of its results. n is an int32 scalar. It waits for them, and fails with
// OUT_OF_RANGE, and takes nothing, if the queue is closed with fewer elements.
// The queue's components must have shapes: without them, and with types that
// are not the queue's, it is refused with INVALID_ARGUMENT in the step. A
// negative n is refused with INVALID_ARGUMENT, when the graph is built if it
// is constant, else in the step.
func QueueDequeueManyV2(handle, n tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return taken("QueueDequeueManyV2", types, opts, handle, n)
}

// QueueDequeueUpToV2 is QueueDequeueManyV2 but for a closed queue, of which it
// takes the elements that are left, if there is at least one. With none left
// it fails with OUT_OF_RANGE; other errors are those of QueueDequeueManyV2,
// but that a negative n is refused in the step only.
func QueueDequeueUpToV2(handle, n tf.Output, types []tf.DType, opts ...tf.Option) []tf.Output {
	return taken("QueueDequeueUpToV2", types, opts, handle, n)
}

// taken adds an op whose outputs have the given types.
func taken(op string, types []tf.DType, opts []tf.Option, in ...tf.Output) []tf.Output {
	o := tf.Apply(nil, op, in, tf.Join(opts, tf.Attr("component_types", types))...)
	out := make([]tf.Output, len(types))
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

// CloseOpts are the optional attributes of QueueCloseV2. With
// CancelPendingEnqueues, enqueues that wait fail with Canceled; without, they
// are let in first.
type CloseOpts struct{ CancelPendingEnqueues bool }

// Apply sets the attributes.
func (o CloseOpts) Apply(s *tf.Spec) { s.Set("cancel_pending_enqueues", o.CancelPendingEnqueues) }

// QueueCloseV2 lets nothing more into a queue. What is in it can still be
// taken out; dequeues that ask for more fail with OUT_OF_RANGE, and later
// enqueues with CANCELLED. A queue that is closed already is refused with
// CANCELLED in the step, unless pending enqueues are cancelled.
// Its options are [CloseOpts].
func QueueCloseV2(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "QueueCloseV2", []tf.Output{handle}, opts...)
}

// QueueSizeV2 returns the number of elements in a queue. The result is an
// int32 scalar. A handle without a queue is refused with NOT_FOUND in the
// step, the handle of another kind of resource with INVALID_ARGUMENT.
func QueueSizeV2(handle tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "QueueSizeV2", []tf.Output{handle}, opts...).Output(0)
}

// QueueIsClosedV2 reports whether a queue lets nothing more in. The result is
// a scalar bool. A handle without a queue is refused with NOT_FOUND in the
// step, the handle of another kind of resource with INVALID_ARGUMENT.
func QueueIsClosedV2(handle tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "QueueIsClosedV2", []tf.Output{handle}, opts...).Output(0)
}
