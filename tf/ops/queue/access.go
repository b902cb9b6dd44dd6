package queue

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const put, take, wait = "Tcomponents: list(type) >= 1", "component_types: list(type) >= 1", "; timeout_ms: int = -1"
	access("QueueEnqueue", "components: Tcomponents", "", put+wait, nothing, wantsIn(enqueue), 0)
	access("QueueEnqueueMany", "components: Tcomponents", "", put+wait, nothing, wantsIn(enqueueMany), 0)
	access("QueueDequeue", "", "components: component_types", take+wait, nothing, wantsOut(dequeue), 0)
	access("QueueDequeueMany", "n: int32", "components: component_types", take+wait, countShape, wantsOut(dequeueMany(false)), 0)
	access("QueueDequeueUpTo", "n: int32", "components: component_types", take+wait, nothing, wantsOut(dequeueMany(true)), 0)
	access("QueueClose", "", "", "cancel_pending_enqueues: bool = false", nothing, closeQueue, 0)
	access("QueueSize", "", "size: int32", "", core.ScalarShape, asks(func(q *queue.Queue) *core.Tensor { return core.Scalar(int32(q.Size())) }), core.ReadsState)
	access("QueueIsClosed", "", "is_closed: bool", "", core.ScalarShape, asks(func(q *queue.Queue) *core.Tensor { return core.Scalar(q.Closed()) }), core.ReadsState)
}

// access registers both generations of an op on queues.
func access(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel, t core.Traits) {
	for v, typ := range map[string]string{"": "handle: Ref(string)", "V2": "handle: resource"} {
		if in != "" {
			typ += "; "
		}
		core.Register(core.OpDef{
			Name: name + v, Traits: t, In: typ + in, Out: out, Attrs: attrs, Stateful: v == "V2",
			Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
		})
	}
}

// nothing is known of the shapes: they are the queue's affair.
func nothing(*core.Infer) error { return nil }

// countShape refuses a number of elements that is known to be negative.
func countShape(c *core.Infer) error {
	if v, ok := c.ConstInts(1); ok && len(v) > 0 && v[0] < 0 && strings.HasSuffix(c.OpName(), "V2") {
		return tf.Errorf(tf.InvalidArgument, "Input 'n' must be >= 0, but is %d", v[0])
	}
	return nil
}

// A use is what a node does with a queue.
type use func(q *queue.Queue, c *core.OpContext, done func(error))

// wantsIn makes the factory of kernels whose inputs must be of the queue's
// types.
func wantsIn(f use) core.NewKernel {
	return checked(f, func(n *core.Node, q *queue.Queue) error {
		if !slices.Equal(n.InTypes[1:], q.Types()) {
			return wrongSignature(n, q, n.InTypes[:1], q.Types(), nil)
		}
		return nil
	})
}

// wantsOut makes the factory of kernels whose outputs must be of the queue's
// types.
func wantsOut(f use) core.NewKernel {
	return checked(f, func(n *core.Node, q *queue.Queue) error {
		if !slices.Equal(n.OutTypes, q.Types()) {
			return wrongSignature(n, q, n.InTypes, nil, q.Types())
		}
		return nil
	})
}

func checked(f use, check func(*core.Node, *queue.Queue) error) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if n.Int("timeout_ms") != -1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Timeout not supported yet.")
		}
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			q, err := handle.Find[*queue.Queue](c, 0)
			if err == nil {
				err = check(c.Node, q)
			}
			if err != nil {
				done(err)
				return
			}
			f(q, c, done)
		}), nil
	}
}

// wrongSignature says which types a node has and which its queue asks for.
func wrongSignature(n *core.Node, q *queue.Queue, head, in, out []tf.DType) error {
	return tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s->%s expected: %s->%s",
		typeNames(n.InTypes), typeNames(n.OutTypes), typeNames(slices.Concat(head, in)), typeNames(out))
}

func typeNames(types []tf.DType) string {
	names := make([]string, len(types))
	for i, d := range types {
		names[i] = d.CName()
	}
	return strings.Join(names, ", ")
}

func enqueue(q *queue.Queue, c *core.OpContext, done func(error)) {
	q.Enqueue(c.StepContext(), c.Tensors(1, c.Inputs()), done)
}

func enqueueMany(q *queue.Queue, c *core.OpContext, done func(error)) {
	q.EnqueueMany(c.StepContext(), c.Tensors(1, c.Inputs()), done)
}

func dequeue(q *queue.Queue, c *core.OpContext, done func(error)) {
	q.Dequeue(c.StepContext(), outputs(c, done))
}

func dequeueMany(upTo bool) use {
	return func(q *queue.Queue, c *core.OpContext, done func(error)) {
		n := core.Data[int32](c.Input(1))
		if len(n) == 0 {
			done(tf.Errorf(tf.InvalidArgument, "the number of elements to dequeue must be a scalar, got shape %s", c.Input(1).Shape().String()))
			return
		}
		q.DequeueMany(c.StepContext(), int(n[0]), upTo, outputs(c, done))
	}
}

// outputs makes what was dequeued the outputs.
func outputs(c *core.OpContext, done func(error)) func(queue.Tuple, error) {
	return func(t queue.Tuple, err error) {
		for i, x := range t {
			c.Set(i, x)
		}
		done(err)
	}
}

func closeQueue(n *core.Node) (core.Kernel, error) {
	cancel := n.Bool("cancel_pending_enqueues")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		q, err := handle.Find[*queue.Queue](c, 0)
		if err != nil {
			done(err)
			return
		}
		q.CloseQueue(c.StepContext(), cancel, done)
	}), nil
}

// asks makes the factory of kernels that tell something of a queue at once.
func asks(f func(*queue.Queue) *core.Tensor) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			q, err := handle.Find[*queue.Queue](c, 0)
			if err != nil {
				return err
			}
			c.Set(0, f(q))
			return nil
		}), nil
	}
}
