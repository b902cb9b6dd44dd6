package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addSamples(sample{Op: "DisableCopyOnRead", In: []*core.Tensor{vec[float32](1, 2)}, Types: onlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		h := ops.VarHandleOp(g, tf.Float32, tf.Shape{2})
		set := ops.AssignVariableOp(h, in[0])
		return []tf.Output{ops.ReadVariableOp(h, tf.Float32, tf.After(ops.DisableCopyOnRead(h, tf.After(set))))}
	}})
}

func TestDisableCopyOnReadNeedsVariable(t *testing.T) {
	h := ops.VarHandleOp(eager.New(), tf.Float32, nil)
	if err := ops.DisableCopyOnRead(h).Err(); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
}
