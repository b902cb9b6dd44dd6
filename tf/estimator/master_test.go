package estimator_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestTFConfigAsTensorFlow compares what is accepted, and which task is the chief,
// with TensorFlow 1.15's RunConfig.
func TestTFConfigAsTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/tfconfig.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text, Error, Type string
		Chief             bool
		Index, PS         int
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, want := range cases {
		c, err := estimator.ParseTFConfig(want.Text)
		switch {
		case (want.Error != "") != (err != nil):
			t.Errorf("%s: got %v, TensorFlow says %q", want.Text, err, want.Error)
		case err != nil && tf.CodeOf(err) != tf.InvalidArgument:
			t.Errorf("%s: got %v", want.Text, err)
		case err != nil && strings.Contains(want.Error, "not supported") && !strings.Contains(err.Error(), strings.TrimSuffix(want.Error, ".")):
			t.Errorf("%s: got %v, TensorFlow says %q", want.Text, err, want.Error)
		case err == nil && c == nil && (want.Type != estimator.Worker || !want.Chief):
			t.Errorf("%s: no cluster, TensorFlow has the task %s", want.Text, want.Type)
		case c != nil && (c.IsChief() != want.Chief || c.Type != want.Type || c.Index != want.Index):
			t.Errorf("%s: got %+v, chief: %v", want.Text, *c, c.IsChief())
		}
	}
}

// TestMasterAlone: a master is the chief and evaluates, exports and tells its
// listeners, as a process without a cluster does.
func TestMasterAlone(t *testing.T) {
	c, err := estimator.ParseTFConfig(`{"cluster": {"master": ["localhost:1"]}, "task": {"type": "master", "index": 0}}`)
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), Cluster: c, SaveCheckpointsSteps: 3}})
	if err != nil {
		t.Fatal(err)
	}
	seen, exported := &saves{}, &finals{}
	m, err := estimator.TrainAndEvaluate(t.Context(), e,
		estimator.TrainSpec{Input: points(20), MaxSteps: 7, Listeners: []train.CheckpointSaverListener{seen}},
		estimator.EvalSpec{Input: points(1), Throttle: -1, Exporters: []estimator.Exporter{exported}})
	if err != nil || m[estimator.GlobalStepKey] != 7 || seen.n != 4 {
		t.Errorf("got %v, %d saves, %v", m, seen.n, err)
	}
	if all, err := estimator.ReadEvalMetrics(e.EvalDir("")); err != nil || len(all) != 3 {
		t.Errorf("evaluations: got %v, %v", all, err)
	}
	if exported.all != 3 || exported.final != 1 {
		t.Errorf("exporters were called %d times, %d of them finally", exported.all, exported.final)
	}
}

// saves counts checkpoints.
type saves struct {
	train.BaseListener
	n int
}

func (s *saves) AfterSave(context.Context, *session.Session, int64) (bool, error) {
	s.n++
	return false, nil
}

// finals counts calls of an exporter.
type finals struct{ all, final int }

func (*finals) Name() string { return "finals" }

func (f *finals) Export(_ context.Context, _ *estimator.Estimator, _, _ string, _ estimator.Metrics, final bool) error {
	if f.all++; final {
		f.final++
	}
	return nil
}

// TestDeviceFn: a program's devices are those of training alone, and win over
// parameter servers.
func TestDeviceFn(t *testing.T) {
	asked := 0
	c := estimator.RunConfig{ModelDir: t.TempDir(), DeviceFn: func(*core.Node) string {
		asked++
		return "/device:CPU:0"
	}}
	e, err := estimator.New(line, estimator.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), points(3), estimator.TrainOptions{}); err != nil || asked == 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	asked = 0
	if _, err := e.Evaluate(t.Context(), points(3), estimator.EvalOptions{}); err != nil || asked != 0 {
		t.Errorf("evaluation: asked %d times, %v", asked, err)
	}
}

// TestEvaluatorDoesNotTrain: its task is in no job whose server would.
func TestEvaluatorDoesNotTrain(t *testing.T) {
	c := &estimator.Cluster{Jobs: map[string][]string{"chief": {"localhost:1"}}, Type: estimator.Evaluator}
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), Cluster: c}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), points(1), estimator.TrainOptions{}); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "an evaluator does not train") {
		t.Error(err)
	}
}
