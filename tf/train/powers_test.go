package train_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestPowersOfOptimizers: optimizers of different names correct for the bias of their own
// averages, whatever another one does to the same variable. The first step of each is as
// long as the rate.
func TestPowersOfOptimizers(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
	loss := v.Value().Square()
	first := train.Adam{LearningRate: 0.1, Name: "first"}.Minimize(loss)
	second := train.Adam{LearningRate: 0.1, Name: "second", Beta1: 0.5}.Minimize(loss)
	s := begin(t, g, true)
	for _, op := range []*tf.Operation{first, second} {
		if _, err := s.Run(t.Context(), nil, op); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.Run(t.Context(), nil, v.Value())
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[float32](out[0])[0]; got < 0.799 || got > 0.801 {
		t.Errorf("after a step of each the variable is %v, want 0.8", got)
	}
	if g.Operation("beta1_power_1") == nil {
		t.Error("the second optimizer has no power of its own")
	}
}
