package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		floats = "{half, bfloat16, float, double} = float"
		seeds  = "{int32, int64} = int64"
	)
	stateless("Uniform", "", floats, seeds, "{int32, int64} = int32", uniforms)
	stateless("Normal", "", floats, seeds, "{int32, int64} = int32", normals)
	register("StatelessTruncatedNormal", "", floats, seeds, "{int32, int64} = int32", truncated)
	register("StatelessTruncatedNormalV2", "", floats, "", "", truncated)
	stateless("UniformFullInt", "", "{int32, int64, uint32, uint64} = uint64", "{int32, int64, uint32, uint64} = int64", "{int32, int64} = int32", fullInts)
	register("StatelessRandomUniformInt", "; minval: dtype; maxval: dtype", "{int32, int64}", seeds, "{int32, int64}", someInts)
	register("StatelessRandomUniformIntV2", "; minval: dtype; maxval: dtype", "{int32, int64, uint32, uint64}", "", "", someInts)
}

// stateless declares both versions of an op.
func stateless(name, in, types, seeds, shapes string, draws map[tf.DType]draw) {
	register("StatelessRandom"+name, in, types, seeds, shapes, draws)
	register("StatelessRandom"+name+"V2", in, types, "", "", draws)
}

// register declares a stateless op. Without types of seeds it is of the second
// version, which takes a key and a counter.
func register(name, in, types, seeds, shapes string, draws map[tf.DType]draw) {
	d := core.OpDef{
		Name: name, Out: "output: dtype", Shape: shapeInput(0), NoGrad: core.NotDifferentiable,
		In:    "shape: T; seed: Tseed" + in,
		Attrs: "dtype: " + types + "; T: " + shapes + "; Tseed: " + seeds,
	}
	source, at := fromSeed, 2
	if seeds == "" {
		d.In, d.Attrs = "shape: Tshape; key: uint64; counter: uint64; alg: int32"+in, "dtype: "+types+"; Tshape: {int32, int64} = int32"
		source, at = fromKey, 4
	}
	d.Kernels = kernelsOf(draws, func(f draw) core.Compute { return statelessKernel(source, at, f) })
	core.Register(d)
}

func statelessKernel(source func(*core.OpContext) (stream.Philox, error), at int, f draw) core.Compute {
	return func(c *core.OpContext) error {
		s, err := sizes(c, 0)
		if err != nil {
			return err
		}
		base, err := source(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Node.OutTypes[0], s)
		if err != nil || out.Len() == 0 { // nothing to draw: not even a range is looked at
			return err
		}
		return f(c, base, out, at)
	}
}

// StatelessRandomUniform returns numbers of type d, uniform in [0, 1), in a
// tensor of the given shape. Equal seeds, two integers, give equal numbers.
// The generator is Philox4x32-10 (Salmon et al., SC 2011). d is a
// floating-point type (float16, bfloat16, float32, float64), shape is an
// int32 or int64 vector of sizes that are not negative, seed an int32 or
// int64 vector [2]. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func StatelessRandomUniform(shape, seed tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniform", tf.Join(opts, tf.Attr("dtype", d)), shape, seed)
}

// StatelessRandomUniformV2 is StatelessRandomUniform with the state of a
// generator instead of a seed. key is uint64 [1], counter a uint64 vector of
// 2 elements or more, alg an int32 scalar, Philox or Auto. Another shape or
// algorithm is refused with INVALID_ARGUMENT in the step. Other inputs, types
// and errors are those of StatelessRandomUniform.
func StatelessRandomUniformV2(shape, key, counter, alg tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniformV2", tf.Join(opts, tf.Attr("dtype", d)), shape, key, counter, alg)
}

// StatelessRandomNormal returns normal numbers of mean 0 and deviation 1. The
// numbers are made from uniform ones by the method of Box and Muller (1958).
// Inputs, types and errors are those of StatelessRandomUniform.
func StatelessRandomNormal(shape, seed tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomNormal", tf.Join(opts, tf.Attr("dtype", d)), shape, seed)
}

// StatelessRandomNormalV2 is StatelessRandomNormal with the state of a
// generator instead of a seed. key is uint64 [1], counter a uint64 vector of
// 2 elements or more, alg an int32 scalar, Philox or Auto. Another shape or
// algorithm is refused with INVALID_ARGUMENT in the step. Other inputs, types
// and errors are those of StatelessRandomNormal.
func StatelessRandomNormalV2(shape, key, counter, alg tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomNormalV2", tf.Join(opts, tf.Attr("dtype", d)), shape, key, counter, alg)
}

// StatelessTruncatedNormal returns normal numbers without those beyond ±2.
// Inputs, types and errors are those of StatelessRandomUniform.
func StatelessTruncatedNormal(shape, seed tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessTruncatedNormal", tf.Join(opts, tf.Attr("dtype", d)), shape, seed)
}

// StatelessTruncatedNormalV2 is StatelessTruncatedNormal with the state of a
// generator instead of a seed. key is uint64 [1], counter a uint64 vector of
// 2 elements or more, alg an int32 scalar, Philox or Auto. Another shape or
// algorithm is refused with INVALID_ARGUMENT in the step. Other inputs, types
// and errors are those of StatelessTruncatedNormal.
func StatelessTruncatedNormalV2(shape, key, counter, alg tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessTruncatedNormalV2", tf.Join(opts, tf.Attr("dtype", d)), shape, key, counter, alg)
}

// StatelessRandomUniformInt returns integers uniform in [minval, maxval), up
// to a small bias where the number of integers is no power of two. shape is
// an int32 or int64 vector of sizes that are not negative, seed an int32 or
// int64 vector [2]; minval and maxval are scalars of one type, int32 or
// int64, which the result keeps. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A minval that is not less than maxval fails with INVALID_ARGUMENT in
// the step.
func StatelessRandomUniformInt(shape, seed, minval, maxval tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniformInt", opts, shape, seed, minval, maxval)
}

// StatelessRandomUniformIntV2 is StatelessRandomUniformInt with the state of
// a generator instead of a seed. key is uint64 [1], counter a uint64 vector
// of 2 elements or more, alg an int32 scalar, Philox or Auto. Another shape
// or algorithm is refused with INVALID_ARGUMENT in the step. Other inputs,
// types and errors are those of StatelessRandomUniformInt.
func StatelessRandomUniformIntV2(shape, key, counter, alg, minval, maxval tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniformIntV2", opts, shape, key, counter, alg, minval, maxval)
}

// StatelessRandomUniformFullInt returns integers uniform in the full range of
// type d. d is int32, int64, uint32 or uint64, and so is the type of seed, a
// vector [2]; shape is an int32 or int64 vector of sizes that are not
// negative. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func StatelessRandomUniformFullInt(shape, seed tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniformFullInt", tf.Join(opts, tf.Attr("dtype", d)), shape, seed)
}

// StatelessRandomUniformFullIntV2 is StatelessRandomUniformFullInt with the
// state of a generator instead of a seed. key is uint64 [1], counter a uint64
// vector of 2 elements or more, alg an int32 scalar, Philox or Auto. Another
// shape or algorithm is refused with INVALID_ARGUMENT in the step. Other
// inputs, types and errors are those of StatelessRandomUniformFullInt.
func StatelessRandomUniformFullIntV2(shape, key, counter, alg tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("StatelessRandomUniformFullIntV2", tf.Join(opts, tf.Attr("dtype", d)), shape, key, counter, alg)
}
