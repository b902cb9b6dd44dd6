package executor

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// looping stands for a planned loop among the nodes that are ready.
const looping = -1

// enterPlanned takes a value into a loop that has a plan, which begins with
// the last of them. If one is dead the loop is run node by node: what is dead
// has to be found out then.
func (r *run) enterPlanned(f *frame, i int32, v core.Slot) {
	x := f.iters[0]
	if h := (held{i, v}); h.dead() {
		f.deadEnters = append(f.deadEnters, i)
	} else {
		x.put(r.e.items[i].out, v)
	}
	switch {
	case f.pending > 0:
	case len(f.deadEnters) > 0:
		r.unplanned(f)
	default:
		r.bind(x, f.plan)
		x.outstanding++
		r.ready = append(r.ready, ready{x: x, item: looping})
	}
}

// unplanned begins a loop, all of whose values have come, node by node.
func (r *run) unplanned(f *frame) {
	x := f.iters[0]
	for _, i := range f.plan.enters {
		it := &r.e.items[i]
		dead := slices.Contains(f.deadEnters, i)
		if it.constant {
			f.constants = append(f.constants, keep(i, x.slots[it.out]))
		}
		r.wake(x, it, dead)
	}
	r.tidy(f)
}

// bind tells the contexts of all nodes of a plan what holds in all iterations.
func (r *run) bind(x *iteration, p *loopPlan) {
	for _, list := range [][]planned{p.once, p.cond, p.body} {
		for k := range list {
			c := &x.ctx[r.e.items[list[k].item].local]
			c.Dead, c.FrameID = false, x.frame.id
			copy(c.Last, list[k].last)
		}
	}
	for _, e := range p.entered {
		x.move(e[0], e[1])
	}
}

// move gives a slot another one's value. Tensors lie in their slots' headers:
// these change places too.
func (x *iteration) move(from, to int32) {
	x.slots[from], x.slots[to] = x.slots[to], x.slots[from]
	x.scratch[from], x.scratch[to] = x.scratch[to], x.scratch[from]
}

// loop runs a planned loop until it ends, or something else is to be run.
func (r *run) loop(x *iteration) {
	p := x.frame.plan
	if x.number == 0 && !r.steps(x, p.once) {
		return
	}
	bare := len(p.condAgain)+len(p.bodyAgain) == 0 // steps looks at nothing then
	for {
		cond, body := p.lists(x.number)
		if !r.steps(x, cond) {
			return
		}
		if bare && r.over() {
			r.fail(r.stopped(p.decides.item))
			return
		}
		goesOn, ok := r.decide(x, p)
		switch {
		case !ok:
			return
		case !goesOn:
			r.endLoop(x, p)
			return
		}
		for _, s := range p.idle {
			x.retire(s)
		}
		if !r.steps(x, body) {
			return
		}
		x.carry(p)
		x.number++
		if r.noted.Load() && r.yieldToReady(x) {
			return
		}
	}
}

// yieldToReady takes up what asynchronous kernels have done. If that made nodes
// ready, the loop goes on after them.
func (r *run) yieldToReady(x *iteration) bool {
	r.readNotes()
	if r.err == nil && r.idle() {
		return false
	}
	r.ready = slices.Insert(r.ready, 0, ready{x: x, item: looping})
	return true
}

// steps runs nodes in order. It reports whether the run goes on.
func (r *run) steps(x *iteration, list []planned) bool {
	for k := range list {
		if r.over() {
			r.fail(r.stopped(list[k].item))
			return false
		}
		st := &list[k]
		it := &r.e.items[st.item]
		c := &x.ctx[it.local]
		if err := r.single(x, it, c, st); err != nil {
			r.finish(x, st.item, err)
			return false
		}
		it.unload(c)
		for _, s := range st.drop {
			x.retire(s)
		}
	}
	return true
}

// measured is how many of the first iterations of a planned loop tell how long heavy nodes
// take, and each how many-th one of the others: to read the clock takes as long as a small
// kernel.
const measured = 8

// single runs one node.
func (r *run) single(x *iteration, it *item, c *core.OpContext, st *planned) error {
	for k, s := range st.in {
		c.In[k] = x.slots[s]
	}
	if it.deref != nil || it.refs {
		for k := range st.in {
			if err := it.loadRef(k, c, x.frame.layout); err != nil {
				return err
			}
		}
	}
	c.Iteration = x.number
	r.computing = ready{x: x, item: st.item}
	compute := it.sync
	if it.heavy && x.number >= measured && x.number%measured != 0 {
		compute = it.untimed
	}
	err := compute(c)
	c.GiveBack()
	r.computing = ready{}
	if err != nil {
		return err
	}
	return it.check(c)
}

// decide reports whether the loop goes on; not ok: what decides is no scalar,
// which a Switch knows how to say.
func (r *run) decide(x *iteration, p *loopPlan) (goesOn, ok bool) {
	if t := x.slots[p.pred].T; t != nil && t.Len() == 1 && t.Rank() == 0 {
		return core.Data[bool](t)[0], true
	}
	it := &r.e.items[p.decides.item]
	err := r.single(x, it, &x.ctx[it.local], &p.decides)
	if err == nil {
		err = core.Errorf(core.Internal, "what decides whether a loop goes on must be a scalar of type bool")
	}
	r.finish(x, p.decides.item, err)
	return false, false
}

// carry makes the values that the body has computed those of the loop's
// variables.
func (x *iteration) carry(p *loopPlan) {
	for _, c := range p.shared {
		x.put(c.way, x.slots[c.from])
	}
	for _, s := range p.spent {
		x.retire(s)
	}
	for _, c := range p.carried {
		x.retire(c.to)
		x.move(c.from, c.to)
	}
	for _, c := range p.shared {
		x.retire(c.to)
		x.move(c.way, c.to)
	}
}

// endLoop takes the values of a loop that is over to where it was entered.
func (r *run) endLoop(x *iteration, p *loopPlan) {
	f := x.frame
	for _, e := range p.exits {
		r.deliver(f.parent, held{e.item, x.slots[e.in[0]]})
	}
	f.iters = f.iters[:0]
	r.discard(x)
	r.endFrame(f)
}
