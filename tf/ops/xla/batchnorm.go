package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	add(map[string]rule{
		"batch_norm_inference": checked(5, batchNormInference),
		"batch_norm_training":  checked(3, batchNormTraining),
		"batch_norm_grad":      checked(5, batchNormGrad),
	})
}

// A normalizing is an operation that normalizes the features of a tensor x.
type normalizing struct {
	x       tf.Output
	wide    []size // the sizes of a vector of features, with 1 for other dimensions
	others  []int  // dimensions that are not of features; none is not nil, which would mean all
	each    size   // elements of a feature
	epsilon tf.Output
	g       *tf.Graph
}

// readNormalizing reads the attributes; operands from 1 on, but for one, are vectors of
// features.
func readNormalizing(l *lowering, op *stablehlo.Op, in []tf.Output, but int) (*normalizing, error) {
	t := op.Operands[0].Type
	r := &reading{op: op}
	feature, epsilon := r.int("feature_index", 0), r.float("epsilon")
	if feature < 0 || feature >= len(t.Shape) {
		r.fail("feature_index must be in [0, %d), got %d", len(t.Shape), feature)
	}
	if r.err != nil {
		return nil, r.err
	}
	for i := 1; i < len(in); i++ {
		rank := 1
		if i == but {
			rank = len(t.Shape)
		}
		if err := rankOf(op, i, rank); err != nil {
			return nil, err
		}
	}
	sizes := sizesOf(in[0], t)
	n := &normalizing{g: l.g, x: in[0], wide: ones(len(sizes)), others: append([]int{}, without(len(sizes), feature)...), each: known(1), epsilon: number(in[0], epsilon)}
	n.wide[feature] = sizes[feature]
	for _, d := range n.others {
		n.each = n.each.times(sizes[d])
	}
	return n, nil
}

// widened gives a vector of features the rank of the tensor.
func (n *normalizing) widened(v tf.Output) tf.Output { return shaped(n.g, v, n.wide) }

// count returns the number of elements of a feature.
func (n *normalizing) count() tf.Output { return ops.Cast(n.each.in(n.g), n.x.DType()) }

func (n *normalizing) normalized(x, scale, offset, mean, variance tf.Output) tf.Output {
	factor := ops.Mul(ops.Rsqrt(ops.AddV2(variance, n.epsilon)), scale)
	y := ops.Mul(ops.Sub(x, n.widened(mean)), n.widened(factor))
	return ops.AddV2(y, n.widened(offset))
}

func batchNormInference(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n, err := readNormalizing(l, op, in, -1)
	if err != nil {
		return nil, err
	}
	return one(n.normalized(in[0], in[1], in[2], in[3], in[4])), nil
}

func batchNormTraining(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n, err := readNormalizing(l, op, in, -1)
	if err != nil {
		return nil, err
	}
	mean := ops.Mean(in[0], n.others)
	variance := ops.Mean(ops.Square(ops.Sub(in[0], n.widened(mean))), n.others)
	return []tf.Output{n.normalized(in[0], in[1], in[2], mean, variance), mean, variance}, nil
}

// batchNormGrad returns the gradients of the tensor, the scale and the offset.
func batchNormGrad(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n, err := readNormalizing(l, op, in, 4)
	if err != nil {
		return nil, err
	}
	scale, mean, variance, dy := in[1], in[2], in[3], in[4]
	centered := ops.Sub(in[0], n.widened(mean))
	inverse := ops.Rsqrt(ops.AddV2(variance, n.epsilon))
	dOffset := ops.Sum(dy, n.others)
	along := ops.Sum(ops.Mul(dy, centered), n.others)
	dScale := ops.Mul(along, inverse)
	rest := ops.AddV2(n.widened(dOffset), ops.Mul(centered, n.widened(ops.Mul(along, ops.Square(inverse)))))
	dx := ops.Mul(ops.Sub(dy, ops.RealDiv(rest, n.count())), n.widened(ops.Mul(scale, inverse)))
	return []tf.Output{dx, dScale, dOffset}, nil
}
