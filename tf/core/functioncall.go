package core

import "context"

// A FunctionCaller runs functions of the step's library by name.
type FunctionCaller interface {
	// Call runs f on the step's device. The arguments stay the caller's; done,
	// which is called once, gets results that are its own.
	Call(ctx context.Context, f Func, in []*Tensor, done func([]*Tensor, error))
	// CallOn is Call on another device of the same task.
	CallOn(ctx context.Context, device string, f Func, in []*Tensor, done func([]*Tensor, error))
	// Lasting returns a caller of the same functions on the same device that
	// outlives the step, for iterators: each of its calls is a step of its own.
	Lasting() FunctionCaller
}

// A FunctionLibrary is a FunctionCaller that tells which functions it has.
type FunctionLibrary interface {
	FunctionCaller
	// Library returns the functions; nil: none.
	Library() *Library
	// With returns a caller, like that of Lasting, of the functions of
	// another library.
	With(l *Library) FunctionCaller
}

// errNoFunctions is what a step without a library answers to calls.
var errNoFunctions = Errorf(Internal, "No function library is provided.")

// CallFunction calls f with the node's inputs and sets its outputs.
func (c *OpContext) CallFunction(f Func, done func(error)) {
	c.CallWith(f, c.Tensors(0, len(c.In)), func(out []*Tensor, err error) {
		if err == nil {
			err = c.SetAll(out)
		}
		done(err)
	})
}

// CallBody is a kernel factory for ops whose nodes have bodies: it calls the body.
func CallBody(n *Node) (Kernel, error) {
	body, err := n.Def.Body(n, func(int) error { return nil })
	if err != nil {
		return nil, err
	}
	f := FuncOf(body)
	return AsyncCompute(func(c *OpContext, done func(error)) { c.CallFunction(f, done) }), nil
}

// CallWith calls f with other arguments.
func (c *OpContext) CallWith(f Func, in []*Tensor, done func([]*Tensor, error)) {
	if c.Step == nil || c.Functions == nil {
		done(nil, errNoFunctions)
		return
	}
	c.Functions.Call(c.StepContext(), f, in, done)
}

// Tensors returns the inputs from lo up to hi, which stay the node's.
func (c *OpContext) Tensors(lo, hi int) []*Tensor {
	in := make([]*Tensor, hi-lo)
	for i := range in {
		in[i] = c.In[lo+i].T
	}
	return in
}

// SetAll makes out the outputs of the node.
func (c *OpContext) SetAll(out []*Tensor) error {
	if len(out) != len(c.Out) {
		return Errorf(InvalidArgument, "Expects ret[%d] values, got %d", len(c.Out), len(out))
	}
	for k, t := range out {
		if t.DType() != c.Node.OutTypes[k].Base() {
			return Errorf(InvalidArgument, "Expects ret[%d] to be %s, but %s is provided.", k, c.Node.OutTypes[k].CName(), t.DType().CName())
		}
		c.Set(k, t)
	}
	return nil
}
