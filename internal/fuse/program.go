package fuse

import (
	"github.com/gorge-tf/gorge/tf/core"
)

// A program is a cluster as it is run. Its values are numbered: the inputs of the
// cluster's node first, constants next, then what the instructions compute.
type program struct {
	inputs int
	consts []*core.Tensor
	code   []instr
	outs   []int // instructions whose results leave the cluster; of a whole, what writes its first part
	pastes []int // instructions that write parts
	plans  plans

	lones []lone // the nodes, for inputs that contradict the graph
}

// An instr is one node of the cluster.
type instr struct {
	node   *core.Node
	kernel *core.ElementKernel // nil: it is a fold
	fold   *fold
	args   []int // values

	cut, paste *window // instead of both: a part of a value is read, or written
	lead       int     // paste: the instruction that writes the first part
}

// moves reports whether an instruction reads or writes a part of a value.
func (in *instr) moves() bool { return in.cut != nil || in.paste != nil }

// first is the number of the value that instruction 0 computes.
func (p *program) first() int { return p.inputs + len(p.consts) }

// size returns the bytes of an element of what instruction k computes.
func (p *program) size(k int) int { return p.code[k].node.OutTypes[0].Size() }

// argSize returns the bytes of an element of an operand.
func (p *program) argSize(k, arg int) int {
	if in := &p.code[k]; !in.moves() {
		return in.node.InTypes[arg].Base().Size()
	}
	return p.size(k)
}

// compute is the kernel of a cluster.
func (p *program) compute(c *core.OpContext) error {
	pl, err := p.plan(c)
	if err != nil {
		return err
	}
	if pl.apart {
		return p.apart(c)
	}
	f := p.frame()
	defer f.release()
	if err := f.allocate(c, p, pl, none); err != nil {
		return err
	}
	for i := range pl.stages {
		p.run(c, &pl.stages[i], f)
	}
	return nil
}

// plan returns the plan for the shapes of the inputs.
func (p *program) plan(c *core.OpContext) (*plan, error) {
	if pl := p.plans.last.Load(); pl != nil && pl.fits(c) {
		return pl, nil
	}
	shapes := make([]core.Shape, p.inputs)
	for i := range shapes {
		shapes[i] = c.Input(i).Shape().Clone()
	}
	return p.plans.get(shapes, func() (*plan, error) { return newPlan(p, shapes) })
}

// fits reports whether the plan is for the shapes of the inputs.
func (pl *plan) fits(c *core.OpContext) bool {
	for i, s := range pl.inputs {
		if t := c.Input(i).Shape(); !sameShape(s, t) {
			return false
		}
	}
	return true
}

func sameShape(s, t core.Shape) bool {
	if len(s) != len(t) {
		return false
	}
	for i, d := range s {
		if d != t[i] {
			return false
		}
	}
	return true
}
