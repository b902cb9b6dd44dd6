package interop

import (
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// spanning is a loop within a loop, whose iterations go to and fro between two
// tasks: x is doubled on one of them and added to on the other.
func spanning(g *tf.Graph, here, there string) (rounds, out tf.Output) {
	less := func(n tf.Output) func([]tf.Output) tf.Output {
		return func(v []tf.Output) tf.Output { return ops.Less(v[0], n) }
	}
	next := func(i tf.Output) tf.Output { return ops.AddV2(i, ops.Scalar(g, int32(1))) }
	g.Device(here, func() {
		rounds = ops.Placeholder(g, tf.Int32, tf.Shape{}, tf.Name("rounds"))
		zero := ops.Scalar(g, int32(0))
		x := ops.Scalar[float32](g, 1)
		out = tf.While([]tf.Output{zero, x}, less(rounds), func(v []tf.Output) []tf.Output {
			inner := tf.While([]tf.Output{zero, v[1]}, less(v[0]), func(w []tf.Output) (y []tf.Output) {
				g.Device(there, func() { y = []tf.Output{next(w[0]), ops.AddV2(w[1], ops.Scalar[float32](g, 1))} })
				return y
			})
			return []tf.Output{next(v[0]), ops.Mul(inner[1], ops.Scalar[float32](g, 2))}
		})[1]
	})
	return rounds, out
}

// spanned is what the loop computes.
func spanned(rounds int) float32 {
	x := 1
	for i := range rounds {
		x = 2 * (x + i)
	}
	return float32(x)
}

// Tasks of both kinds run one loop together, with a master of either kind: they
// name the frames of its iterations alike.
func TestLoopsSpanTasks(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 2)
	spec := "worker|" + addr[0] + ";" + addr[1]
	both(func() { serve(t, ofGorge, spec, "worker", 0) }, func() { serve(t, ofTensorFlow, spec, "worker", 1) })
	for master, target := range map[string]string{ofGorge: addr[0], ofTensorFlow: addr[1]} {
		for _, way := range [][2]string{{"/job:worker/task:0", "/job:worker/task:1"}, {"/job:worker/task:1", "/job:worker/task:0"}} {
			t.Run("master "+master+", loop on "+way[0], func(t *testing.T) {
				g := tf.NewGraph(tf.Strict())
				rounds, out := spanning(g, way[0], way[1])
				s, err := session.New(g, session.With(session.Config{Target: "grpc://" + target, Timeout: time.Minute}))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				for n := range 6 {
					got, err := session.Fetch[float32](t.Context(), s, session.Feeds{rounds: tf.Scalar(int32(n))}, out)
					if err != nil || got[0] != spanned(n) {
						t.Errorf("%d rounds give %v, %v, want %v", n, got, err, spanned(n))
					}
				}
			})
		}
	}
}
