package eagerservice

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// notKept is the number of operations whose results go back with the answer.
const notKept = -1

// An operation is one that is about to run.
type operation struct {
	def    *pb.Operation
	device core.Device
	in     []input
}

// execute runs an operation and keeps its results. The answer tells their shapes,
// and where a function has left them.
func (c *Context) execute(ctx context.Context, def *pb.Operation, resp *pb.QueueResponse) error {
	out, err := c.perform(ctx, def)
	if err != nil {
		c.handles.fail(def.GetId(), err)
		return err
	}
	if def.GetId() == notKept {
		resp.Tensor, err = encode(out)
		return err
	}
	for i, v := range out {
		c.answer(resp, def.GetIsFunction(), v)
		if v.away == "" {
			c.handles.add(name{def.GetId(), int32(i)}, v)
		}
	}
	return nil
}

func (c *Context) perform(ctx context.Context, def *pb.Operation) ([]value, error) {
	op, err := c.prepare(def)
	if err != nil {
		return nil, err
	}
	return c.run(ctx, op)
}

// answer tells the shape of a result, and where a function has left it.
func (c *Context) answer(resp *pb.QueueResponse, function bool, v value) {
	shape, device := v.shape, v.away
	if v.away == "" {
		shape, device = core.ShapeProto(v.tensor.Shape()), v.device.Spec().String()
	}
	resp.Shape = append(resp.Shape, shape)
	if function {
		resp.Device = append(resp.Device, device)
	}
}

// prepare finds the device and the inputs of an operation.
func (c *Context) prepare(def *pb.Operation) (*operation, error) {
	d, err := c.place(def.GetDevice())
	if err != nil {
		return nil, err
	}
	op := &operation{def: def, device: d, in: make([]input, len(def.GetOpInputs()))}
	for i, in := range def.GetOpInputs() {
		if h := in.GetRemoteHandle(); h != nil {
			op.in[i], err = c.resolve(h)
		} else {
			op.in[i].value, err = c.local(in.GetTensor(), "")
		}
		if err != nil {
			return nil, err
		}
	}
	return op, nil
}

func (c *Context) run(ctx context.Context, op *operation) ([]value, error) {
	if op.def.GetIsFunction() {
		return c.call(ctx, op)
	}
	in, err := op.tensors()
	if err != nil {
		return nil, err
	}
	k, err := c.kernel(op, in)
	if err != nil {
		return nil, err
	}
	out, err := k.run(ctx, in)
	if err != nil {
		return nil, bare(err)
	}
	return valuesOn(k.device, out), nil
}

// bare is err without the operation: the client knows which one it is.
func bare(err error) error {
	e := *core.AsError(err)
	e.Node, e.In, e.Err = "", nil, nil
	return &e
}

// tensors returns the inputs, which must be here, on the device of the operation.
func (op *operation) tensors() ([]*core.Tensor, error) {
	in := make([]*core.Tensor, len(op.in))
	for i, v := range op.in {
		switch {
		case v.remote != nil:
			return nil, core.Errorf(core.InvalidArgument, "input %d of %s must be a tensor of this task, it is on %s", i, op.def.GetName(), v.remote.GetDevice())
		case v.tensor == nil:
			return nil, core.Errorf(core.InvalidArgument, "input %d of %s is packed, which only functions take", i, op.def.GetName())
		}
		var err error
		if in[i], err = move(v.value, op.device); err != nil {
			return nil, err
		}
	}
	return in, nil
}

// move returns a value as a device can read it.
func move(v value, to core.Device) (*core.Tensor, error) {
	if v.device == to {
		return v.tensor, nil
	}
	t, err := v.device.ToHost(v.tensor)
	if err != nil {
		return nil, err
	}
	return to.FromHost(t)
}

// encode returns values as they cross the wire.
func encode(all []value) ([]*pb.TensorProto, error) {
	out := make([]*pb.TensorProto, len(all))
	for i, v := range all {
		t, err := v.device.ToHost(v.tensor)
		if err != nil {
			return nil, err
		}
		if out[i], err = core.EncodeTensor(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}
