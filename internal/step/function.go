package step

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// functions makes the functions of one graph runnable, each when it is first
// called, and keeps them.
type functions struct {
	rt      *Runtime
	library func() *core.Library
	options BuildOptions

	made Plans[*function]

	mu   sync.Mutex
	home map[string]*core.Library // of functions that the client's process runs, by name
}

// function is one that can be run.
type function struct {
	body  *core.FunctionBody
	graph *Graph
}

func newFunctions(rt *Runtime, library *core.Library, o BuildOptions) *functions {
	return &functions{rt: rt, library: func() *core.Library { return library }, options: o}
}

// get returns f for calls from a device. A call that ends does not wait for a
// function that is being made, and unless others do, that ends, too.
func (fs *functions) get(ctx context.Context, f core.Func, device string, effects pass.Effects) (*function, error) {
	return fs.made.Get(ctx, planKey(f, device, effects), Maker[*function]{Within: context.Background(), Make: func(ctx context.Context) (*function, error) {
		return fs.make(graph.NewBudget(ctx, fs.rt.Limits), f, device, effects)
	}})
}

func planKey(f core.Func, device string, effects pass.Effects) []byte {
	key := f.Name + "\x00" + device + "\x00" + f.Key()
	if effects == pass.ListedEffects {
		key += "\x00listed"
	}
	return []byte(key)
}

// forget drops all that has been made of a function, and what is being made: another one
// of its name must not find it.
func (fs *functions) forget(name string) {
	fs.made.Forget(func(key string) bool { return strings.HasPrefix(key, name+"\x00") })
}

// make prepares the body as a graph of its own, whose kernels keep state of
// their own: names are distinct within a function only.
func (fs *functions) make(b *graph.Budget, f core.Func, device string, effects pass.Effects) (to *function, err error) {
	defer core.Recover(&err, "the preparation of function "+f.Name)
	to = &function{}
	library := fs.library()
	if err := pass.CheckCall(b, library, f); err != nil {
		return nil, err
	}
	if to.body, err = library.Body(f); err != nil {
		return nil, err
	}
	g, err := graph.ReadBody(b, to.body, library)
	if err != nil {
		return nil, err
	}
	if err := fs.prepare(g, to.body, device, effects); err != nil {
		return nil, err
	}
	rt := &Runtime{Limits: fs.rt.Limits, Devices: fs.rt.Devices, Pool: fs.rt.Pool, Parallel: fs.rt.Parallel, Begin: fs.rt.Begin, Alone: fs.rt.Alone, Workers: fs.rt.Workers, Remote: fs.rt.Remote, Collectives: fs.rt.Collectives, Kept: fs.rt.Kept}
	to.graph, err = rt.build(g, fs, fs.options)
	return to, err
}

// prepare expands, prunes and places the body of a function that is called
// from a device.
func (fs *functions) prepare(g *graph.Graph, b *core.FunctionBody, device string, effects pass.Effects) error {
	if err := pass.Lower(g, fs.options.Disabled); err != nil {
		return err
	}
	pass.PruneBody(g, b, effects)
	caller, err := core.ParseDevice(device)
	if err != nil {
		return err
	}
	if err := fs.sendHome(g, caller); err != nil {
		return err
	}
	for _, n := range g.Nodes {
		if err := g.Budget.Visit(1); err != nil {
			return err
		}
		own, err := core.ParseDevice(n.Device)
		if err != nil {
			return core.AtNode(err, &n.Node, nil)
		}
		if n.Device = caller.Override(own).String(); own.Type == "" && own.ID < 0 || n.Role() == core.Argument || n.Role() == core.Result {
			n.Device = device
		}
	}
	// TensorFlow's functions of one device do not look at what their operations ask for.
	p := pass.Placer{Soft: fs.options.Soft || effects == pass.AllEffects}
	for _, d := range fs.rt.Devices.List() {
		p.Devices = append(p.Devices, pass.DeviceInfo{Spec: d.Spec(), Incarnation: d.Incarnation(), Local: true})
	}
	return p.Place(g)
}

// caller calls functions for the nodes that one step runs on one device.
type caller struct {
	functions *functions
	args      Args // of the step
	container int64
	device    string
	effects   pass.Effects
}

// addFunctions tells the nodes of a step what graph they are in, and lets them call
// functions.
func (g *Graph) addFunctions(s *core.Step, p *part, a Args) {
	s.GraphVersion = p.graph.Producer
	if g.functions != nil {
		if a.nesting.live == nil {
			a.nesting.live = &atomic.Int64{}
		}
		s.Functions = &caller{g.functions, a, s.ContainerID, p.device.Spec().String(), pass.AllEffects}
	}
}

// Call runs f on the caller's device.
func (c *caller) Call(ctx context.Context, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	c.CallOn(ctx, c.device, f, in, done)
}

// CallOn runs f on a device: at once if that is of this task and none of f's
// nodes ever waits, else on a goroutine of its own, which ends with the call.
func (c *caller) CallOn(ctx context.Context, device string, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	d := c.functions.rt.Devices.Lookup(device)
	if d == nil {
		go func() { done(c.callRemote(ctx, device, f, in)) }()
		return
	}
	fn, err := c.functions.get(ctx, f, d.Spec().String(), c.effects)
	if err == nil {
		err = fn.check(in)
	}
	if err == nil {
		err = c.enter(f)
	}
	if err != nil {
		done(nil, err)
		return
	}
	if fn.graph.inline() {
		done(c.runFunction(ctx, fn, in))
		return
	}
	go func() { done(c.runFunction(ctx, fn, in)) }()
}

// nesting is where a call is among the calls of functions of its step.
type nesting struct {
	depth int
	live  *atomic.Int64 // calls under way in the whole step
}

// enter counts a call, which ends with c.run. Calls that call themselves without
// end are found by their depth, or, if each makes several, by their number: each
// takes memory.
func (c *caller) enter(f core.Func) error {
	l := c.functions.rt.Limits.Filled()
	if depth := c.args.nesting.depth + 1; graph.Exceeds(depth, l.FunctionDepth) {
		return core.Errorf(core.ResourceExhausted, "calls of functions must be at most %d deep (limit max_function_depth): one of %s is the %dth within others", l.FunctionDepth, f.Name, depth)
	}
	if live := c.args.nesting.live.Add(1); graph.Exceeds(int(live), l.FunctionCalls) {
		c.args.nesting.live.Add(-1)
		return core.Errorf(core.ResourceExhausted, "a step must have at most %d calls of functions under way (limit max_function_calls): one of %s would be the %dth", l.FunctionCalls, f.Name, live)
	}
	return nil
}

// callRemote runs f on a device of another task.
func (c *caller) callRemote(ctx context.Context, device string, f core.Func, in []*core.Tensor) ([]*core.Tensor, error) {
	own, err := core.ParseDevice(c.device)
	if err != nil {
		return nil, err
	}
	other, err := core.ParseDevice(device)
	if err != nil {
		return nil, err
	}
	if remote := c.functions.rt.Remote; remote != nil && other.TaskName() != own.TaskName() {
		return remote.CallRemote(ctx, device, c.functions.libraryOf(f.Name), f, in)
	}
	return nil, core.Errorf(core.InvalidArgument, "a function must be called on a device that the session has, got %s", device)
}

// check compares arguments with what the function takes.
func (f *function) check(in []*core.Tensor) error {
	if len(in) != len(f.body.ArgTypes) {
		return core.Errorf(core.InvalidArgument, "Expects %d arguments, but %d is provided", len(f.body.ArgTypes), len(in))
	}
	for i, t := range in {
		if want := f.body.ArgTypes[i].Base(); t.DType() != want {
			return core.Errorf(core.InvalidArgument, "Expects arg[%d] to be %s but %s is provided", i, want.CName(), t.DType().CName())
		}
	}
	return nil
}

// runFunction runs a function within the caller's step. What its parts on several
// devices exchange is no matter of others: calls of one function have equal
// keys.
func (c *caller) runFunction(ctx context.Context, f *function, in []*core.Tensor) (out []*core.Tensor, err error) {
	defer core.Recover(&err, "the call of a function")
	defer c.args.nesting.live.Add(-1)
	a := c.args
	a.nesting.depth++
	frame := NewFrame(in, len(f.body.RetTypes))
	a.Frame = frame
	if len(f.graph.parts) > 1 {
		own := rendezvous.NewLocal(c.functions.rt.Devices)
		defer own.Reset()
		a.Rendezvous = own
	}
	if err := f.graph.runInContainer(ctx, a, c.container); err != nil {
		frame.Drop()
		return nil, err
	}
	return frame.take()
}

// take returns the results, which may be given back to the pool later.
func (f *Frame) take() ([]*core.Tensor, error) {
	for i, t := range f.rets {
		if t == nil {
			f.Drop()
			return nil, core.Errorf(core.Internal, "Retval[%d] does not have value", i)
		}
	}
	return f.rets, nil
}
