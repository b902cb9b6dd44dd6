package estimator

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

// build is a graph with a model in it.
type build struct {
	g    *tf.Graph
	step *tf.Variable
	feed *feeder
	spec *Spec
	// choose says where nodes are: by RunConfig.DeviceFn, or in a cluster with
	// parameter servers, else nil.
	choose func(n *core.Node) string
}

// devices calls f with devices chosen for the task.
func (b *build) devices(f func()) {
	if b.choose == nil {
		f()
		return
	}
	b.g.DeviceFunc(b.choose, f)
}

// build makes a graph for a mode, with an input function's placeholders.
func (e *Estimator) build(ctx context.Context, mode Mode, input InputFn) (*build, error) {
	if input == nil {
		return nil, e.wrong("an estimator needs an input function, got nil")
	}
	in, err := input(ctx)
	if err != nil {
		return nil, err
	}
	b := e.newBuild()
	err = e.placed(b, mode, func() error {
		var features, labels feature.Features
		var err error
		if b.feed, features, labels, err = in.placeholders(b.g); err != nil {
			return e.wrong("%s: input function at %s", tf.AsError(err).Message(), placeOf(input))
		}
		if mode == Predict {
			labels = nil
		}
		return e.model(b, mode, features, labels)
	})
	return b, err
}

func (e *Estimator) newBuild() *build {
	b := &build{g: tf.NewGraph()}
	b.g.SetSeed(e.config.Seed)
	return b
}

// placed calls f with devices chosen by the program or, in a cluster with parameter
// servers, for the task. The evaluator computes by itself.
func (e *Estimator) placed(b *build, mode Mode, f func() error) (err error) {
	g, c := b.g, e.config.Cluster
	if mode == Train {
		b.choose = e.config.DeviceFn
	}
	if b.choose == nil && c != nil && mode == Train && len(c.Jobs[PS]) > 0 {
		spread := train.ReplicaDevices{PSTasks: len(c.Jobs[PS]), Worker: fmt.Sprintf("/job:%s/task:%d", c.Type, c.Index)}
		b.choose = spread.Setter()
	}
	b.devices(func() {
		b.step = train.GlobalStep(g)
		err = f()
	})
	return err
}

// model calls the model function.
func (e *Estimator) model(b *build, mode Mode, features, labels feature.Features) error {
	spec, err := e.fn(&Call{Graph: b.g, Features: features, Labels: labels, Mode: mode, Params: e.params, Config: e.config})
	if err == nil {
		err = b.g.Err()
	}
	at := placeOf(e.fn)
	if err != nil && at != "" {
		return fmt.Errorf("%w (model function at %s, the estimator was made at %s)", err, at, e.made)
	}
	if err != nil {
		return fmt.Errorf("%w (the estimator was made at %s)", err, e.made)
	}
	if err := spec.check(mode, b.g); err != nil {
		if at != "" {
			return e.wrong("%s: model function at %s", tf.AsError(err).Message(), at)
		}
		return err
	}
	spec.scalarLoss()
	b.spec = spec
	return nil
}

// scaffold returns the model's, or a new one.
func (b *build) scaffold() *train.Scaffold {
	if b.spec.Scaffold == nil {
		b.spec.Scaffold = &train.Scaffold{}
	}
	return b.spec.Scaffold
}

// summarizeLoss adds the summary "loss" unless the model has one.
func (b *build) summarizeLoss() {
	for _, x := range b.g.Collection(summary.Summaries) {
		if x, ok := x.(tf.Output); ok && x.Operation().Name == "loss" {
			return
		}
	}
	b.g.Scope("", func() { summary.Scalar("loss", b.spec.Loss) })
}

// fits checks that a checkpoint has the variables of a graph: that another
// model's checkpoints are not in the directory.
func (e *Estimator) fits(g *tf.Graph, path string) error {
	r, err := train.OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	has := map[string]tf.Shape{}
	for _, v := range r.Variables() {
		has[v.Name] = v.Shape
	}
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		name, shape := v.Name(), v.Shape()
		if s := v.Slice(); s != nil {
			name, shape = s.FullName, s.FullShape
		}
		saved, ok := has[name]
		if !ok {
			return e.fault(tf.FailedPrecondition, "a model directory must hold the checkpoints of one model: variable %s of the model function is not in %s, which another model has written", name, path)
		}
		if !shape.Compatible(saved) {
			return e.fault(tf.FailedPrecondition, "a model directory must hold the checkpoints of one model: variable %s has shape %v, in %s it has %v", name, shape, path, saved)
		}
	}
	return nil
}
