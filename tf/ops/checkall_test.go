package ops_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// The logarithm of a negative number is the first that is none.
func ExampleAddCheckNumerics() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	y := x.Log().Mul(2)
	check := ops.AddCheckNumerics(g)
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for _, v := range []float32{1, -1} {
		_, err := s.Run(context.Background(), session.Feeds{x: tf.Scalar(v)}, y, check)
		if err != nil {
			fmt.Println(tf.AsError(err).Message())
			continue
		}
		fmt.Println("fine")
	}
	// Output:
	// fine
	// Log:0 : Tensor had NaN values
}

// TestAddCheckNumericsRefuses what cannot be checked, and adds what TensorFlow adds.
func TestAddCheckNumericsRefuses(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	x.Log().Cast(tf.Int32)
	op := ops.AddCheckNumerics(g)
	var names []string
	for _, o := range g.Operations() {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, " "); got != "Placeholder Log Cast CheckNumerics CheckNumerics_1 group_deps" || len(op.ControlInputs()) != 1 {
		t.Error(got, op.ControlInputs())
	}
	if ops.AddCheckNumerics(tf.NewGraph()).Err() != nil {
		t.Error("an empty graph has nothing to check")
	}
	g = tf.NewGraph()
	x = ops.Placeholder(g, tf.Float32, tf.Shape{})
	tf.Cond(x.Less(float32(0)), func() []tf.Output { return []tf.Output{x.Neg()} }, func() []tf.Output { return []tf.Output{x} })
	if err := ops.AddCheckNumerics(g).Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.HasPrefix(err.Error(), "checkall_test.go:") {
		t.Error(err)
	}
	for _, g := range []*tf.Graph{nil, eager.New()} {
		if err := ops.AddCheckNumerics(g).Err(); tf.CodeOf(err) != tf.FailedPrecondition {
			t.Error(err)
		}
	}
}
