package train_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestScaffoldParts: what the program sets stays, what collections have is
// used, more than one is refused.
func TestScaffoldParts(t *testing.T) {
	g, _, _ := counting()
	init := tf.Group(g, "mine")
	g.AddToCollection(train.InitOpCollection, init)
	sc := &train.Scaffold{}
	if err := sc.Finalize(g); err != nil || sc.InitOp != init || sc.LocalInitOp == nil || sc.ReadyOp.IsZero() || sc.Saver == nil {
		t.Error(sc, err)
	}
	before := len(g.Operations())
	again := &train.Scaffold{}
	if err := again.Finalize(g); err != nil || len(g.Operations()) != before || again.Saver != sc.Saver {
		t.Error("a second scaffold adds nothing:", err)
	}
	g.AddToCollection(train.InitOpCollection, init)
	if err := (&train.Scaffold{}).Finalize(g); !says(err, tf.InvalidArgument, "More than one item in the collection \"init_op\"") {
		t.Error(err)
	}
	m := tf.NewGraph()
	if err := (&train.Scaffold{}).Finalize(m); err != nil {
		t.Error("a graph without variables:", err)
	}
}

// TestSessionManager has the cases of TensorFlow's session_manager_test.
func TestSessionManager(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, int32(1)), tf.VariableOptions{Name: "v"})
	w := tf.NewVariable(v.Read(), tf.VariableOptions{Name: "w", Local: true})
	saver := newSaver(t, g, train.SaverOptions{})
	sc := &train.Scaffold{Saver: saver}
	if err := sc.Finalize(g); err != nil {
		t.Fatal(err)
	}
	sm := &train.SessionManager{Graph: g, LocalInitOp: sc.LocalInitOp, ReadyOp: sc.ReadyOp, ReadyForLocalInitOp: sc.ReadyForLocalInitOp, RecoveryWait: time.Millisecond}
	s, err := sm.PrepareSession(t.Context(), train.PrepareOptions{InitOp: sc.InitOp, Saver: saver})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := s.Run(t.Context(), nil, w.Value()); err != nil || out[0].At(0) != int32(1) {
		t.Error(out, err)
	}
	dir := t.TempDir()
	if _, err := s.Run(t.Context(), nil, v.Assign(ops.Scalar(g, int32(5)))); err != nil {
		t.Fatal(err)
	}
	if _, err := saver.SaveStep(t.Context(), s, filepath.Join(dir, "m"), 3); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := sm.PrepareSession(t.Context(), train.PrepareOptions{InitFn: func(context.Context, *session.Session) error { return nil }}); !says(err, tf.FailedPrecondition, "Init operations did not make model ready for local_init.", "Variables not initialized: v") {
		t.Error(err)
	}
	bare := &train.SessionManager{Graph: g, ReadyOp: sc.ReadyOp}
	if _, err := bare.PrepareSession(t.Context(), train.PrepareOptions{}); !says(err, tf.FailedPrecondition, "Model is not initialized and no init_op or init_fn or local_init_op was given") {
		t.Error(err)
	}
	if _, err := bare.PrepareSession(t.Context(), train.PrepareOptions{InitOp: sc.InitOp}); !says(err, tf.FailedPrecondition, "Init operations did not make model ready.", "Variables not initialized: w") {
		t.Error(err)
	}
	wrong := &train.SessionManager{Graph: g, ReadyForLocalInitOp: sc.ReadyOp}
	if _, err := wrong.PrepareSession(t.Context(), train.PrepareOptions{}); !says(err, tf.InvalidArgument, "If you pass a ready_for_local_init_op you must also pass a local_init_op") {
		t.Error(err)
	}
	if _, err := sm.PrepareSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: dir, CheckpointPath: dir}); !says(err, tf.InvalidArgument, "Can not provide both checkpoint_dir and checkpoint_filename_with_path.") {
		t.Error(err)
	}
	for _, o := range []train.PrepareOptions{{CheckpointDir: dir}, {CheckpointPath: filepath.Join(dir, "m-3")}} {
		o.Saver = saver
		s, ok, err := sm.RecoverSession(t.Context(), o)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		if out, err := s.Run(t.Context(), nil, w.Value()); err != nil || out[0].At(0) != int32(5) {
			t.Error(out, err)
		}
		s.Close()
	}
	s, ok, err := sm.RecoverSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: t.TempDir()})
	if err != nil || ok {
		t.Error(ok, err)
	}
	s.Close()
	if _, err := sm.WaitForSession(t.Context(), 20*time.Millisecond); !says(err, tf.DeadlineExceeded, "Session was not ready after waiting") {
		t.Error(err)
	}
	late, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err := sm.WaitForSession(late, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	empty := t.TempDir()
	done := make(chan error, 1)
	go func() {
		time.Sleep(30 * time.Millisecond)
		state := train.CheckpointState{Latest: filepath.Join(dir, "m-3")}
		done <- state.Write(empty, "")
	}()
	s, err = sm.PrepareSession(t.Context(), train.PrepareOptions{Saver: saver, CheckpointDir: empty, WaitForCheckpoint: true})
	if e := <-done; err != nil || e != nil {
		t.Fatal(err, e)
	}
	s.Close()
}
