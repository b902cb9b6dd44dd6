package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// checked returns a rule for tensors that has at least so many operands, and checks
// what the rule relies on: types that the operands have indeed. A mistake of a node
// that the rule adds becomes the rule's error.
func checked(operands int, r rule) rule {
	return func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		if err := checkOperands(op, in, operands); err != nil {
			return nil, err
		}
		out, err := r(l, op, in)
		if err != nil {
			return nil, err
		}
		return out, checkResults(op, out)
	}
}

// widened is checked for rules whose ops have no kernels for floating-point numbers of 8 bits:
// they are given float32, and what they return is rounded.
func widened(operands int, r rule) rule {
	return checked(operands, func(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
		in = slices.Clone(in)
		for i, x := range in {
			if isSmall(x.DType().Base()) {
				in[i] = ops.Cast(x, tf.Float32)
			}
		}
		out, err := r(l, op, in)
		for i := range out {
			if i < len(op.Results) && isSmall(dtypes[op.Results[i].Type.Elem]) {
				out[i] = ops.Cast(out[i], dtypes[op.Results[i].Type.Elem])
			}
		}
		return out, err
	})
}

func checkOperands(op *stablehlo.Op, in []tf.Output, least int) error {
	if len(in) < least || len(in) != len(op.Operands) {
		return refused(op, "it takes %d operands or more, got %d", least, len(in))
	}
	for i, v := range op.Operands {
		if err := checkType(op, v.Type); err != nil {
			return err
		}
		if !fits(in[i].Shape(), v.Type.Shape) {
			return refused(op, "operand %d must be of shape %v, got %s", i, v.Type.Shape, in[i].Shape().String())
		}
	}
	for _, v := range op.Results {
		if err := checkType(op, v.Type); err != nil {
			return err
		}
	}
	return nil
}

func checkType(op *stablehlo.Op, t stablehlo.Type) error {
	switch {
	case t.Kind != stablehlo.Tensor:
		return unsupported(op, "its operands and results must be tensors of known ranks")
	case t.Quantized:
		return unsupported(op, "quantized elements are not supported")
	}
	return nil
}

// fits reports whether a shape may be one of a type.
func fits(s tf.Shape, t []int64) bool {
	if s == nil {
		return true
	}
	if len(s) != len(t) {
		return false
	}
	for i, d := range t {
		if s[i] >= 0 && d >= 0 && int64(s[i]) != d {
			return false
		}
	}
	return true
}

func checkResults(op *stablehlo.Op, out []tf.Output) error {
	if len(out) != len(op.Results) {
		return refused(op, "it has %d results, got %d", len(out), len(op.Results))
	}
	for i, x := range out {
		if err := x.Err(); err != nil {
			return tf.Errorf(tf.CodeOf(err), "StableHLO's operation %s: %v", op.Name, err)
		}
		if t := op.Results[i].Type; !fits(x.Shape(), t.Shape) {
			return refused(op, "result %d must be of shape %s, got a type of shape %v", i, x.Shape().String(), t.Shape)
		}
	}
	return nil
}

// rankOf checks that an operand has a rank.
func rankOf(op *stablehlo.Op, operand, rank int) error {
	if got := len(op.Operands[operand].Type.Shape); got != rank {
		return refused(op, "operand %d must be of rank %d, got %d", operand, rank, got)
	}
	return nil
}

// scalars checks that operands from first on are scalars.
func scalars(op *stablehlo.Op, first int) error {
	for i := first; i < len(op.Operands); i++ {
		if err := rankOf(op, i, 0); err != nil {
			return err
		}
	}
	return nil
}
