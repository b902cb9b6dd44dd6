package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

var (
	halfToDouble = []tf.DType{tf.Float16, tf.Float32, tf.Float64}
	countTypes   = []tf.DType{tf.Float16, tf.Float32, tf.Float64, tf.Int32, tf.Int64}
)

func init() {
	const (
		seeds  = "seed: int = 0; seed2: int = 0; S: {int32, int64}; "
		counts = "{half, float, double, int32, int64}"
	)
	core.Register(core.OpDef{
		Name: "RandomGamma", Traits: core.Droppable, In: "shape: S; alpha: T", Out: "output: T", Attrs: seeds + "T: {half, float, double}", Stateful: true,
		Shape: appendedShape, Grad: tf.GradFunc(gammaGrad), Kernels: core.ByType("T", oneFor(statefulSampler(stream.Gamma), halfToDouble...)),
	})
	core.Register(core.OpDef{
		Name: "StatelessRandomGammaV2", In: "shape: T; seed: Tseed; alpha: dtype", Out: "output: dtype",
		Attrs: "dtype: {half, float, double}; T: {int32, int64}; Tseed: {int32, int64} = int64",
		Shape: shapeInput(0), Grad: tf.GradFunc(statelessGammaGrad),
		Kernels: core.ByType("dtype", oneFor(statelessSampler(2, fromSeed, stream.Gamma), halfToDouble...)),
	})
	core.Register(core.OpDef{
		Name: "StatelessRandomGammaV3", In: "shape: shape_dtype; key: uint64; counter: uint64; alg: int32; alpha: dtype", Out: "output: dtype",
		Attrs: "dtype: {half, float, double}; shape_dtype: {int32, int64} = int32",
		Shape: shapeInput(0), Grad: tf.GradFunc(statelessGammaGrad),
		Kernels: core.ByType("dtype", oneFor(statelessSampler(4, fromKey, stream.Gamma), halfToDouble...)),
	})
	core.Register(core.OpDef{
		Name: "RandomPoisson", Traits: core.Droppable, In: "shape: S; rate: dtype", Out: "output: dtype", Attrs: seeds + "dtype: {half, float, double}", Stateful: true,
		Shape: appendedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("dtype", oneFor(statefulSampler(stream.Poisson), halfToDouble...)),
	})
	core.Register(core.OpDef{
		Name: "RandomPoissonV2", Traits: core.Droppable, In: "shape: S; rate: R", Out: "output: dtype", Stateful: true,
		Attrs: seeds + "R: " + counts + " = double; dtype: " + counts + " = int64",
		Shape: appendedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("R", oneFor(statefulSampler(stream.Poisson), countTypes...)),
	})
	core.Register(core.OpDef{
		Name: "StatelessRandomPoisson", In: "shape: T; seed: Tseed; lam: Rtype", Out: "output: dtype",
		Attrs: "Rtype: " + counts + "; dtype: " + counts + "; T: {int32, int64}; Tseed: {int32, int64} = int64",
		Shape: shapeInput(0), NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("Rtype", oneFor(statelessSampler(2, fromSeed, stream.Poisson), countTypes...)),
	})
}

// RandomGamma returns, for each element of a tensor of the given shape, one
// gamma number of scale 1 for each element of alpha. The method is that of
// Marsaglia and Tsang (2000). shape is an int32 or int64 vector of sizes that
// are not negative, alpha has any shape and type float16, float32 or float64,
// which the result [shape... alpha...] keeps. Other shapes are refused with
// INVALID_ARGUMENT, a rank when the graph is built, a size in the step.
// Option ops.RandomOpts sets the seed.
func RandomGamma(shape, alpha tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomGamma", seeded(shape.Graph(), opts), shape, alpha)
}

// StatelessRandomGammaV2 returns gamma numbers of scale 1 in a tensor of the
// given shape, whose last dimensions are those of alpha. The method is that
// of Marsaglia and Tsang (2000). shape is an int32 or int64 vector of sizes
// that are not negative, seed an int32 or int64 vector [2]; alpha has type
// float16, float32 or float64, which the result keeps. A shape that does not
// end with that of alpha fails with INVALID_ARGUMENT in the step.
func StatelessRandomGammaV2(shape, seed, alpha tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomGammaV2", opts, shape, seed, alpha)
}

// StatelessRandomGammaV3 is StatelessRandomGammaV2 with the state of a
// generator instead of a seed. key is uint64 [1], counter a uint64 vector of
// 2 elements or more, alg an int32 scalar, Philox or Auto. Another shape or
// algorithm is refused with INVALID_ARGUMENT in the step. Other inputs, types
// and errors are those of StatelessRandomGammaV2.
func StatelessRandomGammaV3(shape, key, counter, alg, alpha tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomGammaV3", opts, shape, key, counter, alg, alpha)
}

// RandomPoisson returns, for each element of a tensor of the given shape, one
// Poisson number for each element of rate, in the type of rate. For large
// rates the method is transformed rejection (Hörmann, 1993). shape is an
// int32 or int64 vector of sizes that are not negative, rate has any shape
// and type float16, float32 or float64; the result has shape [shape...
// rate...]. A rate that is infinite or NaN is the number itself. Other shapes
// are refused with INVALID_ARGUMENT, a rank when the graph is built, a size
// in the step. Option ops.RandomOpts sets the seed.
func RandomPoisson(shape, rate tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomPoisson", seeded(shape.Graph(), opts), shape, rate)
}

// RandomPoissonV2 is RandomPoisson with results of type d. rate and d are
// float16, float32, float64, int32 or int64. An infinite rate gives 0 if d is
// an integer type. Other inputs, types and errors are those of RandomPoisson.
func RandomPoissonV2(shape, rate tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("RandomPoissonV2", tf.Join(seeded(shape.Graph(), opts), tf.Attr("dtype", d)), shape, rate)
}

// StatelessRandomPoisson returns Poisson numbers of type d in a tensor of the
// given shape, whose last dimensions are those of rate. For large rates the
// method is transformed rejection (Hörmann, 1993). shape is an int32 or int64
// vector of sizes that are not negative, seed an int32 or int64 vector [2];
// rate and d are float16, float32, float64, int32 or int64. A rate that is
// infinite is the number itself, or 0 if d is an integer type. A shape that
// does not end with that of rate fails with INVALID_ARGUMENT in the step.
func StatelessRandomPoisson(shape, seed, rate tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomPoisson", tf.Join(opts, tf.Attr("dtype", d)), shape, seed, rate)
}
