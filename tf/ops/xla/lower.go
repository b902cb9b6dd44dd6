package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// A rule adds the nodes that compute what op computes from in, one output for each
// operand. It returns an output for each result.
type rule func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error)

// rules has the rule of each operation. Each family of operations adds its own while
// the program starts.
var rules = map[string]rule{}

// add adds the rules of a family.
func add(family map[string]rule) {
	for name, r := range family {
		rules[name] = r
	}
}

// A lowering puts the operations of a block into a graph.
type lowering struct {
	module *stablehlo.Module
	g      *tf.Graph
	values map[*stablehlo.Value]tf.Output
}

// block adds the operations of a block, whose arguments are in, and returns what its
// last operation returns.
func (l *lowering) block(b *stablehlo.Block, in []tf.Output) ([]tf.Output, error) {
	if len(in) != len(b.Args) {
		return nil, tf.Errorf(tf.InvalidArgument, "a block of StableHLO takes %d arguments, got %d", len(b.Args), len(in))
	}
	for i, a := range b.Args {
		l.values[a] = in[i]
	}
	for _, op := range b.Ops {
		operands := make([]tf.Output, len(op.Operands))
		for i, v := range op.Operands {
			operands[i] = l.values[v]
		}
		if op == b.Terminator() {
			return operands, nil
		}
		if err := l.add(op, operands); err != nil {
			return nil, err
		}
	}
	return nil, tf.Errorf(tf.InvalidArgument, "a block of StableHLO has no operation that ends it")
}

// add adds one operation.
func (l *lowering) add(op *stablehlo.Op, in []tf.Output) error {
	r, ok := rules[op.Name]
	if !ok {
		return tf.Errorf(tf.Unimplemented, "StableHLO's operation %s is not supported", op.Name)
	}
	out, err := r(l, op, in)
	if err != nil {
		return err
	}
	for i, v := range op.Results {
		l.values[v] = out[i]
	}
	return nil
}
