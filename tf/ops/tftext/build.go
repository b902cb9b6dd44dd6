package tftext

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// grain is the least number of strings worth a task of their own.
const grain = 1 << 7

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// each computes output 0, which has the shape of input 0, string by string.
func each(c *core.OpContext, f func(s string) string) error {
	x := c.Input(0)
	out, err := c.Alloc(0, tf.String, x.Shape())
	if err != nil {
		return err
	}
	in, y := core.Data[string](x), core.Data[string](out)
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = f(in[i])
		}
	})
	return nil
}

// put makes output i a vector of v.
func put[T tf.Elem](c *core.OpContext, i int, v []T) error {
	t, err := c.Alloc(i, tf.TypeOf[T](), tf.Shape{len(v)})
	if err == nil {
		copy(core.Data[T](t), v)
	}
	return err
}

// vectors says that outputs are vectors of any length.
func vectors(c *core.Infer, outputs ...int) {
	for _, i := range outputs {
		c.Set(i, tf.Shape{-1})
	}
}

// oneMore returns the size of a vector of splits of n rows, -1 if n is not known.
func oneMore(n int) int {
	if n < 0 {
		return -1
	}
	return n + 1
}

// tokens collects parts of strings, with where they begin and end in these.
type tokens struct {
	text       []string
	begin, end []int64
}

// add adds text, which is from begin to end.
func (t *tokens) add(text string, begin, end int) {
	if len(t.text) == cap(t.text) {
		core.Room(2 * cap(t.text) * bytesOfToken)
	}
	t.text, t.begin, t.end = append(t.text, text), append(t.begin, int64(begin)), append(t.end, int64(end))
}

// bytesOfToken is what a token takes beside its text: a string and two numbers.
const bytesOfToken = 16 + 2*8
