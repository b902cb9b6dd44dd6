package executor_test

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// The operations of these tests: small ones whose kernels do what a test
// needs, and the executor's own (Switch, Merge, loops), which it knows by their roles.

func init() {
	op("Value", "", "y: T", "v: float = 0; T: {float, double} = float", sync(value))
	op("Identity", "x: T", "y: T", "T: type", sync(identity))
	op("Add", "x: float; y: float", "z: float", "", sync(add))
	op("Less", "x: float; y: float", "z: bool", "", sync(less))
	op("Counted", "x: float", "y: float", "", sync(counting))
	op("NoOp", "", "", "", sync(func(*core.OpContext) error { return nil }))
	op("Fetch", "x: T", "", "index: int = 0; T: type", fetch)
	op("Soon", "x: T", "y: T", "T: type", async(soon))
	op("Later", "x: T", "y: T", "T: type", async(later))
	op("Wait", "", "y: float", "", async(wait))
	op("Twice", "x: T", "y: T", "T: type", async(twice))
	op("Fail", "x: float", "y: float", "msg: string = 'no'", fail)
	op("FailLater", "x: float", "y: float", "msg: string = 'no'", failLater)
	op("Panic", "x: float", "y: float", "", sync(func(*core.OpContext) error { panic("boom") }))
	op("PanicAsync", "x: float", "y: float", "", async(func(*core.OpContext, func(error)) { panic("boom") }))
	op("Missing", "", "y: float", "", sync(func(*core.OpContext) error { return nil }))
	op("Mistyped", "", "y: float", "", sync(func(c *core.OpContext) error { c.Set(0, core.Scalar[int32](1)); return nil }))
	op("InPlace", "x: float", "y: bool", "", sync(inPlace))
	op("Where", "x: float", "frame: int64; iteration: int64", "", sync(where))
	op("_Send", "x: float", "", "", sync(send), core.Sends)
	op("_Recv", "", "y: float", "", async(recv), core.Receives)
	refs()
	flow()
}

func refs() {
	core.Register(core.OpDef{Name: "Variable", Out: "r: Ref(float)", Attrs: "set: bool = true",
		Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(variable)})
	op("UseRef", "r: Ref(float)", "y: Ref(float)", "", sync(func(c *core.OpContext) error { c.Out[0] = c.In[0]; return nil }))
	op("Set", "r: Ref(float); x: float", "", "", sync(func(c *core.OpContext) error { c.In[0].Ref.Store(c.Input(1).Share()); return nil }))
	core.Register(core.OpDef{Name: "Initialized", In: "r: Ref(float)", Out: "y: bool", Uninitialized: true,
		Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sync(func(c *core.OpContext) error {
			c.Set(0, core.Scalar(c.In[0].Ref.Initialized()))
			return nil
		}))})
}

func flow() {
	op("Switch", "x: T; p: bool", "f: T; t: T", "T: type", sync(switchOn), core.Switches)
	op("Merge", "x: N * T", "y: T; index: int32", "N: int >= 1; T: type", sync(mergeAny), core.Merges)
	op("Enter", "x: T", "y: T", "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10", sync(identity), core.Enters)
	op("RefEnter", "x: Ref(float)", "y: Ref(float)", "frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
		sync(func(c *core.OpContext) error { c.Out[0] = c.In[0]; return nil }), core.Enters)
	op("Exit", "x: T", "y: T", "T: type", sync(identity), core.Exits)
	op("NextIteration", "x: T", "y: T", "T: type", sync(identity), core.Repeats)
	op("LoopCond", "x: bool", "y: bool", "", sync(identity), core.Continues)
	op("ControlTrigger", "", "", "", sync(func(*core.OpContext) error { return nil }), core.NeverDies)
}

func op(name, in, out, attrs string, k core.NewKernel, role ...core.Role) {
	d := core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)}
	if len(role) > 0 {
		d.Role = role[0]
	}
	core.Register(d)
}

func noShape(*core.Infer) error { return nil }

func sync(f core.Compute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return f, nil }
}

func async(f core.AsyncCompute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return f, nil }
}

func value(c *core.OpContext) error {
	y, err := c.Alloc(0, core.Float32, core.Shape{})
	if err == nil {
		core.Data[float32](y)[0] = c.Node.Float("v")
	}
	return err
}

// computed counts by node how often Counted has been computed.
var computed = map[string]int{}

func counting(c *core.OpContext) error {
	computed[c.Node.Name]++
	return identity(c)
}

func identity(c *core.OpContext) error { c.Forward(0, 0); return nil }

func add(c *core.OpContext) error {
	x, y := core.Data[float32](c.Input(0))[0], core.Data[float32](c.Input(1))[0]
	z, err := c.AllocFrom(0, 0, core.Float32, core.Shape{})
	if err == nil {
		core.Data[float32](z)[0] = x + y
	}
	return err
}

func less(c *core.OpContext) error {
	z, err := c.Alloc(0, core.Bool, core.Shape{})
	if err == nil {
		core.Data[bool](z)[0] = core.Data[float32](c.Input(0))[0] < core.Data[float32](c.Input(1))[0]
	}
	return err
}

// inPlace reports whether its input may be overwritten.
func inPlace(c *core.OpContext) error {
	c.Set(0, core.Scalar(c.Last[0] && c.Input(0).Buffer().Sole()))
	return nil
}

func where(c *core.OpContext) error {
	c.Set(0, core.Scalar(int64(c.FrameID)))
	c.Set(1, core.Scalar(c.Iteration))
	return nil
}

func fetch(n *core.Node) (core.Kernel, error) {
	i := n.Int("index")
	return core.Compute(func(c *core.OpContext) error { return c.Frame.SetRetval(i, c.Input(0)) }), nil
}

// soon calls back before it returns, later from another goroutine.
func soon(c *core.OpContext, done func(error)) { done(identity(c)) }

func later(c *core.OpContext, done func(error)) {
	go func() { done(identity(c)) }()
}

// wait ends when the step does.
func wait(c *core.OpContext, done func(error)) {
	context.AfterFunc(c.StepContext(), func() {
		done(&core.Error{Code: core.Canceled, Msg: "waited", Derived: true})
	})
}

// twice calls back more often than it should.
func twice(c *core.OpContext, done func(error)) {
	done(identity(c))
	done(errors.New("again"))
	called := make(chan bool)
	go func() { done(errors.New("and again")); close(called) }()
	<-called // after the run the call would count for a later one in the same memory
}

func fail(n *core.Node) (core.Kernel, error) {
	msg := n.Str("msg")
	return core.Compute(func(*core.OpContext) error { return core.Errorf(core.OutOfRange, "%s", msg) }), nil
}

func failLater(n *core.Node) (core.Kernel, error) {
	msg := n.Str("msg")
	return core.AsyncCompute(func(_ *core.OpContext, done func(error)) {
		go done(core.Errorf(core.DataLoss, "%s", msg))
	}), nil
}

func switchOn(c *core.OpContext) error {
	o := 0
	if core.Data[bool](c.Input(1))[0] {
		o = 1
	}
	c.Forward(0, o)
	return nil
}

func mergeAny(c *core.OpContext) error {
	for i := range c.In {
		if c.In[i].T != nil {
			c.Forward(i, 0)
			index, err := c.Alloc(1, core.Int32, core.Shape{})
			if err == nil {
				core.Data[int32](index)[0] = int32(i)
			}
			return err
		}
	}
	return errors.New("a merge without inputs must not run")
}

func variable(n *core.Node) (core.Kernel, error) {
	ref := &core.Ref{}
	if n.Bool("set") {
		ref.Store(core.Scalar[float32](7))
	}
	return core.Compute(func(c *core.OpContext) error { c.Out[0].Ref = ref; return nil }), nil
}

func send(c *core.OpContext) error {
	return c.Rendezvous.Send(c.Node.Name, c.Input(0), c.Input(0) == nil)
}

func recv(c *core.OpContext, done func(error)) {
	c.Rendezvous.Recv(c.StepContext(), c.Node.Name, func(t *core.Tensor, dead bool, err error) {
		if err == nil && !dead && !c.Dead {
			c.Set(0, t)
		}
		done(err)
	})
}
