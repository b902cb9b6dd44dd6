package ops

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for version, h := range map[string]string{"": "Ref(string)", "V2": "resource"} {
		add := func(d core.OpDef) {
			d.Stateful = version != "" || d.Name == "Stack"
			d.Name += version
			d.NoGrad = core.NotDifferentiable
			core.Register(d)
		}
		size := ""
		if version != "" {
			size = "max_size: int32"
		}
		add(core.OpDef{Name: "Stack", In: size, Out: "handle: " + h, Attrs: "elem_type: type; stack_name: string = ''",
			Shape: stackShape, Kernels: core.AnyType(newStack)})
		add(core.OpDef{Name: "StackPush", In: "handle: " + h + "; elem: T", Out: "output: T", Attrs: "T: type; swap_memory: bool = false",
			Shape: func(c *core.Infer) error { c.Set(0, c.In(1)); return nil }, Kernels: core.AnyType(stateless(stackPush))})
		add(core.OpDef{Name: "StackPop", In: "handle: " + h, Out: "elem: elem_type", Attrs: "elem_type: type",
			Shape: unknownOutputs, Kernels: core.AnyType(stateless(stackPop))})
		add(core.OpDef{Name: "StackClose", In: "handle: " + h, Shape: noOutputs, Kernels: core.AnyType(stateless(stackClose))})
	}
}

// StackOpts are the optional attributes of StackV2: what messages call the
// stack, its node's name if empty.
type StackOpts struct{ StackName string }

// Apply sets the attributes.
func (o StackOpts) Apply(s *tf.Spec) { s.Set("stack_name", o.StackName) }

// StackV2 makes a stack of tensors of type d that lasts for a step, and
// returns its handle. It holds at most maxSize, a scalar, of them unless that
// is negative. maxSize is int32; another rank is refused with INVALID_ARGUMENT
// in the step. Its options are [StackOpts].
func StackV2(maxSize tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StackV2", tf.Join(opts, tf.Attr("elem_type", d)), maxSize)
}

// StackPushV2 pushes elem, which it returns. The step fails with
// INVALID_ARGUMENT if elem has not the type of the stack, or if the stack is
// full or has been closed, and with NOT_FOUND if it is not there.
func StackPushV2(handle, elem tf.Output, opts ...tf.Option) tf.Output {
	return apply("StackPushV2", opts, handle, elem)
}

// StackPopV2 removes what was pushed last, of type d, and returns it. Nothing
// is known of its shape when the graph is built. The step fails with
// INVALID_ARGUMENT if the stack is empty or has been closed, with NOT_FOUND if
// it is not there, and with INTERNAL if what it returns has not the type d.
func StackPopV2(handle tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StackPopV2", tf.Join(opts, tf.Attr("elem_type", d)), handle)
}

// StackCloseV2 deletes a stack. What is on it is dropped, and a later push or
// pop in the step fails with INVALID_ARGUMENT.
func StackCloseV2(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "StackCloseV2", []tf.Output{handle}, opts...)
}

func stackShape(c *core.Infer) error {
	if c.NumIn() == 0 {
		c.Set(0, tf.Shape{2})
		return nil
	}
	c.Set(0, tf.Shape{})
	return nil
}

// unknownOutputs: nothing is known of the outputs.
func unknownOutputs(*core.Infer) error { return nil }

// A stack is a stack of tensors.
type stack struct {
	name  string
	dtype tf.DType
	most  int // negative: there is no limit

	mu     sync.Mutex
	elems  []*core.Tensor
	closed bool
}

var _ = resource.Declare[*stack]("tensorflow::Stack")

// Close drops what is on the stack.
func (s *stack) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.elems {
		t.Release()
	}
	s.elems, s.closed = nil, true
}

// HeldMemory tells, for reports, what is on the stack.
func (s *stack) HeldMemory() (kind string, bytes int) {
	if s.mu.TryLock() {
		defer s.mu.Unlock()
		for _, t := range s.elems {
			bytes += t.HeldBytes()
		}
	}
	return "stacks", bytes
}

func (s *stack) push(t *core.Tensor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return s.closedError()
	case s.most >= 0 && len(s.elems) >= s.most:
		return tf.Errorf(tf.InvalidArgument, "Stack[%s] overflowed its max_size (%d)", s.name, s.most)
	}
	s.elems = append(s.elems, t.Share())
	return nil
}

func (s *stack) pop() (*core.Tensor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.elems)
	switch {
	case s.closed:
		return nil, s.closedError()
	case n == 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Stack[%s] is empty when calling Pop().", s.name)
	}
	t := s.elems[n-1]
	s.elems[n-1] = nil
	s.elems = s.elems[:n-1]
	return t, nil
}

func (s *stack) closedError() error {
	return tf.Errorf(tf.InvalidArgument, "Stack[%s] has already been closed.", s.name)
}

func newStack(n *core.Node) (core.Kernel, error) {
	base, d := n.Str("stack_name"), n.Type("elem_type")
	if base == "" {
		base = n.Name
	}
	return core.Compute(func(c *core.OpContext) error {
		s := &stack{name: stepName(base), dtype: d, most: -1}
		if len(c.In) > 0 {
			most, err := intInput(c, 0, "Stack size")
			if err != nil {
				return err
			}
			s.most = most
		}
		if err := keepForStep(c, s.name, s); err != nil {
			return err
		}
		giveHandle(c, "_stacks", s.name, s)
		return nil
	}), nil
}

func stackPush(c *core.OpContext) error {
	s, err := fromHandle[*stack](c, "Stack")
	if err != nil {
		return err
	}
	t := c.Input(1)
	if t.DType() != s.dtype {
		return tf.Errorf(tf.InvalidArgument, "Must have type %s but got %s", s.dtype.CName(), t.DType().CName())
	}
	if err := s.push(t); err != nil {
		return err
	}
	c.Forward(1, 0)
	return nil
}

func stackPop(c *core.OpContext) error {
	s, err := fromHandle[*stack](c, "Stack")
	if err != nil {
		return err
	}
	t, err := s.pop()
	if err != nil {
		return err
	}
	c.Set(0, t)
	return nil
}

func stackClose(c *core.OpContext) error {
	s, err := fromHandle[*stack](c, "Stack")
	if err != nil {
		return err
	}
	s.Close()
	return nil
}
