package train_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A team is a cluster of a parameter server and workers in this process.
type team struct {
	spec    cluster.Spec
	servers map[string]*cluster.Server
	base    cluster.Config // that all have in common
}

func newTeam(t *testing.T, workers int) *team {
	t.Helper()
	return newTeamOf(t, workers, cluster.Config{})
}

func newTeamOf(t *testing.T, workers int, base cluster.Config) *team {
	t.Helper()
	base.Log = slog.DiscardHandler
	tm := &team{cluster.Spec{}, map[string]*cluster.Server{}, base}
	listeners := map[string][]net.Listener{}
	for job, n := range map[string]int{"ps": 1, "worker": workers} {
		for range n {
			lis, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			listeners[job] = append(listeners[job], lis)
			tm.spec[job] = append(tm.spec[job], lis.Addr().String())
		}
	}
	for job, all := range listeners {
		for i, lis := range all {
			tm.serve(t, job, i, lis)
		}
	}
	return tm
}

func (tm *team) serve(t *testing.T, job string, task int, lis net.Listener) {
	t.Helper()
	c := tm.base
	c.Cluster, c.Job, c.Task, c.Listener = tm.spec, job, task, lis
	s, err := cluster.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	tm.servers[fmt.Sprint(job, task)] = s
	t.Cleanup(func() { s.Stop() })
}

func (tm *team) target(worker int) string { return "grpc://" + tm.spec["worker"][worker] }

// replica is a worker's graph: w goes to the mean of what the workers feed, and e
// has a row that they have in common.
type replica struct {
	g       *tf.Graph
	x, w, e tf.Output
	step    *tf.Variable
	o       *train.SyncReplicas
	op      *tf.Operation
}

func newReplica(task, aggregate, total int) *replica {
	r := &replica{g: tf.NewGraph()}
	spread := train.ReplicaDevices{PSTasks: 1, Worker: fmt.Sprintf("/job:worker/task:%d", task)}
	r.g.DeviceFunc(spread.Setter(), func() {
		r.step = train.GetOrCreateGlobalStep(r.g)
		w := tf.NewVariable(ops.Scalar(r.g, float32(0)), tf.VariableOptions{Name: "w"})
		e := tf.NewVariable(ops.Const(r.g, make([]float32, 6), 3, 2), tf.VariableOptions{Name: "e"})
		r.x = ops.Placeholder(r.g, tf.Float32, tf.Shape{})
		loss := w.Value().Mul(r.x).Add(ops.GatherV2(e.Value(), ops.Const(r.g, []int32{2, 1, 2}), ops.Scalar(r.g, int32(0))).Sum())
		r.o = &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 1}, ReplicasToAggregate: aggregate, TotalReplicas: total}
		r.op = train.Minimize(r.o, loss, train.Options{GlobalStep: r.step})
		r.w, r.e = w.Value(), e.Value()
	})
	return r
}

// begin starts a worker's session.
func (r *replica) begin(ctx context.Context, tm *team, task int, hooks ...train.Hook) (*train.MonitoredSession, error) {
	return train.MonitoredTrainingSession(ctx, r.g, train.TrainingOptions{
		Target: tm.target(task), Worker: task > 0, Hooks: append([]train.Hook{r.o.Hook(task == 0, 0)}, hooks...), RecoveryWait: 10 * time.Millisecond,
		StopGrace: 10 * time.Second,
	})
}

// together runs f for each worker at once and waits for all. A worker that is
// ahead may take a token meant for another one, as in TensorFlow, so tests that
// know the result keep the workers in step.
func together(workers int, f func(task int)) {
	var wg sync.WaitGroup
	for task := range workers {
		wg.Go(func() { f(task) })
	}
	wg.Wait()
}

// TestSyncReplicas: two workers make one update together, of the mean of their
// gradients, and know each other's updates.
func TestSyncReplicas(t *testing.T) {
	for name, base := range map[string]cluster.Config{
		"grpc":       {},
		"grpc+verbs": {Protocol: "grpc+verbs", RDMA: cluster.RDMA{Provider: cluster.ProviderSoft}},
	} {
		t.Run(name, func(t *testing.T) {
			tm := newTeamOf(t, 2, base)
			syncReplicas(t, tm)
			if s := tm.servers["ps0"]; (len(s.RDMAStats()) == 2) != (base.Protocol != "") {
				t.Errorf("tensors cross by %s: %+v", s.Transport(), s.RDMAStats())
			}
		})
	}
}

// syncReplicas trains with two workers.
func syncReplicas(t *testing.T, tm *team) {
	rs, ms := make([]*replica, 2), make([]*train.MonitoredSession, 2)
	together(2, func(task int) {
		rs[task] = newReplica(task, 2, 2)
		var err error
		if ms[task], err = rs[task].begin(t.Context(), tm, task); err != nil {
			t.Error(err)
		}
	})
	if t.Failed() {
		return
	}
	for i := range 5 {
		together(2, func(task int) {
			r := rs[task]
			if _, err := ms[task].Run(t.Context(), session.Feeds{r.x: tf.Scalar(float32(1 + 2*task))}, r.op); err != nil {
				t.Errorf("worker %d, step %d: %v", task, i, err)
			}
		})
	}
	for task, r := range rs {
		out, err := ms[task].Run(t.Context(), nil, r.w, r.e, r.step.Value())
		if err != nil {
			t.Fatal(err)
		}
		if out[0].At(0) != float32(-10) || !slices.Equal(tf.Data[float32](out[1]), []float32{0, 0, -5, -5, -10, -10}) || out[2].At(0) != int64(5) {
			t.Errorf("worker %d: %v", task, out)
		}
	}
	for _, m := range ms {
		m.Close()
	}
}

// TestBackupWorkers: of three workers two suffice; what the third one computed
// with old variables is dropped.
func TestBackupWorkers(t *testing.T) {
	tm := newTeam(t, 3)
	var rs []*replica
	var ms []*train.MonitoredSession
	for task := range 3 {
		r := newReplica(task, 2, 3)
		m, err := r.begin(t.Context(), tm, task)
		if err != nil {
			t.Fatal(err)
		}
		rs, ms = append(rs, r), append(ms, m)
	}
	run := func(task int, x float32) {
		if _, err := ms[task].Run(t.Context(), session.Feeds{rs[task].x: tf.Scalar(x)}, rs[task].op); err != nil {
			t.Error(err)
		}
	}
	// Worker 2 does nothing. Its tokens are there for the others, which then know
	// an older step than they might: in the third round one gradient is late.
	for range 4 {
		together(2, func(task int) { run(task, 2) })
	}
	run(2, 1000) // of step 0
	out, err := ms[2].Run(t.Context(), nil, rs[2].w, rs[2].step.Value())
	if err != nil || out[0].At(0) != float32(-6) || out[1].At(0) != int64(3) {
		t.Error(out, err)
	}
	for _, m := range ms {
		m.Close()
	}
}

// TestSyncAccumulates: one worker makes an update of three gradients.
func TestSyncAccumulates(t *testing.T) {
	tm := newTeam(t, 1)
	r := newReplica(0, 3, 1)
	m, err := train.MonitoredTrainingSession(t.Context(), r.g, train.TrainingOptions{Target: tm.target(0), Hooks: []train.Hook{r.o.Hook(true, 2)}, StopGrace: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if _, err := m.Run(t.Context(), session.Feeds{r.x: tf.Scalar(float32(i % 3))}, r.op); err != nil {
			t.Fatal(err)
		}
	}
	var step int64
	for end := time.Now().Add(10 * time.Second); step < 2 && time.Now().Before(end); {
		if step, err = train.StepOf(t.Context(), m.RawSession(), r.step); err != nil {
			t.Fatal(err)
		}
	}
	out, err := m.RawSession().Run(t.Context(), nil, r.w)
	if err != nil || step != 2 || out[0].At(0) != float32(-2) {
		t.Error(out, step, err)
	}
	m.Close()
}

// TestSyncEnds: when the chief is done, workers that wait for a token end as at
// the end of their input.
func TestSyncEnds(t *testing.T) {
	tm := newTeam(t, 2)
	var wg sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for task := range 2 {
		wg.Go(func() {
			r := newReplica(task, 1, 1)
			var hooks []train.Hook
			if task == 0 {
				hooks = append(hooks, &train.StopAtStepHook{LastStep: 20})
			}
			m, err := r.begin(ctx, tm, task, hooks...)
			if err != nil {
				t.Error(err)
				return
			}
			err = m.Loop(ctx, func(ctx context.Context) error {
				_, err := m.Run(ctx, session.Feeds{r.x: tf.Scalar(float32(1))}, r.op)
				return err
			})
			if err != nil {
				t.Errorf("worker %d: %v", task, err)
			}
		})
	}
	wg.Wait()
}

func TestSyncReplicasRefuses(t *testing.T) {
	build := func(change func(g *tf.Graph, o *train.SyncReplicas)) (*train.SyncReplicas, error) {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
		o := &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 1}, ReplicasToAggregate: 3, TotalReplicas: 1}
		change(g, o)
		_, err := o.ApplyGradients([]train.GradVar{{Grad: tf.Dense(v.Value()), Var: v}})
		return o, err
	}
	step := func(g *tf.Graph, _ *train.SyncReplicas) { train.GetOrCreateGlobalStep(g) }
	for words, change := range map[string]func(g *tf.Graph, o *train.SyncReplicas){
		"Global step is required to check staleness": func(*tf.Graph, *train.SyncReplicas) {},
		"needs the optimizer":                        func(g *tf.Graph, o *train.SyncReplicas) { step(g, o); o.Optimizer = nil },
		"must be positive":                           func(g *tf.Graph, o *train.SyncReplicas) { step(g, o); o.ReplicasToAggregate = 0 },
	} {
		if _, err := build(change); !says(err, tf.InvalidArgument, words) {
			t.Error(err)
		}
	}
	if _, err := (&train.SyncReplicas{}).ApplyGradients(nil); !says(err, tf.InvalidArgument, "Must supply at least one variable") {
		t.Error(err)
	}
	o, err := build(step)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.InitTokensOp(1); !says(err, tf.InvalidArgument, "Too few tokens to finish the first step: 1 (given) vs 2 (needed)") {
		t.Error(err)
	}
	for _, f := range []func() error{
		func() error { _, err := (&train.SyncReplicas{}).InitTokensOp(1); return err },
		func() error { return (&train.SyncReplicas{}).Hook(true).Begin(nil) },
	} {
		if err := f(); !says(err, tf.FailedPrecondition, "apply_gradient") {
			t.Error(err)
		}
	}
}

// TestHealsOnACluster: the parameter server is stopped in the middle and another
// one takes its place, which has no variables: training goes on from the last
// checkpoint.
func TestHealsOnACluster(t *testing.T) {
	tm, dir := newTeam(t, 1), t.TempDir()
	g := tf.NewGraph()
	var next *tf.Operation
	g.DeviceFunc(train.ReplicaDevices{PSTasks: 1, Worker: "/job:worker/task:0"}.Setter(), func() {
		step := train.GetOrCreateGlobalStep(g)
		next = step.AssignAdd(ops.Scalar(g, int64(1)))
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	m, err := train.MonitoredTrainingSession(ctx, g, train.TrainingOptions{
		Target: tm.target(0), CheckpointDir: dir, SaveCheckpointSteps: 5, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: 30}},
		StopGrace: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	err = m.Loop(ctx, func(ctx context.Context) error {
		if runs++; runs == 13 {
			tm.servers["ps0"].Stop()
			lis, err := net.Listen("tcp", tm.spec["ps"][0])
			if err != nil {
				return err
			}
			tm.serve(t, "ps", 0, lis)
		}
		_, err := m.Run(ctx, nil, next)
		return err
	})
	if err != nil || runs <= 30 {
		t.Error("steps:", runs, err)
	}
	if v, err := train.LoadVariable(dir, "global_step"); err != nil || v.At(0) != int64(30) {
		t.Error(v, err)
	}
	if temp, _ := filepath.Glob(filepath.Join(dir, "*temp*")); len(temp) > 0 {
		t.Error(temp)
	}
}
