package data

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "MapDefun", In: "arguments: Targuments; captured_inputs: Tcaptured", Out: "output: output_types",
		Attrs: "Targuments: list(type) >= 1; Tcaptured: list(type) >= 0 = []; output_types: list(type) >= 1; output_shapes: list(shape) >= 1; f: func; max_intra_op_parallelism: int = 1",
		Shape: mapDefunShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(mapDefun),
	})
}

// mapDefunShape puts the number of rows before the shapes that the node promises.
func mapDefunShape(c *core.Infer) error {
	shapes, _ := c.Attr("output_shapes").([]tf.Shape)
	if len(shapes) != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "`output_shapes` must be the same length as `output_types` (%d vs. %d)", len(shapes), c.NumOut())
	}
	arguments, _ := c.Attr("Targuments").([]tf.DType)
	n := -1
	for i := range arguments {
		in := c.In(i)
		if in == nil {
			continue
		}
		if len(in) == 0 {
			return tf.Errorf(tf.InvalidArgument, "Arguments must have rank at least 1. Input %d has rank of 0.", i)
		}
		if n >= 0 && in[0] >= 0 && in[0] != n {
			return tf.Errorf(tf.InvalidArgument, "Arguments must have the same dimension 0.")
		}
		n = max(n, in[0])
	}
	for i, s := range shapes {
		if s != nil {
			c.Set(i, append(tf.Shape{n}, s...))
		}
	}
	return nil
}

// mapDefun calls a function with each row of the arguments, at once, and makes
// the results the rows of the outputs.
func mapDefun(n *core.Node) (core.Kernel, error) {
	shapes, _ := n.Attr("output_shapes").([]tf.Shape)
	if len(shapes) != len(n.OutTypes) {
		return nil, tf.Errorf(tf.InvalidArgument, "Length of output_shapes and output_types must match.")
	}
	arguments := len(n.TypesAttr("Targuments"))
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		size, err := commonRows(c, arguments)
		if err != nil {
			done(err)
			return
		}
		m := &rowCalls{c: c, arguments: arguments, shapes: slices.Clone(shapes), size: size, left: size, done: done}
		m.begin()
	}), nil
}

// commonRows returns how many rows all arguments have.
func commonRows(c *core.OpContext, arguments int) (int, error) {
	size := -1
	for i := range arguments {
		switch s := c.Input(i).Shape(); {
		case len(s) == 0:
			return 0, tf.Errorf(tf.InvalidArgument, "All inputs must have rank at least 1. Input %d has a rank of 0.", i)
		case i > 0 && s[0] != size:
			return 0, tf.Errorf(tf.InvalidArgument, "All inputs must have the same dimension 0. Input %d has leading dimension %d, while all previous inputs have leading dimension %d", i, s[0], size)
		default:
			size = s[0]
		}
	}
	return size, nil
}

// rowCalls are the calls of one execution.
type rowCalls struct {
	c         *core.OpContext
	arguments int
	size      int
	done      func(error)

	mu     sync.Mutex
	shapes []tf.Shape // of rows of the outputs; what is open the first result says
	out    []*core.Tensor
	left   int
	err    error // the first
}

// begin makes the outputs whose shapes are known and calls the function.
func (m *rowCalls) begin() {
	m.out = make([]*core.Tensor, len(m.shapes))
	for i, s := range m.shapes {
		if s.Known() {
			if m.err = m.alloc(i, s); m.err != nil {
				m.done(m.err)
				return
			}
		}
	}
	if m.size == 0 {
		m.finish()
		return
	}
	captured := m.c.Tensors(m.arguments, m.c.Inputs())
	for i := range m.size {
		in := make([]*core.Tensor, m.arguments, m.arguments+len(captured))
		for k := range in {
			in[k] = rowOf(m.c.Input(k), i)
		}
		m.c.CallWith(m.c.Node.FuncAttr("f"), append(in, captured...), func(out []*core.Tensor, err error) { m.ended(i, out, err) })
	}
}

func rowOf(t *core.Tensor, i int) *core.Tensor {
	out := core.NewTensor(t.DType(), t.Shape()[1:])
	rows.Mover(out, t)(0, i*out.Len(), out.Len())
	return out
}

func (m *rowCalls) alloc(i int, s tf.Shape) (err error) {
	m.shapes[i] = s
	m.out[i], err = core.AllocTensor(m.c.Node.OutTypes[i], append(tf.Shape{m.size}, s...))
	return err
}

// ended takes the results of call i. The last one completes the node.
func (m *rowCalls) ended(i int, out []*core.Tensor, err error) {
	m.mu.Lock()
	if err == nil {
		err = m.keep(i, out)
	}
	if m.err == nil {
		m.err = err
	}
	m.left--
	last := m.left == 0
	m.mu.Unlock()
	if last {
		m.finish()
	}
}

func (m *rowCalls) keep(i int, out []*core.Tensor) error {
	if len(out) != len(m.out) {
		return tf.Errorf(tf.InvalidArgument, "Mismatch in number of function outputs.")
	}
	for k, t := range out {
		switch {
		case t.DType() != m.c.Node.OutTypes[k]:
			return tf.Errorf(tf.InvalidArgument, "Mismatch in function return type and expected output type for output: %d", k)
		case !m.shapes[k].Compatible(t.Shape()):
			return tf.Errorf(tf.InvalidArgument, "Mismatch in function retval shape, %s, and expected output shape, %s.", t.Shape().String(), m.shapes[k].String())
		case m.out[k] == nil:
			if err := m.alloc(k, t.Shape()); err != nil {
				return err
			}
		}
		rows.Mover(m.out[k], t)(i*t.Len(), 0, t.Len())
	}
	return nil
}

func (m *rowCalls) finish() {
	if m.err == nil && slices.Contains(m.out, nil) {
		m.err = tf.Errorf(tf.InvalidArgument, "the shapes of outputs must be known where there are no rows to tell of them")
	}
	if m.err == nil {
		m.err = m.c.SetAll(m.out)
	}
	m.done(m.err)
}
