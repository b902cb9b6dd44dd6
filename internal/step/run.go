package step

import (
	"cmp"
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// Rendezvous is what a step needs of its rendezvous: to end it.
type Rendezvous interface {
	core.Rendezvous
	Abort(err error)
}

// Args is what one step brings along.
type Args struct {
	ID         int64
	Rendezvous Rendezvous
	Frame      core.CallFrame
	// Tracer is told of the nodes that are run; nil: there is none.
	Tracer core.Tracer
	// InterOp bounds the nodes of one part that are computed at once; 0: as
	// the runtime says.
	InterOp int
	// Pieces says that the step is run in pieces: it has not ended when the client
	// gets its first values.
	Pieces  bool
	alone   bool // loops are not shared out
	nesting nesting
}

// Run runs one step and waits for its end. The first error of any part ends
// all of them; so does the end of ctx.
func (g *Graph) Run(ctx context.Context, a Args) (err error) {
	defer core.Recover(&err, "the running of a step")
	if ctx.Err() != nil {
		return ended(ctx)
	}
	if timed := g.chooseSharing(&a); timed {
		began := time.Now()
		defer func() { g.sharing.end(time.Since(began), err == nil) }()
	}
	step := g.step(ctx, a, containerID(a.ID))
	defer g.end(ctx, a.ID, step.ContainerID)
	return g.execute(ctx, &step, a)
}

// chooseSharing chooses whether the step shares its loops out, and reports whether its
// time counts. A traced step does what others do, and one in pieces waits for its client.
func (g *Graph) chooseSharing(a *Args) (timed bool) {
	if g.rt.Alone == nil || a.Pieces {
		return false
	}
	if a.Tracer != nil {
		a.alone = g.sharing.alone.Load()
		return false
	}
	a.alone, timed = g.sharing.begin()
	return timed
}

// step returns what the kernels of a step are told of it.
func (g *Graph) step(ctx context.Context, a Args, container int64) core.Step {
	s := core.Step{ID: a.ID, Context: ctx, Rendezvous: a.Rendezvous, Frame: a.Frame, Parallel: g.rt.Parallel, Begin: g.rt.Begin, ContainerID: container, Tracer: a.Tracer, InterOp: a.InterOp, Collectives: g.rt.Collectives, SessionTensors: g.rt.sessionTensors()}
	if a.alone && g.rt.Alone != nil {
		s.Parallel, s.Begin, s.InterOp = g.rt.Alone, nil, 1
	}
	return s
}

// containerID is the number of a step's container. Masters of other programs may
// number a step 0, which means no container.
func containerID(step int64) int64 { return cmp.Or(step, math.MinInt64) }

// runInContainer is Run for a function: its resources live in the container of
// the step that calls it, and end with that.
func (g *Graph) runInContainer(ctx context.Context, a Args, container int64) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	step := g.step(ctx, a, container)
	return g.execute(ctx, &step, a)
}

// inline reports whether no node of g ever waits.
func (g *Graph) inline() bool { return len(g.parts) == 1 && g.parts[0].exec.Inline() }

// execute runs the parts of g: on the calling goroutine if no node ever waits.
func (g *Graph) execute(ctx context.Context, step *core.Step, a Args) error {
	if g.inline() {
		step.Resources = g.parts[0].device.Resources()
		g.addFunctions(step, &g.parts[0], a)
		if err := g.parts[0].exec.Run(step); err != nil {
			return whereabouts(ctx, err, []*core.Error{core.AsError(err)})
		}
		return nil
	}
	return g.executeParts(ctx, step, a)
}

// executeParts runs all parts at once, each on a goroutine of its own but the last.
func (g *Graph) executeParts(ctx context.Context, step *core.Step, a Args) error {
	if len(g.parts) == 0 {
		return nil // Done would never be called
	}
	r := &run{rendezvous: a.Rendezvous, left: len(g.parts), done: make(chan struct{}), work: make(chan func())}
	hooks := executor.Hooks{Fail: r.fail, Done: r.end, Resume: r.resume, Pieces: a.Pieces}
	step.Context, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	unwatch := r.watch(ctx)
	for i := range g.parts {
		p := &g.parts[i]
		s := *step
		s.Resources = p.device.Resources()
		g.addFunctions(&s, p, a)
		if i == len(g.parts)-1 {
			p.exec.Start(&s, hooks)
		} else {
			go p.exec.Start(&s, hooks)
		}
	}
	r.wait()
	unwatch() // r.err is not set any more
	if r.err == nil {
		return nil
	}
	return whereabouts(ctx, r.err, r.parts)
}

// end ends what lives as long as a step.
func (g *Graph) end(ctx context.Context, id, container int64) {
	memory.Metered(ctx, g.rt.Pool.EndStep(id))
	g.clear(container)
}

// clear drops what lives as long as a step.
func (g *Graph) clear(container int64) {
	if g.functions != nil { // they may have been on other devices
		for _, d := range g.rt.Devices.List() {
			d.Resources().ClearStep(container)
		}
		return
	}
	for i := range g.parts {
		g.parts[i].device.Resources().ClearStep(container)
	}
}

// Explained is err, or, if it only follows from the end of ctx, what that
// means for the step.
func Explained(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if core.AsError(err).Derived || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx)) {
		return ended(ctx)
	}
	return err
}

// ended says why a step was ended from outside.
func ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if core.CodeOf(cause) == core.DeadlineExceeded {
		return &core.Error{Code: core.DeadlineExceeded, Msg: timedOut, Err: cause}
	}
	var e *core.Error
	if errors.As(cause, &e) {
		return e
	}
	return &core.Error{Code: core.Canceled, Msg: "Run call was cancelled", Err: cause}
}

// run is one step in progress.
type run struct {
	rendezvous Rendezvous
	cancel     context.CancelCauseFunc
	mu         sync.Mutex
	left       int
	err        error
	parts      []*core.Error // the first of each part that has failed, and what has ended the step
	done       chan struct{}
	work       chan func() // for the goroutine that waits for the end
}

// wait waits for the end of all parts. A part that goes on after it had to wait
// does so here: no other goroutine has to be woken.
func (r *run) wait() {
	for {
		select {
		case work := <-r.work:
			work()
		case <-r.done:
			return
		}
	}
}

// resume has work done by the goroutine that waits for the end, if that is idle.
func (r *run) resume(work func()) {
	select {
	case r.work <- work:
	default:
		go work()
	}
}

// watch ends the step when ctx ends, until the function that it returns is
// called. After that nothing touches the step's rendezvous any more.
func (r *run) watch(ctx context.Context) func() {
	if ctx.Done() == nil {
		return func() {}
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		r.fail(ended(ctx))
	})
	return func() {
		if !stop() {
			<-fired
		}
	}
}

// fail ends the whole step. An error that follows from another does not hide
// the one that explains it.
func (r *run) fail(err error) {
	r.mu.Lock()
	r.parts = append(r.parts, core.AsError(err))
	first := r.err == nil
	if first || core.AsError(r.err).Derived && !core.AsError(err).Derived {
		r.err = err
	}
	r.mu.Unlock()
	if first {
		r.cancel(err)
	}
	if first && r.rendezvous != nil {
		r.rendezvous.Abort(err)
	}
}

// end counts the parts that have ended.
func (r *run) end(error) {
	r.mu.Lock()
	r.left--
	over := r.left == 0
	r.mu.Unlock()
	if over {
		close(r.done)
	}
}
