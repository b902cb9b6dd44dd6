package collective

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		in        = "input: T; group_size: int32; group_key: int32; instance_key: int32"
		tokens    = "; ordering_token: Nordering_token * resource"
		ordered   = "; is_stateless: bool = false; Nordering_token: int >= 0 = 0"
		subdivide = "; max_subdivs_per_device: int = -1"
	)
	register("CollectiveReduceV2", core.GroupInstance, in+tokens, reduced+merging+hints+ordered+subdivide, core.UnchangedShape, reduceV2Kernel)
	register("CollectiveReduceScatterV2", 0, in+tokens, reduced+merging+hints+ordered+subdivide, anyRows, scatterKernel)
	register("CollectiveGatherV2", core.GroupInstance, in+tokens, gathered+hints+ordered, anyRows, gatherV2Kernel)
	register("CollectiveAllToAllV2", 0, in+tokens, reduced+hints+ordered, core.UnchangedShape, allToAllKernel)
	register("CollectiveBcastSendV2", core.GroupInstance, in, broadcast+hints, core.UnchangedShape, sendV2Kernel)
	register("CollectiveBcastRecvV2", core.GroupInstance, "group_size: int32; group_key: int32; instance_key: int32; shape: Tshape",
		broadcast+"; Tshape: {int32, int64} = DT_INT32"+hints, givenShape, receiveV2Kernel)
}

// Keys are a Group whose numbers are int32 scalars, computed when nodes run.
// Tokens are handles of resources, by which nodes that share them run in the order
// in which they were added.
type Keys struct {
	Size, Key, Instance tf.Output
	Tokens              []tf.Output
}

func (k Keys) inputs(x tf.Output) []tf.Output {
	return append([]tf.Output{x, k.Size, k.Key, k.Instance}, k.Tokens...)
}

// ReduceV2 is [Reduce]. Size, key and instance are int32 scalars; other shapes
// and a size that is not positive are refused with INVALID_ARGUMENT in the
// step.
func ReduceV2(x tf.Output, k Keys, merge, final string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("merge_op", merge), tf.Attr("final_op", final))
	return tf.Apply(nil, "CollectiveReduceV2", k.inputs(x), opts...).Output(0)
}

// ReduceScatterV2 is [Reduce] of which each device gets a part of the rows, as
// many as the others. TensorFlow has no kernel for CPUs. A scalar is refused
// with INVALID_ARGUMENT, when the graph is built if its shape is known, else
// in the step. Other errors are those of ReduceV2.
func ReduceScatterV2(x tf.Output, k Keys, merge, final string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("merge_op", merge), tf.Attr("final_op", final))
	return tf.Apply(nil, "CollectiveReduceScatterV2", k.inputs(x), opts...).Output(0)
}

// GatherV2 is [Gather]. How many rows the result has is known only in the
// step. Errors are those of Gather and ReduceV2.
func GatherV2(x tf.Output, k Keys, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveGatherV2", k.inputs(x), opts...).Output(0)
}

// AllToAllV2 gives each device one of the elements of x along its first
// dimension, of which there must be as many as devices, and returns what they
// give. The result has the shape of x. Errors are those of ReduceV2.
func AllToAllV2(x tf.Output, k Keys, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveAllToAllV2", k.inputs(x), opts...).Output(0)
}

// BcastSendV2 is [BcastSend]. There are no tokens. Errors are those of
// ReduceV2.
func BcastSendV2(x tf.Output, k Keys, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "CollectiveBcastSendV2", k.inputs(x), opts...).Output(0)
}

// BcastRecvV2 is [BcastRecv], of the shape that an int32 or int64 vector
// gives. There are no tokens. A shape that is no vector is refused with
// INVALID_ARGUMENT, when the graph is built if its own shape is known, else in
// the step; a negative size is refused with it in the step. Other errors are
// those of ReduceV2.
func BcastRecvV2(d tf.DType, shape tf.Output, k Keys, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("T", d))
	return tf.Apply(nil, "CollectiveBcastRecvV2", []tf.Output{k.Size, k.Key, k.Instance, shape}, opts...).Output(0)
}

// anyRows leaves open how many rows there are: that depends on the group.
func anyRows(c *core.Infer) error {
	s, err := withRows(c)
	if err != nil || s == nil {
		return err
	}
	s[0] = -1
	c.Set(0, s)
	return nil
}

func givenShape(c *core.Infer) error {
	if _, err := c.Rank(3, 1); err != nil {
		return err
	}
	s := c.ConstShape(3)
	for _, d := range s {
		if d < -1 {
			return tf.Errorf(tf.InvalidArgument, "the sizes of a shape must not be negative, got %s", s.String())
		}
	}
	c.Set(0, s)
	return nil
}

// dynamic returns the kernel of a node whose group and instance are inputs, from
// number first on.
func dynamic(n *core.Node, p core.Collective, first int, fill func(c *core.OpContext, p *core.Collective) error) (core.Kernel, error) {
	p.Timeout, p.MaxSubdivisions = seconds(n.Float("timeout_seconds")), -1
	if n.Attr("max_subdivs_per_device") != nil {
		p.MaxSubdivisions = n.Int("max_subdivs_per_device")
	}
	// Steps of DTensor programs have numbers that all of its tasks know.
	p.PerStep = strings.Contains(p.Name, "DTensor")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		p := p
		if err := readKeys(c, &p, first); err != nil {
			done(err)
			return
		}
		if err := fill(c, &p); err != nil {
			done(err)
			return
		}
		run(c, &p, done)
	}), nil
}

// readKeys reads what names the group and the instance.
func readKeys(c *core.OpContext, p *core.Collective, first int) error {
	var v [3]int
	for i, name := range []string{"group_size", "group_key", "instance_key"} {
		t := c.Input(first + i)
		if t.Rank() > 0 {
			return tf.Errorf(tf.InvalidArgument, "Unexpected dimensions on input %s, got %s", name, t.Shape().String())
		}
		v[i] = int(core.Data[int32](t)[0])
	}
	if v[0] <= 0 {
		return tf.Errorf(tf.InvalidArgument, "group_size must be positive integer but got %d", v[0])
	}
	p.Group, p.Instance = core.CollectiveGroup{Size: v[0], Key: v[1], Rank: -1}, v[2]
	return nil
}

// reducing describes a node that merges.
func reducing(n *core.Node, kind core.CollectiveKind, what string) core.Collective {
	merge, final := n.Str("merge_op"), n.Str("final_op")
	return core.Collective{Kind: kind, Merge: merge, Final: final, Name: fmt.Sprintf("%s: %s(%s,%s)", n.Name, what, opName(merge), final)}
}

func reduceV2Kernel(n *core.Node) (core.Kernel, error) {
	return dynamic(n, reducing(n, core.ReduceCollective, "ReduceV2"), 1, likeInput)
}

func scatterKernel(n *core.Node) (core.Kernel, error) {
	return dynamic(n, reducing(n, core.ReduceScatterCollective, "ReduceScatterV2"), 1, someRows)
}

// someRows makes an output with a member's part of the rows.
func someRows(c *core.OpContext, p *core.Collective) (err error) {
	p.In = c.Input(0)
	if p.In.Rank() == 0 {
		return tf.Errorf(tf.InvalidArgument, "input should have rank > 0, received %d", p.In.Rank())
	}
	s := p.In.Shape().Clone()
	s[0] /= p.Group.Size
	p.Out, err = c.Alloc(0, p.In.DType(), s)
	return err
}

func gatherV2Kernel(n *core.Node) (core.Kernel, error) {
	return dynamic(n, core.Collective{Kind: core.GatherCollective, Name: n.Name + ": GatherV2"}, 1, allRows)
}

func allToAllKernel(n *core.Node) (core.Kernel, error) {
	return dynamic(n, core.Collective{Kind: core.AllToAllCollective, Name: n.Name + ": AllToAllV2"}, 1, apart)
}

// apart makes an output like the input, in memory of its own.
func apart(c *core.OpContext, p *core.Collective) (err error) {
	p.In = c.Input(0)
	p.Out, err = c.Alloc(0, p.In.DType(), p.In.Shape())
	return err
}

func sendV2Kernel(n *core.Node) (core.Kernel, error) {
	return dynamic(n, core.Collective{Kind: core.BroadcastCollective, Source: true, Name: n.Name + ": Broadcast(1)"}, 1, likeInput)
}

func receiveV2Kernel(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return dynamic(n, core.Collective{Kind: core.BroadcastCollective, Name: n.Name + ": Broadcast(0)"}, 0, func(c *core.OpContext, p *core.Collective) error {
		shape, err := shapeOf(c.Input(3))
		if err == nil {
			p.Out, err = c.Alloc(0, d, shape)
		}
		return err
	})
}

// shapeOf reads a shape.
func shapeOf(t *core.Tensor) (tf.Shape, error) {
	sizes, err := t.Ints()
	if err != nil {
		return nil, err
	}
	if t.Rank() > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "a shape must be a vector, got one of shape %s", t.Shape().String())
	}
	for _, d := range sizes {
		if d < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", d)
		}
	}
	return append(tf.Shape{}, sizes...), nil
}
