package eagerservice

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// register adds a function and those that it calls.
func (c *Context) register(op *pb.RegisterFunctionOp) error {
	f := op.GetFunctionDef()
	if f.GetSignature().GetName() == "" {
		return core.Errorf(core.InvalidArgument, "a function to register must have a name")
	}
	if op.GetIsComponentFunction() {
		return c.components.add(f, op.GetLibrary())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := merge(c.library, f, op.GetLibrary())
	if err == nil {
		c.library = all
	}
	return err
}

// merge returns a library with f and what else comes with it. One that both have
// must be the same in both.
func merge(l *core.Library, f *pb.FunctionDef, with *pb.FunctionDefLibrary) (*core.Library, error) {
	add := &pb.FunctionDefLibrary{Function: []*pb.FunctionDef{f}, Gradient: with.GetGradient()}
	for _, g := range with.GetFunction() {
		if g.GetSignature().GetName() != f.GetSignature().GetName() {
			add.Function = append(add.Function, g)
		}
	}
	return l.Merge(add)
}

// remove takes a function out.
func (c *Context) remove(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.library.Find(name) == nil {
		return core.Errorf(core.InvalidArgument, "Tried to remove non-existent function '%s'.", name)
	}
	all := proto.CloneOf(c.library.Proto())
	left := all.Function[:0]
	for _, f := range all.GetFunction() {
		if f.GetSignature().GetName() != name {
			left = append(left, f)
		}
	}
	all.Function = left
	var err error
	if c.library, err = core.NewLibrary(all); err != nil {
		return err
	}
	for _, calls := range c.calls {
		calls.Forget(name)
	}
	c.spreads.forget(name)
	return nil
}

// call runs a function, on the device of its operation unless its nodes or its
// arguments belong elsewhere.
func (c *Context) call(ctx context.Context, op *operation) ([]value, error) {
	library := c.functions()
	f, err := funcOf(op.def, library)
	if err != nil {
		return nil, err
	}
	if c.isSpread(op, library) {
		out, err := c.callSpread(ctx, op, f)
		if err != nil {
			return nil, inFunction(f.Name, err)
		}
		return out, nil
	}
	in, err := op.tensors()
	if err != nil {
		return nil, err
	}
	out, err := wait(func(done func([]*core.Tensor, error)) {
		c.callsFrom(op.device).Call(ctx, f, in, done)
	})
	if err != nil {
		return nil, inFunction(f.Name, err)
	}
	return valuesOn(op.device, out), nil
}

// wait calls a function that reports its results to done.
func wait(call func(done func([]*core.Tensor, error))) ([]*core.Tensor, error) {
	type results struct {
		out []*core.Tensor
		err error
	}
	c := make(chan results, 1)
	call(func(out []*core.Tensor, err error) { c <- results{out, err} })
	r := <-c
	return r.out, r.err
}

// inFunction is err with the function that it is from, as TensorFlow's clients
// look for it.
func inFunction(name string, err error) error {
	e := *core.AsError(err)
	e.Msg = "{{function_node " + name + "}} " + e.Msg
	return &e
}

// valuesOn says that tensors, which are from now on the client's, are on a device.
func valuesOn(d core.Device, out []*core.Tensor) []value {
	all := make([]value, len(out))
	for i, t := range out {
		all[i] = value{tensor: t.Escape(), device: d}
	}
	return all
}

// funcOf returns the function that an operation calls.
func funcOf(def *pb.Operation, library *core.Library) (core.Func, error) {
	d, err := library.LookupOp(def.GetName())
	if err != nil {
		return core.Func{}, err
	}
	attrs, err := core.AttrsFromProto(def.GetAttrs(), d)
	return core.Func{Name: def.GetName(), Attrs: attrs}, err
}
