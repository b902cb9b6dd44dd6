package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "StringJoin", In: "inputs: N * string", Out: "output: string", Attrs: "N: int >= 0; separator: string = ''",
		Shape: stringJoinShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(stringJoin),
	})
}

// StringJoinOpts are the optional attributes of StringJoin: what comes between
// the strings.
type StringJoinOpts struct{ Separator string }

// Apply sets the attributes.
func (o StringJoinOpts) Apply(s *tf.Spec) { s.Set("separator", o.Separator) }

// StringJoin joins the strings of xs element by element. They have one shape,
// apart from scalars, which go with all. The result has that shape; without xs
// it is the empty string, a scalar. Different shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Its options are [StringJoinOpts].
func StringJoin(g *tf.Graph, xs []tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "StringJoin", xs, tf.Join(opts, tf.Attr("N", len(xs)))...).Output(0)
}

func stringJoinShape(c *core.Infer) error {
	out, scalars := tf.Shape(nil), true
	for i := range c.NumIn() {
		s := c.In(i)
		if s == nil {
			scalars = false
		}
		if len(s) == 0 {
			continue
		}
		m, ok := out.Merge(s)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Input shapes do not match: %v vs. %v", out, s)
		}
		out, scalars = m, false
	}
	if scalars {
		out = tf.Shape{}
	}
	c.Set(0, out)
	return nil
}

func stringJoin(n *core.Node) (core.Kernel, error) {
	sep := n.Str("separator")
	return core.Compute(func(c *core.OpContext) error {
		shape := tf.Shape{}
		for i := range c.Inputs() {
			switch s := c.Input(i).Shape(); {
			case len(s) == 0:
			case len(shape) == 0:
				shape = s.Clone()
			case !shape.Equal(s):
				return tf.Errorf(tf.InvalidArgument, "Input shapes do not match: %s vs. %s", shape.String(), s.String())
			}
		}
		out, err := c.Alloc(0, tf.String, shape)
		if err != nil {
			return err
		}
		joinEach(c, core.Data[string](out), sep)
		return nil
	}), nil
}

// joinEach joins the inputs element by element.
func joinEach(c *core.OpContext, y []string, sep string) {
	parts := make([]string, c.Inputs())
	for i := range y {
		for k := range parts {
			if x := core.Data[string](c.Input(k)); len(c.Input(k).Shape()) == 0 {
				parts[k] = x[0]
			} else {
				parts[k] = x[i]
			}
		}
		y[i] = core.Join(parts, sep)
	}
}
