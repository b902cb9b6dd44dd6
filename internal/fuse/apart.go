package fuse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// A plan relies on what the graph says of what is cut, joined or folded: its rank, and how long it
// is. A variable may hold a value of another shape than it was declared with. Then the nodes of the
// cluster run one after the other, each by its own kernel, as they would have without the cluster.

// errContradicts says that inputs have other shapes than the graph says: there is no plan.
var errContradicts = core.Errorf(core.Internal, "an input of a cluster contradicts the graph")

// A lone is a node of a cluster as it runs by itself.
type lone struct {
	node   *core.Node
	kernel core.Compute
	in     []operand
	outs   []int // by output: the value that it is, or none
	ends   []int // values that no later node reads, and that do not leave
}

// An operand is an input of a lone: a value of the program, or a constant.
type operand struct {
	value    int
	constant *core.Tensor // nil: it is a value
}

// addLones lists the nodes that the program stands for, in order.
func (c *cluster) addLones() {
	by, at := map[*graph.Node]int{}, c.first()
	for _, w := range c.cuts {
		i, ok := by[w.node]
		if !ok {
			i, by[w.node] = len(c.lones), len(c.lones)
			c.addLone(w.node, w.kernel, none)
		}
		c.lones[i].outs[w.out] = at
		at++
	}
	for _, n := range c.nodes {
		c.addLone(n, c.levels.members[n.ID].compute(), at)
		at++
	}
	for _, j := range c.joins {
		c.addLone(j.node, j.kernel, at)
		at += len(j.parts)
	}
}

// addLone adds a node whose output 0 is a value.
func (c *cluster) addLone(n *graph.Node, kernel core.Compute, value int) {
	s := lone{node: &n.Node, kernel: kernel, outs: slices.Repeat([]int{none}, len(n.OutTypes))}
	for _, e := range n.In {
		s.in = append(s.in, c.operand(e))
	}
	s.outs[0] = value
	c.lones = append(c.lones, s)
}

// operand returns where a node has an input from: constants that say how it computes are no
// values of the program.
func (c *cluster) operand(e graph.Edge) operand {
	_, in := c.ins[e]
	_, literal := c.lits[e.Node]
	if in || literal || c.has(e.Node) || c.win.cuts[e] != nil {
		return operand{value: c.value(e)}
	}
	return operand{constant: e.Node.TensorAttr("value")}
}

// endLones finds, for each value, the last node that reads it.
func (p *program) endLones() {
	last := map[int]int{}
	for i, s := range p.lones {
		for _, v := range s.outs {
			last[v] = i
		}
		for _, x := range s.in {
			last[x.value] = i
		}
	}
	for v, i := range last {
		if v >= p.first() && p.outOf(v) == none {
			p.lones[i].ends = append(p.lones[i].ends, v)
		}
	}
}

// outOf returns which output of the cluster a value is, or none.
func (p *program) outOf(v int) int { return slices.Index(p.outs, v-p.first()) }

// apart runs the nodes one after the other.
func (p *program) apart(c *core.OpContext) error {
	vals := make([]*core.Tensor, p.first()+len(p.code))
	for i := range p.inputs {
		vals[i] = c.Input(i)
	}
	copy(vals[p.inputs:], p.consts)
	for i := range p.lones {
		s := &p.lones[i]
		err := p.runLone(c, s, vals)
		for _, v := range s.ends {
			release(vals, v)
		}
		if err != nil {
			for v := p.first(); v < len(vals); v++ {
				if p.outOf(v) == none { // the others are the executor's
					release(vals, v)
				}
			}
			return err
		}
	}
	return nil
}

func release(vals []*core.Tensor, v int) {
	if vals[v] != nil {
		vals[v].Release()
		vals[v] = nil
	}
}

// runLone runs a node, and puts its results into vals.
func (p *program) runLone(c *core.OpContext, s *lone, vals []*core.Tensor) error {
	in, out, scratch := make([]core.Slot, len(s.in)), make([]core.Slot, len(s.outs)), make([]*core.Tensor, len(s.outs))
	for k, x := range s.in {
		if in[k].T = x.constant; x.constant == nil {
			in[k].T = vals[x.value]
		}
	}
	for k, v := range s.outs {
		if o := p.outOf(v); o == none {
			scratch[k] = new(core.Tensor)
		} else if c.Scratch != nil {
			scratch[k] = c.Scratch[o]
		}
	}
	own := core.OpContext{Step: c.Step, Node: s.node, In: in, Out: out, FrameID: c.FrameID, Iteration: c.Iteration, Scratch: scratch, Pool: c.Pool}
	if err := s.kernel.Run(&own); err != nil {
		return core.AtNode(err, s.node, own.Describe())
	}
	for k, v := range s.outs {
		switch o := p.outOf(v); {
		case v == none:
			out[k].T.Release()
		case o != none:
			c.Out[o] = out[k]
			fallthrough
		default:
			vals[v] = out[k].T
		}
	}
	return nil
}
