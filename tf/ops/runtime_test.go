package ops_test

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	constants := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), ops.Scalar(g, "text"), ops.ConstValue(g, arr(tf.Shape{1, 2}, true, false))}
	}
	all := func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.IdentityN(in) }
	fed := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.PlaceholderWithDefault(in[0], tf.Shape{-1, 3})}
	}
	nothing := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(in[0], tf.After(ops.NoOp(g)))}
	}
	hostConstant := func(g *tf.Graph, _ []tf.Output) []tf.Output {
		t := seq(2, 3)
		return []tf.Output{tf.Apply(g, "HostConst", nil, tf.Attr("value", t), tf.Attr("dtype", t.DType())).Output(0)}
	}
	mixed := failing("_ListToArray", "types", internal("_ListToArray", tf.Attr("T", tf.Float32), tf.Attr("N", 2)), seq(2, 3), i32(1))
	mixed.NoGolden = "TensorFlow hands out values of types that are not declared"
	addSamples(
		sample{Op: "Const", F: constants},
		sample{Op: "HostConst", F: hostConstant},
		sample{Op: "_EagerConst", In: []*core.Tensor{seq(2, 3)}, F: internal("_EagerConst"), Types: someTypes},
		sample{Op: "_ArrayToList", In: []*core.Tensor{seq(2, 3), seq(1)}, F: internal("_ArrayToList", tf.Attr("out_types", []tf.DType{tf.Float32, tf.Float32})), Types: onlyOwn},
		sample{Op: "_ListToArray", In: []*core.Tensor{seq(2, 3), seq(1)}, F: internal("_ListToArray", tf.Attr("T", tf.Float32), tf.Attr("N", 2)), Types: onlyOwn},
		mixed,
		sample{Op: "_HostCast", In: []*core.Tensor{seq(2, 3)}, F: internal("_HostCast", tf.Attr("DstT", tf.Int32))},
		sample{Op: "Identity", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.Identity), Types: someTypes},
		sample{Op: "IdentityN", In: []*core.Tensor{seq(2, 3), i32(1, 2), seq()}, F: all, Types: someTypes},
		sample{Op: "StopGradient", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.StopGradient), Types: someTypes},
		sample{Op: "PreventGradient", In: []*core.Tensor{i32(2, 3)}, F: unary(ops.PreventGradient)},
		sample{Op: "Snapshot", In: []*core.Tensor{seq(2, 3)}, F: unary(ops.Snapshot), Types: []tf.DType{tf.Int64, tf.Bool}},
		sample{Op: "GuaranteeConst", In: []*core.Tensor{seq(2, 3)}, F: applied("GuaranteeConst"), Types: someTypes},
		sample{Op: "PlaceholderWithDefault", In: []*core.Tensor{seq(2, 3)}, F: fed, Types: someTypes},
		sample{Op: "NoOp", In: []*core.Tensor{seq(2, 3)}, F: nothing},
	)
	addCompositionSamples()
	const fed2 = "has a value only when one is fed: see TestPlaceholder"
	const frame = "is added by the runtime: see TestFrame"
	const transfer = "is added when a graph is split: see TestTransfer"
	for op, why := range map[string]string{
		"Placeholder": fed2, "PlaceholderV2": fed2, "_Arg": frame, "_Retval": frame,
		"_Send": transfer, "_Recv": transfer, "_HostSend": transfer, "_HostRecv": transfer,
	} {
		optest.Unsampled(op, why)
	}
}

// internal is applied for ops that runtimes add: their names are no names for
// nodes.
func internal(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return applied(op, append(opts, tf.Name(op[1:]))...)
}

// addCompositionSamples adds each function that can be composed, behind another
// and before one.
func addCompositionSamples() {
	both := []tf.DType{tf.Float64, tf.Float16}
	add := func(x *core.Tensor, types []tf.DType, names ...string) {
		addSamples(sample{Op: "_UnaryOpsComposition", Name: strings.Join(names, " "), In: []*core.Tensor{x}, F: internal("_UnaryOpsComposition", tf.Attr("op_names", names)), Types: types, Tol: 1e-6})
	}
	for _, name := range strings.Fields("Ceil Cos Expm1 Exp Floor Neg Relu6 Round Sigmoid Sin Square Tanh Elu Relu Selu") {
		add(seq(2, 3), both, name, "Abs")
	}
	for _, name := range strings.Fields("Inv Log Log1p Reciprocal Rsqrt Sqrt") {
		add(positive(2, 3), both, "Abs", name, "Relu")
	}
	for _, name := range strings.Fields("Asinh Atan Cosh Rint Sinh Tan") {
		add(seq(2, 3), []tf.DType{tf.Float64}, name, "Neg")
	}
	for _, name := range strings.Fields("Acos Asin Atanh") {
		add(seq(2, 3), []tf.DType{tf.Float64}, "Sigmoid", name)
	}
	add(positive(2, 3), []tf.DType{tf.Float64}, "Cosh", "Acosh")
	addSamples(
		failing("_UnaryOpsComposition", "none", internal("_UnaryOpsComposition", tf.Attr("op_names", []string{})), seq(2)),
		failing("_UnaryOpsComposition", "op", internal("_UnaryOpsComposition", tf.Attr("op_names", []string{"Abs", "Sign"})), seq(2)),
		failing("_UnaryOpsComposition", "half", internal("_UnaryOpsComposition", tf.Attr("op_names", []string{"Acos"})), optest.Convert(seq(2), tf.Float16)),
	)
}
