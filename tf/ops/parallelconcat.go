package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ParallelConcat", In: "values: N * T", Out: "output: T", Attrs: "N: int >= 1; T: type; shape: shape",
		Shape: parallelConcatShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(parallelConcat, dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "_ParallelConcatStart", Out: "output: dtype", Attrs: "shape: shape; dtype: type", Stateful: true,
		Shape: attrShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("dtype", sameFor(parallelConcatStart, dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "_ParallelConcatUpdate", Traits: core.Awaited, In: "value: T; update: T", Out: "output: T", Attrs: "T: type; loc: int",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", sameFor(parallelConcatUpdate, dataTypes...)),
	})
}

// ParallelConcat joins values, each with a first dimension of size 1, along
// that dimension to a tensor of the given shape. values, at least one, have
// one type: numbers, bools or strings. The first size of shape is their
// number, or -1; the others are known and those of each value. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func ParallelConcat(values []tf.Output, shape tf.Shape, opts ...tf.Option) tf.Output {
	return apply("ParallelConcat", tf.Join(opts, tf.Attr("shape", shape)), values...)
}

func parallelConcatShape(c *core.Infer) error {
	s := c.ShapeAttr("shape")
	if s == nil {
		return tf.Errorf(tf.InvalidArgument, "shape attr must be fully defined")
	}
	if len(s) < 1 {
		return tf.Errorf(tf.InvalidArgument, "shape must be at least of rank 1: got %v", s)
	}
	for _, d := range s[1:] {
		if d < 0 {
			return tf.Errorf(tf.InvalidArgument, "All dimensions except the first must be fully defined: got %v", s)
		}
	}
	if s[0] >= 0 && s[0] != c.NumIn() {
		return tf.Errorf(tf.InvalidArgument, "shape's first dimension must be the number of values: got %v for %d values", s, c.NumIn())
	}
	row := append(tf.Shape{1}, s[1:]...)
	for i := range c.NumIn() {
		if _, ok := row.Merge(c.In(i)); !ok {
			return tf.Errorf(tf.InvalidArgument, "values must have the shape of a row: value %d has %v, a row %v", i, c.In(i), row)
		}
	}
	c.Set(0, append(tf.Shape{c.NumIn()}, s[1:]...))
	return nil
}

func parallelConcat(n *core.Node) (core.Kernel, error) {
	d, s := n.Type("T"), n.ShapeAttr("shape")
	return core.Compute(func(c *core.OpContext) error {
		if len(s) < 1 {
			return tf.Errorf(tf.InvalidArgument, "shape must be at least of rank 1: got %v", s)
		}
		row := append(tf.Shape{1}, s[1:]...)
		for i := range c.In {
			if !c.Input(i).Shape().Equal(row) {
				return tf.Errorf(tf.InvalidArgument, "values must have the shape of a row: value %d has %s, a row %s", i, c.Input(i).Shape().String(), row.String())
			}
		}
		out, err := c.Alloc(0, d, append(tf.Shape{len(c.In)}, s[1:]...))
		if err != nil {
			return err
		}
		for i := range c.In {
			move(out, c.Input(i))(i*c.Input(i).Len(), 0, c.Input(i).Len())
		}
		return nil
	}), nil
}

func parallelConcatStart(n *core.Node) (core.Kernel, error) {
	d, s := n.Type("dtype"), n.ShapeAttr("shape")
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, d, s)
		if err == nil {
			clearCells(out)
		}
		return err
	}), nil
}

// parallelConcatUpdate replaces the row at loc, counted from the end if
// negative and modulo the number of rows.
func parallelConcatUpdate(n *core.Node) (core.Kernel, error) {
	d, loc := n.Type("T"), n.Int("loc")
	return core.Compute(func(c *core.OpContext) error {
		value, update := c.Input(0), c.Input(1)
		s, u := value.Shape(), update.Shape()
		if len(s) != len(u) || len(s) < 1 || !s[1:].Equal(u[1:]) {
			return tf.Errorf(tf.InvalidArgument, "value and update shape doesn't match %s vs. %s", s.String(), u.String())
		}
		if u[0] != 1 {
			return tf.Errorf(tf.InvalidArgument, "update shape doesn't match: %s", u.String())
		}
		if s[0] == 0 {
			return tf.Errorf(tf.InvalidArgument, "value has no rows: %s", s.String())
		}
		out, err := c.AllocFrom(0, 0, d, s)
		if err != nil {
			return err
		}
		move(out, value)(0, 0, value.Len())
		row := (loc%s[0] + s[0]) % s[0]
		move(out, update)(row*update.Len(), 0, update.Len())
		return nil
	}), nil
}
