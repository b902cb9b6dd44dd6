package tf

// An Infer is what a shape function sees: the node, what is known of its
// inputs, and where to put what follows for the outputs.
type Infer struct {
	*Node
	in      []Shape
	out     []Shape
	handles []handleInfo              // by output, for resource outputs
	value   func(i int) *Tensor       // constant value of input i, or nil
	partial func(i int) (Shape, bool) // input i, a vector, as a partly known shape
	handle  func(i int) handleInfo
}

// handleInfo is what is known of the value behind a resource handle.
type handleInfo struct {
	dtype DType
	shape Shape
}

// In returns the shape of input i.
func (c *Infer) In(i int) Shape { return c.in[i] }

// NumIn returns the number of inputs.
func (c *Infer) NumIn() int { return len(c.in) }

// NumOut returns the number of outputs.
func (c *Infer) NumOut() int { return len(c.out) }

// Set gives output i its shape.
func (c *Infer) Set(i int, s Shape) { c.out[i] = s }

// Rank returns the shape of input i, which must have rank r; if nothing is
// known of it, a shape of r unknown sizes.
func (c *Infer) Rank(i, r int) (Shape, error) {
	s := c.in[i]
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
		ts, err := c.Def.Inputs[k].types(c.Attrs)
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
	if c.value == nil {
		return nil
	}
	return c.value(i)
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
	if c.partial != nil {
		if s, ok := c.partial(i); ok {
			return s
		}
	}
	if s := c.in[i]; len(s) == 1 && s[0] >= 0 {
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
	if c.handles == nil {
		c.handles = make([]handleInfo, len(c.out))
	}
	c.handles[i] = handleInfo{d, s}
}

// Handle returns what is known of the value behind the handle of input i.
func (c *Infer) Handle(i int) (DType, Shape) {
	if c.handle == nil {
		return Invalid, nil
	}
	h := c.handle(i)
	return h.dtype, h.shape
}

// InferShapes runs the shape function of n on inputs of the given shapes,
// without knowledge of their values: what a pass or a test needs.
func InferShapes(n *Node, in []Shape, value func(i int) *Tensor) ([]Shape, error) {
	c := &Infer{Node: n, in: in, out: make([]Shape, len(n.OutTypes)), value: value}
	if err := n.Def.Shape(c); err != nil {
		return nil, err
	}
	return c.out, nil
}
