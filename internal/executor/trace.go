package executor

import (
	"time"

	"github.com/gorge-tf/gorge/internal/stepstats"
	"github.com/gorge-tf/gorge/tf/core"
)

// Steps that are traced note when their nodes run. The others pay one look at
// a pointer for each node.

// label describes item i for a trace. Labels are made when the first step is
// traced, which most graphs never see.
func (e *Executor) label(i int32) string {
	e.labelling.Do(func() {
		e.labels = make([]string, len(e.nodes))
		for k, n := range e.nodes {
			e.labels[k] = stepstats.Label(n)
		}
	})
	return e.labels[i]
}

func (r *run) traced() bool { return r.step.Tracer != nil }

// clock returns the times of a node of x.
func (x *iteration) clock(it *item) *core.NodeTimes {
	if x.times == nil {
		x.times = make([]core.NodeTimes, len(x.ctx))
	}
	return &x.times[it.local]
}

// noteReady notes that a node has all that it waits for.
func (r *run) noteReady(x *iteration, it *item) {
	*x.clock(it) = core.NodeTimes{Ready: time.Now()}
}

// report tells the tracer of a node that has been run.
func (r *run) report(x *iteration, i int32) {
	it := &r.e.items[i]
	r.step.Tracer.Ran(&x.ctx[it.local], r.e.label(i), *x.clock(it))
}

// traceInOrder is a node's turn when all run in order and are traced.
func (r *run) traceInOrder(i int32, x *iteration) error {
	it := &r.e.items[i]
	t := core.NodeTimes{Ready: time.Now()}
	t.Start = t.Ready
	return r.inOrder(it, &x.ctx[i], x, func(c *core.OpContext) error {
		c.Pool.Passing(c.ID) // what has been given back since the node before
		t.KernelStart = time.Now()
		err := it.sync(c)
		t.KernelEnd = time.Now()
		c.GiveBack() // the tracer asks how much more than now there was
		if err == nil && it.check(c) == nil {
			r.step.Tracer.Ran(c, r.e.label(i), t)
		}
		return err
	})
}
