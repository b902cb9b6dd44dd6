package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for name, f := range map[string]function2{"Sum": ops.Sum[tf.Output], "Mean": ops.Mean[tf.Output], "Prod": ops.Prod[tf.Output], "Max": ops.Max[tf.Output], "Min": ops.Min[tf.Output]} {
		add := func(what string, x, axes *core.Tensor, opts ...tf.Option) {
			addSamples(sample{Op: name, Name: what, In: []*core.Tensor{x, axes}, F: binary(f, opts...), Tol: 1e-5})
		}
		add("", seq(2, 3), vec[int32](1))
		add("all", seq(2, 3), vec[int32](0, 1))
		add("all, not in order", seq(2, 3), vec[int32](1, 0))
		add("first", seq(3, 2), vec[int32](0))
		add("outer and inner", seq(2, 3, 2), vec[int32](0, -1))
		add("middle, kept", seq(2, 3, 2), vec[int32](1), ops.ReduceOpts{KeepDims: true})
		add("all, kept", seq(2, 3), vec[int32](-1, -2), ops.ReduceOpts{KeepDims: true})
		add("no axes", seq(2, 3), vec[int32]())
		add("scalar axis", seq(2, 3), arr(tf.Shape{}, int32(0)))
		add("axes of 64 bits", seq(2, 3), vec[int64](1))
		add("of a scalar", arr(tf.Shape{}, float32(3)), vec[int32]())
		add("of nothing", seq(0, 3), vec[int32](0))
		add("to nothing", seq(0, 3), vec[int32](1))
		add("ints of nothing", arr[int32](tf.Shape{0, 2}), vec[int32](0))
		add("small ints", vec[int8](-100, -100, 37), vec[int32](0))
		addReductionFailures(name, f, seq(2, 3))
		addSamples(sample{Op: name, Name: "specials", In: []*core.Tensor{mat[float32](2, nan, 1, 1, inf, -inf, inf, -2, -1), vec[int32](1)},
			F: binary(f), Rough: "infinite and undefined values"})
	}
	for _, o := range []ops.ReduceOpts{{}, {KeepDims: true}} {
		addSamples(sample{Op: "EuclideanNorm", Name: fmt.Sprintf("%+v", o), In: []*core.Tensor{seq(2, 3, 2), vec[int32](0, 2)}, F: binary(ops.EuclideanNorm[tf.Output], o), Tol: 1e-5})
	}
	addSamples(sample{Op: "EuclideanNorm", Name: "all", In: []*core.Tensor{seq(2, 3), vec[int64](0, 1)}, F: binary(ops.EuclideanNorm[tf.Output]), Tol: 1e-5})
	addSamples(
		sample{Op: "EuclideanNorm", Name: "whole", In: []*core.Tensor{vec[int32](3, 4, -5, 7), vec[int64](0)}, F: binary(ops.EuclideanNorm[tf.Output]), Types: []tf.DType{tf.Int8, tf.Int16}},
		sample{Op: "EuclideanNorm", Name: "overflow", In: []*core.Tensor{mat[uint8](2, 200, 100, 3, 5), vec[int32](1)}, F: binary(ops.EuclideanNorm[tf.Output])})
	addReductionFailures("EuclideanNorm", ops.EuclideanNorm[tf.Output], seq(2, 3))
	for name, f := range map[string]function2{"All": ops.All[tf.Output], "Any": ops.Any[tf.Output]} {
		x := mat(3, true, true, true, true, false, true, false, false, false)
		addSamples(
			sample{Op: name, In: []*core.Tensor{x, vec[int32](1)}, F: binary(f)},
			sample{Op: name, Name: "first, kept", In: []*core.Tensor{x, vec[int32](0)}, F: binary(f, ops.ReduceOpts{KeepDims: true})},
			sample{Op: name, Name: "all", In: []*core.Tensor{x, vec[int32](0, 1)}, F: binary(f)},
			sample{Op: name, Name: "of nothing", In: []*core.Tensor{arr[bool](tf.Shape{2, 0}), vec[int32](1)}, F: binary(f)})
		addReductionFailures(name, f, x)
	}
	for name, f := range map[string]function2{"Cumsum": ops.Cumsum[tf.Output], "Cumprod": ops.Cumprod[tf.Output]} {
		for _, o := range []ops.CumulativeOpts{{}, {Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
			what := fmt.Sprintf("%+v", o)
			addSamples(
				sample{Op: name, Name: what, In: []*core.Tensor{seq(2, 4), arr(tf.Shape{}, int32(1))}, F: binary(f, o), Tol: 1e-5},
				sample{Op: name, Name: "first " + what, In: []*core.Tensor{seq(3, 2), arr(tf.Shape{}, int32(-2))}, F: binary(f, o), Tol: 1e-5, Types: onlyOwn})
		}
		addSamples(
			sample{Op: name, Name: "of nothing", In: []*core.Tensor{seq(3, 0), arr(tf.Shape{}, int32(0))}, F: binary(f)},
			sample{Op: name, Name: "axis too great", Fails: true, In: []*core.Tensor{seq(3, 2), arr(tf.Shape{}, int32(2))}, F: binary(f)},
			sample{Op: name, Name: "several axes", Fails: true, In: []*core.Tensor{seq(3, 2), vec[int32](1, 0)}, F: binary(f)})
	}
	addPositions()
}

func addReductionFailures(name string, f function2, x *core.Tensor) {
	addSamples(
		sample{Op: name, Name: "axis too great", Fails: true, In: []*core.Tensor{x, vec[int32](2)}, F: binary(f)},
		sample{Op: name, Name: "axis too small", Fails: true, In: []*core.Tensor{x, vec[int32](-3)}, F: binary(f)},
		sample{Op: name, Name: "axis twice", Fails: true, In: []*core.Tensor{x, vec[int32](1, -1)}, F: binary(f)})
}

func addPositions() {
	axis := func(i int32) *core.Tensor { return arr(tf.Shape{}, i) }
	for name, f := range map[string]function2{"ArgMax": ops.ArgMax[tf.Output], "ArgMin": ops.ArgMin[tf.Output]} {
		addSamples(
			sample{Op: name, In: []*core.Tensor{seq(2, 5), axis(1)}, F: binary(f)},
			sample{Op: name, Name: "middle", In: []*core.Tensor{seq(2, 4, 3), axis(-2)}, F: binary(f)},
			sample{Op: name, Name: "as int32", In: []*core.Tensor{seq(3, 2), axis(0)}, F: binary(f, ops.ArgOpts{OutputType: tf.Int32})},
			sample{Op: name, Name: "first of equals, not numbers", In: []*core.Tensor{mat(4, nan, 3, 3, nan, 1, nan, -1, -1, inf, -inf, inf, -inf), axis(1)}, F: binary(f)},
			sample{Op: name, Name: "of no rows", In: []*core.Tensor{seq(0, 2), axis(1)}, F: binary(f)},
			sample{Op: name, Name: "of nothing", Fails: true, In: []*core.Tensor{seq(2, 0), axis(1)}, F: binary(f)},
			sample{Op: name, Name: "axis too great", Fails: true, In: []*core.Tensor{seq(2, 3), axis(2)}, F: binary(f)},
			sample{Op: name, Name: "of a scalar", Fails: true, In: []*core.Tensor{seq(), axis(0)}, F: binary(f)},
			sample{Op: name, Name: "two axes", Fails: true, In: []*core.Tensor{seq(2, 3), vec[int32](0, 1)}, F: binary(f)})
	}
	addSamples(sample{Op: "ArgMax", Name: "as uint16", NoGolden: "TensorFlow's shape function misreads an axis of 16 bits", In: []*core.Tensor{seq(3, 2), arr(tf.Shape{}, int16(0))}, F: binary(ops.ArgMax[tf.Output], ops.ArgOpts{OutputType: tf.Uint16})})
}
