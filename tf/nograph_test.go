package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNoGraph: what is asked of a nil graph is an error or nothing, no panic.
func TestNoGraph(t *testing.T) {
	x := ops.Scalar(tf.NewGraph(), float32(1))
	for name, err := range map[string]error{
		"InitializeAll":  tf.InitializeAll(nil).Err(),
		"NewFunction":    tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Err(),
		"a call":         tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Call([]tf.Output{x})[0].Err(),
		"CustomGradient": tf.CustomGradient([]tf.Output{x}, nil)[0].Err(),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(tf.Variables(nil, tf.GlobalVariables)); n != 0 {
		t.Errorf("no graph has %d variables", n)
	}
}
