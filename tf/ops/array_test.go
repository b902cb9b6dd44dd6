package ops_test

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/raw"
)

// lastAxis makes the function of a sample that joins all inputs but the last
// along the last.
func lastAxis(_ *tf.Graph, in []tf.Output) []tf.Output {
	n := len(in) - 1
	return []tf.Output{ops.ConcatV2(in[:n], in[n])}
}

func init() {
	transpose, invert := binary(ops.Transpose[tf.Output]), unary(ops.InvertPermutation)
	addSamples(
		sample{Op: "Transpose", In: []*core.Tensor{seq(2, 3, 4), i32(2, 0, 1)}, F: transpose},
		sample{Op: "Transpose", Name: "matrix", In: []*core.Tensor{seq(33, 17), vec[int64](1, 0)}, F: transpose},
		sample{Op: "Transpose", Name: "negative", In: []*core.Tensor{mat[int64](3, 1, 2, 3, 4, 5, 6), i32(-1, 0)}, F: transpose},
		sample{Op: "Transpose", Name: "in order", In: []*core.Tensor{seq(1, 3, 1, 2), i32(2, 1, 0, 3)}, F: transpose},
		sample{Op: "Transpose", Name: "empty", In: []*core.Tensor{seq(2, 0), i32(1, 0)}, F: transpose},
		sample{Op: "Transpose", Name: "scalar", In: []*core.Tensor{scalar(float32(1)), i32()}, F: transpose},
		failing("Transpose", "twice", transpose, seq(2, 3), i32(0, 0)),
		failing("Transpose", "short", transpose, seq(2, 3), i32(0)),
		failing("Transpose", "range", transpose, seq(2, 3), i32(0, 5)),
		failing("Transpose", "matrix", transpose, seq(2, 3), mat[int32](2, 0, 1)),
		sample{Op: "InvertPermutation", In: []*core.Tensor{i32(2, 0, 1, 3)}, F: invert, Types: []tf.DType{tf.Int64}},
		failing("InvertPermutation", "range", invert, i32(0, 3)),
		failing("InvertPermutation", "twice", invert, i32(0, 0)),
		failing("InvertPermutation", "matrix", invert, mat[int32](2, 0, 0)),
	)
	addConcatSamples()
	addSplitSamples()
	addSliceSamples()
	addStridedSamples()
	addPadSamples()
	addTileSamples()
}

func addConcatSamples() {
	offset := func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.ConcatOffset(in[0], in[1:]) }
	axis := func(v int32) *core.Tensor { return scalar(v) }
	firstAxis := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{raw.Concat(in[len(in)-1], in[:len(in)-1])}
	}
	many := slices.Repeat([]*core.Tensor{seq(2, 3)}, 18)
	addSamples(
		sample{Op: "ConcatV2", In: []*core.Tensor{seq(2, 3), seq(2, 1), seq(2, 0), axis(1)}, F: lastAxis},
		sample{Op: "ConcatV2", Name: "rows", In: []*core.Tensor{seq(2, 3), seq(1, 3), axis(0)}, F: lastAxis},
		sample{Op: "ConcatV2", Name: "negative", In: []*core.Tensor{seq(2, 3, 2), seq(2, 1, 2), scalar[int32](-2)}, F: lastAxis},
		sample{Op: "ConcatV2", Name: "int64 axis", In: []*core.Tensor{vec(true), vec(false, true), scalar[int64](0)}, F: lastAxis},
		sample{Op: "ConcatV2", Name: "many", In: append(many, axis(1)), F: lastAxis},
		failing("ConcatV2", "axis", lastAxis, seq(2, 3), seq(2, 3), axis(2)),
		failing("ConcatV2", "rank", lastAxis, seq(2, 3), seq(3), axis(0)),
		failing("ConcatV2", "size", lastAxis, seq(2, 3), seq(1, 3), axis(1)),
		failing("ConcatV2", "axes", lastAxis, seq(2, 3), seq(2, 3), i32(0, 1)),
		failing("ConcatV2", "scalars", lastAxis, scalar(float32(1)), scalar(float32(2)), axis(0)),
		sample{Op: "Concat", In: []*core.Tensor{seq(2, 3), seq(2, 1), seq(2, 0), axis(1)}, F: firstAxis},
		sample{Op: "Concat", Name: "negative", In: []*core.Tensor{seq(2, 3, 2), seq(2, 1, 2), axis(-2)}, F: firstAxis},
		sample{Op: "Concat", Name: "many", In: append(slices.Clone(many[:18]), axis(1)), F: firstAxis},
		failing("Concat", "axis", firstAxis, seq(2, 3), seq(2, 3), axis(2)),
		failing("Concat", "axes", firstAxis, seq(2, 3), seq(2, 3), i32(0, 1)),
		sample{Op: "ConcatOffset", In: []*core.Tensor{axis(1), i32(2, 3), i32(2, 1), i32(2, 4)}, F: offset},
		sample{Op: "ConcatOffset", Name: "int64", In: []*core.Tensor{axis(-1), vec[int64](2, 3), vec[int64](2, 1)}, F: offset},
		failing("ConcatOffset", "axis", offset, axis(2), i32(2, 3), i32(2, 3)),
		failing("ConcatOffset", "rank", offset, axis(0), i32(2, 3), i32(2, 3, 4)),
		failing("ConcatOffset", "size", offset, axis(0), i32(2, 3), i32(2, 4)),
		failing("ConcatOffset", "matrix", offset, axis(0), mat[int32](2, 2, 3), i32(2, 4)),
	)
	pack := func(axis int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.Pack(in, ops.AxisOpts{Axis: axis})}
		}
	}
	addSamples(
		sample{Op: "Pack", In: []*core.Tensor{seq(2, 3), seq(2, 3)}, F: pack(0)},
		sample{Op: "Pack", Name: "inside", In: []*core.Tensor{seq(2, 3), seq(2, 3), seq(2, 3)}, F: pack(1)},
		sample{Op: "Pack", Name: "last", In: []*core.Tensor{seq(2, 3), seq(2, 3)}, F: pack(-1)},
		sample{Op: "Pack", Name: "one scalar", In: []*core.Tensor{scalar(float32(4))}, F: pack(0)},
		failing("Pack", "shapes", pack(0), seq(2, 3), seq(3)),
		failing("Pack", "axis", pack(4), seq(2, 3), seq(2, 3)),
	)
}

func addSplitSamples() {
	split := func(num int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.Split(in[0], num, in[1]) }
	}
	splitV := func(num int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.SplitV(in[0], in[1], in[2], num) }
	}
	unpack := func(num, axis int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return ops.Unpack(in[0], num, ops.AxisOpts{Axis: axis})
		}
	}
	axis := func(v int32) *core.Tensor { return scalar(v) }
	addSamples(
		sample{Op: "Split", In: []*core.Tensor{seq(4, 3), axis(0)}, F: split(2)},
		sample{Op: "Split", Name: "columns", In: []*core.Tensor{seq(2, 6), axis(-1)}, F: split(3)},
		sample{Op: "Split", Name: "one", In: []*core.Tensor{seq(2, 6), axis(1)}, F: split(1)},
		failing("Split", "size", split(3), seq(2, 3), axis(0)),
		failing("Split", "axis", split(3), seq(2, 3), axis(5)),
		failing("Split", "axes", split(3), seq(2, 3), i32(0, 1)),
		sample{Op: "SplitV", In: []*core.Tensor{seq(5, 3), i32(2, 0, 3), axis(0)}, F: splitV(3)},
		sample{Op: "SplitV", Name: "rest", In: []*core.Tensor{seq(2, 6), vec[int64](1, -1), axis(1)}, F: splitV(2)},
		sample{Op: "SplitV", Name: "sizes int8", In: []*core.Tensor{seq(2, 6), vec[int8](1, 5), axis(1)}, F: splitV(2), NoGolden: "TensorFlow dies of it"},
		failing("SplitV", "sum", splitV(2), seq(2, 3), i32(1, 2), axis(0)),
		failing("SplitV", "two open", splitV(2), seq(2, 3), i32(-1, -1), axis(0)),
		failing("SplitV", "no rest", splitV(2), seq(2, 3), i32(-1, 3), axis(0)),
		failing("SplitV", "count", splitV(2), seq(2, 3), i32(1, 1, 1), axis(0)),
		failing("SplitV", "axis", splitV(2), seq(2, 3), i32(1, 1), axis(4)),
		failing("SplitV", "axes", splitV(2), seq(2, 3), i32(1, 1), i32(0, 1)),
		failing("SplitV", "negative", splitV(2), seq(2, 3), i32(-2, 4), axis(0)),
		sample{Op: "Unpack", In: []*core.Tensor{seq(2, 3)}, F: unpack(2, 0)},
		sample{Op: "Unpack", Name: "inside", In: []*core.Tensor{seq(2, 3, 2)}, F: unpack(3, -2)},
		failing("Unpack", "count", unpack(3, 0), seq(2, 3)),
		failing("Unpack", "axis", unpack(3, 5), seq(2, 3)),
	)
}

func addSliceSamples() {
	slice := ternary(ops.Slice[tf.Output, tf.Output])
	addSamples(
		sample{Op: "Slice", In: []*core.Tensor{seq(3, 4), i32(1, 0), i32(2, 3)}, F: slice},
		sample{Op: "Slice", Name: "rest", In: []*core.Tensor{seq(3, 4, 2), vec[int64](1, 2, 0), vec[int64](-1, -1, 1)}, F: slice},
		sample{Op: "Slice", Name: "all", In: []*core.Tensor{seq(3, 4), i32(0, 0), i32(-1, 4)}, F: slice},
		sample{Op: "Slice", Name: "nothing", In: []*core.Tensor{seq(3, 4), i32(3, 0), i32(0, 4)}, F: slice},
		failing("Slice", "begin", slice, seq(2, 3), i32(3, 0), i32(1, 1)),
		failing("Slice", "size", slice, seq(2, 3), i32(0, 0), i32(3, 1)),
		failing("Slice", "short", slice, seq(2, 3), i32(0), i32(3)),
		failing("Slice", "unequal", slice, seq(2, 3), i32(0, 0), i32(3)),
		failing("Slice", "negative size", slice, seq(2, 3), i32(0, 0), i32(-2, 1)),
		failing("Slice", "negative begin", slice, seq(2, 3), i32(-1, 0), i32(1, 1)),
	)
}

func addStridedSamples() {
	strided := func(o ops.StridedSliceOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.StridedSlice(in[0], in[1], in[2], in[3], o)}
		}
	}
	inverse := func(o ops.StridedSliceOpts) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{ops.StridedSliceGrad(in[1], in[2], in[3], in[4], in[0], o)}
		}
	}
	plain, index := strided(ops.StridedSliceOpts{}), strided(ops.StridedSliceOpts{ShrinkAxisMask: 1})
	x := seq(3, 4, 5)
	addSamples(
		sample{Op: "StridedSlice", In: []*core.Tensor{x, i32(0, 1, 1), i32(3, 4, 5), i32(2, 1, 2)}, F: plain},
		sample{Op: "StridedSlice", Name: "backwards", In: []*core.Tensor{x, i32(-1, 3), i32(-4, 0), i32(-1, -2)}, F: plain},
		sample{Op: "StridedSlice", Name: "beyond", In: []*core.Tensor{x, vec[int64](-9), vec[int64](9), vec[int64](1)}, F: plain},
		sample{Op: "StridedSlice", Name: "index int16", In: []*core.Tensor{i32(1, 2, 3), vec[int16](1), vec[int16](2), vec[int16](1)}, F: plain},
		sample{Op: "StridedSlice", Name: "nothing", In: []*core.Tensor{x, i32(2), i32(1), i32(1)}, F: plain},
		sample{Op: "StridedSlice", Name: "index", In: []*core.Tensor{x, i32(-2), i32(0), i32(1)}, F: index},
		sample{Op: "StridedSlice", Name: "open", In: []*core.Tensor{x, i32(2, 2), i32(1, 1), i32(1, -1)}, F: strided(ops.StridedSliceOpts{BeginMask: 1, EndMask: 3})},
		sample{
			Op: "StridedSlice", Name: "ellipsis", In: []*core.Tensor{x, i32(0, 0, 0, 1), i32(0, 0, 0, 3), i32(1, 1, 1, 1)},
			F: strided(ops.StridedSliceOpts{NewAxisMask: 5, EllipsisMask: 2}),
		},
		sample{
			Op: "StridedSlice", Name: "last index", In: []*core.Tensor{x, i32(0, 0, 2), i32(0, 0, 0), i32(1, 1, 1)},
			F: strided(ops.StridedSliceOpts{EllipsisMask: 1, NewAxisMask: 2, ShrinkAxisMask: 4}),
		},
		failing("StridedSlice", "stride", plain, x, i32(0), i32(1), i32(0)),
		failing("StridedSlice", "index", index, x, i32(5), i32(6), i32(1)),
		failing("StridedSlice", "rank", plain, seq(2, 3), i32(0, 0, 0), i32(1, 1, 1), i32(1, 1, 1)),
		failing("StridedSlice", "ellipses", strided(ops.StridedSliceOpts{EllipsisMask: 3}), x, i32(0, 0), i32(1, 1), i32(1, 1)),
		failing("StridedSlice", "lengths", plain, x, i32(0), i32(1, 1), i32(1)),
		failing("StridedSlice", "back index", index, x, i32(0), i32(1), i32(-1)),
		failing("StridedSlice", "scalar", plain, scalar(float32(0)), i32(0), i32(1), i32(1)),
		sample{Op: "StridedSliceGrad", In: []*core.Tensor{seq(2, 2), i32(3, 4), i32(0, -1), i32(3, 0), i32(2, -2)}, F: inverse(ops.StridedSliceOpts{})},
		sample{
			Op: "StridedSliceGrad", Name: "masks", In: []*core.Tensor{seq(1, 4), vec[int64](3, 4), vec[int64](0, 1), vec[int64](3, 0), vec[int64](1, 1)},
			F: inverse(ops.StridedSliceOpts{NewAxisMask: 1, ShrinkAxisMask: 2}),
		},
		failing("StridedSliceGrad", "shape", inverse(ops.StridedSliceOpts{}), seq(2, 3), i32(2, 3), i32(0), i32(1), i32(1)),
	)
}

func addPadSamples() {
	pad, padV2 := binary(ops.Pad[tf.Output]), ternary(ops.PadV2[tf.Output])
	addSamples(
		sample{Op: "Pad", In: []*core.Tensor{seq(2, 3), mat[int32](2, 1, 0, 2, 1)}, F: pad},
		sample{Op: "Pad", Name: "paddings int64", In: []*core.Tensor{seq(2, 0), mat[int64](2, 0, 0, 2, 1)}, F: pad},
		failing("Pad", "negative", pad, seq(2, 3), mat[int32](2, 1, -1, 0, 0)),
		failing("Pad", "rows", pad, seq(2, 3), mat[int32](2, 1, 1)),
		failing("Pad", "columns", pad, seq(2, 3), mat[int32](3, 1, 1, 1)),
		sample{Op: "PadV2", In: []*core.Tensor{seq(2, 3), mat[int32](2, 1, 0, 2, 1), scalar(float32(9))}, F: padV2, Rough: "TensorFlow takes the value for a constant"},
		failing("PadV2", "value", padV2, seq(2, 3), mat[int32](2, 1, 1, 1, 1), vec[float32](1)),
	)
}

func addTileSamples() {
	tile, where := binary(ops.Tile[tf.Output]), unary(ops.Where)
	addSamples(
		sample{Op: "Tile", In: []*core.Tensor{seq(2, 3), i32(3, 2)}, F: tile, Types: []tf.DType{
			tf.Float64, tf.Float16, tf.BFloat16, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint32, tf.Uint64, tf.Bool, tf.String, tf.Complex64, tf.Complex128,
		}},
		sample{Op: "Tile", Name: "multiples int64", In: []*core.Tensor{seq(2, 1, 3), vec[int64](1, 4, 2)}, F: tile},
		sample{Op: "Tile", Name: "nothing", In: []*core.Tensor{seq(2, 3), i32(3, 0)}, F: tile},
		sample{Op: "Tile", Name: "scalar", In: []*core.Tensor{scalar(float32(2)), i32()}, F: tile},
		sample{Op: "Tile", Name: "lists", In: []*core.Tensor{seq(2, 3)}, Rough: "lists are not perturbed", F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			whole := ops.Const(g, []int32{3})
			list := ops.TensorListFromTensor(in[0], whole)
			lists := ops.Unpack(ops.Tile(ops.Reshape(list, ops.Const(g, []int32{1})), ops.Const(g, []int32{2})), 2)
			changed := ops.TensorListSetItem(lists[0], ops.Scalar[int32](g, 0), ops.Const(g, []float32{7, 8, 9}))
			stack := func(l tf.Output) tf.Output { return ops.TensorListStack(l, whole, tf.Float32) }
			return []tf.Output{stack(changed), stack(lists[0]), stack(lists[1])}
		}},
		failing("Tile", "length", tile, seq(2, 3), i32(1)),
		failing("Tile", "negative", tile, seq(2, 3), i32(1, -1)),
		sample{Op: "Where", In: []*core.Tensor{arr(tf.Shape{2, 2, 2}, false, true, true, false, true, false, false, true)}, F: where, Types: []tf.DType{
			tf.Float32, tf.Float64, tf.Int8, tf.Int64, tf.Uint16, tf.Complex64, tf.BFloat16,
		}},
		sample{Op: "Where", Name: "scalar", In: []*core.Tensor{scalar(true)}, F: where, NoGolden: "TensorFlow takes no scalars"},
		sample{Op: "Where", Name: "none", In: []*core.Tensor{vec(false, false)}, F: where},
	)
}
