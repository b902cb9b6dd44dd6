package core

// An Infer is what a shape function sees: the node, what is known of its
// inputs, and where to put what follows for the outputs.
type Infer struct {
	*Node
	in      []Shape
	out     []Shape
	handles []HandleInfo // by output, for resource outputs
	known   Known
	err     error // the first input or output asked for that there is not
}

// A HandleInfo is what is known of the value behind a resource handle.
type HandleInfo struct {
	DType DType
	Shape Shape
}

// A Known tells a shape function what is known of a node's inputs beside their
// shapes. Functions that are nil know nothing.
type Known struct {
	Value   func(i int) *Tensor       // the constant value of input i, or nil
	Partial func(i int) (Shape, bool) // input i, a vector of sizes, as a partly known shape
	Handle  func(i int) HandleInfo    // the value behind input i, a resource
}

// In returns the shape of input i.
func (c *Infer) In(i int) Shape {
	if c.missing("input", i, len(c.in)) {
		return nil
	}
	return c.in[i]
}

// missing notes that there is no input or output i, if that is so: a node of a
// hostile graph may have other attributes than a shape function expects.
func (c *Infer) missing(what string, i, n int) bool {
	if i >= 0 && i < n {
		return false
	}
	if c.err == nil {
		c.err = Errorf(InvalidArgument, "a node must have the inputs and outputs that its attributes imply: %s has %d %ss, there is no %s %d", c.OpName(), n, what, what, i)
	}
	return true
}

// NumIn returns the number of inputs.
func (c *Infer) NumIn() int { return len(c.in) }

// NumOut returns the number of outputs.
func (c *Infer) NumOut() int { return len(c.out) }

// Set gives output i its shape.
func (c *Infer) Set(i int, s Shape) {
	if !c.missing("output", i, len(c.out)) {
		c.out[i] = s
	}
}

// Rank returns the shape of input i, which must have rank r; if nothing is
// known of it, a shape of r unknown sizes.
func (c *Infer) Rank(i, r int) (Shape, error) {
	s := c.In(i)
	if s == nil {
		s = make(Shape, r)
		for j := range s {
			s[j] = -1
		}
		return s, nil
	}
	if len(s) != r {
		return nil, Errorf(InvalidArgument, "Shape must be rank %d but is rank %d: input %s has shape %v", r, len(s), c.inName(i), s)
	}
	return s, nil
}

// inName returns the name of input i in the op's signature.
func (c *Infer) inName(i int) string {
	for k := range c.Def.Inputs {
		ts, err := c.Def.Inputs[k].Types(c.Attrs)
		if err != nil {
			break
		}
		if i < len(ts) {
			return c.Def.Inputs[k].Name
		}
		i -= len(ts)
	}
	return "?"
}

// Const returns the value of input i if it is known while the graph is built,
// else nil.
func (c *Infer) Const(i int) *Tensor {
	if c.known.Value == nil || c.missing("input", i, len(c.in)) {
		return nil
	}
	return c.known.Value(i)
}

// ConstInts returns the value of input i as ints, if it is known.
func (c *Infer) ConstInts(i int) ([]int, bool) {
	t := c.Const(i)
	if t == nil {
		return nil, false
	}
	v, err := t.Ints()
	return v, err == nil
}

// ConstShape returns input i, a vector of sizes, as a shape: as much of it as
// is known.
func (c *Infer) ConstShape(i int) Shape {
	if v, ok := c.ConstInts(i); ok {
		return append(Shape{}, v...)
	}
	if c.known.Partial != nil && i < len(c.in) {
		if s, ok := c.known.Partial(i); ok {
			return s
		}
	}
	if s := c.In(i); len(s) == 1 && s[0] >= 0 && s[0] <= maxRank { // no tensor has a larger rank
		out := make(Shape, s[0])
		for j := range out {
			out[j] = -1
		}
		return out
	}
	return nil
}

// SetHandle says what value lies behind the resource handle of output i.
func (c *Infer) SetHandle(i int, d DType, s Shape) {
	if c.missing("output", i, len(c.out)) {
		return
	}
	if c.handles == nil {
		c.handles = make([]HandleInfo, len(c.out))
	}
	c.handles[i] = HandleInfo{d, s}
}

// Handle returns what is known of the value behind the handle of input i.
func (c *Infer) Handle(i int) (DType, Shape) {
	if c.known.Handle == nil || c.missing("input", i, len(c.in)) {
		return Invalid, nil
	}
	h := c.known.Handle(i)
	return h.DType, h.Shape
}

// Infer runs the shape function of n on inputs of the given shapes. It returns
// the outputs' shapes and, if the function says so, what lies behind handles.
// A shape function that asks for what the node does not have fails, as one that
// panics does.
func (n *Node) Infer(in []Shape, known Known) (out []Shape, handles []HandleInfo, err error) {
	defer n.recovered(&err)
	c := &Infer{Node: n, in: in, out: make([]Shape, len(n.OutTypes)), known: known}
	if err := n.Def.Shape(c); err != nil {
		return nil, nil, err
	}
	return c.out, c.handles, c.err
}

// recovered is Recover for the shape function of n.
func (n *Node) recovered(err *error) {
	if v := recover(); v != nil {
		*err = Panicked("the shape function of "+n.OpName(), v)
	}
}

// InferShapes runs the shape function of n on inputs of the given shapes,
// without knowledge of their values: what a pass or a test needs.
func InferShapes(n *Node, in []Shape, value func(i int) *Tensor) ([]Shape, error) {
	out, _, err := n.Infer(in, Known{Value: value})
	return out, err
}
