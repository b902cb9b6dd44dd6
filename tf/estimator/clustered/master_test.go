package clustered_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// devices notes on which device a step ran.
type devices struct {
	train.BaseHook
	seen string
}

func (d *devices) AfterCreateSession(ctx context.Context, s *session.Session, _ *train.Coordinator) error {
	x := s.Graph().Operation("global_step/VarHandleOp")
	if x == nil {
		x = s.Graph().Operation("global_step")
	}
	_, meta, err := s.RunWithOptions(ctx, session.RunOptions{Trace: session.FullTrace}, nil, x)
	if err != nil {
		return err
	}
	for _, dev := range meta.StepStats.GetDevStats() {
		d.seen = dev.GetDevice()
	}
	return nil
}

// TestSessionMaster: the servers that TF_CONFIG names do the work of training,
// predictions and evaluations.
func TestSessionMaster(t *testing.T) {
	at := map[string]string{}
	for _, job := range []string{"trainer", "tester"} {
		at[job] = address(t)
		s, err := cluster.NewServer(cluster.Config{Cluster: cluster.Spec{job: {at[job]}}, Job: job, Task: 0})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
	}
	t.Setenv("TF_CONFIG", `{"session_master": "grpc://`+at["trainer"]+`", "eval_session_master": "grpc://`+at["tester"]+`", "model_dir": "`+t.TempDir()+`"}`)
	c, err := estimator.RunConfig{}.WithEnvironment()
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	var d devices
	expect := func(job string, err error) {
		t.Helper()
		if err != nil || !strings.HasPrefix(d.seen, "/job:"+job) {
			t.Errorf("ran on %q, want job %s: %v", d.seen, job, err)
		}
		d.seen = ""
	}
	hooks := []train.Hook{&d}
	err = e.Train(t.Context(), input, estimator.TrainOptions{Steps: 3, Hooks: hooks})
	expect("trainer", err)
	_, err = e.Evaluate(t.Context(), input, estimator.EvalOptions{Steps: 1, Hooks: hooks})
	expect("tester", err)
	var p map[string]*tf.Tensor
	for p, err = range e.Predict(t.Context(), input, estimator.PredictOptions{Hooks: hooks}) {
		break
	}
	if expect("trainer", err); p["predictions"] == nil {
		t.Errorf("got %v", p)
	}
}
