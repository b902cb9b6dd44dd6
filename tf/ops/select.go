package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Select", In: "condition: bool; t: T; e: T", Out: "output: T", Attrs: "T: type",
		Shape: selectShape, Grad: tf.GradFunc(selectGrad),
		Kernels: byCell(stateless(selectRows[uint8]), stateless(selectRows[uint16]), stateless(selectRows[uint32]), stateless(selectRows[uint64]), stateless(selectRows[complex128]),
			stateless(selectRows[string]), stateless(selectRows[core.ResourceHandle]), stateless(selectRows[core.VariantValue])).on("T"),
	})
	core.Register(core.OpDef{
		Name: "SelectV2", In: "condition: bool; t: T; e: T", Out: "output: T", Attrs: "T: type",
		Shape: selectV2Shape, Grad: tf.GradFunc(selectV2Grad),
		Kernels: byCell(stateless(selectBroadcast[uint8]), stateless(selectBroadcast[uint16]), stateless(selectBroadcast[uint32]), stateless(selectBroadcast[uint64]), stateless(selectBroadcast[complex128]),
			stateless(selectBroadcast[string]), stateless(selectBroadcast[core.ResourceHandle]), stateless(selectBroadcast[core.VariantValue])).on("T"),
	})
}

// Select returns t where condition holds and e elsewhere. Both have the same
// shape; condition has it too, or is a scalar, or a vector that chooses rows.
func Select(condition, t, e tf.Output, opts ...tf.Option) tf.Output {
	return apply("Select", opts, condition, t, e)
}

// SelectV2 returns t where condition holds and e elsewhere, all broadcast.
func SelectV2(condition, t, e tf.Output, opts ...tf.Option) tf.Output {
	return apply("SelectV2", opts, condition, t, e)
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
	if !slices.Equal(t.Shape(), e.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "'then' and 'else' must have the same size.  but received: %s vs. %s", t.Shape().String(), e.Shape().String())
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
	s, ok := tf.BroadcastShapes(t.Shape(), e.Shape())
	if ok {
		s, ok = tf.BroadcastShapes(cond.Shape(), s)
	}
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "condition %s, then %s, and else %s must be broadcastable",
			cond.Shape().String(), t.Shape().String(), e.Shape().String())
	}
	out, err := c.Alloc(0, t.DType(), s)
	if err != nil {
		return err
	}
	b, _ := kernel.NewBroadcast(cond.Shape(), t.Shape(), e.Shape())
	kernel.SelectBroadcast(c.ParallelFor, b, cells[T](out), core.Data[bool](cond), cells[T](t), cells[T](e))
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
