package step

import (
	"context"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// Calls runs functions for what is in no step: nodes of eager graphs, and
// iterators, which outlive the step that made them. Each call is a step of its
// own. It is a tf.FunctionCaller.
type Calls struct {
	functions *functions
	device    string
	depth     int // of the call that it was made in
}

// ownSteps counts the steps of all Calls. Their numbers are negative: the
// sessions that use the same devices have the others.
var ownSteps atomic.Int64

// Lasting returns c.
func (c *Calls) Lasting() core.FunctionCaller { return c }

// Lasting returns a caller that is not bound to the step.
func (c *caller) Lasting() core.FunctionCaller {
	return &Calls{c.functions, c.device, c.args.nesting.depth}
}

// Library returns the functions that c calls.
func (c *Calls) Library() *core.Library { return c.functions.library() }

// Library returns the functions that c calls.
func (c *caller) Library() *core.Library { return c.functions.library() }

// With returns a caller of the functions of another library.
func (c *Calls) With(l *core.Library) core.FunctionCaller {
	return &Calls{functions: newFunctions(c.functions.rt, l, c.functions.options), device: c.device, depth: c.depth}
}

// With returns a caller of the functions of another library that is not bound to
// the step.
func (c *caller) With(l *core.Library) core.FunctionCaller {
	return (&Calls{c.functions, c.device, c.args.nesting.depth}).With(l)
}

// NewCalls returns what runs functions on a device of the runtime, and those
// that library returns by then.
func (rt *Runtime) NewCalls(device string, library func() *core.Library) *Calls {
	return &Calls{functions: &functions{rt: rt, library: library, options: BuildOptions{Soft: true}}, device: device}
}

// Call runs f.
func (c *Calls) Call(ctx context.Context, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	c.CallOn(ctx, c.device, f, in, done)
}

// CallOn runs f on a device of the runtime.
func (c *Calls) CallOn(ctx context.Context, device string, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	id, devices := ownSteps.Add(-1), c.functions.rt.Devices
	container, own := id, rendezvous.NewLocal(devices)
	one := &caller{functions: c.functions, args: Args{ID: id, Rendezvous: own, nesting: nesting{c.depth, &atomic.Int64{}}}, container: container, device: c.device, effects: pass.ListedEffects}
	one.CallOn(ctx, device, f, in, func(out []*core.Tensor, err error) {
		own.Reset()
		c.functions.rt.Pool.EndStep(id)
		for _, d := range devices.List() {
			d.Resources().ClearStep(container)
		}
		done(out, err)
	})
}

// CallIn runs f on c's device, in a step that others take part in: what f sends and
// receives by itself goes by the step's rendezvous. A part of a function does not list
// what it sends, so all effects happen: the maker of the part has left out the others.
func (c *Calls) CallIn(ctx context.Context, a Args, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	container := ownSteps.Add(-1) // several parts of one step may run at once
	a.nesting = nesting{c.depth, &atomic.Int64{}}
	one := &caller{functions: c.functions, args: a, container: container, device: c.device, effects: pass.AllEffects}
	one.CallOn(ctx, c.device, f, in, func(out []*core.Tensor, err error) {
		c.functions.rt.Pool.EndStep(a.ID) // after each part: none knows whether it is the last
		for _, d := range c.functions.rt.Devices.List() {
			d.Resources().ClearStep(container)
		}
		done(out, err)
	})
}

// ForgetAll drops what has been made of all functions: the next calls make them anew,
// with kernels whose random sequences are at their beginning.
func (c *Calls) ForgetAll() { c.functions.made.Forget(func(string) bool { return true }) }

// Forget drops what has been made of a function that is in the library no more.
func (c *Calls) Forget(name string) { c.functions.forget(name) }
