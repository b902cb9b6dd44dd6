package train

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Restore gives the variables of a session the values of the checkpoint path,
// which Save or [LatestCheckpoint] returned. Variables need not be initialized.
//
// For an eager graph r is nil. A saver of all variables keeps the values of a checkpoint for
// variables that the graph does not have yet, such as the slots which optimizers make in their
// first step: they get them when they are made, as those of TensorFlow 2's tf.train.Checkpoint.
// [Saver.Waiting] says which are left.
//
// In a checkpoint of TensorFlow 2 or Keras, variables are found by the full names
// that they had there. To restore it, operations are added to the graph.
func (s *Saver) Restore(ctx context.Context, r tf.StepRunner, path string) error {
	if err := s.ready(ctx, "a restore"); err != nil || s.empty() {
		return err
	}
	if err := checkName(path); err != nil {
		return err
	}
	if err := s.check(ctx, r); err != nil {
		return err
	}
	switch err := s.read(ctx, r, path); tf.CodeOf(err) {
	case tf.OK:
		return nil
	case tf.NotFound:
		failed := notRestored(err, "a Variable name or other graph key that is missing")
		return s.restoreObjects(ctx, r, path, lacking(failed, path, s.items))
	case tf.InvalidArgument:
		return misfit(mismatched(err), path, s.items)
	default:
		return err
	}
}

// checkName refuses what is no name of a checkpoint. It is the beginning of the names of its
// files, and what stands in a state file, not what is in the directory.
func checkName(path string) error {
	if err := fileOf(path); err != nil {
		return err
	}
	if CheckpointExists(path) {
		return nil
	}
	err := &tf.Error{Code: tf.InvalidArgument, Msg: "The passed save_path is not a valid checkpoint: " + path}
	if info, e := os.Stat(core.LocalPath(path)); e == nil && info.IsDir() {
		err.Msg += ", a directory: LatestCheckpoint returns the name of the latest checkpoint in it"
	}
	return err
}

// fileSuffix ends the names of a checkpoint's files.
var fileSuffix = regexp.MustCompile(`\.(index|data-\d{5}-of-\d{5})$`)

// fileOf refuses the name of one of a checkpoint's files.
func fileOf(path string) error {
	if name := fileSuffix.ReplaceAllString(path, ""); name != path && CheckpointExists(name) {
		return tf.Errorf(tf.InvalidArgument, "a checkpoint is named by what the names of its files begin with, %s: got %s", name, path)
	}
	return nil
}

// check refuses to restore to what is no session, and after the end of ctx.
func (s *Saver) check(ctx context.Context, r tf.StepRunner) error {
	switch {
	case s.g.IsEager():
		if err := noSession(r); err != nil {
			return err
		}
	case isNil(r):
		return tf.Errorf(tf.InvalidArgument, "variables of a graph are restored to a session, got none")
	}
	if err := s.checkGraph(r); err != nil {
		return err
	}
	return ended(ctx)
}

// checkGraph refuses a session on another graph: the error of its step would be that of a
// checkpoint which does not fit.
func (s *Saver) checkGraph(r tf.StepRunner) error {
	if on, ok := r.(interface{ Graph() *tf.Graph }); ok && !isNil(r) && on.Graph() != s.g {
		return tf.Errorf(tf.InvalidArgument, "a saver needs a session on its own graph, got one on another")
	}
	return nil
}

func mismatched(err error) error {
	return notRestored(err, "a mismatch between the current graph and the graph")
}

func notRestored(err error, why string) error {
	e := *tf.AsError(err)
	e.Msg = fmt.Sprintf("Restoring from checkpoint failed. This is most likely due to %s from the checkpoint. "+
		"Please ensure that you have not altered the graph expected based on the checkpoint. Original error:\n\n%s", why, e.Message())
	return &e
}

func (s *Saver) read(ctx context.Context, r tf.StepRunner, path string) error {
	if s.g.IsEager() {
		return s.readNow(path)
	}
	n, err := s.nodes()
	if err != nil {
		return err
	}
	_, err = r.RunStep(ctx, map[tf.Output]tf.Value{n.filename: tf.Scalar(path)}, n.restore)
	return err
}
