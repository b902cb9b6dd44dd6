package collective

import (
	"fmt"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "CollectiveInitializeCommunicator", In: "group_key: int32; rank: int32; group_size: int32", Out: "communicator: resource",
		Attrs:    "communication_hint: string = 'auto'; timeout_seconds: float = 0",
		Stateful: true, Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(communicatorKernel),
	})
	const in = "input: T; communicator: resource; group_assignment: int32"
	register("CollectiveReduceV3", 0, in, reduced+"; reduction: {'Min', 'Max', 'Mul', 'Add'}; timeout_seconds: float = 0", core.UnchangedShape, reduceV3Kernel)
	register("CollectiveAllToAllV3", 0, in, reduced+"; timeout_seconds: float = 0", core.UnchangedShape, allToAllV3Kernel)
}

// InitializeCommunicator joins a device to a group, waits for the others, and
// returns the handle by which nodes on that device do things with them. Key,
// rank (the device's place) and size are int32 scalars. A device joins a group
// once. Inputs that are no scalars, a size that is not positive and a rank
// that is negative or not less than the size are refused with INVALID_ARGUMENT
// in the step.
func InitializeCommunicator(key, rank, size tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveInitializeCommunicator", []tf.Output{key, rank, size}, opts...).Output(0)
}

// ReduceV3 is [Reduce] among the devices of a communicator, without division.
// assignment, an int32 matrix, must be empty. All devices must run such nodes
// in the same order. An assignment with elements is refused with UNIMPLEMENTED
// in the step, a handle without a communicator with NOT_FOUND.
func ReduceV3(x, communicator, assignment tf.Output, merge string, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveReduceV3", []tf.Output{x, communicator, assignment}, tf.Join(opts, tf.Attr("reduction", merge))...).Output(0)
}

// AllToAllV3 is [AllToAllV2] among the devices of a communicator; what comes
// from each lies at the place of its rank. assignment, an int32 matrix, must
// be empty. An assignment with elements is refused with UNIMPLEMENTED in the
// step, a handle without a communicator with NOT_FOUND.
func AllToAllV3(x, communicator, assignment tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveAllToAllV3", []tf.Output{x, communicator, assignment}, opts...).Output(0)
}

// A communicator is a device's place in a group. It numbers what the group does.
type communicator struct {
	group   core.CollectiveGroup
	timeout float32
	next    atomic.Int32
}

var _ = resource.Declare[*communicator]("tensorflow::_GLOBAL__N_1::CollectiveGroupResource")

// place is the container of all communicators.
const place = "collective_op_group"

func communicatorKernel(n *core.Node) (core.Kernel, error) {
	timeout := n.Float("timeout_seconds")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		g, err := readGroup(c)
		if err == nil {
			err = keep(c, &communicator{group: g, timeout: timeout})
		}
		switch {
		case err != nil:
			done(err)
		case c.Collectives == nil:
			done(tf.Errorf(tf.Internal, "Failed to get CollectiveExecutor from OpKernelContext for Op %s", c.Node.Name))
		default:
			c.Apart(func() error { return c.Collectives.Join(c, g, 0) }, done)
		}
	}), nil
}

// readGroup reads what a device wants to join.
func readGroup(c *core.OpContext) (g core.CollectiveGroup, err error) {
	for _, in := range []struct {
		i    int
		name string
		to   *int
	}{{2, "group_size", &g.Size}, {0, "group_key", &g.Key}, {1, "rank", &g.Rank}} {
		t := c.Input(in.i)
		if t.Rank() > 0 {
			return g, tf.Errorf(tf.InvalidArgument, "Unexpected dimensions on input %s. It shoulbe a scalar, got tensor with shape %s", in.name, t.Shape().String())
		}
		*in.to = int(core.Data[int32](t)[0])
	}
	switch {
	case g.Size <= 0:
		return g, tf.Errorf(tf.InvalidArgument, "group_size must be positive integer but got %d", g.Size)
	case g.Rank < 0:
		return g, tf.Errorf(tf.InvalidArgument, "rank must be non-negative integer but got %d", g.Rank)
	case g.Rank >= g.Size:
		return g, tf.Errorf(tf.InvalidArgument, "rank must be less than group size but got %d >= %d", g.Rank, g.Size)
	}
	return g, nil
}

// keep makes a communicator known and its handle the output.
func keep(c *core.OpContext, m *communicator) error {
	if c.Step == nil || c.Resources == nil || c.Device == nil {
		return tf.Errorf(tf.Internal, "a node that keeps a resource needs a resource manager")
	}
	name, typ := fmt.Sprintf("%d:r%04d", m.group.Key, m.group.Rank), resource.TypeOf[*communicator]()
	if err := resource.Create(c.Resources, place, name, m); err != nil {
		return err
	}
	c.Set(0, core.HandleTensor(core.ResourceHandle{
		Device: c.Device.Spec().String(), Container: place, Name: name, HashCode: typ.Hash, TypeName: typ.Name,
	}))
	return nil
}

// joined returns the kernel of a node that does something with the group of a
// communicator.
func joined(n *core.Node, p core.Collective, fill func(c *core.OpContext, p *core.Collective) error) (core.Kernel, error) {
	timeout := n.Float("timeout_seconds")
	p.Joined, p.MaxSubdivisions = true, -1
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		p := p
		m, err := handle.Find[*communicator](c, 1)
		if err == nil && c.Input(2).Len() > 0 {
			err = tf.Errorf(tf.Unimplemented, "Group assignments are not supported yet.")
		}
		if err == nil {
			err = fill(c, &p)
		}
		if err != nil {
			done(err)
			return
		}
		p.Group, p.Instance = m.group, int(m.next.Add(1)-1)
		if timeout > 0 {
			p.Timeout = seconds(m.timeout)
		}
		run(c, &p, done)
	}), nil
}

func reduceV3Kernel(n *core.Node) (core.Kernel, error) {
	merge := n.Str("reduction")
	return joined(n, core.Collective{Kind: core.ReduceCollective, Merge: merge, Final: "Id", Name: fmt.Sprintf("%s: ReduceV3(%s)", n.Name, opName(merge))}, likeInput)
}

func allToAllV3Kernel(n *core.Node) (core.Kernel, error) {
	return joined(n, core.Collective{Kind: core.AllToAllCollective, Name: n.Name + ": AllToAllV3"}, apart)
}
