package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Select", Traits: core.Elementwise | core.Cheap, In: "condition: bool; t: T; e: T", Out: "output: T", Attrs: "T: type",
		Shape: selectShape, Grad: tf.GradFunc(selectGrad),
		Kernels: byCell(choice(selectRows[uint8], selectedShape, chooseLoop[uint8]), choice(selectRows[uint16], selectedShape, chooseLoop[uint16]), withLanes(elementwise.SelectLanes, choice(selectRows[uint32], selectedShape, chooseLoop[uint32])),
			choice(selectRows[uint64], selectedShape, chooseLoop[uint64]), choice(selectRows[complex128], selectedShape, chooseLoop[complex128]),
			stateless(selectRows[string]), stateless(selectRows[core.ResourceHandle]), stateless(selectRows[core.VariantValue])).on("T"),
	})
	core.Register(core.OpDef{
		Name: "SelectV2", Traits: core.Elementwise | core.Cheap, In: "condition: bool; t: T; e: T", Out: "output: T", Attrs: "T: type",
		Shape: selectV2Shape, Grad: tf.GradFunc(selectV2Grad),
		Kernels: byCell(choice(selectBroadcast[uint8], selectedV2Shape, chooseLoop[uint8]), choice(selectBroadcast[uint16], selectedV2Shape, chooseLoop[uint16]), withLanes(elementwise.SelectLanes, choice(selectBroadcast[uint32], selectedV2Shape, chooseLoop[uint32])),
			choice(selectBroadcast[uint64], selectedV2Shape, chooseLoop[uint64]), choice(selectBroadcast[complex128], selectedV2Shape, chooseLoop[complex128]),
			stateless(selectBroadcast[string]), stateless(selectBroadcast[core.ResourceHandle]), stateless(selectBroadcast[core.VariantValue])).on("T"),
	})
}

// Select returns t where condition holds and e elsewhere. Both have the same
// shape; condition has it too, or is a scalar, or a vector that chooses rows.
// t and e have one type: numbers, bool, strings, resource handles or variants.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func Select(condition, t, e tf.Output, opts ...tf.Option) tf.Output {
	return apply("Select", opts, condition, t, e)
}

// SelectV2 returns t where condition holds and e elsewhere, all broadcast. The
// result has the broadcast shape of the three. t and e have one type: numbers,
// bool, strings, resource handles or variants. Shapes that do not broadcast
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func SelectV2(condition, t, e tf.Output, opts ...tf.Option) tf.Output {
	return apply("SelectV2", opts, condition, t, e)
}

// choice returns the factory of a kernel that chooses elements.
func choice(k core.Compute, shape func(*core.Node, []tf.Shape) (tf.Shape, error), loop core.Loop) core.NewKernel {
	e := &core.ElementKernel{Compute: k, Shape: shape, Loop: loop, Repeats: true}
	return func(*core.Node) (core.Kernel, error) { return e, nil }
}

// chooseLoop takes elements of the second operand where the first holds, else of the
// third.
func chooseLoop[T interface {
	tf.Elem
	cell
}](z []byte, in []core.Operand) {
	elementwise.SelectRun(core.Elements[T](z), core.Elements[bool](in[0].Data), stepOf(in[0]), core.Elements[T](in[1].Data), stepOf(in[1]), core.Elements[T](in[2].Data), stepOf(in[2]))
}

func stepOf(x core.Operand) int {
	if x.Repeated {
		return 0
	}
	return 1
}

// selectedShape is the shape of what Select chooses. A condition of few elements is
// one for rows.
func selectedShape(n *core.Node, in []tf.Shape) (tf.Shape, error) {
	cond, t, e := in[0], in[1], in[2]
	if !slices.Equal(t, e) {
		return nil, tf.Errorf(tf.InvalidArgument, "'then' and 'else' must have the same size.  but received: %s vs. %s", t.String(), e.String())
	}
	if _, err := selectedRow(n, cond, t); err != nil {
		return nil, err
	}
	if len(cond) == 1 {
		in[0] = slices.Concat(cond, slices.Repeat(tf.Shape{1}, len(t)-1))
	}
	return t, nil
}

// selectedV2Shape is the shape of what SelectV2 chooses.
func selectedV2Shape(_ *core.Node, in []tf.Shape) (tf.Shape, error) {
	s, ok := tf.BroadcastShapes(in[1], in[2])
	if ok {
		s, ok = tf.BroadcastShapes(in[0], s)
	}
	if !ok {
		return nil, tf.Errorf(tf.InvalidArgument, "condition %s, then %s, and else %s must be broadcastable", in[0].String(), in[1].String(), in[2].String())
	}
	return s, nil
}

func selectShape(c *core.Infer) error {
	s, ok := c.In(1).Merge(c.In(2))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "'then' and 'else' must have the same size: shapes are %v and %v", c.In(1), c.In(2))
	}
	c.Set(0, s)
	cond := c.In(0)
	if cond == nil || s == nil || len(cond) == 0 {
		return nil
	}
	if len(cond) == 1 && len(s) > 0 && cond.Compatible(s[:1]) {
		return nil
	}
	if !cond.Compatible(s) {
		return tf.Errorf(tf.InvalidArgument, "the condition must be a scalar, have the shape of 'then' or choose its rows: shapes are %v and %v", cond, s)
	}
	return nil
}

func selectV2Shape(c *core.Infer) error {
	s, ok := tf.BroadcastShapes(c.In(1), c.In(2))
	if ok {
		s, ok = tf.BroadcastShapes(c.In(0), s)
	}
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "condition, then and else must be broadcastable: shapes are %v, %v and %v", c.In(0), c.In(1), c.In(2))
	}
	c.Set(0, s)
	return nil
}

func selectRows[T cell](c *core.OpContext) error {
	cond, t, e := c.Input(0), c.Input(1), c.Input(2)
	if _, err := selectedShape(c.Node, []tf.Shape{cond.Shape(), t.Shape(), e.Shape()}); err != nil {
		return err
	}
	row, err := selectedRow(c.Node, cond.Shape(), t.Shape())
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, t.DType(), t.Shape())
	if err != nil {
		return err
	}
	z, x, y := cells[T](out), cells[T](t), cells[T](e)
	for i, first := range core.Data[bool](cond) {
		from := y
		if first {
			from = x
		}
		copy(z[i*row:(i+1)*row], from[i*row:(i+1)*row])
	}
	return nil
}

// selectedRow returns how many elements each element of the condition chooses.
func selectedRow(n *core.Node, cond, t tf.Shape) (int, error) {
	switch {
	case len(cond) == 0:
		return t.NumElements(), nil
	case slices.Equal(cond, t):
		return 1, nil
	case len(cond) > 1 || len(t) == 1:
		return 0, tf.Errorf(tf.InvalidArgument, "Inputs to operation %s of type %s must have the same size and shape.  Input 0: %s != input 1: %s",
			n.Name, n.OpName(), cond.String(), t.String())
	case len(t) == 0:
		return 0, tf.Errorf(tf.InvalidArgument, "'then' must be at least a vector, but saw shape: %s", t.String())
	case t[0] != cond[0]:
		return 0, tf.Errorf(tf.InvalidArgument, "Number of batches of 'then' must match size of 'cond', but saw: %d vs. %d", t[0], cond[0])
	}
	return t[1:].NumElements(), nil
}

func selectBroadcast[T cell](c *core.OpContext) error {
	cond, t, e := c.Input(0), c.Input(1), c.Input(2)
	s, err := selectedV2Shape(c.Node, []tf.Shape{cond.Shape(), t.Shape(), e.Shape()})
	if err != nil {
		return err
	}
	out, err := c.AllocFrom(2, 0, t.DType(), s)
	if err != nil {
		return err
	}
	b, _ := elementwise.NewBroadcast(cond.Shape(), t.Shape(), e.Shape())
	elementwise.SelectBroadcast(c.ParallelFor, b, cells[T](out), core.Data[bool](cond), cells[T](t), cells[T](e))
	return nil
}

func selectGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	cond, zeros := op.Input(0), ZerosLike(op.Input(1))
	return tf.Grads(tf.Output{}, Select(cond, dy[0], zeros), Select(cond, zeros, dy[0]))
}

func selectV2Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	cond, z, zero := op.Input(0), op.Output(0), numberLike(dy[0], 0)
	dx := unbroadcast(op.Input(1), z, SelectV2(cond, dy[0], zero), tf.Output{})
	de := unbroadcast(op.Input(2), z, SelectV2(cond, zero, dy[0]), tf.Output{})
	return []tf.Gradient{{}, dx[0], de[0]}
}
