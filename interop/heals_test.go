package interop

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// task returns the command of a task of a cluster, of either kind.
func task(kind, cluster, job string, n int) *exec.Cmd {
	if kind == ofTensorFlow {
		return exec.Command(python, "testdata/server.py", cluster, job, fmt.Sprint(n))
	}
	return exec.Command(gorge, "serve", "--cluster_spec="+cluster, "--job_name="+job, fmt.Sprintf("--task_id=%d", n), "--log=error")
}

// TestHealsOnServers kills a parameter server of either kind and starts another in its
// place: training through a master of either kind goes on from the last checkpoint, one
// that was written beside the steps.
func TestHealsOnServers(t *testing.T) {
	needTensorFlow(t)
	for _, c := range []struct{ ps, worker string }{{ofTensorFlow, ofTensorFlow}, {ofTensorFlow, ofGorge}, {ofGorge, ofTensorFlow}} {
		t.Run("ps "+c.ps+", worker "+c.worker, func(t *testing.T) {
			addr := ports(t, 2)
			spec := "ps|" + addr[0] + ",worker|" + addr[1]
			ps := task(c.ps, spec, "ps", 0)
			both(func() { start(t, ps) }, func() { start(t, task(c.worker, spec, "worker", 0)) })
			healHere(t, "grpc://"+addr[1], func() {
				_ = ps.Process.Kill()
				_ = ps.Wait()
				start(t, task(c.ps, spec, "ps", 0))
			})
		})
	}
}

// healHere trains 30 steps, in the middle of which restart is called.
func healHere(t *testing.T, target string, restart func()) {
	t.Helper()
	g, dir := tf.NewGraph(tf.Strict()), t.TempDir()
	var next *tf.Operation
	g.DeviceFunc(train.ReplicaDevices{PSTasks: 1, Worker: "/job:worker/task:0"}.Setter(), func() {
		step := train.GetOrCreateGlobalStep(g)
		w := tf.NewVariable(ops.Const(g, make([]int64, 1000)), tf.VariableOptions{Name: "w"})
		next = tf.Group(g, "step", step.AssignAdd(ops.Scalar(g, int64(1))), w.AssignAdd(ops.Fill(ops.Const(g, []int32{1000}), ops.Scalar(g, int64(1)))))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
		Target: target, CheckpointDir: dir, SaveCheckpointSteps: 5, AsyncCheckpoints: true, SaveSummariesSteps: -1, LogStepCountSteps: -1,
		Hooks: []train.Hook{&train.StopAtStepHook{LastStep: 30}}, StopGrace: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = m.Loop(ctx, func(ctx context.Context) error {
		if runs++; runs == 13 {
			restart()
		}
		_, err := m.Run(ctx, nil, next)
		return err
	})
	if err != nil || runs <= 30 {
		t.Error("steps:", runs, err)
	}
	r, err := train.OpenCheckpoint(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, name := range []string{"global_step", "w"} {
		v, err := r.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v.Len() {
			if v.At(i) != int64(30) {
				t.Fatalf("%s is %v after 30 steps", name, v.At(i))
			}
		}
	}
}
