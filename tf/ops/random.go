package ops

import (
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const randomAttrs = "seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float, double}; T: {int32, int64}"
	register := func(name string, kernels byType) {
		core.Register(core.OpDef{
			Name: name, Traits: core.Droppable, In: "shape: T", Out: "output: dtype", Attrs: randomAttrs, Stateful: true, Expensive: true,
			Shape: fillShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("dtype", kernels),
		})
	}
	register("RandomUniform", byType{
		tf.Float32: randomFill(random.UniformFloat32), tf.Float64: randomFill(random.UniformFloat64),
		tf.Float16: randomBits[tf.Half](random.UniformHalf), tf.BFloat16: randomBits[tf.BF16](random.UniformBFloat16),
	})
	register("RandomStandardNormal", byType{
		tf.Float32: randomFill(random.NormalFloat32), tf.Float64: randomFill(random.NormalFloat64),
		tf.Float16: randomBits[tf.Half](random.NormalHalf), tf.BFloat16: randomBits[tf.BF16](random.NormalBFloat16),
	})
	register("TruncatedNormal", byType{
		tf.Float32: randomFill(random.TruncatedNormalFloat32), tf.Float64: randomFill(random.TruncatedNormalFloat64),
		tf.Float16: randomBits[tf.Half](random.TruncatedNormalHalf), tf.BFloat16: randomBits[tf.BF16](random.TruncatedNormalBFloat16),
	})
	core.Register(core.OpDef{
		Name: "RandomUniformInt", Traits: core.Droppable, In: "shape: T; minval: Tout; maxval: Tout", Out: "output: Tout",
		Attrs: "seed: int = 0; seed2: int = 0; Tout: {int32, int64}; T: {int32, int64}", Stateful: true,
		Shape: fillShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tout", byType{tf.Int32: randomInt(random.UniformInt[int32]), tf.Int64: randomInt(random.UniformInt64[int64])}),
	})
}

// RandomOpts are the optional attributes of random operations. An operation
// without a seed gets one from its graph's, if that has one; without any seed
// its numbers differ from run to run.
type RandomOpts struct{ Seed *int64 }

// Apply leaves the attributes to the function that adds the operation: they
// depend on the graph.
func (o RandomOpts) Apply(*tf.Spec) {}

// Seed returns RandomOpts with the given seed. Any number is allowed.
func Seed(seed int64) RandomOpts { return RandomOpts{&seed} }

// seeded sets seed and seed2 by the rule of TensorFlow's clients.
func seeded(g *tf.Graph, opts []tf.Option) []tf.Option {
	if g == nil {
		return opts
	}
	var own *int64
	for _, o := range opts {
		if r, ok := o.(RandomOpts); ok {
			own = r.Seed
		}
	}
	seed, seed2 := g.Seeds(own)
	return tf.Join(opts, tf.Attr("seed", seed), tf.Attr("seed2", seed2))
}

// RandomUniform returns numbers of type d, uniform in [0, 1), in a tensor of
// the given shape: sizes, or a vector of them, with which g may be nil. The
// generator is Philox4x32-10 (Salmon et al., SC 2011). d is float16,
// bfloat16, float32 or float64. Every step draws new numbers; RandomOpts and
// the seed of the graph make their sequence repeatable. Negative sizes and a
// shape that is no vector are refused with INVALID_ARGUMENT, the sizes when
// the graph is built if they are known, else in the step.
func RandomUniform[I tf.Ints](g *tf.Graph, shape I, d tf.DType, opts ...tf.Option) tf.Output {
	return randomOf("RandomUniform", author.IntsOf(g, shape), d, opts)
}

// RandomStandardNormal returns normal numbers of mean 0 and deviation 1, in a
// tensor of the given shape, as RandomUniform does. The numbers are made from
// uniform ones by the method of Box and Muller (1958). Types, seeds and
// errors are those of RandomUniform.
func RandomStandardNormal[I tf.Ints](g *tf.Graph, shape I, d tf.DType, opts ...tf.Option) tf.Output {
	return randomOf("RandomStandardNormal", author.IntsOf(g, shape), d, opts)
}

// TruncatedNormal returns normal numbers of mean 0 and deviation 1 without
// those beyond ±2, in a tensor of the given shape, as RandomUniform does.
// Types, seeds and errors are those of RandomUniform.
func TruncatedNormal[I tf.Ints](g *tf.Graph, shape I, d tf.DType, opts ...tf.Option) tf.Output {
	return randomOf("TruncatedNormal", author.IntsOf(g, shape), d, opts)
}

func randomOf(op string, shape tf.Output, d tf.DType, opts []tf.Option) tf.Output {
	return apply(op, tf.Join(seeded(shape.Graph(), opts), tf.Attr("dtype", d)), shape)
}

// RandomUniformInt returns integers uniform in [minval, maxval), up to a
// small bias where the number of integers is no power of two. The limits are
// Outputs or Go integers; their type, int32 if both are int, is that of the
// result. It is int32 or int64. Limits that are no scalars, and a minval that
// is not less than maxval, are refused in the step with INVALID_ARGUMENT, the
// latter only if the result has elements. Shape and seeds are those of
// RandomUniform.
func RandomUniformInt[I tf.Ints](g *tf.Graph, shape I, minval, maxval any, opts ...tf.Option) tf.Output {
	sizes := author.IntsOf(g, shape)
	limits := operands(sizes.Graph(), minval, maxval)
	return apply("RandomUniformInt", seeded(sizes.Graph(), opts), sizes, limits[0], limits[1])
}

// randomGrain is the least number of elements worth a task of their own.
const randomGrain = 4 << 10

// A filler sets elements from the stream that begins at base; group is the
// number of the group of elements that out begins with.
type filler[T any] func(base random.Philox, group uint64, out []T)

// groupSize returns how many elements of a type come from one block.
func groupSize(d tf.DType) int {
	if d.Size() == 8 {
		return random.Group64
	}
	return random.Group
}

// fillGroups runs f over out in pieces that begin where groups do, so that the
// numbers do not depend on the pieces.
func fillGroups[T any](c *core.OpContext, base random.Philox, size int, out []T, f filler[T]) {
	groups := (len(out) + size - 1) / size
	c.ParallelFor(groups, randomGrain/size, func(lo, hi int) {
		f(base, uint64(lo), out[lo*size:min(hi*size, len(out))])
	})
}

// generator makes the state of a node's stream, which its kernel keeps.
func generator(n *core.Node) *random.Generator {
	return random.NewGenerator(int64(n.Int("seed")), int64(n.Int("seed2")))
}

func randomFill[T tf.Elem](f filler[T]) core.NewKernel {
	return randomKernel(f, func(t *core.Tensor) []T { return core.Data[T](t) })
}

// randomBits is randomFill for the types that loops know as their 16 bits.
func randomBits[H tf.Half | tf.BF16](f filler[uint16]) core.NewKernel {
	return randomKernel(f, cells[uint16])
}

func randomKernel[T any](f filler[T], data func(*core.Tensor) []T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, gen := n.Type("dtype"), generator(n)
		return core.Compute(func(c *core.OpContext) error {
			out, err := allocSizes(c, c.Input(0), d)
			if err != nil {
				return err
			}
			fillGroups(c, gen.Reserve(out.Len()), groupSize(d), data(out), f)
			return nil
		}), nil
	}
}

func randomInt[T int32 | int64](f func(base random.Philox, group uint64, low, high T, out []T)) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, gen := n.Type("Tout"), generator(n)
		return core.Compute(func(c *core.OpContext) error {
			low, high, err := intRange[T](c)
			if err != nil {
				return err
			}
			out, err := allocSizes(c, c.Input(0), d)
			if err != nil || out.Len() == 0 {
				return err // nothing to draw: not even the range is looked at
			}
			if low >= high {
				return tf.Errorf(tf.InvalidArgument, "Need minval < maxval, got %d >= %d", low, high)
			}
			fill := func(base random.Philox, group uint64, out []T) { f(base, group, low, high, out) }
			fillGroups(c, gen.Reserve(out.Len()), groupSize(d), core.Data[T](out), fill)
			return nil
		}), nil
	}
}

// intRange reads inputs 1 and 2, minval and maxval.
func intRange[T int32 | int64](c *core.OpContext) (low, high T, err error) {
	var v [2]T
	for i, name := range [2]string{"minval", "maxval"} {
		t := c.Input(1 + i)
		if t.Rank() != 0 {
			return 0, 0, tf.Errorf(tf.InvalidArgument, "%s must be 0-D, got shape %s", name, t.Shape().String())
		}
		v[i] = core.Data[T](t)[0]
	}
	return v[0], v[1], nil
}
