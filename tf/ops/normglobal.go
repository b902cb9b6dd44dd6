package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "T: numbertype; variance_epsilon: float; scale_after_normalization: bool"
	types := []tf.DType{tf.Float16, tf.Float32, tf.Float64}
	core.Register(core.OpDef{
		Name: "BatchNormWithGlobalNormalization", In: "t: T; m: T; v: T; beta: T; gamma: T", Out: "result: T", Attrs: attrs,
		Shape: globalNormShape, Grad: tf.GradFunc(globalNormGrad),
		Kernels: core.ByType("T", only(convKernels(globalNorm[float32], globalNorm[float64]), types...)),
	})
	core.Register(core.OpDef{
		Name: "BatchNormWithGlobalNormalizationGrad", In: "t: T; m: T; v: T; gamma: T; backprop: T", Out: "dx: T; dm: T; dv: T; db: T; dg: T", Attrs: attrs,
		Shape: globalNormGradShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(globalNormBack[float32], globalNormBack[float64]), types...)),
	})
}

// BatchNormWithGlobalNormalization normalizes images [batch height width
// channels] by mean m and variance v of each channel, scales them by gamma if
// asked to, and adds beta. It is the batch normalization of Ioffe and Szegedy
// (ICML 2015, arXiv:1502.03167). The result is (x - m)·gamma/√(v + epsilon) +
// beta, of the shape of x. m, v, beta and gamma are vectors with an element
// for each channel; all have one type, float16, float32 or float64. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step.
func BatchNormWithGlobalNormalization(x, m, v, beta, gamma tf.Output, epsilon float32, scale bool, opts ...tf.Option) tf.Output {
	own := tf.Join(opts, tf.Attr("variance_epsilon", epsilon), tf.Attr("scale_after_normalization", scale))
	return apply("BatchNormWithGlobalNormalization", own, x, m, v, beta, gamma)
}

// channelsOf merges what images and vectors say of the number of channels.
func channelsOf(c *core.Infer, images []int, vectors ...int) (tf.Shape, error) {
	s := unknownDims(4)
	for _, i := range images {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "images must have rank 4 and one shape: %v and %v", s, c.In(i))
		}
		s = m
	}
	for _, i := range vectors {
		v, err := c.Rank(i, 1)
		if err != nil {
			return nil, err
		}
		d, ok := mergedDim(s[3], v[0])
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d", s[3], v[0])
		}
		s = append(s[:3:3], d)
	}
	return s, nil
}

func globalNormShape(c *core.Infer) error {
	s, err := channelsOf(c, []int{0}, 1, 2, 3, 4)
	if err == nil {
		c.Set(0, s)
	}
	return err
}

func globalNormGradShape(c *core.Infer) error {
	s, err := channelsOf(c, []int{0, 4}, 1, 2, 3)
	if err != nil {
		return err
	}
	c.Set(0, s)
	for i := 1; i < 5; i++ {
		c.Set(i, tf.Shape{s[3]})
	}
	return nil
}

// globalNormArgs checks images and the named vectors in the inputs from 1 on.
func globalNormArgs(c *core.OpContext, vectors ...string) error {
	x := c.Input(0).Shape()
	if len(x) != 4 {
		return tf.Errorf(tf.InvalidArgument, "input must be 4-dimensional%s", x.String())
	}
	for i, name := range vectors {
		s := c.Input(i + 1).Shape()
		if len(s) != 1 {
			return tf.Errorf(tf.InvalidArgument, "%s must be 1-dimensional%s", name, s.String())
		}
		if s[0] != x[3] {
			return tf.Errorf(tf.InvalidArgument, "%s must have an element for each of %d channels, got shape %s", name, x[3], s.String())
		}
	}
	return nil
}

// deviations returns the reciprocals of the square roots of v + epsilon.
func deviations[T numeric.Float](v []T, epsilon float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = 1 / math.Sqrt(float64(x)+epsilon)
	}
	return out
}

func globalNorm[T numeric.Float](k computedIn[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		epsilon, scale := float64(n.Float("variance_epsilon")), n.Bool("scale_after_normalization")
		return core.Compute(func(c *core.OpContext) error {
			if err := globalNormArgs(c, "mean", "var", "beta", "gamma"); err != nil {
				return err
			}
			out, y, err := k.alloc(c, 0, c.Input(0).DType(), c.Input(0).Shape())
			if err != nil {
				return err
			}
			x, mean, beta, gamma := k.load(c, c.Input(0)), k.load(c, c.Input(1)), k.load(c, c.Input(3)), k.load(c, c.Input(4))
			factor := deviations(k.load(c, c.Input(2)), epsilon)
			for i := range factor {
				if scale {
					factor[i] *= float64(gamma[i])
				}
			}
			c.ParallelFor(len(x)/max(1, len(mean)), max(1, elementGrain/max(1, len(mean))), func(lo, hi int) {
				for i := lo * len(mean); i < hi*len(mean); i++ {
					ch := i % len(mean)
					y[i] = (x[i]-mean[ch])*T(factor[ch]) + beta[ch]
				}
			})
			k.finish(out, y)
			return nil
		}), nil
	}
}

func globalNormBack[T numeric.Float](k computedIn[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		epsilon, scale := float64(n.Float("variance_epsilon")), n.Bool("scale_after_normalization")
		return core.Compute(func(c *core.OpContext) error {
			if err := globalNormArgs(c, "mean", "var", "gamma"); err != nil {
				return err
			}
			if s := c.Input(4).Shape(); !s.Equal(c.Input(0).Shape()) {
				return tf.Errorf(tf.InvalidArgument, "out_backprop must be 4-dimensional%s", s.String())
			}
			g := &globalNormGrads[T]{x: k.load(c, c.Input(0)), mean: k.load(c, c.Input(1)), dy: k.load(c, c.Input(4))}
			dx := g.compute(k.load(c, c.Input(2)), k.load(c, c.Input(3)), epsilon, scale)
			for i, v := range [][]T{dx, g.dm, g.dv, g.db, g.dg} {
				s := tf.Shape{len(g.mean)}
				if i == 0 {
					s = c.Input(0).Shape()
				}
				out, z, err := k.alloc(c, i, c.Input(0).DType(), s)
				if err != nil {
					return err
				}
				copy(z, v)
				k.finish(out, z)
			}
			return nil
		}), nil
	}
}

// globalNormGrads computes the gradients of a normalization by given moments.
type globalNormGrads[T numeric.Float] struct {
	x, mean, dy    []T
	dm, dv, db, dg []T
}

func (g *globalNormGrads[T]) compute(variance, gamma []T, epsilon float64, scale bool) []T {
	n := len(g.mean)
	factor := deviations(variance, epsilon)
	sums, products := core.Make[float64](n), core.Make[float64](n)
	dx := core.Make[T](len(g.x))
	for i, d := range g.dy {
		ch := i % n
		sums[ch] += float64(d)
		products[ch] += float64(d) * float64(g.x[i]-g.mean[ch])
		w := factor[ch]
		if scale {
			w *= float64(gamma[ch])
		}
		dx[i] = d * T(w)
	}
	g.dm, g.dv, g.db, g.dg = core.Make[T](n), core.Make[T](n), core.Make[T](n), core.Make[T](n)
	for i, f := range factor {
		w := 1.0
		if scale {
			w, g.dg[i] = float64(gamma[i]), T(products[i]*f)
		}
		g.db[i], g.dm[i] = T(sums[i]), T(-sums[i]*f*w)
		g.dv[i] = T(-0.5 * products[i] * w * f / (float64(variance[i]) + epsilon))
	}
	return dx
}

func globalNormGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	like := []tf.Option{tf.Attr("variance_epsilon", op.Attr("variance_epsilon")), tf.Attr("scale_after_normalization", op.Bool("scale_after_normalization"))}
	d := outputs(5, "BatchNormWithGlobalNormalizationGrad", like, op.Input(0), op.Input(1), op.Input(2), op.Input(4), dy[0])
	return tf.Grads(d...)
}
