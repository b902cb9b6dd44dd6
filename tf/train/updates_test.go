package train_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestMinimizeTakesUpdates: a step with options, too, does the updates that the loss asks
// for, whether or not what the optimizer applies depends on their sources.
func TestMinimizeTakesUpdates(t *testing.T) {
	for name, o := range map[string]train.Optimizer{
		"plain":       train.GradientDescent{LearningRate: 0.1},
		"synchronous": &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 0.1}, ReplicasToAggregate: 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			step := train.GlobalStep(g)
			w := tf.NewVariable(ops.Scalar(g, float32(2)), tf.VariableOptions{Name: "w"})
			n := tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "n", NotTrainable: true})
			loss := w.Value().Square()
			update := n.AssignAdd(ops.Scalar(g, float32(1)))
			vars.AddUpdate(update, loss.Operation())
			op := train.Minimize(o, loss, train.Options{GlobalStep: step})
			if err := op.Err(); err != nil {
				t.Fatal(err)
			}
			if !dependsOn(op, update) {
				t.Errorf("%s does not run the update", op.Name)
			}
		})
	}
}

// dependsOn reports whether op runs after another operation.
func dependsOn(op, on *tf.Operation) bool {
	all, seen := []*tf.Operation{op}, map[*tf.Operation]bool{op: true}
	for len(all) > 0 {
		op, all = all[0], all[1:]
		before := op.ControlInputs()
		for _, x := range op.Inputs() {
			before = append(before[:len(before):len(before)], x.Operation())
		}
		for _, b := range before {
			if b == on {
				return true
			}
			if !seen[b] {
				seen[b] = true
				all = append(all, b)
			}
		}
	}
	return false
}
