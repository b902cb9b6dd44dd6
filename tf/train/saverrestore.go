package train

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
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
	if s.empty() {
		return nil
	}
	if !CheckpointExists(path) {
		return tf.Errorf(tf.InvalidArgument, "The passed save_path is not a valid checkpoint: %s", path)
	}
	if err := s.check(ctx, r); err != nil {
		return err
	}
	switch err := s.read(ctx, r, path); tf.CodeOf(err) {
	case tf.OK:
		return nil
	case tf.NotFound:
		failed := notRestored(err, "a Variable name or other graph key that is missing")
		return s.restoreObjects(ctx, r, path, failed)
	case tf.InvalidArgument:
		return s.naming(notRestored(err, "a mismatch between the current graph and the graph"), path)
	default:
		return err
	}
}

// check refuses to restore to what is no session, and after the end of ctx.
func (s *Saver) check(ctx context.Context, r tf.StepRunner) error {
	switch {
	case s.g.IsEager():
		if err := noSession(r); err != nil {
			return err
		}
	case r == nil:
		return tf.Errorf(tf.InvalidArgument, "variables of a graph are restored to a session, got none")
	}
	return ended(ctx)
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
