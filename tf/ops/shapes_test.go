package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// someTypes are what ops are run with that treat all types alike.
var someTypes = []tf.DType{tf.Int64, tf.String, tf.Bool, tf.Complex128, tf.Float16}

func init() {
	shape, size, rank := unary(ops.Shape), unary(ops.Size), unary(ops.Rank)
	wide := ops.ShapeOpts{OutType: tf.Int64}
	addSamples(
		sample{Op: "Shape", In: []*core.Tensor{seq(2, 3)}, F: shape, Types: someTypes},
		sample{Op: "Shape", Name: "scalar", In: []*core.Tensor{scalar("x")}, F: shape},
		sample{Op: "Shape", Name: "out int64", In: []*core.Tensor{seq(2, 0, 3)}, F: unary(ops.Shape, wide)},
		sample{Op: "ShapeN", In: []*core.Tensor{seq(2, 3), seq(4)}, F: func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.ShapeN(in, wide) }},
		sample{Op: "Size", In: []*core.Tensor{seq(2, 3)}, F: size, Types: someTypes},
		sample{Op: "Size", Name: "out int64", In: []*core.Tensor{seq(2, 0)}, F: unary(ops.Size, wide)},
		sample{Op: "Rank", In: []*core.Tensor{seq(2, 3)}, F: rank, Types: someTypes},
		sample{Op: "Rank", Name: "scalar", In: []*core.Tensor{scalar(true)}, F: rank},
	)
	reshape := binary(ops.Reshape[tf.Output])
	addSamples(
		sample{Op: "Reshape", In: []*core.Tensor{seq(2, 6), i32(3, -1, 2)}, F: reshape, Types: someTypes},
		sample{Op: "Reshape", Name: "to scalar", In: []*core.Tensor{seq(1, 1), vec[int64]()}, F: reshape},
		sample{Op: "Reshape", Name: "empty", In: []*core.Tensor{seq(0, 3), i32(-1, 0)}, F: reshape},
		sample{Op: "Reshape", Name: "size as scalar", In: []*core.Tensor{seq(2, 3), scalar[int32](6)}, F: reshape, NoGolden: "TensorFlow takes it only if it does not see it coming"},
		failing("Reshape", "two open", reshape, seq(2, 3), i32(-1, -1)),
		failing("Reshape", "too many elements", reshape, seq(1), vec[int64](21943, 45817, 30516, 61760, 38987)),
		failing("Reshape", "too many elements, one open", reshape, seq(1), vec[int64](1<<31, -1, 1<<31, 1<<31)),
		failing("Reshape", "too many elements, then none", reshape, seq(1), vec[int64](1<<31, 1<<31, 1<<31, 0)),
		failing("Reshape", "no elements, then too many", reshape, seq(1), vec[int64](0, 1<<31, 1<<31, 1<<31)),
		failing("Reshape", "no multiple", reshape, seq(2, 3), i32(-1, 4)),
		failing("Reshape", "count", reshape, seq(2, 3), i32(5)),
		failing("Reshape", "negative", reshape, seq(2, 3), i32(-2, 3)),
		failing("Reshape", "matrix", reshape, seq(2, 3), mat[int32](2, 3, 2)),
	)
	expand := binary(ops.ExpandDims[tf.Output])
	addSamples(
		sample{Op: "ExpandDims", In: []*core.Tensor{seq(2, 3), scalar[int32](1)}, F: expand, Types: someTypes},
		sample{Op: "ExpandDims", Name: "last", In: []*core.Tensor{seq(2, 3), scalar[int64](-1)}, F: expand},
		sample{Op: "ExpandDims", Name: "vector", In: []*core.Tensor{seq(2), i32(0)}, F: expand},
		failing("ExpandDims", "axis", expand, seq(2, 3), scalar[int32](5)),
		failing("ExpandDims", "two axes", expand, seq(2, 3), i32(0, 1)),
		sample{Op: "Squeeze", In: []*core.Tensor{seq(1, 3, 1)}, F: squeeze(), Types: someTypes},
		sample{Op: "Squeeze", Name: "one", In: []*core.Tensor{seq(1, 3, 1)}, F: squeeze([]int{-1}...)},
		failing("Squeeze", "size", squeeze([]int{0}...), seq(2, 1)),
		failing("Squeeze", "axis", squeeze([]int{4}...), seq(2, 1)),
		sample{Op: "EnsureShape", In: []*core.Tensor{seq(2, 3)}, F: ensure(tf.Shape{-1, 3}), Types: someTypes},
	)
	addFillSamples()
	addBroadcastSamples()
}

func ensure(s tf.Shape) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.EnsureShape(in[0], s)} }
}

func addFillSamples() {
	fill := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{ops.Fill(in[1], in[0])} }
	ranges := ternary(func(start, limit, delta tf.Output, opts ...tf.Option) tf.Output {
		return ops.Range(nil, start, limit, delta, opts...)
	})
	empty := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Empty(in[0], tf.Float32, ops.EmptyOpts{Init: true})}
	}
	addSamples(
		sample{Op: "Fill", In: []*core.Tensor{scalar(float32(2.5)), i32(2, 3)}, F: fill},
		sample{Op: "Fill", Name: "int64 sizes", In: []*core.Tensor{scalar(float32(2.5)), vec[int64](2, 0)}, F: fill},
		failing("Fill", "negative", fill, scalar(float32(1)), i32(-1)),
		failing("Fill", "dims", fill, scalar(float32(1)), mat[int32](1, 1)),
		failing("Fill", "value", fill, vec[float32](1, 2), i32(1)),
		sample{Op: "ZerosLike", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.ZerosLike), Types: someTypes},
		sample{Op: "OnesLike", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.OnesLike), Types: []tf.DType{
			tf.Float64, tf.Float16, tf.BFloat16, tf.Int8, tf.Uint16, tf.Int64, tf.Bool, tf.Complex64, tf.Complex128,
		}},
		sample{Op: "OnesLike", Name: "empty", In: []*core.Tensor{seq(0)}, F: unary(ops.OnesLike)},
		sample{Op: "Empty", In: []*core.Tensor{i32(2, 3)}, F: empty},
		failing("Empty", "negative", empty, i32(2, -3)),
		sample{Op: "Range", In: []*core.Tensor{scalar[int32](1), scalar[int32](11), scalar[int32](3)}, F: ranges, Types: []tf.DType{
			tf.Int64, tf.Float32, tf.Float64,
		}},
		sample{Op: "Range", Name: "down", In: []*core.Tensor{scalar[int64](10), scalar[int64](0), scalar[int64](-4)}, F: ranges},
		sample{
			Op: "Range", Name: "tenths", In: []*core.Tensor{scalar(float32(0.1)), scalar(float32(3)), scalar(float32(.3))}, F: ranges,
			Types: []tf.DType{tf.Float64},
		},
		sample{Op: "Range", Name: "empty", In: []*core.Tensor{scalar[int32](3), scalar[int32](3), scalar[int32](1)}, F: ranges},
		failing("Range", "up", ranges, scalar[int32](5), scalar[int32](1), scalar[int32](1)),
		failing("Range", "down", ranges, scalar[int32](1), scalar[int32](5), scalar[int32](-1)),
		failing("Range", "still", ranges, scalar[int32](5), scalar[int32](1), scalar[int32](0)),
		failing("Range", "vector", ranges, i32(1, 2), scalar[int32](5), scalar[int32](1)),
	)
}

func addBroadcastSamples() {
	to := binary(ops.BroadcastTo[tf.Output])
	args := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		a, b := ops.BroadcastGradientArgs(in[0], in[1])
		return []tf.Output{a, b}
	}
	joint := binary(ops.BroadcastArgs)
	addSamples(
		sample{Op: "BroadcastTo", In: []*core.Tensor{seq(3, 1), i32(2, 3, 4)}, F: to},
		sample{Op: "BroadcastTo", Name: "scalar", In: []*core.Tensor{scalar(float32(7)), vec[int64](2, 2)}, F: to},
		sample{Op: "BroadcastTo", Name: "same", In: []*core.Tensor{seq(2, 3), i32(2, 3)}, F: to},
		sample{Op: "BroadcastTo", Name: "empty", In: []*core.Tensor{seq(1, 3), i32(0, 3)}, F: to},
		failing("BroadcastTo", "size", to, seq(2, 3), i32(3, 3)),
		failing("BroadcastTo", "larger than asked", to, seq(2), i32(2, 1)),
		failing("BroadcastTo", "rank", to, seq(2, 3), i32(3)),
		failing("BroadcastTo", "matrix", to, seq(2, 3), mat[int32](1, 3)),
		failing("BroadcastTo", "negative", to, seq(2, 3), i32(-1, 2, 3)),
		sample{Op: "BroadcastGradientArgs", In: []*core.Tensor{i32(2, 1, 3, 1), i32(1, 3, 1)}, F: args, Types: []tf.DType{tf.Int64}},
		sample{Op: "BroadcastGradientArgs", Name: "equal", In: []*core.Tensor{i32(2, 1), i32(2, 1)}, F: args},
		sample{Op: "BroadcastGradientArgs", Name: "scalar", In: []*core.Tensor{i32(), i32(4, 1)}, F: args},
		failing("BroadcastGradientArgs", "sizes", args, i32(2, 3), i32(4)),
		failing("BroadcastGradientArgs", "matrix", args, mat[int32](2, 2, 3), i32(4)),
		sample{Op: "BroadcastArgs", In: []*core.Tensor{i32(2, 1, 3, 1), i32(5, 1, 4)}, F: joint, Types: []tf.DType{tf.Int64}},
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
			addSamples(sample{Op: "Cast", Name: "float32 to " + d.String(), In: []*core.Tensor{wild}, F: f, Rough: rounded})
		}
		addSamples(
			sample{Op: "Cast", Name: "int64 to " + d.String(), In: []*core.Tensor{whole}, F: f},
			sample{Op: "Cast", Name: "small to " + d.String(), In: []*core.Tensor{positive(3, 5)}, F: f, Rough: rounded, Types: []tf.DType{
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
		sample{Op: "Cast", Name: "cut to bfloat16", In: []*core.Tensor{seq(40)}, F: cut(tf.BFloat16), Rough: "the results are rounded", Types: []tf.DType{tf.Float64}},
		sample{Op: "Cast", Name: "cut to half", In: []*core.Tensor{seq(40)}, F: cut(tf.Float16), Rough: "the results are rounded", Types: []tf.DType{tf.Float64}},
		sample{Op: "Cast", Name: "cut to float32", In: []*core.Tensor{vec(0.1, -1e9/3, math.Pi)}, F: cut(tf.Float32), Rough: "the results are rounded"},
		sample{Op: "Bitcast", In: []*core.Tensor{seq(2, 4)}, F: bits(tf.Int32)},
		sample{Op: "Bitcast", Name: "smaller", In: []*core.Tensor{seq(2)}, F: bits(tf.Uint8)},
		sample{Op: "Bitcast", Name: "larger", In: []*core.Tensor{seq(3, 2)}, F: bits(tf.Int64)},
	)
}

// everyByte has all numbers of a type of 8 bits or less.
func everyByte(d tf.DType) *core.Tensor {
	t := core.NewTensor(d, tf.Shape{256})
	for i := range t.Buffer().Bytes() {
		b := byte(i)
		switch d {
		case tf.Int4:
			b = byte(int8(b<<4) >> 4)
		case tf.Uint4:
			b &= 15
		}
		t.Buffer().Bytes()[i] = b
	}
	return t
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
		addSamples(
			sample{Op: "Cast", Name: "through " + d.String(), In: []*core.Tensor{numbers}, F: through(d), Rough: "the results are rounded", Types: []tf.DType{tf.Float64}},
			sample{Op: "Cast", Name: "from " + d.String(), In: []*core.Tensor{everyByte(d)}, F: to(tf.Float32)},
		)
	}
	failingCast := func(from, to tf.DType) {
		addSamples(failing("Cast", from.String()+" to "+to.String(), through(to), core.NewTensor(from, tf.Shape{1})))
	}
	around := vec[int32](0, 7, 8, -8, -9, 15, 16, 300, -1)
	for _, d := range []tf.DType{tf.Int4, tf.Uint4} {
		addSamples(sample{Op: "Cast", Name: "through " + d.String(), In: []*core.Tensor{around}, F: through(d)})
		for _, other := range []tf.DType{tf.Float32, tf.Bool, tf.Complex64, tf.Float8E5M2} {
			failingCast(other, d)
		}
	}
	for _, d := range []tf.DType{tf.Float8E5M2, tf.Float8E4M3} {
		for _, other := range []tf.DType{tf.Int32, tf.QUint8, tf.Bool, tf.Complex64, tf.Int4} {
			failingCast(other, d)
		}
	}
}

// squeeze is Squeeze of axes.
func squeeze(axes ...int) func(*tf.Graph, []tf.Output) []tf.Output {
	return unary(func(x tf.Output, opts ...tf.Option) tf.Output { return ops.Squeeze(x, axes, opts...) })
}
