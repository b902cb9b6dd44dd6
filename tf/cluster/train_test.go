package cluster_test

import (
	"context"
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A regression finds the plane through four points. Its variables are on
// device vars, the rest on device work.
type regression struct {
	g    *tf.Graph
	loss tf.Output
	step *tf.Operation
	init *tf.Operation
}

func newRegression(vars, work string) regression {
	r := regression{g: tf.NewGraph(tf.Strict())}
	var w, b *tf.Variable
	r.g.Device(vars, func() {
		w = tf.NewVariable(ops.Const(r.g, []float32{0, 0}, 2, 1), tf.VariableOptions{Name: "w"})
		b = tf.NewVariable(ops.Const(r.g, []float32{0}), tf.VariableOptions{Name: "b"})
	})
	r.g.Device(work, func() {
		x := ops.Const(r.g, []float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2)
		y := ops.Const(r.g, []float32{1, -1, 4, 2}, 4, 1)
		r.loss = ops.Mean(ops.Square(ops.Sub(ops.AddV2(ops.MatMul(x, w.Value()), b.Value()), y)), ops.Const(r.g, []int32{0, 1}))
	})
	r.step = train.GradientDescent{LearningRate: 0.3}.Minimize(r.loss)
	r.init = tf.InitializeAll(r.g)
	return r
}

// losses trains and returns the loss before each step.
func (r *regression) losses(t *testing.T, s *session.Session, steps int) []float32 {
	t.Helper()
	if _, err := s.Run(context.Background(), nil, r.init); err != nil {
		t.Fatal(err)
	}
	var out []float32
	for range steps {
		l, err := session.Fetch[float32](context.Background(), s, nil, r.loss, r.step)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, l[0])
	}
	return out
}

// A cluster computes what one process does.
func TestTrainOnTwoServers(t *testing.T) {
	const steps = 50
	local := newRegression("", "")
	s, err := session.New(local.g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := local.losses(t, s, steps)
	if last := want[steps-1]; last > 1e-3 {
		t.Fatalf("loss after %d steps = %v: the model does not learn", steps, last)
	}
	c := start(t, map[string]int{"ps": 1, "worker": 1})
	spread := newRegression("/job:ps", "/job:worker")
	got := spread.losses(t, open(t, spread.g, c.servers["worker:0"].Target()), steps)
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > 1e-6 {
			t.Fatalf("loss before step %d = %v on the cluster, %v in one process", i, got[i], want[i])
		}
	}
}
