package eager_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestAfterAFailedCheck: operations that are to run after one that failed fail, as those of a
// step do not run.
func TestAfterAFailedCheck(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
	check := ops.Assert(ops.Scalar(g, false), []tf.Output{ops.Scalar(g, "no")})
	var y tf.Output
	g.ControlDependencies([]*tf.Operation{check}, func() {
		y = ops.Identity(ops.Scalar(g, float32(2)))
		v.Assign(ops.Scalar(g, float32(3)))
	})
	if tf.CodeOf(y.Err()) != tf.InvalidArgument {
		t.Errorf("got %v, %v", y, y.Err())
	}
	if x, err := v.Value().Value(); err != nil || tf.Data[float32](x)[0] != 1 {
		t.Errorf("the variable is %v, %v", x, err)
	}
}
