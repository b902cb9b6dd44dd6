package training_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/training"
)

// The operations of optimizers update variables in place. UseLocking is for
// TensorFlow: here updates of a variable always exclude each other.
func ExampleOptimizerOpts() {
	g := eager.New()
	v := ops.VarHandleOp(g, tf.Float32, tf.Shape{2})
	if err := ops.AssignVariableOp(v, ops.Const(g, []float32{1, 2})).Err(); err != nil {
		fmt.Println(err)
		return
	}
	rate, gradient := ops.Scalar[float32](g, 0.5), ops.Const(g, []float32{2, -2})
	step := tf.Apply(g, "ResourceApplyGradientDescent", []tf.Output{v, rate, gradient}, training.OptimizerOpts{UseLocking: true})
	if err := step.Err(); err != nil {
		fmt.Println(err)
		return
	}
	x, err := ops.ReadVariableOp(v, tf.Float32).Value()
	fmt.Println(x, err)
	// Output: float32[2]{0, 3} <nil>
}
