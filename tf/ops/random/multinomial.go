package random

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const out = "output_dtype: {int32, int64} = int64"
	core.Register(core.OpDef{
		Name: "Multinomial", Traits: core.Droppable, In: "logits: T; num_samples: int32", Out: "output: output_dtype",
		Attrs: "seed: int = 0; seed2: int = 0; T: realnumbertype; " + out, Stateful: true,
		Shape: multinomialShape, NoGrad: core.NotDifferentiable, Kernels: multinomialKernels(nextBase),
	})
	core.Register(core.OpDef{
		Name: "StatelessMultinomial", In: "logits: T; num_samples: int32; seed: Tseed", Out: "output: output_dtype",
		Attrs: "T: realnumbertype; Tseed: {int32, int64} = int64; " + out,
		Shape: multinomialShape, NoGrad: core.NotDifferentiable, Kernels: multinomialKernels(seedBase),
	})
}

// MultinomialOpts is the optional attribute of Multinomial and
// StatelessMultinomial: the type of the result, Int32 or, which is the default, Int64.
type MultinomialOpts struct{ OutputDType tf.DType }

// Apply sets the attributes.
func (o MultinomialOpts) Apply(s *tf.Spec) {
	if o.OutputDType != tf.Invalid {
		s.Set("output_dtype", o.OutputDType)
	}
}

// Multinomial draws n classes for every row of logits, the unscaled
// logarithms of the classes' probabilities. logits are a matrix
// [batch classes] of a floating-point type (float16, bfloat16, float32,
// float64), n is an int32 scalar that is not negative; the result is
// [batch n], int64 unless the option says int32. Other shapes are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step. A negative n, and logits without classes, fail with
// INVALID_ARGUMENT in the step. Option ops.RandomOpts sets the seed.
// Its options are [MultinomialOpts].
func Multinomial(logits, n tf.Output, opts ...tf.Option) tf.Output {
	return apply("Multinomial", seeded(logits.Graph(), opts), logits, n)
}

// StatelessMultinomial is Multinomial with a seed of two integers. The seed
// is int32 or int64; another shape than [2] fails with INVALID_ARGUMENT in
// the step. Other inputs, types and errors are those of Multinomial.
// Its options are [MultinomialOpts].
func StatelessMultinomial(logits, n, seed tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessMultinomial", opts, logits, n, seed)
}

func multinomialShape(c *core.Infer) error {
	s, err := c.Rank(0, 2)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	n := -1
	if v, ok := c.ConstInts(1); ok && len(v) == 1 {
		n = max(v[0], -1)
	}
	c.Set(0, tf.Shape{s[0], n})
	return nil
}

// baseOf returns the stream for a run that draws n numbers for each of rows.
type baseOf func(c *core.OpContext, rows, n int) (stream.Philox, error)

func nextBase(n *core.Node) baseOf {
	g := generator(n)
	return func(_ *core.OpContext, rows, n int) (stream.Philox, error) {
		return g.ReserveBlocks(stream.MultinomialBlocks(rows, n)), nil
	}
}

func seedBase(*core.Node) baseOf {
	return func(c *core.OpContext, _, _ int) (stream.Philox, error) { return seedAt(c, 2) }
}

func multinomialKernels(source func(*core.Node) baseOf) core.KernelSet {
	return core.ByType("T", map[tf.DType]core.NewKernel{
		tf.Float32: multinomial(source, core.Data[float32]), tf.Float64: multinomial(source, core.Data[float64]),
		tf.Float16: multinomial(source, widened[tf.Half]), tf.BFloat16: multinomial(source, widened[tf.BF16]),
	})
}

// widened returns the elements of a 16-bit type in float32.
func widened[H interface {
	numeric.HalfFloat
	tf.Elem
}](t *core.Tensor) []float32 {
	out := core.Make[float32](t.Len())
	elementwise.Widen(out, core.Data[H](t))
	return out
}

// multinomialArgs checks the inputs and returns the number of samples.
func multinomialArgs(c *core.OpContext) (int, error) {
	logits, num := c.Input(0), c.Input(1)
	if logits.Rank() != 2 {
		return 0, tf.Errorf(tf.InvalidArgument, "logits should be a matrix, got shape %s", logits.Shape().String())
	}
	if num.Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_samples should be a scalar, got shape %s", num.Shape().String())
	}
	n := int(core.Data[int32](num)[0])
	if n < 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_samples should be non-negative, got %d", n)
	}
	if logits.Dim(1) <= 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "num_classes should be positive, got %d", logits.Dim(1))
	}
	return n, nil
}

func multinomial[F float32 | float64](source func(*core.Node) baseOf, load func(*core.Tensor) []F) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, base := n.Type("output_dtype"), source(n)
		return core.Compute(func(c *core.OpContext) error {
			num, err := multinomialArgs(c)
			if err != nil {
				return err
			}
			logits := c.Input(0)
			rows, classes := logits.Dim(0), logits.Dim(1)
			p, err := base(c, rows, num)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, d, tf.Shape{rows, num})
			if err != nil || out.Len() == 0 {
				return err
			}
			if d == tf.Int32 {
				stream.Multinomial(p, elementwise.Exp[float64], load(logits), classes, num, core.Data[int32](out))
			} else {
				stream.Multinomial(p, elementwise.Exp[float64], load(logits), classes, num, core.Data[int64](out))
			}
			return nil
		}), nil
	}
}
