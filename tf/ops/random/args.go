package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// grain is the least number of elements worth a task of their own.
const grain = 4 << 10

func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// seeded sets seed and seed2 by the rule of TensorFlow's clients.
func seeded(g *tf.Graph, opts []tf.Option) []tf.Option {
	if g == nil {
		return opts
	}
	var own *int64
	for _, o := range opts {
		if r, ok := o.(ops.RandomOpts); ok {
			own = r.Seed
		}
	}
	seed, seed2 := g.Seeds(own)
	return tf.Join(opts, tf.Attr("seed", seed), tf.Attr("seed2", seed2))
}

// generator makes the state of a node's stream, which its kernel keeps.
func generator(n *core.Node) *stream.Generator {
	return stream.NewGenerator(int64(n.Int("seed")), int64(n.Int("seed2")))
}

// shapeInput is the shape function of an op whose output has the shape that
// input i, a vector of sizes, tells.
func shapeInput(i int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
		s := c.ConstShape(i)
		for _, d := range s {
			if d < -1 || d < 0 && c.Const(i) != nil {
				return tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", d)
			}
		}
		c.Set(0, s)
		return nil
	}
}

// sizes reads a shape from input i.
func sizes(c *core.OpContext, i int) (tf.Shape, error) {
	t := c.Input(i)
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "shape must be a vector of {int32,int64}, got shape %s", t.Shape().String())
	}
	v, err := t.Ints()
	if err != nil {
		return nil, err
	}
	for _, n := range v {
		if n < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", n)
		}
	}
	return append(tf.Shape{}, v...), nil
}

// scalarOf returns the one element of input i.
func scalarOf[T tf.Elem](c *core.OpContext, i int, name string) (v T, err error) {
	t := c.Input(i)
	if t.Rank() != 0 {
		return v, tf.Errorf(tf.InvalidArgument, "%s must be 0-D, got shape %s", name, t.Shape().String())
	}
	return core.Data[T](t)[0], nil
}
