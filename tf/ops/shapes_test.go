package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// someTypes are what ops are run with that treat all types alike.
var someTypes = []tf.DType{tf.Int64, tf.String, tf.Bool, tf.Complex128, tf.Float16}

func i32(v ...int32) *tf.Tensor { return vec(v...) }

func scalar[T tf.Elem](v T) *tf.Tensor { return tf.Scalar(v) }

// failing returns a sample that TensorFlow refuses at run time.
func failing(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*tf.Tensor) sample {
	return sample{op: op, name: "bad " + name, in: in, f: f, fails: true, types: onlyOwn}
}

func init() {
	shape, size, rank := unary(ops.Shape), unary(ops.Size), unary(ops.Rank)
	wide := ops.ShapeOpts{OutType: tf.Int64}
	addSamples(
		sample{op: "Shape", in: []*tf.Tensor{seq(2, 3)}, f: shape, types: someTypes},
		sample{op: "Shape", name: "scalar", in: []*tf.Tensor{scalar("x")}, f: shape},
		sample{op: "Shape", name: "out int64", in: []*tf.Tensor{seq(2, 0, 3)}, f: unary(ops.Shape, wide)},
		sample{op: "ShapeN", in: []*tf.Tensor{seq(2, 3), seq(4)}, f: func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.ShapeN(in, wide) }},
		sample{op: "Size", in: []*tf.Tensor{seq(2, 3)}, f: size, types: someTypes},
		sample{op: "Size", name: "out int64", in: []*tf.Tensor{seq(2, 0)}, f: unary(ops.Size, wide)},
		sample{op: "Rank", in: []*tf.Tensor{seq(2, 3)}, f: rank, types: someTypes},
		sample{op: "Rank", name: "scalar", in: []*tf.Tensor{scalar(true)}, f: rank},
	)
	reshape := binary(ops.Reshape)
	addSamples(
		sample{op: "Reshape", in: []*tf.Tensor{seq(2, 6), i32(3, -1, 2)}, f: reshape, types: someTypes},
		sample{op: "Reshape", name: "to scalar", in: []*tf.Tensor{seq(1, 1), vec[int64]()}, f: reshape},
		sample{op: "Reshape", name: "empty", in: []*tf.Tensor{seq(0, 3), i32(-1, 0)}, f: reshape},
		sample{op: "Reshape", name: "size as scalar", in: []*tf.Tensor{seq(2, 3), scalar[int32](6)}, f: reshape, noGolden: "TensorFlow takes it only if it does not see it coming"},
		failing("Reshape", "two open", reshape, seq(2, 3), i32(-1, -1)),
		failing("Reshape", "no multiple", reshape, seq(2, 3), i32(-1, 4)),
		failing("Reshape", "count", reshape, seq(2, 3), i32(5)),
		failing("Reshape", "negative", reshape, seq(2, 3), i32(-2, 3)),
		failing("Reshape", "matrix", reshape, seq(2, 3), mat[int32](2, 3, 2)),
	)
	expand := binary(ops.ExpandDims)
	addSamples(
		sample{op: "ExpandDims", in: []*tf.Tensor{seq(2, 3), scalar[int32](1)}, f: expand, types: someTypes},
		sample{op: "ExpandDims", name: "last", in: []*tf.Tensor{seq(2, 3), scalar[int64](-1)}, f: expand},
		sample{op: "ExpandDims", name: "vector", in: []*tf.Tensor{seq(2), i32(0)}, f: expand},
		failing("ExpandDims", "axis", expand, seq(2, 3), scalar[int32](5)),
		failing("ExpandDims", "two axes", expand, seq(2, 3), i32(0, 1)),
		sample{op: "Squeeze", in: []*tf.Tensor{seq(1, 3, 1)}, f: unary(ops.Squeeze), types: someTypes},
		sample{op: "Squeeze", name: "one", in: []*tf.Tensor{seq(1, 3, 1)}, f: unary(ops.Squeeze, ops.SqueezeOpts{SqueezeDims: []int{-1}})},
		failing("Squeeze", "size", unary(ops.Squeeze, ops.SqueezeOpts{SqueezeDims: []int{0}}), seq(2, 1)),
		failing("Squeeze", "axis", unary(ops.Squeeze, ops.SqueezeOpts{SqueezeDims: []int{4}}), seq(2, 1)),
		sample{op: "EnsureShape", in: []*tf.Tensor{seq(2, 3)}, f: ensure(tf.Shape{-1, 3}), types: someTypes},
	)
	addFillSamples()
	addBroadcastSamples()
}

func ensure(s tf.Shape) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.EnsureShape(in[0], s)} }
}

func addFillSamples() {
	fill := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Fill(in[1], in[0])} }
	ranges := ternary(ops.Range)
	empty := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Empty(in[0], tf.Float32, ops.EmptyOpts{Init: true})}
	}
	addSamples(
		sample{op: "Fill", in: []*tf.Tensor{scalar(float32(2.5)), i32(2, 3)}, f: fill},
		sample{op: "Fill", name: "int64 sizes", in: []*tf.Tensor{scalar(float32(2.5)), vec[int64](2, 0)}, f: fill},
		failing("Fill", "negative", fill, scalar(float32(1)), i32(-1)),
		failing("Fill", "dims", fill, scalar(float32(1)), mat[int32](1, 1)),
		failing("Fill", "value", fill, vec[float32](1, 2), i32(1)),
		sample{op: "ZerosLike", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.ZerosLike), types: someTypes},
		sample{op: "OnesLike", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.OnesLike), types: []tf.DType{
			tf.Float64, tf.Float16, tf.BFloat16, tf.Int8, tf.Uint16, tf.Int64, tf.Bool, tf.Complex64, tf.Complex128,
		}},
		sample{op: "OnesLike", name: "empty", in: []*tf.Tensor{seq(0)}, f: unary(ops.OnesLike)},
		sample{op: "Empty", in: []*tf.Tensor{i32(2, 3)}, f: empty},
		failing("Empty", "negative", empty, i32(2, -3)),
		sample{op: "Range", in: []*tf.Tensor{scalar[int32](1), scalar[int32](11), scalar[int32](3)}, f: ranges, types: []tf.DType{
			tf.Int64, tf.Float32, tf.Float64,
		}},
		sample{op: "Range", name: "down", in: []*tf.Tensor{scalar[int64](10), scalar[int64](0), scalar[int64](-4)}, f: ranges},
		sample{
			op: "Range", name: "tenths", in: []*tf.Tensor{scalar(float32(0.1)), scalar(float32(3)), scalar(float32(.3))}, f: ranges,
			types: []tf.DType{tf.Float64},
		},
		sample{op: "Range", name: "empty", in: []*tf.Tensor{scalar[int32](3), scalar[int32](3), scalar[int32](1)}, f: ranges},
		failing("Range", "up", ranges, scalar[int32](5), scalar[int32](1), scalar[int32](1)),
		failing("Range", "down", ranges, scalar[int32](1), scalar[int32](5), scalar[int32](-1)),
		failing("Range", "still", ranges, scalar[int32](5), scalar[int32](1), scalar[int32](0)),
		failing("Range", "vector", ranges, i32(1, 2), scalar[int32](5), scalar[int32](1)),
	)
}

func addBroadcastSamples() {
	to := binary(ops.BroadcastTo)
	args := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		a, b := ops.BroadcastGradientArgs(in[0], in[1])
		return []tf.Output{a, b}
	}
	joint := binary(ops.BroadcastArgs)
	addSamples(
		sample{op: "BroadcastTo", in: []*tf.Tensor{seq(3, 1), i32(2, 3, 4)}, f: to},
		sample{op: "BroadcastTo", name: "scalar", in: []*tf.Tensor{scalar(float32(7)), vec[int64](2, 2)}, f: to},
		sample{op: "BroadcastTo", name: "same", in: []*tf.Tensor{seq(2, 3), i32(2, 3)}, f: to},
		sample{op: "BroadcastTo", name: "empty", in: []*tf.Tensor{seq(1, 3), i32(0, 3)}, f: to},
		failing("BroadcastTo", "size", to, seq(2, 3), i32(3, 3)),
		failing("BroadcastTo", "rank", to, seq(2, 3), i32(3)),
		failing("BroadcastTo", "matrix", to, seq(2, 3), mat[int32](1, 3)),
		failing("BroadcastTo", "negative", to, seq(2, 3), i32(-1, 2, 3)),
		sample{op: "BroadcastGradientArgs", in: []*tf.Tensor{i32(2, 1, 3, 1), i32(1, 3, 1)}, f: args, types: []tf.DType{tf.Int64}},
		sample{op: "BroadcastGradientArgs", name: "equal", in: []*tf.Tensor{i32(2, 1), i32(2, 1)}, f: args},
		sample{op: "BroadcastGradientArgs", name: "scalar", in: []*tf.Tensor{i32(), i32(4, 1)}, f: args},
		failing("BroadcastGradientArgs", "sizes", args, i32(2, 3), i32(4)),
		failing("BroadcastGradientArgs", "matrix", args, mat[int32](2, 2, 3), i32(4)),
		sample{op: "BroadcastArgs", in: []*tf.Tensor{i32(2, 1, 3, 1), i32(5, 1, 4)}, f: joint, types: []tf.DType{tf.Int64}},
		failing("BroadcastArgs", "sizes", joint, i32(2, 3), i32(4)),
	)
	addCastSamples()
}

func addCastSamples() {
	wild := vec(0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 100.75, -129, 300.5, 65504, 70000, 3e9, -3e9, 1e19, 1e-8, float32(math.Inf(1)), float32(math.NaN()))
	whole := vec[int64](0, 1, -1, 127, 128, -129, 255, 256, 65535, 1<<31, -1<<31-1, 1<<40+3, math.MaxInt64, math.MinInt64, 1<<53+1)
	numbers := []tf.DType{
		tf.Bool, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64,
		tf.Float16, tf.BFloat16, tf.Float32, tf.Float64, tf.Complex64, tf.Complex128,
	}
	for _, d := range numbers {
		f := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Cast(in[0], d)} }
		const rounded = "the results are rounded"
		if !d.IsInteger() || d == tf.Int32 || d == tf.Int64 { // others depend on the instructions that a compiler chose
			addSamples(sample{op: "Cast", name: "float32 to " + d.String(), in: []*tf.Tensor{wild}, f: f, rough: rounded})
		}
		addSamples(
			sample{op: "Cast", name: "int64 to " + d.String(), in: []*tf.Tensor{whole}, f: f},
			sample{op: "Cast", name: "small to " + d.String(), in: []*tf.Tensor{positive(3, 5)}, f: f, rough: rounded, types: []tf.DType{
				tf.Bool, tf.Int8, tf.Uint8, tf.Uint64, tf.Float16, tf.BFloat16, tf.Float64, tf.Complex64,
			}},
		)
	}
	addSmallCastSamples()
	cut := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Cast(in[0], d, ops.CastOpts{Truncate: true})}
		}
	}
	bits := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Bitcast(in[0], d)} }
	}
	addSamples(
		sample{op: "Cast", name: "cut to bfloat16", in: []*tf.Tensor{seq(40)}, f: cut(tf.BFloat16), rough: "the results are rounded", types: []tf.DType{tf.Float64}},
		sample{op: "Cast", name: "cut to half", in: []*tf.Tensor{seq(40)}, f: cut(tf.Float16), rough: "the results are rounded", types: []tf.DType{tf.Float64}},
		sample{op: "Cast", name: "cut to float32", in: []*tf.Tensor{vec(0.1, -1e9/3, math.Pi)}, f: cut(tf.Float32), rough: "the results are rounded"},
		sample{op: "Bitcast", in: []*tf.Tensor{seq(2, 4)}, f: bits(tf.Int32)},
		sample{op: "Bitcast", name: "smaller", in: []*tf.Tensor{seq(2)}, f: bits(tf.Uint8)},
		sample{op: "Bitcast", name: "larger", in: []*tf.Tensor{seq(3, 2)}, f: bits(tf.Int64)},
	)
}

// addSmallCastSamples has every number of the types of 8 bits and less read,
// and numbers beside them written.
func addSmallCastSamples() {
	through := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Cast(ops.Cast(in[0], d), in[0].DType())}
		}
	}
	to := func(d tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Cast(in[0], d)} }
	}
	inf := float32(math.Inf(1))
	numbers := vec(0, 1, -1, 0.1, 448, 464, 465, 480, 57344, 61440, 61441, 1e9, inf, -inf, float32(math.NaN()),
		1e-3, 1.0/(1<<9), 1.0/(1<<10), 1.0/(1<<16), 1.0/(1<<17), 1.5/(1<<17), -3.3, 17, 18, 19, 2.25, 2.75)
	for _, d := range []tf.DType{tf.Float8E5M2, tf.Float8E4M3} {
		all := tf.NewTensor(d, tf.Shape{256})
		for i := range all.Buffer().Bytes() {
			all.Buffer().Bytes()[i] = byte(i)
		}
		addSamples(
			sample{op: "Cast", name: "through " + d.String(), in: []*tf.Tensor{numbers}, f: through(d), rough: "the results are rounded", types: []tf.DType{tf.Float64}},
			sample{op: "Cast", name: "from " + d.String(), in: []*tf.Tensor{all}, f: to(tf.Float32)},
		)
	}
	around := vec[int32](0, 7, 8, -8, -9, 15, 16, 300, -1)
	for _, d := range []tf.DType{tf.Int4, tf.Uint4} {
		addSamples(sample{op: "Cast", name: "through " + d.String(), in: []*tf.Tensor{around}, f: through(d)})
	}
}
