package eagerservice

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// kernels keeps those that have been made, by what they are made from.
type kernels struct {
	mu  sync.Mutex
	all map[string]*kernel
}

// A kernel runs operations that are alike.
type kernel struct {
	node   *core.Node
	device core.Device
	step   core.Step
	core.Kernel
}

// keptKernels bounds the kernels without state that a context keeps.
const keptKernels = 4096

// kernel returns the kernel of an operation. Nodes that transfer a tensor are made for
// one transfer each.
func (c *Context) kernel(op *operation, in []*core.Tensor) (*kernel, error) {
	if core.RoleOf(op.def.GetName()).Transfers() {
		return c.newKernel(op, in)
	}
	key, err := keyOf(op)
	if err != nil {
		return nil, err
	}
	k := c.kernels.get(key)
	if k == nil {
		if k, err = c.newKernel(op, in); err != nil {
			return nil, err
		}
		k = c.kernels.keep(key, k)
	}
	return k, check(k.node, in)
}

func (ks *kernels) get(key string) *kernel {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	return ks.all[key]
}

// keep keeps k, unless another of its kind has come first, which has the state.
func (ks *kernels) keep(key string, k *kernel) *kernel {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if have := ks.all[key]; have != nil {
		return have
	}
	if ks.all == nil {
		ks.all = map[string]*kernel{}
	}
	if len(ks.all) >= keptKernels {
		maps.DeleteFunc(ks.all, func(_ string, k *kernel) bool { return !k.node.Def.Stateful })
	}
	ks.all[key] = k
	return k
}

// keyOf returns a text that tells operations with different kernels apart.
func keyOf(op *operation) (string, error) {
	b := append([]byte(op.def.GetName()), 0)
	b = append(append(b, op.device.Spec().String()...), 0)
	for _, a := range slices.Sorted(maps.Keys(op.def.GetAttrs())) {
		b = append(append(b, a...), 0)
		v, err := proto.MarshalOptions{Deterministic: true}.Marshal(op.def.GetAttrs()[a])
		if err != nil {
			return "", err
		}
		b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	return string(b), nil
}

func (c *Context) newKernel(op *operation, in []*core.Tensor) (*kernel, error) {
	library := c.functions()
	n, err := nodeOf(op.def, library)
	if err != nil {
		return nil, err
	}
	n.Device = op.device.Spec().String()
	if err := check(n, in); err != nil {
		return nil, err
	}
	make, err := core.FindKernel(op.device.Spec().Type, n)
	if err != nil {
		return nil, err
	}
	k := &kernel{node: n, device: op.device, step: c.step(op.device)}
	if k.Kernel, err = make(n); err != nil {
		return nil, err
	}
	return k, nil
}

// step returns the step that operations on a device are of: it never ends.
func (c *Context) step(d core.Device) core.Step {
	rt := c.session.Runtime()
	return core.Step{
		ID: int64(c.id), Device: d, Rendezvous: c.rdv, Resources: d.Resources(), Functions: c.callsFrom(d),
		GraphVersion: core.ProducerVersion, Collectives: rt.Collectives, Parallel: rt.Parallel,
	}
}

// nodeOf returns the node that an operation is: its attributes checked and
// completed.
func nodeOf(def *pb.Operation, library *core.Library) (*core.Node, error) {
	d, err := library.LookupOp(def.GetName())
	if err != nil {
		return nil, err
	}
	attrs, err := core.AttrsFromProto(def.GetAttrs(), d)
	if err != nil {
		return nil, err
	}
	n, err := core.NewNodeOf(def.GetName(), d, attrs)
	if err != nil {
		return nil, err
	}
	return n, graph.Bound(n)
}

// check compares inputs with what a node takes.
func check(n *core.Node, in []*core.Tensor) error {
	if len(in) != len(n.InTypes) {
		return core.Errorf(core.InvalidArgument, "expected %d inputs, got %d", len(n.InTypes), len(in))
	}
	for i, t := range in {
		if want := n.InTypes[i].Base(); t.DType() != want {
			return core.Errorf(core.InvalidArgument, "cannot compute %s as input #%d(zero-based) was expected to be a %s tensor but is a %s tensor", n.OpName(), i, want.CName(), t.DType().CName())
		}
	}
	return nil
}

// run computes the outputs.
func (k *kernel) run(ctx context.Context, in []*core.Tensor) (out []*core.Tensor, err error) {
	step := k.step
	step.Context = ctx
	c := &core.OpContext{Step: &step, Node: k.node, In: make([]core.Slot, len(in)), Out: make([]core.Slot, len(k.node.OutTypes))}
	for i, t := range in {
		c.In[i].T = t
	}
	if err := k.compute(c); err != nil {
		return nil, err
	}
	out = make([]*core.Tensor, len(c.Out))
	for i, s := range c.Out {
		if s.T == nil {
			return nil, core.Errorf(core.InvalidArgument, "%s gives a reference or no value, which eager contexts do not hold", k.node.OpName())
		}
		out[i] = s.T
	}
	return out, nil
}

// compute calls the kernel and waits for it. A kernel that panics has failed.
func (k *kernel) compute(c *core.OpContext) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = core.Panicked("the kernel of "+k.node.OpName(), v)
		}
	}()
	if f, ok := core.AsCompute(k.Kernel); ok {
		return f(c)
	}
	if f, ok := k.Kernel.(core.AsyncCompute); ok {
		done := make(chan error, 1)
		f(c, func(err error) { done <- err })
		return <-done
	}
	return core.Errorf(core.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", k.Kernel)
}
