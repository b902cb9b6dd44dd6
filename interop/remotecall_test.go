package interop

import (
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// calledOn calls, from one task, a function on another that changes a variable
// there and returns its value and a text.
func calledOn(g *tf.Graph, caller, callee string) (x tf.Output, y []tf.Output, init *tf.Operation) {
	x = ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	var v *tf.Variable
	g.Device(callee, func() { v = tf.NewVariable(ops.Scalar[float32](g, 10), tf.VariableOptions{Name: "v"}) })
	f := tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output {
		v.AssignAdd(in[0])
		read := v.Read()
		return []tf.Output{ops.CheckNumerics(read, "on the other task"), ops.AsString(read)}
	})
	g.Device(caller, func() { y = ops.RemoteCall(ops.Scalar(g, callee), f, []tf.Output{x}) })
	return x, y, v.Initializer()
}

// Tasks of both kinds call functions on each other, with a master of either kind.
func TestRemoteCalls(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 2)
	spec := "worker|" + addr[0] + ";" + addr[1]
	both(func() { serve(t, ofGorge, spec, "worker", 0) }, func() { serve(t, ofTensorFlow, spec, "worker", 1) })
	for master, target := range map[string]string{ofGorge: addr[0], ofTensorFlow: addr[1]} {
		for _, way := range [][2]string{{"/job:worker/task:0", "/job:worker/task:1"}, {"/job:worker/task:1", "/job:worker/task:0"}} {
			t.Run("master "+master+", call from "+way[0], func(t *testing.T) {
				g := tf.NewGraph(tf.Strict())
				x, y, init := calledOn(g, way[0]+"/device:CPU:0", way[1]+"/device:CPU:0")
				s, err := session.New(g, session.With(session.Config{Target: "grpc://" + target, Timeout: time.Minute}))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if _, err := s.Run(t.Context(), nil, init); err != nil {
					t.Fatal(err)
				}
				for i := range 3 {
					got, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar[float32](2)}, y[0], y[1])
					if err != nil {
						t.Fatal(err)
					}
					if want := float32(12 + 2*i); got[0].At(0) != want || !strings.HasPrefix(got[1].At(0).(string), "1") {
						t.Errorf("call %d gives %v and %v, want %v", i, got[0], got[1], want)
					}
				}
			})
		}
	}
}
