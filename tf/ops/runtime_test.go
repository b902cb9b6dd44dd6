package ops_test

import (
	"github.com/gorge-tf/gorge/internal/optest"
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
		sample{Op: "Const", F: constants},
		sample{Op: "Identity", In: []*tf.Tensor{seq(2, 3)}, F: unary(ops.Identity), Types: someTypes},
		sample{Op: "IdentityN", In: []*tf.Tensor{seq(2, 3), i32(1, 2), seq()}, F: all, Types: someTypes},
		sample{Op: "StopGradient", In: []*tf.Tensor{seq(2, 3)}, F: unary(ops.StopGradient), Types: someTypes},
		sample{Op: "PreventGradient", In: []*tf.Tensor{i32(2, 3)}, F: unary(ops.PreventGradient)},
		sample{Op: "Snapshot", In: []*tf.Tensor{seq(2, 3)}, F: unary(ops.Snapshot), Types: []tf.DType{tf.Int64, tf.Bool}},
		sample{Op: "GuaranteeConst", In: []*tf.Tensor{seq(2, 3)}, F: applied("GuaranteeConst"), Types: someTypes},
		sample{Op: "PlaceholderWithDefault", In: []*tf.Tensor{seq(2, 3)}, F: fed, Types: someTypes},
		sample{Op: "NoOp", In: []*tf.Tensor{seq(2, 3)}, F: nothing},
	)
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
