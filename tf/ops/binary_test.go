package ops_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/raw"
)

type function2 = func(x, y tf.Output, opts ...tf.Option) tf.Output

func init() {
	for name, f := range map[string]function2{
		"Add": raw.Add, "AddV2": ops.AddV2, "Sub": ops.Sub, "Mul": ops.Mul, "Maximum": ops.Maximum, "Minimum": ops.Minimum,
		"SquaredDifference": ops.SquaredDifference, "MulNoNan": ops.MulNoNan,
		"Less": ops.Less, "LessEqual": ops.LessEqual, "Greater": ops.Greater, "GreaterEqual": ops.GreaterEqual, "Equal": ops.Equal, "NotEqual": ops.NotEqual,
	} {
		addBroadcasts(name, f, seq)
		addSamples(sample{
			Op: name, Name: "specials", Rough: "infinite and undefined values", F: binary(f),
			In: []*core.Tensor{vec[float32](nan, 1, inf, -inf, 0, float32(math.Copysign(0, -1)), 2), vec[float32](1, nan, -inf, -inf, float32(math.Copysign(0, -1)), 0, 2)},
		})
	}
	for name, f := range map[string]function2{
		"Div": raw.Div, "RealDiv": ops.RealDiv, "TruncateDiv": ops.TruncateDiv, "FloorDiv": ops.FloorDiv, "FloorMod": ops.FloorMod,
		"Mod": raw.Mod, "TruncateMod": ops.TruncateMod, "DivNoNan": ops.DivNoNan,
	} {
		addBroadcasts(name, f, apart)
		addSamples(sample{
			Op: name, Name: "by zero", Rough: "infinite and undefined values", F: binary(f),
			In: []*core.Tensor{vec[float32](1, -1, 0, nan, 0, inf), vec[float32](0, 0, 0, 0, 5, inf)},
		})
	}
	for name, f := range map[string]function2{
		"Div": raw.Div, "TruncateDiv": ops.TruncateDiv, "FloorDiv": ops.FloorDiv, "FloorMod": ops.FloorMod, "Mod": raw.Mod, "TruncateMod": ops.TruncateMod,
	} {
		ownWords := ""
		if name == "TruncateDiv" || name == "TruncateMod" {
			ownWords = "TensorFlow's message does not name the cause"
		}
		addSamples(
			sample{Op: name, Name: "signs", F: binary(f), In: []*core.Tensor{vec[int32](7, -7, 7, -7, 6, -6, 0), vec[int32](2, 2, -2, -2, 3, -3, 5)}},
			sample{Op: name, Name: "zero divisor", Fails: true, NoGolden: ownWords, F: binary(f), In: []*core.Tensor{vec[int32](1, 2), vec[int32](1, 0)}},
			sample{Op: name, Name: "nothing by zero", F: binary(f), In: []*core.Tensor{vec[int32](), vec[int32](0)}})
	}
	addBroadcasts("Pow", ops.Pow, modest)
	addSamples(
		sample{Op: "Pow", Name: "specials", Rough: "infinite and undefined values", F: binary(ops.Pow),
			In: []*core.Tensor{vec[float32](0, 0, -2, -2, nan, 2, inf), vec[float32](0, 2, 3, 0.5, 0, nan, -1)}},
		sample{Op: "Pow", Name: "integers", F: binary(ops.Pow), In: []*core.Tensor{vec[int64](2, -3, 0, 7), vec[int64](10, 3, 0, 30)}},
		sample{Op: "Pow", Name: "negative power", Fails: true, F: binary(ops.Pow), In: []*core.Tensor{vec[int32](1, 2), vec[int32](1, -1)}},
		sample{Op: "Equal", Name: "strings", F: binary(ops.Equal), In: []*core.Tensor{vec("a", "b", ""), vec("a", "c", "")}},
		sample{Op: "Equal", Name: "unfit differ", F: binary(ops.Equal, ops.EqualOpts{UnfitDiffer: true}), In: []*core.Tensor{seq(2, 3), seq(4)}},
		sample{Op: "NotEqual", Name: "unfit differ", F: binary(ops.NotEqual, ops.EqualOpts{UnfitDiffer: true}), In: []*core.Tensor{seq(2, 3), seq(4)}},
		sample{Op: "Equal", Name: "tolerant and fit", F: binary(ops.Equal, ops.EqualOpts{UnfitDiffer: true}), In: []*core.Tensor{seq(2, 3), seq(3)}},
		sample{Op: "LogicalAnd", F: binary(ops.LogicalAnd), In: []*core.Tensor{vec(true, false, true), mat(1, false, true)}},
		sample{Op: "LogicalOr", F: binary(ops.LogicalOr), In: []*core.Tensor{vec(true, false, true), mat(1, false, true)}},
		sample{Op: "LogicalNot", F: unary(ops.LogicalNot), In: []*core.Tensor{vec(true, false, true)}})
}

// apart is seq without numbers that are 0 as integers or whose quotients are
// close to one.
func apart(s ...int) *core.Tensor {
	t := seq(s...)
	for i, v := range core.Data[float32](t) {
		core.Data[float32](t)[i] = v + float32(math.Copysign(1.03, float64(v)))
	}
	return t
}

// modest returns numbers greater than 0 and less than 3.
func modest(s ...int) *core.Tensor {
	t := positive(s...)
	for i, v := range core.Data[float32](t) {
		core.Data[float32](t)[i] = v * 0.4
	}
	return t
}

// addBroadcasts adds samples of all forms that operands can be combined in.
func addBroadcasts(op string, f function2, in func(s ...int) *core.Tensor) {
	for _, b := range []struct {
		name string
		x, y []int
	}{
		{"", []int{2, 3}, []int{2, 3}}, {"scalar x", []int{}, []int{3, 2}}, {"scalar y", []int{3, 2}, []int{}}, {"row", []int{2, 3}, []int{3}},
		{"column", []int{2, 1}, []int{2, 3}}, {"outer", []int{3, 1}, []int{1, 4}}, {"middle", []int{2, 1, 3}, []int{1, 4, 1}},
		{"empty", []int{0, 3}, []int{3}}, {"one and empty", []int{1, 3}, []int{0, 3}}, {"same rank of one", []int{1}, []int{1, 1}},
	} {
		y := in(append([]int{}, b.y...)...)
		for i := range core.Data[float32](y) { // operands that differ
			core.Data[float32](y)[i] *= 1.25
		}
		addSamples(sample{Op: op, Name: b.name, In: []*core.Tensor{in(b.x...), y}, F: binary(f), Tol: 1e-5})
	}
	addSamples(sample{Op: op, Name: "unfit", Fails: true, In: []*core.Tensor{in(2, 3), in(4)}, F: binary(f)})
}
