package train

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// ready reports as an error that there is no saver, or no context for what it is asked for.
func (s *Saver) ready(ctx context.Context, what string) error {
	if s == nil {
		return tf.Errorf(tf.FailedPrecondition, "there is no saver: see the error that train.NewSaver returned")
	}
	return core.NeedContext(ctx, what)
}

// stepFile returns the name of the checkpoint of a step.
func (s *Saver) stepFile(path string, step int64) string {
	format := "%s-%d"
	if s.o.PadStepNumber {
		format = "%s-%08d"
	}
	return fmt.Sprintf(format, path, step)
}

// checkStep refuses what is no step: a name with two minus signs would come of it.
func checkStep(step int64) error {
	if step < 0 {
		return tf.Errorf(tf.InvalidArgument, "the step of a checkpoint must not be negative, got %d: Save has names without a step", step)
	}
	return nil
}
