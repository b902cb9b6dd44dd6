package ops_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for name, f := range map[string]function2{"Sum": ops.Sum, "Mean": ops.Mean, "Prod": ops.Prod, "Max": ops.Max, "Min": ops.Min} {
		add := func(what string, x, axes *tf.Tensor, opts ...tf.Option) {
			addSamples(sample{op: name, name: what, in: []*tf.Tensor{x, axes}, f: binary(f, opts...), tol: 1e-5})
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
		addSamples(sample{op: name, name: "specials", in: []*tf.Tensor{mat[float32](2, nan, 1, 1, inf, -inf, inf, -2, -1), vec[int32](1)},
			f: binary(f), rough: "infinite and undefined values"})
	}
	for _, o := range []ops.ReduceOpts{{}, {KeepDims: true}} {
		addSamples(sample{op: "EuclideanNorm", name: fmt.Sprintf("%+v", o), in: []*tf.Tensor{seq(2, 3, 2), vec[int32](0, 2)}, f: binary(ops.EuclideanNorm, o), tol: 1e-5})
	}
	addSamples(sample{op: "EuclideanNorm", name: "all", in: []*tf.Tensor{seq(2, 3), vec[int64](0, 1)}, f: binary(ops.EuclideanNorm), tol: 1e-5})
	addReductionFailures("EuclideanNorm", ops.EuclideanNorm, seq(2, 3))
	for name, f := range map[string]function2{"All": ops.All, "Any": ops.Any} {
		x := mat(3, true, true, true, true, false, true, false, false, false)
		addSamples(
			sample{op: name, in: []*tf.Tensor{x, vec[int32](1)}, f: binary(f)},
			sample{op: name, name: "first, kept", in: []*tf.Tensor{x, vec[int32](0)}, f: binary(f, ops.ReduceOpts{KeepDims: true})},
			sample{op: name, name: "all", in: []*tf.Tensor{x, vec[int32](0, 1)}, f: binary(f)},
			sample{op: name, name: "of nothing", in: []*tf.Tensor{arr[bool](tf.Shape{2, 0}), vec[int32](1)}, f: binary(f)})
		addReductionFailures(name, f, x)
	}
	for name, f := range map[string]function2{"Cumsum": ops.Cumsum, "Cumprod": ops.Cumprod} {
		for _, o := range []ops.CumulativeOpts{{}, {Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
			what := fmt.Sprintf("%+v", o)
			addSamples(
				sample{op: name, name: what, in: []*tf.Tensor{seq(2, 4), arr(tf.Shape{}, int32(1))}, f: binary(f, o), tol: 1e-5},
				sample{op: name, name: "first " + what, in: []*tf.Tensor{seq(3, 2), arr(tf.Shape{}, int32(-2))}, f: binary(f, o), tol: 1e-5, types: onlyOwn})
		}
		addSamples(
			sample{op: name, name: "of nothing", in: []*tf.Tensor{seq(3, 0), arr(tf.Shape{}, int32(0))}, f: binary(f)},
			sample{op: name, name: "axis too great", fails: true, in: []*tf.Tensor{seq(3, 2), arr(tf.Shape{}, int32(2))}, f: binary(f)},
			sample{op: name, name: "several axes", fails: true, in: []*tf.Tensor{seq(3, 2), vec[int32](1, 0)}, f: binary(f)})
	}
	addPositions()
}

func addReductionFailures(name string, f function2, x *tf.Tensor) {
	addSamples(
		sample{op: name, name: "axis too great", fails: true, in: []*tf.Tensor{x, vec[int32](2)}, f: binary(f)},
		sample{op: name, name: "axis too small", fails: true, in: []*tf.Tensor{x, vec[int32](-3)}, f: binary(f)},
		sample{op: name, name: "axis twice", fails: true, in: []*tf.Tensor{x, vec[int32](1, -1)}, f: binary(f)})
}

func addPositions() {
	axis := func(i int32) *tf.Tensor { return arr(tf.Shape{}, i) }
	for name, f := range map[string]function2{"ArgMax": ops.ArgMax, "ArgMin": ops.ArgMin} {
		addSamples(
			sample{op: name, in: []*tf.Tensor{seq(2, 5), axis(1)}, f: binary(f)},
			sample{op: name, name: "middle", in: []*tf.Tensor{seq(2, 4, 3), axis(-2)}, f: binary(f)},
			sample{op: name, name: "as int32", in: []*tf.Tensor{seq(3, 2), axis(0)}, f: binary(f, ops.ArgOpts{OutputType: tf.Int32})},
			sample{op: name, name: "first of equals, not numbers", in: []*tf.Tensor{mat(4, nan, 3, 3, nan, 1, nan, -1, -1, inf, -inf, inf, -inf), axis(1)}, f: binary(f)},
			sample{op: name, name: "of no rows", in: []*tf.Tensor{seq(0, 2), axis(1)}, f: binary(f)},
			sample{op: name, name: "of nothing", fails: true, in: []*tf.Tensor{seq(2, 0), axis(1)}, f: binary(f)},
			sample{op: name, name: "axis too great", fails: true, in: []*tf.Tensor{seq(2, 3), axis(2)}, f: binary(f)},
			sample{op: name, name: "of a scalar", fails: true, in: []*tf.Tensor{seq(), axis(0)}, f: binary(f)},
			sample{op: name, name: "two axes", fails: true, in: []*tf.Tensor{seq(2, 3), vec[int32](0, 1)}, f: binary(f)})
	}
	addSamples(sample{op: "ArgMax", name: "as uint16", noGolden: "TensorFlow's shape function misreads an axis of 16 bits", in: []*tf.Tensor{seq(3, 2), arr(tf.Shape{}, int16(0))}, f: binary(ops.ArgMax, ops.ArgOpts{OutputType: tf.Uint16})})
}
