package estimator

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// An OptimizerFn is an optimizer of ready-made models that is made anew for each
// graph: one whose rate depends on the global step, for example. TensorFlow's
// estimators take a function for the same reason.
type OptimizerFn func(g *tf.Graph) (train.Optimizer, error)

// ApplyGradients calls f, and applies the gradients with what it returns. That must
// not be a train.SyncReplicas, which has to know the step.
func (f OptimizerFn) ApplyGradients(gvs []train.GradVar) (*tf.Operation, error) {
	if f == nil || len(gvs) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "an OptimizerFn needs a function, and gradients to apply: %d gradients", len(gvs))
	}
	o, err := f(gvs[0].Var.Handle().Graph())
	if err != nil {
		return nil, err
	}
	if _, ok := o.(*train.SyncReplicas); ok || o == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "an OptimizerFn must return an optimizer of its own, got a %T: the function at %s", o, placeOf(f))
	}
	return o.ApplyGradients(gvs)
}
