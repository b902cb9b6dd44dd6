package collective

import (
	"fmt"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// static returns the kernel of a node whose group and instance are attributes.
// fill finds what the node brings and allocates the output. A node that has done
// its part once has found the others for good.
func static(n *core.Node, p core.Collective, fill func(c *core.OpContext, p *core.Collective) error) (core.Kernel, error) {
	if size := n.Int("group_size"); size <= 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "group_size must be positive integer but got %d", size)
	}
	p.Group = core.CollectiveGroup{Key: n.Int("group_key"), Size: n.Int("group_size"), Rank: -1}
	p.Instance, p.Timeout, p.MaxSubdivisions = n.Int("instance_key"), seconds(n.Float("timeout_seconds")), -1
	var met atomic.Bool
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		p := p
		if err := fill(c, &p); err != nil {
			done(err)
			return
		}
		p.Again = met.Load()
		run(c, &p, func(err error) {
			if err == nil {
				met.Store(true)
			}
			done(err)
		})
	}), nil
}

func reduceKernel(n *core.Node) (core.Kernel, error) {
	merge, final := n.Str("merge_op"), n.Str("final_op")
	return static(n, core.Collective{
		Kind: core.ReduceCollective, Merge: merge, Final: final, Offsets: n.Ints("subdiv_offsets"),
		Name: fmt.Sprintf("%s: Reduce(%s,%s)", n.Name, opName(merge), final),
	}, likeInput)
}

// likeInput makes the output like the input, in its memory if that is free.
func likeInput(c *core.OpContext, p *core.Collective) (err error) {
	p.In = c.Input(0)
	p.Out, err = c.AllocFrom(0, 0, p.In.DType(), p.In.Shape())
	return err
}

func gatherKernel(n *core.Node) (core.Kernel, error) {
	return static(n, core.Collective{Kind: core.GatherCollective, Name: n.Name + ": Gather"}, allRows)
}

// allRows makes an output with the rows of all members.
func allRows(c *core.OpContext, p *core.Collective) (err error) {
	p.In = c.Input(0)
	if p.In.Rank() == 0 {
		return tf.Errorf(tf.InvalidArgument, "input should have rank > 0, received %d", p.In.Rank())
	}
	s := p.In.Shape().Clone()
	s[0] *= p.Group.Size
	p.Out, err = c.Alloc(0, p.In.DType(), s)
	return err
}

func sendKernel(n *core.Node) (core.Kernel, error) {
	shape := n.ShapeAttr("shape")
	if !shape.Known() {
		return nil, unknownShape(shape)
	}
	return static(n, core.Collective{Kind: core.BroadcastCollective, Source: true, Name: n.Name + ": Broadcast(1)"}, func(c *core.OpContext, p *core.Collective) error {
		if !c.Input(0).Shape().Equal(shape) {
			return tf.Errorf(tf.Internal, "Declared shape of op %s does not match shape of input", p.Name)
		}
		return likeInput(c, p)
	})
}

func unknownShape(s tf.Shape) error {
	return tf.Errorf(tf.InvalidArgument, "the shape of what is broadcast must be known, got %s", s.String())
}

func receiveKernel(n *core.Node) (core.Kernel, error) {
	shape, d := n.ShapeAttr("shape"), n.Type("T")
	if !shape.Known() {
		return nil, unknownShape(shape)
	}
	return static(n, core.Collective{Kind: core.BroadcastCollective, Name: n.Name + ": Broadcast(0)"}, func(c *core.OpContext, p *core.Collective) (err error) {
		p.Out, err = c.Alloc(0, d, shape)
		return err
	})
}
