package estimator_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestNoContext calls what takes a context without one. A panic might be in a goroutine,
// where no program can recover.
func TestNoContext(t *testing.T) {
	var none context.Context
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model")
	spec := cluster.Spec{"w": {"127.0.0.1:9"}}
	for what, call := range map[string]func() error{
		"Session.Run":         func() error { _, err := s.Run(none, nil, v.Value()); return err },
		"Eval":                func() error { _, err := v.Value().Eval(none, nil); return err },
		"Eval with a session": func() error { _, err := v.Value().Eval(tf.WithDefaultSession(none, s), nil); return err },
		"Operation.Run":       func() error { return v.Initializer().Run(none, nil) },
		"Reset":               func() error { return session.Reset(none, "grpc://127.0.0.1:9", nil) },
		"ListDevices":         func() error { _, err := cluster.ListDevices(none, "grpc://127.0.0.1:9", nil); return err },
		"Probe":               func() error { _, err := cluster.Probe(none, spec, nil); return err },
		"ProbeSecured":        func() error { _, err := cluster.ProbeSecured(none, spec, nil); return err },
		"Saver.Save":          func() error { _, err := saver.Save(none, s, path); return err },
		"Saver.SaveStep":      func() error { _, err := saver.SaveStep(none, s, path, 1); return err },
		"Saver.SaveAsync":     func() error { _, err := saver.SaveAsync(none, s, path); return err },
		"Saver.Restore":       func() error { return saver.Restore(none, s, path) },
		"NewCoordinator":      func() error { return train.NewCoordinator(none).Join() },
		"NewSupervisor":       func() error { _, err := train.NewSupervisor(none, g, train.SupervisorOptions{}); return err },
		"PrepareSession": func() error {
			_, err := (&train.SessionManager{Graph: g}).PrepareSession(none, train.PrepareOptions{})
			return err
		},
		"WaitForSession":      func() error { _, err := (&train.SessionManager{Graph: g}).WaitForSession(none, 1); return err },
		"NewMonitoredSession": func() error { _, err := train.NewMonitoredSession(none, g, train.MonitoredOptions{}); return err },
		"MonitoredSession.Run": func() error {
			return monitored(t, func(m *train.MonitoredSession) error { return m.Train(none, v.Value()) }, g)
		},
		"StepOf":                func() error { _, err := train.StepOf(none, s, v); return err },
		"Estimator.Train":       func() error { return new(estimator.Estimator).Train(none, nil, estimator.TrainOptions{}) },
		"SupervisedReceiver":    func() error { _, err := estimator.SupervisedReceiver(none, nil); return err },
		"savedmodel.Load":       func() error { _, err := savedmodel.Load(none, path, savedmodel.Options{}); return err },
		"savedmodel.SimpleSave": func() error { return savedmodel.SimpleSave(none, s, path, nil, nil) },
		"FreezeSession":         func() error { _, err := savedmodel.FreezeSession(none, s, v.Value()); return err },
		"Dataset.At":            func() error { _, err := data.Range(0, 4).At(none, 1); return err },
		"Dataset.Save":          func() error { return data.Range(0, 4).Save(none, path, "") },
		"record.CreateContext":  func() error { _, err := record.CreateContext(none, path, record.None); return err },
		"record.Parallel": func() error {
			for _, err := range record.Parallel(none, nil, record.ParallelOptions{}) {
				return err
			}
			return nil
		},
	} {
		err := call()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "needs a context, got nil") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if train.NewCoordinator(context.Background()).WaitForStop(none) {
		t.Error("a coordinator has stopped that nobody has asked to")
	}
}

// monitored calls f with a session that hooks watch.
func monitored(t *testing.T, f func(*train.MonitoredSession) error, g *tf.Graph) error {
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return f(m)
}

// TestNothingThere uses what functions that failed have returned.
func TestNothingThere(t *testing.T) {
	ctx := t.Context()
	var e *estimator.Estimator
	var saver *train.Saver
	var reader *train.CheckpointReader
	average := (&train.ExponentialMovingAverage{}).Average(nil)
	for what, err := range map[string]error{
		"Train":            e.Train(ctx, nil, estimator.TrainOptions{}),
		"Evaluate":         second(e.Evaluate(ctx, nil, estimator.EvalOptions{})),
		"ExportSavedModel": second(e.ExportSavedModel(ctx, "", nil, estimator.ExportOptions{})),
		"GlobalStep":       second(e.GlobalStep()),
		"Save":             second(saver.Save(ctx, nil, "a")),
		"SaveStep":         second(saver.SaveStep(ctx, nil, "a", 1)),
		"SaveAsync":        second(saver.SaveAsync(ctx, nil, "a")),
		"Restore":          saver.Restore(ctx, nil, "a"),
		"ExportMetaGraph":  saver.ExportMetaGraph("a"),
		"Tensor":           second(reader.Tensor("a")),
		"Verify":           reader.Verify(),
	} {
		if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), "there is no ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, err := range e.Predict(ctx, nil, estimator.PredictOptions{}) {
		if tf.CodeOf(err) != tf.FailedPrecondition {
			t.Errorf("Predict: %v", err)
		}
	}
	if err := average.Value().Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an average that is not there: %v", err)
	}
	if reader.Close(); len(reader.Variables()) != 0 || reader.Has("a") {
		t.Error("no checkpoint has variables")
	}
}

func second[T any](_ T, err error) error { return err }
