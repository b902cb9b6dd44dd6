package master_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sessionstate"
)

// A tensor can be kept in any task of a cluster, not only in the master's, where its
// handle is fetched.
func TestTensorsAreKeptInAllTasks(t *testing.T) {
	for _, task := range []string{"/job:worker/task:0", "/job:ps"} {
		g := tf.NewGraph(tf.Strict())
		x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
		sessionstate.GetSessionHandle(x, tf.Name("kept"), tf.OnDevice(task))
		handle := ops.Placeholder(g, core.String, core.Shape{}, tf.Name("handle"))
		sessionstate.GetSessionTensor(handle, core.Float32, tf.Name("again"), tf.OnDevice(task))
		s := connect(t, newCluster(t, ps0, worker0).master(worker0), g, nil)
		got, err := s.run(feeds{"x:0": scalar(2)}, []string{"kept:0"})
		if err != nil {
			t.Fatal(err)
		}
		if v := s.value("again:0", feeds{"handle:0": got[0]}); v != 2 {
			t.Errorf("%s keeps %v, want 2", task, v)
		}
	}
}
