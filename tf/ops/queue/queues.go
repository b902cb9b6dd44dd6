// Package queue has the ops of TensorFlow's queues, those of
// data_flow_ops.py: FIFO, padding, shuffling and priority queues, and what puts
// elements in and takes them out. Both generations of the ops are here; Go
// functions add the second one, whose handles are resources. Type [Queue] is
// the convenient way to use them.
package queue

import (
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const head, tail = "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1", "; container: string = ''; shared_name: string = ''"
	for _, q := range []struct {
		kind  queue.Kind
		attrs string
	}{
		{queue.FIFO, head + tail},
		{queue.PaddingFIFO, head + tail},
		{queue.RandomShuffle, head + "; min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0" + tail},
		{queue.Priority, "component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; capacity: int = -1" + tail},
	} {
		register(string(q.kind), "handle: Ref(string)", q.attrs, pairShape, newQueue(q.kind))
		register(string(q.kind)+"V2", "handle: resource", q.attrs, core.ScalarShape, newQueue(q.kind))
	}
}

func register(name, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
	})
}

// pairShape is the shape of handles of the first generation: two strings.
func pairShape(c *core.Infer) error {
	c.Set(0, tf.Shape{2})
	return nil
}

// newQueue returns the factory of the kernels that give out a queue's handle.
func newQueue(kind queue.Kind) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		s := specOf(kind, n)
		if _, err := queue.New(s); err != nil {
			return nil, err
		}
		return handle.Kernel(n, handle.Maker[*queue.Queue]{
			New: func(name string) (*queue.Queue, error) {
				s := s
				s.Name = name
				return queue.New(s)
			},
			Matches: func(q *queue.Queue) error { return q.Matches(s) },
		}), nil
	}
}

// specOf reads what a node says of its queue.
func specOf(kind queue.Kind, n *core.Node) queue.Spec {
	shapes, _ := n.Attr("shapes").([]tf.Shape)
	s := queue.Spec{
		Kind: kind, Op: n.OpName(), Capacity: n.Int("capacity"), Types: n.TypesAttr("component_types"), Shapes: shapes,
		MinAfterDequeue: n.Int("min_after_dequeue"), Seed: int64(n.Int("seed")), Seed2: int64(n.Int("seed2")),
	}
	if kind == queue.Priority {
		s.Types = append([]tf.DType{tf.Int64}, s.Types...)
		if len(shapes) > 0 {
			s.Shapes = append([]tf.Shape{{}}, shapes...)
		}
	}
	return s
}

// Opts are the optional attributes of queues. Queues of equal container and
// shared name, on one device, are one queue; without a shared name every node
// has its own.
type Opts struct {
	Capacity int        // 0: unbounded
	Shapes   []tf.Shape // of the components; nil: anything goes, but only single elements can be dequeued

	Container, SharedName string

	// Of RandomShuffleQueueV2 only: how many elements stay in the queue, for
	// a good mix, while it is open, and the seed of the order.
	MinAfterDequeue int
	Seed            *int64
}

// Apply sets the attributes.
func (o Opts) Apply(s *tf.Spec) {
	if s.Set("capacity", -1); o.Capacity != 0 {
		s.Set("capacity", o.Capacity)
	}
	s.Set("shapes", append([]tf.Shape{}, o.Shapes...))
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// FIFOQueueV2 adds a queue whose elements, tuples of the given types, come out
// in the order in which they went in. Shapes, if they are given, are fully
// known and as many as types; others are refused with INVALID_ARGUMENT in the
// step, as is a shared name that a queue of another kind, capacity, types or
// shapes has. Its options are [Opts].
func FIFOQueueV2(g *tf.Graph, types []tf.DType, opts ...tf.Option) tf.Output {
	return newHandle(g, "FIFOQueueV2", types, opts)
}

// PaddingFIFOQueueV2 adds a queue in order whose shapes, which have to be
// given in Opts, may leave sizes open: batches pad what is smaller with zeros.
// Shapes whose number of dimensions is not known, and shapes that are missing,
// are refused with INVALID_ARGUMENT in the step.
func PaddingFIFOQueueV2(g *tf.Graph, types []tf.DType, opts ...tf.Option) tf.Output {
	return newHandle(g, "PaddingFIFOQueueV2", types, opts)
}

// RandomShuffleQueueV2 adds a queue whose elements come out in random order. A
// MinAfterDequeue that is negative or not less than the capacity, and shapes
// that are not fully known, are refused with INVALID_ARGUMENT in the step.
// Its options are [Opts].
func RandomShuffleQueueV2(g *tf.Graph, types []tf.DType, opts ...tf.Option) tf.Output {
	var o Opts
	for _, opt := range opts {
		if have, ok := opt.(Opts); ok {
			o = have
		}
	}
	if g != nil {
		seed, seed2 := g.Seeds(o.Seed)
		opts = tf.Join(opts, tf.Attr("seed", seed), tf.Attr("seed2", seed2))
	}
	return newHandle(g, "RandomShuffleQueueV2", types, tf.Join(opts, tf.Attr("min_after_dequeue", o.MinAfterDequeue)))
}

// PriorityQueueV2 adds a queue that gives out the element of the lowest
// priority: an int64 scalar that comes first in every element, and is not
// named among types and shapes. An element whose priority is no scalar is
// refused with INVALID_ARGUMENT in the step that enqueues it.
// Its options are [Opts].
func PriorityQueueV2(g *tf.Graph, types []tf.DType, opts ...tf.Option) tf.Output {
	return newHandle(g, "PriorityQueueV2", types, tf.Join(opts, tf.Attr("shapes", []tf.Shape{})))
}

func newHandle(g *tf.Graph, op string, types []tf.DType, opts []tf.Option) tf.Output {
	return tf.Apply(g, op, nil, tf.Join(opts, tf.Attr("component_types", types))...).Output(0)
}
