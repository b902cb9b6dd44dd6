package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

type function2 = func(x, y tf.Output, opts ...tf.Option) tf.Output

func init() {
	for name, f := range map[string]function2{
		"Add": ops.Add, "AddV2": ops.AddV2, "Sub": ops.Sub, "Mul": ops.Mul, "Maximum": ops.Maximum, "Minimum": ops.Minimum,
		"SquaredDifference": ops.SquaredDifference, "MulNoNan": ops.MulNoNan,
		"Less": ops.Less, "LessEqual": ops.LessEqual, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual, "Equal": ops.Equal, "NotEqual": ops.NotEqual,
	} {
		addBroadcasts(name, f, seq)
		addSamples(sample{
			op: name, name: "specials", rough: "infinite and undefined values", f: binary(f),
			in: []*tf.Tensor{vec[float32](nan, 1, inf, -inf, 0, float32(math.Copysign(0, -1)), 2), vec[float32](1, nan, -inf, -inf, float32(math.Copysign(0, -1)), 0, 2)},
		})
	}
	for name, f := range map[string]function2{
		"Div": ops.Div, "RealDiv": ops.RealDiv, "TruncateDiv": ops.TruncateDiv, "FloorDiv": ops.FloorDiv, "FloorMod": ops.FloorMod,
		"Mod": ops.Mod, "TruncateMod": ops.TruncateMod, "DivNoNan": ops.DivNoNan,
	} {
		addBroadcasts(name, f, apart)
		addSamples(sample{
			op: name, name: "by zero", rough: "infinite and undefined values", f: binary(f),
			in: []*tf.Tensor{vec[float32](1, -1, 0, nan, 0, inf), vec[float32](0, 0, 0, 0, 5, inf)},
		})
	}
	for name, f := range map[string]function2{
		"Div": ops.Div, "TruncateDiv": ops.TruncateDiv, "FloorDiv": ops.FloorDiv, "FloorMod": ops.FloorMod, "Mod": ops.Mod, "TruncateMod": ops.TruncateMod,
	} {
		ownWords := ""
		if name == "TruncateDiv" || name == "TruncateMod" {
			ownWords = "TensorFlow's message does not name the cause"
		}
		addSamples(
			sample{op: name, name: "signs", f: binary(f), in: []*tf.Tensor{vec[int32](7, -7, 7, -7, 6, -6, 0), vec[int32](2, 2, -2, -2, 3, -3, 5)}},
			sample{op: name, name: "zero divisor", fails: true, noGolden: ownWords, f: binary(f), in: []*tf.Tensor{vec[int32](1, 2), vec[int32](1, 0)}},
			sample{op: name, name: "nothing by zero", f: binary(f), in: []*tf.Tensor{vec[int32](), vec[int32](0)}})
	}
	addBroadcasts("Pow", ops.Pow, modest)
	addSamples(
		sample{op: "Pow", name: "specials", rough: "infinite and undefined values", f: binary(ops.Pow),
			in: []*tf.Tensor{vec[float32](0, 0, -2, -2, nan, 2, inf), vec[float32](0, 2, 3, 0.5, 0, nan, -1)}},
		sample{op: "Pow", name: "integers", f: binary(ops.Pow), in: []*tf.Tensor{vec[int64](2, -3, 0, 7), vec[int64](10, 3, 0, 30)}},
		sample{op: "Pow", name: "negative power", fails: true, f: binary(ops.Pow), in: []*tf.Tensor{vec[int32](1, 2), vec[int32](1, -1)}},
		sample{op: "Equal", name: "strings", f: binary(ops.Equal), in: []*tf.Tensor{vec("a", "b", ""), vec("a", "c", "")}},
		sample{op: "Equal", name: "unfit differ", f: binary(ops.Equal, ops.EqualOpts{UnfitDiffer: true}), in: []*tf.Tensor{seq(2, 3), seq(4)}},
		sample{op: "NotEqual", name: "unfit differ", f: binary(ops.NotEqual, ops.EqualOpts{UnfitDiffer: true}), in: []*tf.Tensor{seq(2, 3), seq(4)}},
		sample{op: "Equal", name: "tolerant and fit", f: binary(ops.Equal, ops.EqualOpts{UnfitDiffer: true}), in: []*tf.Tensor{seq(2, 3), seq(3)}},
		sample{op: "LogicalAnd", f: binary(ops.LogicalAnd), in: []*tf.Tensor{vec(true, false, true), mat(1, false, true)}},
		sample{op: "LogicalOr", f: binary(ops.LogicalOr), in: []*tf.Tensor{vec(true, false, true), mat(1, false, true)}},
		sample{op: "LogicalNot", f: unary(ops.LogicalNot), in: []*tf.Tensor{vec(true, false, true)}})
}

// apart is seq without numbers that are 0 as integers or whose quotients are
// close to one.
func apart(s ...int) *tf.Tensor {
	t := seq(s...)
	for i, v := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = v + float32(math.Copysign(1.03, float64(v)))
	}
	return t
}

// modest returns numbers greater than 0 and less than 3.
func modest(s ...int) *tf.Tensor {
	t := positive(s...)
	for i, v := range tf.Data[float32](t) {
		tf.Data[float32](t)[i] = v * 0.4
	}
	return t
}

// addBroadcasts adds samples of all forms that operands can be combined in.
func addBroadcasts(op string, f function2, in func(s ...int) *tf.Tensor) {
	for _, b := range []struct {
		name string
		x, y []int
	}{
		{"", []int{2, 3}, []int{2, 3}}, {"scalar x", []int{}, []int{3, 2}}, {"scalar y", []int{3, 2}, []int{}}, {"row", []int{2, 3}, []int{3}},
		{"column", []int{2, 1}, []int{2, 3}}, {"outer", []int{3, 1}, []int{1, 4}}, {"middle", []int{2, 1, 3}, []int{1, 4, 1}},
		{"empty", []int{0, 3}, []int{3}}, {"one and empty", []int{1, 3}, []int{0, 3}}, {"same rank of one", []int{1}, []int{1, 1}},
	} {
		y := in(append([]int{}, b.y...)...)
		for i := range tf.Data[float32](y) { // operands that differ
			tf.Data[float32](y)[i] *= 1.25
		}
		addSamples(sample{op: op, name: b.name, in: []*tf.Tensor{in(b.x...), y}, f: binary(f), tol: 1e-5})
	}
	addSamples(sample{op: op, name: "unfit", fails: true, in: []*tf.Tensor{in(2, 3), in(4)}, f: binary(f)})
}
