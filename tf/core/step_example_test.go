package core_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/collective"
	_ "github.com/gorge-tf/gorge/tf/ops/sessionstate"
)

// compute runs one node in a step, as an executor does.
func compute(step *core.Step, n *core.Node, in ...*core.Tensor) ([]core.Slot, error) {
	newKernel, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := newKernel(n)
	if err != nil {
		return nil, err
	}
	c := &core.OpContext{Step: step, Node: n, Out: make([]core.Slot, len(n.OutTypes))}
	for _, t := range in {
		c.In = append(c.In, core.Slot{T: t})
	}
	start := time.Now()
	if f, ok := core.AsCompute(k); ok {
		err = f(c)
	} else if f, ok := k.(core.AsyncCompute); ok {
		done := make(chan error, 1)
		f(c, func(err error) { done <- err })
		err = <-done
	}
	if step.Tracer != nil {
		step.Tracer.Ran(c, n.Name+" = "+n.OpName(), core.NodeTimes{Ready: start, Start: start, KernelStart: start, KernelEnd: time.Now()})
	}
	return c.Out, err
}

// node returns a node of an operation.
func node(op string, attrs core.Attrs) *core.Node {
	n, err := core.NewNode("n", op, attrs)
	if err != nil {
		panic(err)
	}
	return n
}

// A kernel sees its node, its inputs and the step.
func ExampleOpContext() {
	step := &core.Step{Context: context.Background()}
	var k core.Kernel = core.Compute(func(c *core.OpContext) error {
		y, err := c.Alloc(0, c.Input(0).DType(), c.Input(0).Shape())
		if err == nil {
			core.Data[int32](y)[0] = core.Data[int32](c.Input(0))[0] + 1
		}
		return err
	})
	c := &core.OpContext{Step: step, In: []core.Slot{{T: core.Scalar[int32](1)}}, Out: make([]core.Slot, 1)}
	fmt.Println(k.(core.Compute)(c), c.Out[0].T)
	// Output: <nil> int32[]{2}
}

// Kernels that wait call back, so that waiting costs no goroutine.
func ExampleAsyncCompute() {
	arrived := make(chan int32, 1)
	wait := core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		go func() {
			c.Set(0, core.Scalar(<-arrived))
			done(nil)
		}()
	})
	c := &core.OpContext{Step: &core.Step{}, Out: make([]core.Slot, 1)}
	done := make(chan error)
	wait(c, func(err error) { done <- err })
	arrived <- 5
	fmt.Println(<-done, c.Out[0].T)
	// Output: <nil> int32[]{5}
}

// Nodes are run in a step, which gives them what they share.
func ExampleStep() {
	step := &core.Step{Context: context.Background(), ID: 1}
	var out []core.Slot
	out, err := compute(step, node("AddV2", core.Attrs{"T": core.Float32}), core.Scalar[float32](1), core.Scalar[float32](2))
	fmt.Println(out[0].T, err)
	// Output: float32[]{3} <nil>
}

// arguments is the frame of a call: its arguments and results.
type arguments struct{ in, out []*core.Tensor }

func (a *arguments) Arg(i int) (*core.Tensor, error) { return a.in[i].Share(), nil }

func (a *arguments) SetRetval(i int, t *core.Tensor) error {
	a.out[i] = t.Share()
	return nil
}

// Argument and result nodes take from the frame of a call and give to it.
func ExampleCallFrame() {
	frame := &arguments{in: []*core.Tensor{core.Scalar("in")}, out: make([]*core.Tensor, 1)}
	step := &core.Step{Frame: core.CallFrame(frame)}
	attrs := core.Attrs{"T": core.String, "index": 0}
	arg, err := compute(step, node("_Arg", attrs))
	if err == nil {
		_, err = compute(step, node("_Retval", attrs), arg[0].T)
	}
	fmt.Println(frame.out, err)
	// Output: [string[]{"in"}] <nil>
}

// table is a rendezvous within a task, for keys that are sent before they are
// received.
type table struct{ sent map[string]*core.Tensor }

func (r *table) Send(key string, t *core.Tensor, dead bool) error {
	r.sent[key] = t.Share()
	return nil
}

func (r *table) Recv(_ context.Context, key string, done func(t *core.Tensor, dead bool, err error)) {
	done(r.sent[key], false, nil)
}

// What crosses from one device to another is sent under a key, and received.
func ExampleRendezvous() {
	var meet core.Rendezvous = &table{map[string]*core.Tensor{}}
	step := &core.Step{Context: context.Background(), Rendezvous: meet}
	attrs := func(typ string) core.Attrs {
		return core.Attrs{typ: core.Int32, "tensor_name": "x", "send_device": "/device:CPU:0", "send_device_incarnation": 1, "recv_device": "/device:CPU:1"}
	}
	_, err := compute(step, node("_Send", attrs("T")), core.Scalar[int32](7))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := compute(step, node("_Recv", attrs("tensor_type")))
	fmt.Println(out[0].T, err)
	// Output: int32[]{7} <nil>
}

// doubler calls functions: all of them double their argument.
type doubler struct{}

func (d doubler) Call(_ context.Context, _ core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	done([]*core.Tensor{core.Scalar(2 * core.Data[int32](in[0])[0])}, nil)
}

func (d doubler) CallOn(ctx context.Context, _ string, f core.Func, in []*core.Tensor, done func([]*core.Tensor, error)) {
	d.Call(ctx, f, in, done)
}

func (d doubler) Lasting() core.FunctionCaller           { return d }
func (d doubler) Library() *core.Library                 { return nil }
func (d doubler) With(*core.Library) core.FunctionCaller { return d }

// Nodes that call functions do so by the step's caller.
func ExampleFunctionCaller() {
	var caller core.FunctionCaller = doubler{}
	step := &core.Step{Context: context.Background(), Functions: caller}
	types := []core.DType{core.Int32}
	call := node("PartitionedCall", core.Attrs{"Tin": types, "Tout": types, "f": core.Func{Name: "double"}})
	out, err := compute(step, call, core.Scalar[int32](4))
	_, tells := caller.(core.FunctionLibrary)
	fmt.Println(out[0].T, tells, err)
	// Output: int32[]{8} true <nil>
}

// host is a device whose memory is the host's.
type host struct{ resources *core.Resources }

func (h host) Spec() core.DeviceSpec {
	return core.DeviceSpec{Job: "localhost", Type: "CPU"}
}
func (h host) Incarnation() uint64                           { return 1 }
func (h host) MemoryLimit() int64                            { return 0 }
func (h host) Resources() *core.Resources                    { return h.resources }
func (h host) FromHost(t *core.Tensor) (*core.Tensor, error) { return t, nil }
func (h host) ToHost(t *core.Tensor) (*core.Tensor, error)   { return t, nil }

// kept keeps tensors of a session from one step to the next.
type kept map[string]*core.Tensor

func (k kept) Add(step int64, node, device string, t *core.Tensor) (handle string, err error) {
	handle = fmt.Sprintf("%s;%d", node, step)
	k[handle] = t.Share()
	return handle, nil
}

func (k kept) Get(handle string) (*core.Tensor, error) { return k[handle].Share(), nil }

func (k kept) Delete(handle string) error {
	delete(k, handle)
	return nil
}

// A device's tensors stay in the session under handles.
func ExampleSessionTensors() {
	var device core.Device = host{}
	var tensors core.SessionTensors = kept{}
	step := &core.Step{ID: 3, Context: context.Background(), Device: device, SessionTensors: tensors}
	handle, err := compute(step, node("GetSessionHandle", core.Attrs{"T": core.Float32}), core.Scalar[float32](1.5))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := compute(step, node("GetSessionTensor", core.Attrs{"dtype": core.Float32}), handle[0].T)
	fmt.Println(handle[0].T, out[0].T, err)
	// Output: string[]{"n;3"} float32[]{1.5} <nil>
}

// alone does what groups do together, for groups of one.
type alone struct{}

func (alone) Join(*core.OpContext, core.CollectiveGroup, time.Duration) error { return nil }

func (alone) Do(_ *core.OpContext, p *core.Collective) error {
	kinds := map[core.CollectiveKind]string{core.ReduceCollective: "reduce", core.GatherCollective: "gather"}
	fmt.Println(kinds[p.Kind], p.Merge, p.Group.Size)
	return p.In.CopyTo(p.Out)
}

// Nodes say what they do together with those on other devices.
func ExampleCollectives() {
	var together core.Collectives = alone{}
	step := &core.Step{Context: context.Background(), Collectives: together}
	sum := node("CollectiveReduce", core.Attrs{"T": core.Int32, "group_size": 1, "group_key": 1, "instance_key": 1,
		"merge_op": "Add", "final_op": "Id", "subdiv_offsets": []int{0}})
	out, err := compute(step, sum, core.Scalar[int32](7))
	fmt.Println(out[0].T, err)
	// Output:
	// reduce Add 1
	// int32[]{7} <nil>
}

// slowest notes the node that took longest.
type slowest struct {
	sync.Mutex
	label string
	took  time.Duration
}

func (s *slowest) Ran(_ *core.OpContext, label string, t core.NodeTimes) {
	s.Lock()
	defer s.Unlock()
	if took := t.KernelEnd.Sub(t.KernelStart); took >= s.took {
		s.label, s.took = label, took
	}
}

// A tracer hears of each node.
func ExampleTracer() {
	tracer := &slowest{}
	step := &core.Step{Context: context.Background(), Tracer: core.Tracer(tracer)}
	_, err := compute(step, node("Neg", core.Attrs{"T": core.Int32}), core.Scalar[int32](7))
	fmt.Println(tracer.label, err)
	// Output: n = Neg <nil>
}

// A variable of the reference kind is a cell whose tensor assignments replace.
func ExampleRef() {
	var v core.Ref
	fmt.Println(v.Initialized())
	v.Store(core.Scalar[int32](1))
	before := v.Load()
	err := v.Update(func(t *core.Tensor) error {
		core.Data[int32](t)[0] = 2
		return nil
	})
	fmt.Println(before, v.Load(), err)
	var holder core.MemoryHolder = &v
	kind, bytes := holder.HeldMemory()
	fmt.Println(kind, bytes)
	// Output:
	// false
	// int32[]{1} int32[]{2} <nil>
	// variables 4
}

// A tensor's buffer is counted: it is free when its last user releases it.
func ExampleBuffer() {
	var pool core.Pool // what a session's steps share
	x := core.Wrap([]int32{1, 2, 3}, core.Shape{3})
	own, err := x.EnterFrom(&pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	var b *core.Buffer = own.Buffer()
	fmt.Println(b.Len(), b.Sole())
	other := own.Share()
	fmt.Println(b.Sole())
	other.Release()
	fmt.Println(b.Sole())
	// Output:
	// 12 true
	// false
	// true
}

// A resource is named by a handle: a device, a container and a name.
func ExampleResourceHandle() {
	t := core.HandleTensor(core.ResourceHandle{Container: "localhost", Name: "v", DType: core.Float32, Shape: core.Shape{2}})
	var h core.ResourceHandle = t.Handles()[0]
	fmt.Println(t.DType(), h.Name, h.DType, h.Shape)
	// Output: resource v float32 [2]
}
