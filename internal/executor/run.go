package executor

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf/core"
)

// run is one execution. But for what mu guards it belongs to the goroutine
// that runs the nodes.
type run struct {
	e     *Executor
	step  core.Step
	ended <-chan struct{} // closed when the step is over
	root  frame
	free  [][]*iteration // by layout, to be used again
	loops [][]*frame     // by layout, to be used again

	ready     []ready // taken from the end: what a node has made ready is still in the cache
	reads     []ready // of variables, which come first
	late      []ready // to be run when nothing else is left
	lateNow   bool    // nothing else is left
	computing ready   // whose kernel has been called, x is nil between kernels
	inflight  int     // nodes whose kernels will call back
	others    int     // heavy nodes on goroutines of their own
	err       error
	hooks     Hooks
	again     func() // work, made once

	mu      sync.Mutex
	notes   []note
	spare   []note // what notes was before it was last read
	running bool   // a goroutine runs the nodes
	noted   atomic.Bool
}

// ready is a node whose inputs are all there.
type ready struct {
	x    *iteration
	item int32
	dead bool
}

// note says that a kernel has ended that did not run on the owner's goroutine.
type note struct {
	x     *iteration
	item  int32
	err   error
	other bool // it was a heavy one, on a goroutine of its own
}

func (e *Executor) newRun() *run {
	r := &run{e: e, free: make([][]*iteration, len(e.frames)), loops: make([][]*frame, len(e.frames))}
	r.again = r.work
	root := r.newIteration(&e.frames[0])
	root.frame = &r.root
	r.root = frame{layout: &e.frames[0], iters: []*iteration{root}}
	return r
}

// runInOrder runs all nodes in order.
func (r *run) runInOrder() (err error) {
	i, items, x := 0, r.e.items, r.root.iters[0]
	defer func() {
		if v := recover(); v != nil {
			x.ctx[i].GiveBack() // or it would count until the node runs again, if ever
			err = items[i].failure(items[i].panicked(v), &x.ctx[i])
			items[i].unload(&x.ctx[i])
		}
	}()
	for ; i < len(items); i++ {
		if r.over() {
			return r.stopped(int32(i))
		}
		if r.traced() {
			err = r.traceInOrder(int32(i), x)
		} else {
			err = r.inOrder(&items[i], &x.ctx[i], x, items[i].sync)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inOrder runs a node whose inputs are all there and drops what is not read
// after it.
func (r *run) inOrder(it *item, c *core.OpContext, x *iteration, compute core.Compute) error {
	err := it.load(x, c, &r.e.frames[0])
	if err == nil {
		err = compute(c)
		c.GiveBack()
	}
	if err == nil {
		err = it.check(c)
	}
	if err != nil {
		err = it.failure(err, c)
		it.unload(c)
		return err
	}
	it.unload(c)
	for _, slot := range it.last {
		x.drop(slot)
	}
	return nil
}

// over reports whether the step has ended.
func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// stopped is the error of a run whose step has ended. It is never the one
// that explains it, but names the node that was next.
func (r *run) stopped(next int32) error {
	n := r.e.items[next].node
	return &core.Error{Code: core.Canceled, Msg: stopped, Node: n.Name, Op: n.OpName(), Pos: n.Pos(), Err: context.Cause(r.step.Context), Derived: true}
}

const stopped = "Step was cancelled"

// Stopped reports whether err is that of a run which was not waiting when its step ended.
func Stopped(err *core.Error) bool { return err.Derived && err.Msg == stopped }

// recycle makes r ready for another run.
func (r *run) recycle(dirty bool) {
	if dirty {
		r.root.sweep(r)
	}
	r.step, r.ended, r.err, r.hooks = core.Step{}, nil, nil, Hooks{}
	r.ready, r.reads, r.late, r.lateNow = r.ready[:0], r.reads[:0], r.late[:0], false
	r.e.mu.Lock()
	r.e.free = append(r.e.free, r)
	r.e.mu.Unlock()
}
