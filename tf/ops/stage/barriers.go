package stage

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("Barrier", "", "handle: Ref(string)", "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; capacity: int = -1; "+names, barrierShape, makeBarrier)
	onBarrier("BarrierInsertMany", "; keys: string; values: T", "", "T: type; component_index: int", insertShape, insertMany)
	onBarrier("BarrierTakeMany", "; num_elements: int32", "indices: int64; keys: string; values: component_types",
		"component_types: list(type) >= 1; allow_small_batch: bool = false; wait_for_incomplete: bool = false; timeout_ms: int = -1", anyShape, takeMany)
	onBarrier("BarrierClose", "", "", "cancel_pending_enqueues: bool = false", anyShape, closeBarrier)
	onBarrier("BarrierReadySize", "", "size: int32", "", core.ScalarShape, sizeOf(func(b *barrier) int { return b.ready.Size() }))
	onBarrier("BarrierIncompleteSize", "", "size: int32", "", core.ScalarShape, sizeOf((*barrier).incompleteSize))
}

func onBarrier(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, In: "handle: Ref(string)" + in, Out: out, Attrs: attrs, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
	})
}

// BarrierOpts are the optional attributes of Barrier.
type BarrierOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o BarrierOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// Barrier returns the handle of a barrier, which collects tuples of the given
// types and shapes whose components come one after the other, under one key.
// The handle is of the first generation, a vector of two strings. Shapes are
// as many as types, or none; other numbers and shapes without elements are
// refused with INVALID_ARGUMENT in the step, as is a shared name that a
// barrier of other types or shapes has. Its options are [BarrierOpts].
func Barrier(g *tf.Graph, types []tf.DType, shapes []tf.Shape, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "Barrier", nil, tf.Join(opts, tf.Attr("component_types", types), tf.Attr("shapes", shapes))...).Output(0)
}

// BarrierInsertMany puts the rows of values under keys, a vector of strings,
// as one of the components. A key that has the component already, a component
// that there is not, values of another type, and values without a row for each
// key or without elements are refused with INVALID_ARGUMENT in the step; keys
// that are no vector when the graph is built if their shape is known. A new
// key in a closed barrier fails with CANCELLED.
func BarrierInsertMany(barrier, keys, values tf.Output, component int, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BarrierInsertMany", []tf.Output{barrier, keys, values}, tf.Join(opts, tf.Attr("component_index", component))...)
}

// TakeOpts are the optional attributes of BarrierTakeMany: AllowSmallBatch takes
// fewer tuples, but one at least, once the barrier is closed.
type TakeOpts struct{ AllowSmallBatch, WaitForIncomplete bool }

// Apply sets the attributes.
func (o TakeOpts) Apply(s *tf.Spec) {
	s.Set("allow_small_batch", o.AllowSmallBatch)
	s.Set("wait_for_incomplete", o.WaitForIncomplete)
}

// BarrierTakeMany takes n complete tuples, an int32 scalar: the numbers of the
// insertions that began them, their keys and their components, of the given
// types. It waits for them, and fails with OUT_OF_RANGE once the barrier is
// closed with fewer. Indices, int64, and keys are vectors of n elements, and
// components have n rows. Other types than the barrier's and an n that has not
// one element are refused with INVALID_ARGUMENT in the step.
// Its options are [TakeOpts].
func BarrierTakeMany(barrier, n tf.Output, types []tf.DType, opts ...tf.Option) (indices, keys tf.Output, values []tf.Output) {
	out := outputs(tf.Apply(nil, "BarrierTakeMany", []tf.Output{barrier, n}, tf.Join(opts, tf.Attr("component_types", types))...), 2+len(types))
	return out[0], out[1], out[2:]
}

// CancelPendingEnqueues is the optional attribute of BarrierClose: incomplete
// tuples are dropped.
type CancelPendingEnqueues bool

// Apply sets the attribute.
func (b CancelPendingEnqueues) Apply(s *tf.Spec) { s.Set("cancel_pending_enqueues", bool(b)) }

// BarrierClose lets no new keys into a barrier. Tuples that have begun can be
// completed unless they are dropped. A barrier that is closed already is
// refused with CANCELLED in the step, unless its tuples are dropped for the
// first time. Its options are [CancelPendingEnqueues].
func BarrierClose(barrier tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "BarrierClose", []tf.Output{barrier}, opts...)
}

// BarrierReadySize returns how many complete tuples there are. The result is
// an int32 scalar. A handle without a barrier is refused with NOT_FOUND in the
// step, a value that is no reference with INVALID_ARGUMENT when the graph is
// built.
func BarrierReadySize(barrier tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "BarrierReadySize", []tf.Output{barrier}, opts...).Output(0)
}

// BarrierIncompleteSize returns how many tuples are incomplete. The result is
// an int32 scalar. A handle without a barrier is refused with NOT_FOUND in the
// step, a value that is no reference with INVALID_ARGUMENT when the graph is
// built.
func BarrierIncompleteSize(barrier tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "BarrierIncompleteSize", []tf.Output{barrier}, opts...).Output(0)
}

func barrierShape(c *core.Infer) error {
	c.Set(0, tf.Shape{2})
	return nil
}

func insertShape(c *core.Infer) error {
	_, err := c.Rank(1, 1)
	return err
}

func makeBarrier(n *core.Node) (core.Kernel, error) {
	types := n.TypesAttr("component_types")
	shapes, _ := n.Attr("shapes").([]tf.Shape)
	shapes = slices.Clone(shapes)
	if len(shapes) > 0 && len(shapes) != len(types) {
		return nil, tf.Errorf(tf.InvalidArgument, "All of the component shapes must be specified")
	}
	for i, s := range shapes {
		if s == nil {
			shapes[i] = tf.Shape{} // as TensorFlow reads a shape that is not known
		}
		if s.NumElements() == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Empty tensors are not supported, but received shape '%s' at index %d", s.String(), i)
		}
	}
	if n.Int("capacity") != -1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited capacity.")
	}
	return handle.Kernel(n, handle.Maker[*barrier]{
		New:     func(name string) (*barrier, error) { return newBarrier(name, types, shapes) },
		Matches: func(b *barrier) error { return b.matches(types, shapes) },
	}), nil
}

// uses makes an asynchronous kernel that does something with a barrier.
func uses(f func(c *core.OpContext, b *barrier, done func(error))) core.Kernel {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		b, err := handle.Find[*barrier](c, 0)
		if err != nil {
			done(err)
			return
		}
		f(c, b, done)
	})
}

func insertMany(n *core.Node) (core.Kernel, error) {
	component := n.Int("component_index")
	return uses(func(c *core.OpContext, b *barrier, done func(error)) {
		keys, values := c.Input(1), c.Input(2)
		switch {
		case component < 0 || component >= len(b.types):
			done(tf.Errorf(tf.InvalidArgument, "The component ID is out of range %d > num_components (= %d)", component, len(b.types)))
		case values.DType() != b.types[component]:
			done(tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s expected: %s", values.DType().CName(), b.types[component].CName()))
		case values.Len() > 0 && (values.Rank() == 0 || values.Dim(0) != keys.Len()):
			done(tf.Errorf(tf.InvalidArgument, "there must be a row of values for each of %d keys, got shape %s", keys.Len(), values.Shape().String()))
		default:
			done(b.insert(c.StepContext(), core.Data[string](keys), component, values))
		}
	}), nil
}

func takeMany(n *core.Node) (core.Kernel, error) {
	small := n.Bool("allow_small_batch")
	if n.Int("timeout_ms") != -1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Timeout not supported yet.")
	}
	return uses(func(c *core.OpContext, b *barrier, done func(error)) {
		switch {
		case c.Input(1).Len() != 1:
			done(tf.Errorf(tf.InvalidArgument, "num_elements must be a scalar."))
		case !slices.Equal(c.Node.OutTypes[2:], b.types):
			done(tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s expected: %s", typeNames(c.Node.OutTypes[2:]), typeNames(b.types)))
		default:
			b.take(c.StepContext(), int(core.Data[int32](c.Input(1))[0]), small, func(t queue.Tuple, err error) {
				for i, x := range t {
					c.Set(i, x)
				}
				done(err)
			})
		}
	}), nil
}

func closeBarrier(n *core.Node) (core.Kernel, error) {
	cancel := n.Bool("cancel_pending_enqueues")
	return uses(func(c *core.OpContext, b *barrier, done func(error)) { b.close(c.StepContext(), cancel, done) }), nil
}

func sizeOf(f func(*barrier) int) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return uses(func(c *core.OpContext, b *barrier, done func(error)) {
			c.Set(0, core.Scalar(int32(f(b))))
			done(nil)
		}), nil
	}
}
