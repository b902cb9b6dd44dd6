package executor_test

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf"
)

// The operations of these tests: small ones whose kernels do what a test
// needs, and the executor's own (Switch, Merge, loops), which it knows by name.

func init() {
	op("Value", "", "y: T", "v: float = 0; T: {float, double} = float", sync(value))
	op("Identity", "x: T", "y: T", "T: type", sync(identity))
	op("Add", "x: float; y: float", "z: float", "", sync(add))
	op("Less", "x: float; y: float", "z: bool", "", sync(less))
	op("NoOp", "", "", "", sync(func(*tf.OpContext) error { return nil }))
	op("Fetch", "x: T", "", "index: int = 0; T: type", fetch)
	op("Soon", "x: T", "y: T", "T: type", async(soon))
	op("Later", "x: T", "y: T", "T: type", async(later))
	op("Wait", "", "y: float", "", async(wait))
	op("Twice", "x: T", "y: T", "T: type", async(twice))
	op("Fail", "x: float", "y: float", "msg: string = 'no'", fail)
	op("FailLater", "x: float", "y: float", "msg: string = 'no'", failLater)
	op("Panic", "x: float", "y: float", "", sync(func(*tf.OpContext) error { panic("boom") }))
	op("PanicAsync", "x: float", "y: float", "", async(func(*tf.OpContext, func(error)) { panic("boom") }))
	op("Missing", "", "y: float", "", sync(func(*tf.OpContext) error { return nil }))
	op("Mistyped", "", "y: float", "", sync(func(c *tf.OpContext) error { c.Set(0, tf.Scalar[int32](1)); return nil }))
	op("InPlace", "x: float", "y: bool", "", sync(inPlace))
	op("Where", "x: float", "frame: int64; iteration: int64", "", sync(where))
	op("_Send", "x: float", "", "", sync(send))
	op("_Recv", "", "y: float", "", async(recv))
	refs()
	flow()
}

func refs() {
	tf.Register(tf.OpDef{Name: "Variable", Out: "r: Ref(float)", Attrs: "set: bool = true",
		Shape: noShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(variable)})
	op("UseRef", "r: Ref(float)", "y: Ref(float)", "", sync(func(c *tf.OpContext) error { c.Out[0] = c.In[0]; return nil }))
	op("Set", "r: Ref(float); x: float", "", "", sync(func(c *tf.OpContext) error { c.In[0].Ref.Store(c.Input(1).Share()); return nil }))
	tf.Register(tf.OpDef{Name: "Initialized", In: "r: Ref(float)", Out: "y: bool", Uninitialized: true,
		Shape: noShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(sync(func(c *tf.OpContext) error {
			c.Set(0, tf.Scalar(c.In[0].Ref.Initialized()))
			return nil
		}))})
}

func flow() {
	op("Switch", "x: T; p: bool", "f: T; t: T", "T: type", sync(switchOn))
	op("Merge", "x: N * T", "y: T; index: int32", "N: int >= 1; T: type", sync(mergeAny))
	op("Enter", "x: T", "y: T", "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10", sync(identity))
	op("RefEnter", "x: Ref(float)", "y: Ref(float)", "frame_name: string; is_constant: bool = false; parallel_iterations: int = 10",
		sync(func(c *tf.OpContext) error { c.Out[0] = c.In[0]; return nil }))
	op("Exit", "x: T", "y: T", "T: type", sync(identity))
	op("NextIteration", "x: T", "y: T", "T: type", sync(identity))
	op("LoopCond", "x: bool", "y: bool", "", sync(identity))
	op("ControlTrigger", "", "", "", sync(func(*tf.OpContext) error { return nil }))
}

func op(name, in, out, attrs string, k tf.NewKernel) {
	tf.Register(tf.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Shape: noShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(k)})
}

func noShape(*tf.Infer) error { return nil }

func sync(f tf.Compute) tf.NewKernel {
	return func(*tf.Node) (tf.Kernel, error) { return f, nil }
}

func async(f tf.AsyncCompute) tf.NewKernel {
	return func(*tf.Node) (tf.Kernel, error) { return f, nil }
}

func value(c *tf.OpContext) error {
	y, err := c.Alloc(0, tf.Float32, tf.Shape{})
	if err == nil {
		tf.Data[float32](y)[0] = c.Node.Float("v")
	}
	return err
}

func identity(c *tf.OpContext) error { c.Forward(0, 0); return nil }

func add(c *tf.OpContext) error {
	x, y := tf.Data[float32](c.Input(0))[0], tf.Data[float32](c.Input(1))[0]
	z, err := c.AllocFrom(0, 0, tf.Float32, tf.Shape{})
	if err == nil {
		tf.Data[float32](z)[0] = x + y
	}
	return err
}

func less(c *tf.OpContext) error {
	z, err := c.Alloc(0, tf.Bool, tf.Shape{})
	if err == nil {
		tf.Data[bool](z)[0] = tf.Data[float32](c.Input(0))[0] < tf.Data[float32](c.Input(1))[0]
	}
	return err
}

// inPlace reports whether its input may be overwritten.
func inPlace(c *tf.OpContext) error {
	c.Set(0, tf.Scalar(c.Last[0] && c.Input(0).Buffer().Sole()))
	return nil
}

func where(c *tf.OpContext) error {
	c.Set(0, tf.Scalar(int64(c.FrameID)))
	c.Set(1, tf.Scalar(c.Iteration))
	return nil
}

func fetch(n *tf.Node) (tf.Kernel, error) {
	i := n.Int("index")
	return tf.Compute(func(c *tf.OpContext) error { return c.Frame.SetRetval(i, c.Input(0)) }), nil
}

// soon calls back before it returns, later from another goroutine.
func soon(c *tf.OpContext, done func(error)) { done(identity(c)) }

func later(c *tf.OpContext, done func(error)) {
	go func() { done(identity(c)) }()
}

// wait ends when the step does.
func wait(c *tf.OpContext, done func(error)) {
	context.AfterFunc(c.StepContext(), func() {
		done(&tf.Error{Code: tf.Canceled, Msg: "waited", Derived: true})
	})
}

// twice calls back more often than it should.
func twice(c *tf.OpContext, done func(error)) {
	done(identity(c))
	done(errors.New("again"))
	go done(errors.New("and again"))
}

func fail(n *tf.Node) (tf.Kernel, error) {
	msg := n.Str("msg")
	return tf.Compute(func(*tf.OpContext) error { return tf.Errorf(tf.OutOfRange, "%s", msg) }), nil
}

func failLater(n *tf.Node) (tf.Kernel, error) {
	msg := n.Str("msg")
	return tf.AsyncCompute(func(_ *tf.OpContext, done func(error)) {
		go done(tf.Errorf(tf.DataLoss, "%s", msg))
	}), nil
}

func switchOn(c *tf.OpContext) error {
	o := 0
	if tf.Data[bool](c.Input(1))[0] {
		o = 1
	}
	c.Forward(0, o)
	return nil
}

func mergeAny(c *tf.OpContext) error {
	for i := range c.In {
		if c.In[i].T != nil {
			c.Forward(i, 0)
			index, err := c.Alloc(1, tf.Int32, tf.Shape{})
			if err == nil {
				tf.Data[int32](index)[0] = int32(i)
			}
			return err
		}
	}
	return errors.New("a merge without inputs must not run")
}

func variable(n *tf.Node) (tf.Kernel, error) {
	ref := &tf.Ref{}
	if n.Bool("set") {
		ref.Store(tf.Scalar[float32](7))
	}
	return tf.Compute(func(c *tf.OpContext) error { c.Out[0].Ref = ref; return nil }), nil
}

func send(c *tf.OpContext) error {
	return c.Rendezvous.Send(c.Node.Name, c.Input(0), c.Input(0) == nil)
}

func recv(c *tf.OpContext, done func(error)) {
	c.Rendezvous.Recv(c.StepContext(), c.Node.Name, func(t *tf.Tensor, dead bool, err error) {
		if err == nil && !dead && !c.Dead {
			c.Set(0, t)
		}
		done(err)
	})
}
