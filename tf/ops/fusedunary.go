package ops

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "_UnaryOpsComposition", In: "x: T", Out: "y: T", Attrs: "T: {float, half, double}; op_names: list(string)",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(unaryComposition),
	})
}

// The elementwise functions that TensorFlow's optimizer composes, and those that
// it does not compose for half.
var (
	composable = strings.Fields("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Expm1 Exp Floor Inv Log Log1p Neg Reciprocal Rint Round Rsqrt " +
		"Sigmoid Sin Sinh Sqrt Square Tan Tanh Elu Relu Relu6 Selu")
	notInHalf = strings.Fields("Acos Acosh Asin Asinh Atan Atanh Cosh Rint Sinh Tan")
)

// unaryComposition runs the kernels of several functions one after the other.
func unaryComposition(n *core.Node) (core.Kernel, error) {
	names, d := n.Strs("op_names"), n.Type("T")
	if len(names) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Unary op composition must have at least one op")
	}
	var steps []core.Compute
	for _, name := range names {
		if !slices.Contains(composable, name) || d == tf.Float16 && slices.Contains(notInHalf, name) {
			return nil, tf.Errorf(tf.InvalidArgument, "Do not have a compute function registered for op: %s", name)
		}
		one := &core.Node{Name: n.Name, Def: core.Lookup(name), Attrs: core.Attrs{"T": d}, InTypes: n.InTypes, OutTypes: n.OutTypes}
		find, err := one.Def.Kernels.Find(one)
		if err != nil {
			return nil, err
		}
		k, err := find(one)
		if err != nil {
			return nil, err
		}
		step, ok := core.AsCompute(k)
		if !ok {
			return nil, tf.Errorf(tf.Internal, "the kernel of %s must not wait", name)
		}
		steps = append(steps, step)
	}
	return core.Compute(func(c *core.OpContext) error { return composed(c, steps) }), nil
}

// composed lets all steps but the first work in the memory of the one before.
func composed(c *core.OpContext, steps []core.Compute) error {
	step := *c
	for i, run := range steps {
		if i > 0 {
			step.In, step.Last = []core.Slot{step.Out[0]}, []bool{true}
		}
		step.Out, step.Scratch = make([]core.Slot, 1), nil
		if i == len(steps)-1 {
			step.Out, step.Scratch = c.Out, c.Scratch
		}
		if err := run(&step); err != nil {
			return err
		}
	}
	return nil
}
