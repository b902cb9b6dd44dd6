package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Control flow in TensorFlow 1's form: values that may be dead, and frames for
// loops. Their roles tell executors what they are; where values go is the executors' doing.

func init() {
	flow := func(d core.OpDef) {
		d.NoGrad = core.NoGradientDefined
		core.Register(d)
	}
	const enterAttrs = "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"
	for prefix, t := range map[string]string{"": "T", "Ref": "Ref(T)"} {
		flow(core.OpDef{Name: prefix + "Switch", Role: core.Switches, In: "data: " + t + "; pred: bool", Out: "output_false: " + t + "; output_true: " + t,
			Attrs: "T: type", Shape: switchShape, Kernels: core.AnyType(stateless(switchKernel)), Uninitialized: prefix != ""})
		flow(core.OpDef{Name: prefix + "Merge", Role: core.Merges, In: "inputs: N * " + t, Out: "output: " + t + "; value_index: int32",
			Attrs: "T: type; N: int >= 1", Shape: mergeShape, Kernels: core.AnyType(stateless(mergeKernel))})
		flow(core.OpDef{Name: prefix + "Enter", Role: core.Enters, In: "data: " + t, Out: "output: " + t,
			Attrs: enterAttrs, Shape: enterShape, Kernels: core.AnyType(stateless(passOn))})
		flow(core.OpDef{Name: prefix + "Exit", Role: core.Exits, In: "data: " + t, Out: "output: " + t,
			Attrs: "T: type", Shape: sameValue, Kernels: core.AnyType(stateless(passOn))})
		flow(core.OpDef{Name: prefix + "NextIteration", Role: core.Repeats, In: "data: " + t, Out: "output: " + t,
			Attrs: "T: type", Shape: sameValue, Kernels: core.AnyType(stateless(passOn))})
	}
	flow(core.OpDef{Name: "_SwitchN", Role: core.Switches, In: "data: T; output_index: int32", Out: "outputs: num_outs * T",
		Attrs: "num_outs: int >= 1; T: type", Shape: switchShape, Kernels: core.AnyType(stateless(switchNKernel))})
	flow(core.OpDef{Name: "LoopCond", Role: core.Continues, In: "input: bool", Out: "output: bool",
		Shape: loopCondShape, Kernels: core.AnyType(stateless(passOn))})
	flow(core.OpDef{Name: "ControlTrigger", Role: core.NeverDies, Shape: noOutputs, Kernels: core.AnyType(noOp)})
}

// Switch gives data to one of two outputs: onTrue if pred, a scalar, holds.
// What depends on the other one is not computed. data is of any type, and both
// outputs have its shape. pred is of type bool; another shape than a scalar is
// refused with INVALID_ARGUMENT, when the graph is built if it is known, else
// in the step.
func Switch(data, pred tf.Output, opts ...tf.Option) (onFalse, onTrue tf.Output) {
	o := outputs(2, "Switch", opts, data, pred)
	return o[0], o[1]
}

// Merge returns the first of its inputs that is computed, and which it was.
// The inputs, one or more, have one type of any kind; index is an int32
// scalar. What is known of the shape of output is what all inputs have in
// common. Inputs of different types, or none, are refused with
// INVALID_ARGUMENT when the graph is built.
func Merge(inputs []tf.Output, opts ...tf.Option) (output, index tf.Output) {
	o := outputs(2, "Merge", opts, inputs...)
	return o[0], o[1]
}

// EnterOpts are the optional attributes of Enter: whether the value is the
// same in all iterations, and how many may be under way at once (10, unless
// set).
type EnterOpts struct {
	Constant           bool
	ParallelIterations int
}

// Apply sets the attributes.
func (o EnterOpts) Apply(s *tf.Spec) {
	s.Set("is_constant", o.Constant)
	if o.ParallelIterations != 0 {
		s.Set("parallel_iterations", o.ParallelIterations)
	}
}

// Enter takes data into the loop of the given name. data is of any type; none
// is refused. Its shape is not known within the loop unless it is constant,
// since it may change with iterations. Its options are [EnterOpts].
func Enter(data tf.Output, frame string, opts ...tf.Option) tf.Output {
	return apply("Enter", tf.Join(opts, tf.Attr("frame_name", frame)), data)
}

// Exit takes data, from the iteration that is the last, out of a loop. data is
// of any type, and none is refused; the result has its shape.
func Exit(data tf.Output, opts ...tf.Option) tf.Output { return apply("Exit", opts, data) }

// NextIteration takes data into the next iteration of a loop. data is of any
// type, and none is refused; the result has its shape.
func NextIteration(data tf.Output, opts ...tf.Option) tf.Output {
	return apply("NextIteration", opts, data)
}

// LoopCond marks pred as what decides whether a loop goes on. pred is a bool
// scalar. Another shape, if it is known, is refused with INVALID_ARGUMENT when
// the graph is built.
func LoopCond(pred tf.Output, opts ...tf.Option) tf.Output { return apply("LoopCond", opts, pred) }

// ControlTrigger adds an operation that runs after others even if those are
// not computed. It has neither inputs nor results. A nil g is refused with
// INVALID_ARGUMENT.
func ControlTrigger(g *tf.Graph, opts ...tf.Option) *tf.Operation {
	return tf.Apply(g, "ControlTrigger", nil, opts...)
}

// switchShape: whatever output is chosen, it is the input.
func switchShape(c *core.Infer) error {
	if s := c.In(1); len(s) != 0 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 0 but is rank %d: input %s has shape %v", len(s), c.Def.Inputs[1].Name, s)
	}
	return sameValue(c)
}

// sameValue gives the outputs shape and handle of input 0.
func sameValue(c *core.Infer) error {
	d, s := c.Handle(0)
	for i := range c.NumOut() {
		c.Set(i, c.In(0))
		if d != tf.Invalid {
			c.SetHandle(i, d, s)
		}
	}
	return nil
}

// enterShape: a value that enters a loop may have another shape in later
// iterations, unless it is constant.
func enterShape(c *core.Infer) error {
	if err := sameValue(c); err != nil {
		return err
	}
	if !c.Bool("is_constant") && c.In(0) != nil {
		c.Set(0, nil)
	}
	return nil
}

// mergeShape keeps what all inputs have in common.
func mergeShape(c *core.Infer) error {
	s := c.In(0).Clone()
	for i := 1; i < c.NumIn(); i++ {
		s = common(s, c.In(i))
	}
	c.Set(0, s)
	c.Set(1, tf.Shape{})
	if d, v := c.Handle(0); d != tf.Invalid {
		c.SetHandle(0, d, v)
	}
	return nil
}

// common returns the shape of which s, which it may change, and t are cases.
func common(s, t tf.Shape) tf.Shape {
	if s == nil || t == nil || len(s) != len(t) {
		return nil
	}
	for i := range s {
		if s[i] != t[i] {
			s[i] = -1
		}
	}
	return s
}

func loopCondShape(c *core.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	c.Set(0, tf.Shape{})
	return nil
}

// hand makes output o input i, be it a value or a reference.
func hand(c *core.OpContext, i, o int) {
	if c.In[i].T == nil {
		c.Out[o] = c.In[i]
		return
	}
	c.Forward(i, o)
}

func passOn(c *core.OpContext) error {
	hand(c, 0, 0)
	return nil
}

func switchKernel(c *core.OpContext) error {
	pred := c.Input(1)
	if pred.Rank() != 0 {
		return tf.Errorf(tf.InvalidArgument, "The second input must be a scalar, but it has shape %s", pred.Shape().String())
	}
	o := 0
	if core.Data[bool](pred)[0] {
		o = 1
	}
	hand(c, 0, o)
	return nil
}

func switchNKernel(c *core.OpContext) error {
	index := c.Input(1)
	if index.Rank() != 0 {
		return tf.Errorf(tf.InvalidArgument, "The second input must be a scalar, but it has shape %s", index.Shape().String())
	}
	o := int(core.Data[int32](index)[0])
	if o < 0 || o >= len(c.Out) {
		o = len(c.Out) - 1
	}
	hand(c, 0, o)
	return nil
}

// mergeKernel finds the input that lives: an executor gives it only that one.
func mergeKernel(c *core.OpContext) error {
	for i := range c.In {
		if c.In[i].T != nil || c.In[i].Ref != nil {
			hand(c, i, 0)
			index, err := c.Alloc(1, tf.Int32, tf.Shape{})
			if err != nil {
				return err
			}
			return fillInts(index, []int{i})
		}
	}
	return tf.Errorf(tf.Internal, "Merge must have a live input to run")
}
