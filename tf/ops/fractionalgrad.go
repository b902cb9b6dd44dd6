package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// FractionalMaxPoolGrad returns the gradient of FractionalMaxPool for x from
// that of its result y, dy. It needs where the windows begin, and whether
// they overlap. rows and columns are the int64 vectors that FractionalMaxPool
// returns; x, y and dy hold int32, int64, float32 or float64 of one type, and
// the result has the shape of x. Each number of dy goes to the first maximum
// of its window. The step refuses with INVALID_ARGUMENT shapes that do not
// fit, windows that begin at negative positions, and a y that does not hold
// the maxima.
func FractionalMaxPoolGrad(x, y, dy, rows, columns tf.Output, overlapping bool, opts ...tf.Option) tf.Output {
	return apply("FractionalMaxPoolGrad", tf.Join(opts, tf.Attr("overlapping", overlapping)), x, y, dy, rows, columns)
}

// FractionalAvgPoolGrad is FractionalMaxPoolGrad for FractionalAvgPool. It
// needs the shape of x only, an int64 vector. Each number of dy is shared
// equally among the pixels of its window. A shape that has not four sizes or
// a negative one, a dy that does not fit it, and windows that begin at
// negative positions are refused with INVALID_ARGUMENT in the step.
func FractionalAvgPoolGrad(shape, dy, rows, columns tf.Output, overlapping bool, opts ...tf.Option) tf.Output {
	return apply("FractionalAvgPoolGrad", tf.Join(opts, tf.Attr("overlapping", overlapping)), shape, dy, rows, columns)
}

func fractionalMaxBackShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	c.Set(0, s)
	return err
}

func fractionalAvgBackShape(c *core.Infer) error {
	if s := c.ConstShape(0); s == nil || len(s) == 4 {
		c.Set(0, s)
	}
	return nil
}

func fractionalMaxGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(FractionalMaxPoolGrad(op.Input(0), op.Output(0), dy[0], op.Output(1), op.Output(2), op.Bool("overlapping")))
}

func fractionalAvgGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	shape := castTo(Shape(op.Input(0)), tf.Int64)
	return tf.Grads(FractionalAvgPoolGrad(shape, dy[0], op.Output(1), op.Output(2), op.Bool("overlapping")))
}

// edgesAt reads inputs i and i+1, where windows begin.
func (w *fractionalWindows) edgesAt(c *core.OpContext, i int) error {
	for k, dst := range []*[]int64{&w.rows, &w.columns} {
		t, name := c.Input(i+k), []string{"row_pooling_sequence", "col_pooling_sequence"}[k]
		if t.Rank() != 1 {
			return tf.Errorf(tf.InvalidArgument, "%s must be a vector, got %s", name, t.Shape().String())
		}
		*dst = core.Data[int64](t)
		for _, v := range *dst {
			if v < 0 {
				return tf.Errorf(tf.InvalidArgument, "%s sequence tensor values must not be negative, got %d", []string{"Row", "Column"}[k], v)
			}
		}
	}
	return nil
}

// describeEmpty is a tensor without elements in TensorFlow's messages.
func describeEmpty(t *core.Tensor) string {
	return fmt.Sprintf("Tensor<type: %s shape: %s values: >", t.DType().CName(), t.Shape().String())
}

// fractionalBack checks the gradient of the results, input dy, and the edges
// after it, of windows on images of shape s.
func fractionalBack(c *core.OpContext, s tf.Shape, dy int) (*fractionalWindows, error) {
	w := &fractionalWindows{in: s, overlapping: c.Node.Bool("overlapping")}
	if err := w.edgesAt(c, dy+1); err != nil {
		return nil, err
	}
	g := c.Input(dy).Shape()
	if len(g) != 4 {
		return nil, tf.Errorf(tf.InvalidArgument, "out_backprop should be a tensor of rank 4, got %s", g.String())
	}
	if g[0] != s[0] || g[3] != s[3] {
		return nil, tf.Errorf(tf.InvalidArgument, "out_backprop must have batch and channels of the input %s, got %s", s.String(), g.String())
	}
	for k, edges := range []*[]int64{&w.rows, &w.columns} {
		if len(*edges) <= g[1+k] {
			return nil, tf.Errorf(tf.InvalidArgument, "Given out_backprop shape %s, there must be at least %d edges of windows along dimension %d, but got %d", g.String(), g[1+k]+1, 1+k, len(*edges))
		}
		*edges = (*edges)[:g[1+k]+1]
	}
	return w, nil
}

// images calls f with the lines of windows of each image, several images at
// once: windows that overlap add to the same pixels.
func (w *fractionalWindows) images(c *core.OpContext, f func(to int, pixels []int)) {
	lines := len(w.rows) - 1
	c.ParallelFor(w.in[0], max(1, elementGrain/max(1, w.in[1]*w.in[2]*w.in[3])), func(lo, hi int) { w.lines(lo*lines, hi*lines, f) })
}

func fractionalMaxBack[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		in, out := c.Input(0), c.Input(1)
		for i, name := range []string{"orig_input", "orig_output"} {
			if t := c.Input(i); t.Rank() != 4 {
				return tf.Errorf(tf.InvalidArgument, "%s should be a tensor of rank 4, got %s", name, t.Shape().String())
			} else if t.Len() == 0 {
				return tf.Errorf(tf.InvalidArgument, "%s must not be empty, got %s", name, describeEmpty(t))
			}
		}
		w, err := fractionalBack(c, in.Shape(), 2)
		if err != nil {
			return err
		}
		if !out.Shape().Equal(c.Input(2).Shape()) {
			return tf.Errorf(tf.InvalidArgument, "orig_output and out_backprop must have the same shape, got %s and %s", out.Shape().String(), c.Input(2).Shape().String())
		}
		t, err := c.Alloc(0, in.DType(), in.Shape())
		if err != nil {
			return err
		}
		return toMaxima(c, w, core.Data[T](t), core.Data[T](in), core.Data[T](out), core.Data[T](c.Input(2)))
	}), nil
}

// toMaxima adds the gradient of each window to that of its first maximum, which
// has to be the result y.
func toMaxima[T numeric.Real](c *core.OpContext, w *fractionalWindows, dx, x, y, dy []T) error {
	clear(dx)
	depth, differs := w.in[3], core.Make[bool](w.in[0])
	w.images(c, func(to int, pixels []int) {
		for ch := range depth {
			best := -1
			for _, from := range pixels {
				if best < 0 || x[best] < x[from+ch] {
					best = from + ch
				}
			}
			if best < 0 || x[best] != y[to+ch] && x[best] == x[best] {
				differs[to/max(1, len(y)/w.in[0])] = true
				continue
			}
			dx[best] += dy[to+ch]
		}
	})
	for _, d := range differs {
		if d {
			return tf.Errorf(tf.InvalidArgument, "tensor_out_dup is not the same as tensor_out")
		}
	}
	return nil
}

func fractionalAvgBack[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		sizes := c.Input(0)
		if sizes.Rank() != 1 || sizes.Len() != 4 {
			return tf.Errorf(tf.InvalidArgument, "original input tensor shape must be1-dimensional and 4 elements")
		}
		s, err := shapeOf(sizes, "orig_input_tensor_shape")
		if err != nil {
			return err
		}
		if err := checkSizes(s); err != nil {
			return err
		}
		if err := core.CheckSize(tf.Float64, s); err != nil {
			return err
		}
		w, err := fractionalBack(c, s, 1)
		if err != nil {
			return err
		}
		t, err := c.Alloc(0, c.Input(1).DType(), s)
		if err != nil {
			return err
		}
		shareOut(c, w, core.Data[T](t), core.Data[T](c.Input(1)))
		return nil
	}), nil
}

// shareOut gives each pixel of a window an equal share of its gradient. Shares
// of integers are added up before they are rounded.
func shareOut[T numeric.Real](c *core.OpContext, w *fractionalWindows, dx, dy []T) {
	sum, depth := core.Make[float64](len(dx)), w.in[3]
	w.images(c, func(to int, pixels []int) {
		n := float64(len(pixels))
		for _, from := range pixels {
			for ch := range depth {
				sum[from+ch] += float64(dy[to+ch]) / n
			}
		}
	})
	elementwise.Cast(dx, sum)
}
