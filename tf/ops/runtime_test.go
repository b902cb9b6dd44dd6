package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	constants := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), ops.Scalar(g, "text"), ops.ConstTensor(g, arr(tf.Shape{1, 2}, true, false))}
	}
	all := func(_ *tf.Graph, in []tf.Output) []tf.Output { return ops.IdentityN(in) }
	fed := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.PlaceholderWithDefault(in[0], tf.Shape{-1, 3})}
	}
	nothing := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(in[0], tf.After(ops.NoOp(g)))}
	}
	addSamples(
		sample{op: "Const", f: constants},
		sample{op: "Identity", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.Identity), types: someTypes},
		sample{op: "IdentityN", in: []*tf.Tensor{seq(2, 3), i32(1, 2), seq()}, f: all, types: someTypes},
		sample{op: "StopGradient", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.StopGradient), types: someTypes},
		sample{op: "PreventGradient", in: []*tf.Tensor{i32(2, 3)}, f: unary(ops.PreventGradient)},
		sample{op: "Snapshot", in: []*tf.Tensor{seq(2, 3)}, f: unary(ops.Snapshot), types: []tf.DType{tf.Int64, tf.Bool}},
		sample{op: "GuaranteeConst", in: []*tf.Tensor{seq(2, 3)}, f: applied("GuaranteeConst"), types: someTypes},
		sample{op: "PlaceholderWithDefault", in: []*tf.Tensor{seq(2, 3)}, f: fed, types: someTypes},
		sample{op: "NoOp", in: []*tf.Tensor{seq(2, 3)}, f: nothing},
	)
	const fed2 = "has a value only when one is fed: see TestPlaceholder"
	const frame = "is added by the runtime: see TestFrame"
	const transfer = "is added when a graph is split: see TestTransfer"
	for op, why := range map[string]string{
		"Placeholder": fed2, "PlaceholderV2": fed2, "_Arg": frame, "_Retval": frame,
		"_Send": transfer, "_Recv": transfer, "_HostSend": transfer, "_HostRecv": transfer,
	} {
		unsampled[op] = why
	}
}
