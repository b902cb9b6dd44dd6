package interop

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/cluster/client"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// trainHere is the training of testdata/monitored.py.
func trainHere(t *testing.T, dir string, last int64) (begin, end string) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	w := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "w"})
	step := train.GetOrCreateGlobalStep(g)
	loss := w.Value().Sub(float32(5)).Square()
	summary.Scalar("loss", loss)
	op := train.Minimize(train.Momentum{LearningRate: 0.1, Momentum: 0.9}, loss, train.Options{GlobalStep: step})
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 3, SaveSummariesSteps: 1, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: last}},
	})
	if err != nil {
		t.Fatal(err)
	}
	show := func(ctx context.Context, c *train.StepContext) error {
		out, err := c.Session.Run(ctx, nil, step.Value(), w.Value())
		if err == nil {
			begin = fmt.Sprintf("%d %v", out[0].At(0), out[1].At(0))
		}
		return err
	}
	if err := m.RunStepFn(t.Context(), show); err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	at, err := train.LoadVariable(dir, "global_step")
	if err != nil {
		t.Fatal(err)
	}
	v, err := train.LoadVariable(dir, "w")
	if err != nil {
		t.Fatal(err)
	}
	return begin, fmt.Sprintf("%d %v", at.At(0), v.At(0))
}

// plainNumber takes NumPy's names of types off.
func plainNumber(line string) string {
	return strings.NewReplacer("np.float32(", "", ")", "").Replace(line)
}

// TestMonitoredInTurn: TensorFlow and Gorge train one model in one directory, each
// from where the other one ended, and it becomes what it is when TensorFlow trains
// it alone.
func TestMonitoredInTurn(t *testing.T) {
	needTensorFlow(t)
	dir, alone := t.TempDir(), t.TempDir()
	want := plainNumber(script(t, "monitored.py", "train", alone, "40")[2])
	last := "0 1"
	for i, to := range []int{7, 17, 27, 40} {
		var begin, end string
		if i%2 == 0 {
			begin, end = trainHere(t, dir, int64(to))
		} else {
			out := script(t, "monitored.py", "train", dir, fmt.Sprint(to))
			begin, end = plainNumber(out[0]), plainNumber(out[2])
		}
		if strings.TrimSuffix(begin, ".0") != strings.TrimSuffix(last, ".0") {
			t.Errorf("turn %d began with %s, the one before ended with %s", i, begin, last)
		}
		last = end
	}
	near := func(a, b string) bool { // TensorFlow's updates round once where ours round twice
		return math.Abs(number(t, strings.Fields(a)[1])-number(t, strings.Fields(b)[1])) < 1e-5
	}
	if !near(last, want) {
		t.Errorf("ended with %s, TensorFlow alone with %s", last, want)
	}
}

// TestEventsOfHooks: TensorFlow reads what hooks have written to event files.
func TestEventsOfHooks(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	g := tf.NewGraph(tf.Strict())
	w := tf.NewVariable(ops.Const(g, []float32{1, 2, 3}), tf.VariableOptions{Name: "w"})
	loss := w.Value().Square().Sum()
	g.Scope("net", func() { summary.Scalar("loss", loss) })
	summary.Histogram("weights", w.Value())
	summary.Text("note", ops.Scalar(g, "text"))
	summary.PRCurve("pr", ops.Const(g, []bool{true, false, true}), w.Value().Mul(float32(0.1)), 5)
	op := train.Minimize(train.GradientDescent{LearningRate: 0.1}, loss, train.Options{GlobalStep: train.GetOrCreateGlobalStep(g)})
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 4, SaveSummariesSteps: 2, LogStepCountSteps: 3,
		Hooks: []train.Hook{&train.StopAtStepHook{LastStep: 8}, &train.ProfilerHook{SaveSteps: 5, OutputDir: dir}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), op); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(script(t, "monitored.py", "events", dir), "\n")
	for _, want := range []string{
		"file_version 1", "session_log 1 1", "session_log 3 3", "graph_def True 1", "meta_graph_def save/restore_all 1", "net/loss simple_value  4",
		"weights histo  4", "note tensor text 1", "note tensor  3", "pr/pr_curves tensor pr_curves 1", "global_step/sec simple_value  2",
	} {
		if !strings.Contains("\n"+got+"\n", "\n"+want+"\n") {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.Contains(got, "run_metadata step_") || !strings.Contains(got, " True 1\n") {
		t.Error("the trace of a step is missing")
	}
	if t.Failed() {
		t.Log(got)
	}
}

// TestSyncTogether: a worker of Python and one of Go make one update together,
// whichever is the chief, on servers of either kind.
func TestSyncTogether(t *testing.T) {
	needTensorFlow(t)
	for _, kind := range []string{ofGorge, ofTensorFlow} {
		for chief := range 2 {
			t.Run(fmt.Sprint(kind, " chief ", []string{"Go", "Python"}[chief]), func(t *testing.T) {
				addr := ports(t, 3)
				spec := "ps|" + addr[0] + ",worker|" + addr[1] + ";" + addr[2]
				var wg sync.WaitGroup
				for i, job := range []string{"ps", "worker", "worker"} {
					wg.Go(func() { serve(t, kind, spec, job, max(i-1, 0)) })
				}
				wg.Wait()
				const steps = 6
				var python []string
				wg.Go(func() {
					python = script(t, "monitored.py", "sync", "grpc://"+addr[2-chief], fmt.Sprint(1-chief), fmt.Sprint(steps))
				})
				here := syncHere(t, "grpc://"+addr[1+chief], chief, steps)
				wg.Wait()
				if python == nil {
					return // the script has failed
				}
				const want = "-12 6" // the mean of 1 and 3, six times
				if there := plainNumber(python[0]); here != want || strings.Replace(there, ".0", "", 1) != want {
					t.Errorf("Go has %q, Python %q, want %q", here, there, want)
				}
			})
		}
	}
}

// syncHere is a worker that feeds 1. After a step it waits until the other worker has
// taken its token too: a worker that is ahead would take it away.
func syncHere(t *testing.T, target string, task, steps int) string {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	o := &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 1}, ReplicasToAggregate: 2}
	var step, w *tf.Variable
	var x tf.Output
	var op *tf.Operation
	g.DeviceFunc(train.ReplicaDevices{PSTasks: 1, Worker: fmt.Sprintf("/job:worker/task:%d", task)}.Setter(), func() {
		step = train.GetOrCreateGlobalStep(g)
		w = tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
		x = ops.Placeholder(g, tf.Float32, tf.Shape{})
		op = train.Minimize(o, w.Value().Mul(x), train.Options{GlobalStep: step})
	})
	tokens := queue.QueueSizeV2(g.Operation("sync_token_q").Output(0))
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		Target: target, Worker: task > 0, Hooks: []train.Hook{o.Hook(task == 0, 0)}, RecoveryWait: 100 * time.Millisecond,
	})
	if err != nil {
		t.Error(err)
		return ""
	}
	for range steps {
		if _, err := m.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, op); err != nil {
			t.Error(err)
			break
		}
		if err := emptied(t.Context(), m.RawSession(), tokens); err != nil {
			t.Error(err)
			break
		}
	}
	out, err := m.RawSession().Run(t.Context(), nil, w.Value(), step.Value())
	if err != nil {
		t.Error(err)
		return ""
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%v %v", out[0].At(0), out[1].At(0))
}

// emptied waits until a queue of that size is empty.
func emptied(ctx context.Context, s *session.Session, size tf.Output) error {
	for {
		out, err := s.Run(ctx, nil, size)
		if err != nil || out[0].At(0) == int32(0) {
			return err
		}
	}
}
