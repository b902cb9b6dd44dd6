package ops

import (
	"strings"

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

const (
	joinedTogether = 64      // how many short strings are parts of one
	mostTogether   = 4 << 10 // how long that one is: any of them keeps all of its memory
)

// joinEach joins the inputs element by element, some short strings in one
// allocation.
func joinEach(c *core.OpContext, y []string, sep string) {
	in, steps := make([][]string, c.Inputs()), make([]int, c.Inputs())
	for k := range in {
		in[k] = core.Data[string](c.Input(k))
		if len(c.Input(k).Shape()) > 0 {
			steps[k] = 1
		}
	}
	for lo := 0; lo < len(y); lo += joinedTogether {
		some := y[lo:min(lo+joinedTogether, len(y))]
		size := max(0, len(in)-1) * len(sep) * len(some)
		for k := range in {
			for i := range some {
				size += len(in[k][(lo+i)*steps[k]])
			}
		}
		if size <= mostTogether {
			joinShort(some, lo, in, steps, sep, size)
		} else {
			joinLong(some, lo, in, steps, sep)
		}
	}
}

// joinShort sets y to the joined elements of in from lo on, which are size
// bytes together. An input with step 0 has one element that goes with all.
func joinShort(y []string, lo int, in [][]string, steps []int, sep string, size int) {
	var all strings.Builder
	var ends [joinedTogether]int
	core.Room(size)
	all.Grow(size)
	for i := range y {
		for k, x := range in {
			if k > 0 {
				all.WriteString(sep)
			}
			all.WriteString(x[(lo+i)*steps[k]])
		}
		ends[i] = all.Len()
	}
	from, text := 0, all.String()
	for i := range y {
		y[i], from = text[from:ends[i]], ends[i]
	}
}

// joinLong is joinShort without shared memory.
func joinLong(y []string, lo int, in [][]string, steps []int, sep string) {
	parts := make([]string, len(in))
	for i := range y {
		for k, x := range in {
			parts[k] = x[(lo+i)*steps[k]]
		}
		y[i] = core.Join(parts, sep)
	}
}
