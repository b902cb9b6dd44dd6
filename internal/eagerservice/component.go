package eagerservice

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A component is the part of a function that another task runs, which this one has
// for one device.
type component struct {
	library *core.Library
	calls   map[string]*step.Calls // by device
}

// components are those of a context, by name.
type components struct {
	mu  sync.Mutex
	all map[string]*component
}

// add adds a component, with the functions that it calls.
func (cs *components) add(f *pb.FunctionDef, with *pb.FunctionDefLibrary) error {
	library, err := merge(nil, portable(f), portableLibrary(with))
	if err != nil {
		return err
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	name := f.GetSignature().GetName()
	if cs.all == nil {
		cs.all = map[string]*component{}
	}
	if cs.all[name] == nil {
		cs.all[name] = &component{library: library, calls: map[string]*step.Calls{}}
	}
	return nil
}

func (cs *components) find(name string) (*component, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if p := cs.all[name]; p != nil {
		return p, nil
	}
	return nil, core.Errorf(core.Internal, "Could not find function library for registered component function: %s", name)
}

// from returns what calls the component from a device.
func (cs *components) from(p *component, rt *step.Runtime, device string) *step.Calls {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if p.calls[device] == nil {
		p.calls[device] = rt.NewCalls(device, func() *core.Library { return p.library })
	}
	return p.calls[device]
}

// RunComponentFunction runs this task's part of a function, in a step that other
// tasks take part in. It ends when ctx does.
func (s *Service) RunComponentFunction(ctx context.Context, req *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error) {
	c, err := s.find(req.GetContextId())
	if err != nil {
		return nil, err
	}
	def := req.GetOperation()
	if !def.GetIsFunction() || !def.GetIsComponentFunction() {
		return nil, core.Errorf(core.Internal, "RunComponentFunction request can only be used to execute component functions.")
	}
	end, err := c.session.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := c.during(ctx)
	defer cancel()
	out, err := c.runComponent(ctx, def)
	if err != nil {
		return nil, err
	}
	return c.keepAs(def.GetId(), req.GetOutputNum(), out)
}

func (c *Context) runComponent(ctx context.Context, def *pb.Operation) ([]value, error) {
	p, err := c.components.find(def.GetName())
	if err != nil {
		return nil, err
	}
	op, err := c.prepare(def)
	if err != nil {
		return nil, err
	}
	in, err := op.tensors()
	if err != nil {
		return nil, err
	}
	f, err := funcOf(def, p.library)
	if err != nil {
		return nil, err
	}
	r, err := c.session.Step(def.GetFuncStepId())
	if err != nil {
		return nil, err
	}
	defer c.endAbandoned(ctx, def.GetFuncStepId())
	calls := c.components.from(p, c.session.Runtime(), op.device.Spec().String())
	out, err := wait(func(done func([]*core.Tensor, error)) {
		calls.CallIn(ctx, step.Args{ID: def.GetFuncStepId(), Rendezvous: r}, f, in, done)
	})
	if err != nil {
		return nil, inFunction(f.Name, err)
	}
	return valuesOn(op.device, out), nil
}

// endAbandoned ends the step of a part whose caller has given up: its CleanupFunction may
// have come before the step began here, and no other will.
func (c *Context) endAbandoned(ctx context.Context, id int64) {
	if ctx.Err() != nil {
		c.session.EndStep(id)
	}
}

// keepAs keeps the results of a component as those of the whole function, of which
// they are the ones that nums tells.
func (c *Context) keepAs(id int64, nums []int32, out []value) (*pb.RunComponentFunctionResponse, error) {
	resp := &pb.RunComponentFunctionResponse{}
	if id == notKept {
		var err error
		resp.Tensor, err = encode(out)
		return resp, err
	}
	if len(nums) > 0 && len(nums) != len(out) {
		return nil, core.Errorf(core.InvalidArgument, "a component must have a number for each output: it has %d, and there are %d numbers", len(out), len(nums))
	}
	for i, v := range out {
		k := int32(i)
		if len(nums) > 0 {
			k = nums[i]
		}
		resp.Shape = append(resp.Shape, core.ShapeProto(v.tensor.Shape()))
		c.handles.add(name{id, k}, v)
	}
	return resp, nil
}
