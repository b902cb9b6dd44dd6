package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; T: {half, bfloat16, float} = DT_FLOAT"
	core.Register(core.OpDef{
		Name: "LRN", In: "input: T", Out: "output: T", Attrs: attrs,
		Shape: sameImages, Grad: tf.GradFunc(lrnGrad),
		Kernels: core.ByType("T", byType{tf.Float32: lrnKernel(lrn, asItself[float32]()), tf.Float16: lrnKernel(lrn, asFloat32[tf.Half]())}),
	})
	core.Register(core.OpDef{
		Name: "LRNGrad", In: "input_grads: T; input_image: T; output_image: T", Out: "output: T", Attrs: attrs,
		Shape: sameImages, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{tf.Float32: lrnKernel(lrnBack, asItself[float32]()), tf.Float16: lrnKernel(lrnBack, asFloat32[tf.Half]())}),
	})
}

// LRNOpts are the optional attributes of LRN; nil stands for TensorFlow's
// defaults: a radius of 5, bias 1, alpha 1 and beta 0.5.
type LRNOpts struct {
	DepthRadius       *int
	Bias, Alpha, Beta *float32
}

// Apply sets the attributes.
func (o LRNOpts) Apply(s *tf.Spec) {
	if o.DepthRadius != nil {
		s.Set("depth_radius", *o.DepthRadius)
	}
	for name, v := range map[string]*float32{"bias": o.Bias, "alpha": o.Alpha, "beta": o.Beta} {
		if v != nil {
			s.Set(name, *v)
		}
	}
}

// LRN divides each element of images [batch height width channels] by (bias +
// alpha·s)^beta, where s is the sum of the squares of the channels around it.
// Its options are [LRNOpts]. Around it are the element itself and as many
// channels on each side as the radius says. x holds float16 or float32; the
// result has its shape and type. An x of another rank is refused with
// INVALID_ARGUMENT, when the graph is built if the rank is known, else in the
// step, as is a negative radius. The method is that of Krizhevsky, Sutskever
// and Hinton (NIPS 2012).
func LRN(x tf.Output, opts ...tf.Option) tf.Output { return apply("LRN", opts, x) }

// sameImages gives output 0 the shape that all inputs, of rank 4, have.
func sameImages(c *core.Infer) error {
	s := unknownDims(4)
	for i := range c.NumIn() {
		m, ok := s.Merge(c.In(i))
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Shapes must be equal and of rank 4: inputs have shapes %v and %v", s, c.In(i))
		}
		s = m
	}
	c.Set(0, s)
	return nil
}

// lrnAttrs say what a response is normalized by.
type lrnAttrs struct {
	radius            int
	bias, alpha, beta float32
}

func lrnKernel(run func(*core.OpContext, *lrnAttrs, computedIn[float32]) error, k computedIn[float32]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		a := &lrnAttrs{n.Int("depth_radius"), n.Float("bias"), n.Float("alpha"), n.Float("beta")}
		if a.radius < 0 || a.radius > math.MaxInt32 {
			return nil, tf.Errorf(tf.InvalidArgument, "depth_radius = %d larger than int max", a.radius)
		}
		return core.Compute(func(c *core.OpContext) error { return run(c, a, k) }), nil
	}
}

func lrn(c *core.OpContext, a *lrnAttrs, k computedIn[float32]) error {
	in := c.Input(0)
	if in.Rank() != 4 {
		return tf.Errorf(tf.InvalidArgument, "in must be 4-dimensional")
	}
	out, y, err := k.alloc(c, 0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	x := k.load(c, in)
	a.eachBlock(c, in.Shape(), func(b *lrnBlock, lo, hi int) {
		y, x := y[lo:hi], x[lo:hi]
		norm := b.norms[:len(x)]
		b.setNorms(norm, x)
		switch b.beta {
		case 1:
			elementwise.Div(y, x, norm)
		default:
			b.powers(norm)
			elementwise.Mul(y, x, norm)
		}
	})
	k.finish(out, y)
	return nil
}

func lrnBack(c *core.OpContext, a *lrnAttrs, k computedIn[float32]) error {
	dy, in, act := c.Input(0), c.Input(1), c.Input(2)
	if dy.Rank() != 4 || in.Rank() != 4 {
		return tf.Errorf(tf.InvalidArgument, "inputs must be 4-dimensional")
	}
	if s := dy.Shape(); !s.Equal(in.Shape()) || !s.Equal(act.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "input_grads, input_image, and out_image should have the same shape")
	}
	out, dx, err := k.alloc(c, 0, dy.DType(), dy.Shape())
	if err != nil {
		return err
	}
	x, y, g := k.load(c, in), k.load(c, act), k.load(c, dy)
	a.eachBlock(c, dy.Shape(), func(b *lrnBlock, lo, hi int) {
		b.back(dx[lo:hi], g[lo:hi], x[lo:hi], y[lo:hi])
	})
	k.finish(out, dx)
	return nil
}

func lrnGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	like := []tf.Option{}
	for _, name := range []string{"depth_radius", "bias", "alpha", "beta"} {
		like = append(like, tf.Attr(name, op.Attr(name)))
	}
	return tf.Grads(apply("LRNGrad", like, dy[0], op.Input(0), op.Output(0)))
}
