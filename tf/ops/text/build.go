package text

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// grain is the least number of strings worth a task of their own.
const grain = 1 << 9

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// each computes output 0, which has the shape of input 0, string by string.
func each[T tf.Elem](c *core.OpContext, f func(s string) T) error {
	x := c.Input(0)
	out, err := c.Alloc(0, tf.TypeOf[T](), x.Shape())
	if err != nil {
		return err
	}
	in, y := core.Data[string](x), core.Data[T](out)
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = f(in[i])
		}
	})
	return nil
}

// mapped makes a kernel that changes every string by itself.
func mapped(f func(string) string) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error { return each(c, f) }), nil
	}
}

// isTrail reports whether b continues a character of UTF-8.
func isTrail(b byte) bool { return b&0xC0 == 0x80 }

// allocInts makes output i a vector of v in type d, int32 or int64.
func allocInts(c *core.OpContext, i int, d tf.DType, v []int) error {
	t, err := c.Alloc(i, d, tf.Shape{len(v)})
	if err == nil {
		putInts(t, v)
	}
	return err
}

// putInts makes v the elements of t, of type int32 or int64.
func putInts(t *core.Tensor, v []int) {
	if t.DType() == tf.Int32 {
		y := core.Data[int32](t)
		for i, x := range v {
			y[i] = int32(x)
		}
		return
	}
	y := core.Data[int64](t)
	for i, x := range v {
		y[i] = int64(x)
	}
}
