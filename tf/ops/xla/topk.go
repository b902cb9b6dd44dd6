package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{"top_k": widened(1, func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		return topK(l, op, in, op.Attr("k"), true)
	})})
	addCustomCalls(map[string]rule{
		"mhlo.topk": widened(1, func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
			largest, said := dict(op, "mhlo.attributes", "largest").(stablehlo.Bool)
			return topK(l, op, in, dict(op, "mhlo.attributes", "k"), bool(largest) || !said)
		}),
		"ApproxTopK": widened(4, approxTopK),
	})
}

// topK returns the k greatest, or least, elements along the last dimension, and their
// positions. The order of floating-point numbers is total.
func topK(l *lowering, op *stablehlo.Op, in []tf.Output, attr stablehlo.Attr, largest bool) ([]tf.Output, error) {
	k, ok := attr.(stablehlo.Int)
	t := op.Operands[0].Type
	rank := len(t.Shape)
	if !ok || k.Value < 0 || k.Value > 1<<31-1 || rank < 1 || len(op.Results) != 2 {
		return nil, refused(op, "it must have an integer k of 0 or more, an operand of rank 1 or more, and two results")
	}
	if n := t.Shape[rank-1]; n >= 0 && k.Value > n {
		return nil, refused(op, "k must be at most the size of the last dimension, got %d and %d", k.Value, n)
	}
	return greatest(in[0], rank, int(k.Value), sortKey{descending: largest}), nil
}

func greatest(x tf.Output, rank, k int, key sortKey) []tf.Output {
	order := ascending(x, key)
	values, at := ops.TopK(order, k)
	if order != x {
		values = along(x, at, rank)
	}
	return []tf.Output{values, at}
}

// approxTopK computes exactly what the call would approximate: the k greatest or least
// elements of operand 0 along a dimension, and those of operand 1 at their positions.
func approxTopK(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	names, _ := op.Attr("called_computations").(stablehlo.Array)
	k, okK := dict(op, "mhlo.backend_config", "top_k").(stablehlo.Int)
	dim, okD := dict(op, "mhlo.backend_config", "reduction_dim").(stablehlo.Int)
	rank := int64(len(op.Operands[0].Type.Shape))
	if len(names) != 1 || !okK || !okD || k.Value < 0 || k.Value > 1<<31-1 || dim.Value < 0 || dim.Value >= rank || len(in) != 4 {
		return nil, refused(op, "ApproxTopK must have one computation, a k, a dimension of its operand, and four operands")
	}
	name, _ := names[0].(stablehlo.Symbol)
	f := l.module.Func(string(name))
	if f == nil {
		return nil, refused(op, "the module has no function %q", string(name))
	}
	keys, ok := comparator(f.Body, 2)
	if !ok || len(keys) != 1 || keys[0].operand != 0 {
		return nil, unsupported(op, "its comparator must be less or greater of the first operand; another one is not recognized")
	}
	n := int(rank)
	order := append(without(n, int(dim.Value)), int(dim.Value))
	out := greatest(transposed(in[0], order), n, int(k.Value), keys[0])
	out[1] = along(transposed(in[1], order), out[1], n)
	for i := range out {
		out[i] = transposed(out[i], inverse(order))
	}
	return out, nil
}
