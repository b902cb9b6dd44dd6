package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	stateful("StatefulUniform", "float", uniforms)
	stateful("StatefulUniformFullInt", "uint64", fullInts)
	stateful("StatefulStandardNormalV2", "float", normals)
	stateful("StatefulTruncatedNormal", "float", truncated)
	core.Register(core.OpDef{
		Name: "StatefulUniformInt", In: generatorInputs + "; minval: dtype; maxval: dtype", Out: "output: dtype",
		Attrs: "dtype: type = int64; shape_dtype: type = int64", Stateful: true,
		Shape: shapeInput(2), NoGrad: core.NotDifferentiable, Kernels: kernelsOf(someInts, statefulKernel),
	})
	core.Register(core.OpDef{
		Name: "StatefulStandardNormal", In: "resource: resource; shape: shape_dtype", Out: "output: dtype",
		Attrs: "dtype: type = float; shape_dtype: type = int64", Stateful: true,
		Shape: shapeInput(1), NoGrad: core.NotDifferentiable, Kernels: kernelsOf(normals, taggedKernel),
	})
	core.Register(core.OpDef{
		Name: "RngSkip", In: "resource: resource; algorithm: int64; delta: int64", Stateful: true,
		Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(skip),
	})
	core.Register(core.OpDef{
		Name: "RngReadAndSkip", In: "resource: resource; alg: int32; delta: uint64", Out: "value: int64", Stateful: true,
		Shape: stateShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(readAndSkip),
	})
	core.Register(core.OpDef{
		Name: "NonDeterministicInts", In: "shape: shape_dtype", Out: "output: dtype",
		Attrs: "dtype: type = int64; shape_dtype: type = int64", Stateful: true,
		Shape: shapeInput(0), NoGrad: core.NotDifferentiable, Kernels: kernelsOf(fullInts, unforeseen),
	})
}

const generatorInputs = "resource: resource; algorithm: int64; shape: shape_dtype"

func stateful(name, d string, draws map[tf.DType]draw) {
	core.Register(core.OpDef{
		Name: name, In: generatorInputs, Out: "output: dtype", Attrs: "dtype: type = " + d + "; shape_dtype: type = int64", Stateful: true,
		Shape: shapeInput(2), NoGrad: core.NotDifferentiable, Kernels: kernelsOf(draws, statefulKernel),
	})
}

// The state of a generator, a variable of int64: two words of counter and a key.
const (
	counterWords = 2
	stateWords   = counterWords + 1
)

// StatefulUniform returns numbers of type d, uniform in [0, 1), in a tensor
// of the given shape, from the generator whose state the variable behind
// handle is. They are those that RandomUniform would draw, and the state
// moves on past them. Philox stands for Philox4x32-10 (Salmon et al., SC
// 2011). d is a floating-point type (float16, bfloat16, float32, float64),
// alg an int64 scalar, and shape is an int32 or int64 vector of sizes that
// are not negative. Other shapes are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. A state that is not
// initialized fails with FAILED_PRECONDITION in the step, one that is no
// int64 vector of at least 3 elements, or an alg that is neither Philox nor
// Auto, with INVALID_ARGUMENT; the algorithm ThreeFry, 2, is UNIMPLEMENTED.
func StatefulUniform(handle, alg, shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return fromState("StatefulUniform", handle, alg, shape, d, opts)
}

// StatefulUniformFullInt is StatefulUniform for integers of the full range of
// d. d is int32, uint32, int64 or uint64. Other inputs, types and errors are
// those of StatefulUniform.
func StatefulUniformFullInt(handle, alg, shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return fromState("StatefulUniformFullInt", handle, alg, shape, d, opts)
}

// StatefulStandardNormalV2 is StatefulUniform for normal numbers of mean 0
// and deviation 1. The numbers are made from uniform ones by the method of
// Box and Muller (1958). Inputs, types and errors are those of
// StatefulUniform.
func StatefulStandardNormalV2(handle, alg, shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return fromState("StatefulStandardNormalV2", handle, alg, shape, d, opts)
}

// StatefulTruncatedNormal is StatefulStandardNormalV2 without what lies
// beyond ±2. Inputs, types and errors are those of StatefulUniform.
func StatefulTruncatedNormal(handle, alg, shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return fromState("StatefulTruncatedNormal", handle, alg, shape, d, opts)
}

// StatefulUniformInt is StatefulUniform for integers in [minval, maxval).
// minval and maxval are scalars of one type, int32 or int64, which the result
// keeps. Others, and a minval that is not less than maxval, fail with
// INVALID_ARGUMENT in the step. Other inputs, types and errors are those of
// StatefulUniform.
func StatefulUniformInt(handle, alg, shape, minval, maxval tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatefulUniformInt", opts, handle, alg, shape, minval, maxval)
}

// RngSkip moves the state of a generator on past delta numbers. alg and delta
// are int64 scalars; other shapes fail with INVALID_ARGUMENT in the step. A
// state that is not initialized fails with FAILED_PRECONDITION in the step,
// one that is no int64 vector of at least 3 elements, or an alg that is
// neither Philox nor Auto, with INVALID_ARGUMENT; the algorithm ThreeFry, 2,
// is UNIMPLEMENTED.
func RngSkip(handle, alg, delta tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "RngSkip", []tf.Output{handle, alg, delta}, opts...)
}

// RngReadAndSkip moves the state of a generator on past delta numbers, and
// returns what it was before. alg is an int32 and delta a uint64 scalar; the
// result is int64 [3], two words of counter and a key. Other shapes are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. A state that is not initialized fails with
// FAILED_PRECONDITION in the step, one that is no int64 vector of at least 3
// elements, or an alg that is neither Philox nor Auto, with INVALID_ARGUMENT;
// the algorithm ThreeFry, 2, is UNIMPLEMENTED.
func RngReadAndSkip(handle, alg, delta tf.Output, opts ...tf.Option) tf.Output {
	return apply("RngReadAndSkip", opts, handle, alg, delta)
}

// NonDeterministicInts returns integers of the full range of d that cannot be
// foreseen. d is int32, uint32, int64 or uint64, and shape is an int32 or
// int64 vector of sizes that are not negative. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func NonDeterministicInts(shape tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("NonDeterministicInts", tf.Join(opts, tf.Attr("dtype", d)), shape)
}

func fromState(op string, handle, alg, shape tf.Output, d tf.DType, opts []tf.Option) tf.Output {
	return apply(op, tf.Join(opts, tf.Attr("dtype", d)), handle, alg, shape)
}

func stateShape(c *core.Infer) error {
	for i := 1; i < 3; i++ {
		if _, err := c.Rank(i, 0); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{stateWords})
	return nil
}

// statefulKernel draws from the generator of input 0 by the algorithm of input
// 1, in the shape of input 2.
func statefulKernel(f draw) core.Compute {
	return func(c *core.OpContext) error {
		alg, err := scalarInput[int64](c, 1)
		if err != nil {
			return err
		}
		return drawFromState(c, f, 2, func(n int) (stream.Philox, error) {
			if err := supported(alg); err != nil {
				return stream.Philox{}, err
			}
			return reserve(c, 0, uint64(n))
		})
	}
}

// taggedKernel is statefulKernel for a state that begins with the algorithm.
func taggedKernel(f draw) core.Compute {
	return func(c *core.OpContext) error {
		return drawFromState(c, f, 1, func(n int) (stream.Philox, error) { return reserve(c, 1, uint64(n)) })
	}
}

// drawFromState fills a tensor of the shape in the given input, from the stream
// that base returns for its number of elements.
func drawFromState(c *core.OpContext, f draw, shape int, base func(n int) (stream.Philox, error)) error {
	s, err := sizes(c, shape)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, c.Node.OutTypes[0], s)
	if err != nil {
		return err
	}
	p, err := base(out.Len())
	if err != nil {
		return err
	}
	return f(c, p, out, shape+1)
}

// scalarInput reads the one element of input i.
func scalarInput[T tf.Elem](c *core.OpContext, i int) (v T, err error) {
	t := c.Input(i)
	if t.Rank() != 0 {
		return v, tf.Errorf(tf.InvalidArgument, "input %d (0-based) must have shape [], not %s", i, t.Shape().String())
	}
	return core.Data[T](t)[0], nil
}

// threeFry is an algorithm that only accelerators have.
const threeFry = 2

func supported(alg int64) error {
	switch alg {
	case Philox, Auto:
		return nil
	case threeFry:
		return tf.Errorf(tf.Unimplemented, "Non-XLA devices don't support the ThreeFry algorithm.")
	}
	return tf.Errorf(tf.InvalidArgument, "Unsupported algorithm id: %d", alg)
}

// reserve returns the stream of the generator behind input 0, and moves its
// state on past n numbers. Before the state there are tags words, of which the
// first is the algorithm.
func reserve(c *core.OpContext, tags int, n uint64) (p stream.Philox, err error) {
	err = updateState(c, tags, func(state []int64) error {
		p = stream.FromKeyCounter(uint64(state[counterWords]), [2]uint64{uint64(state[0]), uint64(state[1])})
		next := p
		next.Skip(256 * n)
		_, counter := next.KeyCounter()
		state[0], state[1] = int64(counter[0]), int64(counter[1])
		return nil
	})
	return p, err
}

// updateState calls f with the state behind input 0 after so many tags.
func updateState(c *core.OpContext, tags int, f func(state []int64) error) error {
	v, err := ops.VariableAt(c, 0)
	if err != nil {
		return err
	}
	return v.Update(func(t *core.Tensor) error {
		if err := checkState(t, tags); err != nil {
			return err
		}
		return f(core.Data[int64](t)[tags:])
	})
}

func checkState(t *core.Tensor, tags int) error {
	switch {
	case t == nil:
		return tf.Errorf(tf.FailedPrecondition, "the state of a generator must have been initialized")
	case t.DType() != tf.Int64:
		return tf.Errorf(tf.InvalidArgument, "dtype of RNG state variable must be int64, not %s", t.DType().CName())
	case t.Rank() != 1:
		return tf.Errorf(tf.InvalidArgument, "RNG state must have one and only one dimension, not %d", t.Rank())
	case tags > 0 && t.Len() < 1:
		return tf.Errorf(tf.InvalidArgument, "Size of tensor must be at least 1")
	case tags > 0:
		if err := supported(core.Data[int64](t)[0]); err != nil {
			return err
		}
	}
	if t.Len() < tags+stateWords {
		return tf.Errorf(tf.InvalidArgument, "For the Philox algorithm, the size of state must be at least %d; got %d", tags+stateWords, t.Len())
	}
	return nil
}

func skip(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		alg, err := scalarInput[int64](c, 1)
		if err != nil {
			return err
		}
		delta, err := scalarInput[int64](c, 2)
		if err != nil {
			return err
		}
		if err := supported(alg); err != nil {
			return err
		}
		_, err = reserve(c, 0, uint64(delta))
		return err
	}), nil
}

func readAndSkip(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		alg, err := scalarInput[int32](c, 1)
		if err != nil {
			return err
		}
		delta, err := scalarInput[uint64](c, 2)
		if err != nil {
			return err
		}
		if err := supported(int64(alg)); err != nil {
			return err
		}
		p, err := reserve(c, 0, delta)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.Int64, tf.Shape{stateWords})
		if err != nil {
			return err
		}
		key, counter := p.KeyCounter()
		copy(core.Data[int64](out), []int64{int64(counter[0]), int64(counter[1]), int64(key)})
		return nil
	}), nil
}

// unforeseen draws from a new stream each time.
func unforeseen(f draw) core.Compute {
	return func(c *core.OpContext) error {
		return drawFromState(c, f, 0, func(n int) (stream.Philox, error) { return stream.NewGenerator(0, 0).Reserve(n), nil })
	}
}
