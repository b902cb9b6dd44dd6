package random

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// numbers returns the elements of t in float64.
func numbers(t *core.Tensor) []float64 {
	out := core.Make[float64](t.Len())
	elementwise.Cast(out, elements(t))
	return out
}

// elements returns the elements of t, of a type that parameters may have.
func elements(t *core.Tensor) any {
	switch t.DType() {
	case tf.Float32:
		return core.Data[float32](t)
	case tf.Float64:
		return core.Data[float64](t)
	case tf.Float16:
		return core.Data[tf.Half](t)
	case tf.BFloat16:
		return core.Data[tf.BF16](t)
	case tf.Int32:
		return core.Data[int32](t)
	}
	return core.Data[int64](t)
}

// sampleGrain is the least number of samples worth a task of their own.
const sampleGrain = 256

// sampled fills out with one sample for each number below its length. Samples
// are numbered by parameter first, while the parameter is the last dimension of
// out: place tells where a sample goes.
func sampled(c *core.OpContext, out *core.Tensor, params int, sample func(i, param int) float64) {
	if out.Len() == 0 || params == 0 {
		return
	}
	values, each := core.Borrow[float64](c, out.Len()), out.Len()/params
	c.ParallelFor(len(values), sampleGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			param := i / each
			values[i%each*params+param] = sample(i, param)
		}
	})
	elementwise.Cast(elements(out), values)
}

// appendedShape is the shape function of ops whose output has the shape that
// input 0 tells, and for each such element one for each parameter.
func appendedShape(c *core.Infer) error {
	if _, err := c.Rank(0, 1); err != nil {
		return err
	}
	if s, p := c.ConstShape(0), c.In(1); s != nil && p != nil {
		c.Set(0, append(s.Clone(), p...))
	}
	return nil
}

// appendedOutput makes the output that appendedShape describes.
func appendedOutput(c *core.OpContext, d tf.DType) (*core.Tensor, error) {
	s, err := sizes(c, 0)
	if err != nil {
		return nil, err
	}
	n := s.NumElements()
	for _, size := range c.Input(1).Shape() {
		if n > 0 && size > math.MaxInt64/n {
			return nil, tf.Errorf(tf.InvalidArgument, "Encountered overflow when multiplying %d with %d, result: -1", n, size)
		}
		s, n = append(s, size), n*size
	}
	return c.Alloc(0, d, s)
}

// endsWith reports whether the last dimensions of s are those of end.
func endsWith(s, end tf.Shape) bool {
	return len(s) >= len(end) && s[len(s)-len(end):].Equal(end)
}

// givenOutput makes the output of a stateless op: input i tells its shape, the
// end of which the parameters have.
func givenOutput(c *core.OpContext, i int, d tf.DType, params tf.Shape) (*core.Tensor, error) {
	s, err := sizes(c, i)
	if err != nil {
		return nil, err
	}
	if !endsWith(s, params) {
		return nil, tf.Errorf(tf.InvalidArgument, "Shape passed in must end with broadcasted shape.")
	}
	return c.Alloc(0, d, s)
}

// oneFor returns the kernels of one factory for all the types given.
func oneFor(k core.NewKernel, types ...tf.DType) map[tf.DType]core.NewKernel {
	by := map[tf.DType]core.NewKernel{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// A sampler draws sample i of a distribution with one parameter.
type sampler func(base stream.Philox, i int, param float64) float64

// in returns f for samples of type d. Integers have no infinity: TensorFlow's
// is 0 there.
func (f sampler) in(d tf.DType) sampler {
	if !d.IsInteger() {
		return f
	}
	return func(base stream.Philox, i int, param float64) float64 {
		if v := f(base, i, param); !math.IsInf(v, 1) {
			return v
		}
		return 0
	}
}

// statefulSampler is the kernel of an op with inputs shape and parameter.
func statefulSampler(f sampler) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		g, d := generator(n), n.OutTypes[0]
		f := f.in(d)
		return core.Compute(func(c *core.OpContext) error {
			out, err := appendedOutput(c, d)
			if err != nil {
				return err
			}
			if out.Len() > 0 {
				drawSamples(c, out, 1, f, g.Reserve(out.Len()))
			}
			return nil
		}), nil
	}
}

// statelessSampler is the kernel of an op whose input at is the parameter.
func statelessSampler(at int, source func(*core.OpContext) (stream.Philox, error), f sampler) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.OutTypes[0]
		f := f.in(d)
		return core.Compute(func(c *core.OpContext) error {
			base, err := source(c)
			if err != nil {
				return err
			}
			out, err := givenOutput(c, 0, d, c.Input(at).Shape())
			if err == nil && out.Len() > 0 {
				drawSamples(c, out, at, f, base)
			}
			return err
		}), nil
	}
}

func drawSamples(c *core.OpContext, out *core.Tensor, at int, f sampler, base stream.Philox) {
	params := numbers(c.Input(at))
	sampled(c, out, len(params), func(i, param int) float64 { return f(base, i, params[param]) })
}
