// Package estimator trains, evaluates, runs and exports models that a function
// describes: TensorFlow's tf.estimator. A [ModelFn] adds a model to a graph for
// training, evaluation or prediction; an [Estimator] makes the graph, feeds it
// from an input function over package data, and keeps checkpoints and summaries
// in a directory. A later process with the same directory goes on from the
// latest checkpoint.
//
// Ready-made models are [LinearClassifier], [DNNRegressor],
// [DNNLinearCombinedClassifier], [BaselineClassifier] and the like; a [Head] adds
// loss, metrics and predictions to the logits of a model of one's own. Names of
// variables, metrics, predictions and signatures are TensorFlow's.
package estimator

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// An Estimator is a model function with the directory of its checkpoints. It
// holds no session and needs no closing; each method makes a graph of its own.
// Several goroutines may evaluate, predict and export at once, while one trains.
type Estimator struct {
	fn     ModelFn
	config RunConfig
	warm   *WarmStart
	params any
	made   string // where the program made it, "main.go:30"
}

// Options adjust [New].
type Options struct {
	Config RunConfig
	// Params is passed to the model function as it is.
	Params any
	// WarmStart gives a model that has no checkpoint yet its initial values.
	WarmStart *WarmStart
}

// New returns an estimator for a model function. Mistakes in the configuration
// are errors of code InvalidArgument. Without a model directory one is made
// among the temporary files, which the program has to remove: see [Estimator.ModelDir].
func New(fn ModelFn, o Options) (*Estimator, error) {
	e := &Estimator{fn: fn, config: o.Config, warm: o.WarmStart, params: o.Params, made: caller()}
	if fn == nil {
		return nil, e.wrong("an estimator needs a model function, got nil")
	}
	if err := e.config.complete(); err != nil {
		return nil, e.wrong("%s", tf.AsError(err).Message())
	}
	return e, nil
}

// wrong is a mistake of the program that made the estimator.
func (e *Estimator) wrong(format string, args ...any) error {
	return e.fault(tf.InvalidArgument, format, args...)
}

func (e *Estimator) fault(code tf.Code, format string, args ...any) error {
	return tf.Errorf(code, format+" (the estimator was made at %s)", append(args, e.made)...)
}

// ready reports as an error that there is no estimator, or no context for what it is asked for.
func (e *Estimator) ready(ctx context.Context, what string) error {
	if e == nil {
		return tf.Errorf(tf.FailedPrecondition, "there is no estimator: see the error that estimator.New returned")
	}
	return core.NeedContext(ctx, what)
}

// Config returns the configuration with its defaults filled in.
func (e *Estimator) Config() RunConfig { return e.config }

// ModelDir returns the directory of checkpoints and summaries.
func (e *Estimator) ModelDir() string { return e.config.ModelDir }

// EvalDir returns where evaluations under a name write their summaries.
func (e *Estimator) EvalDir(name string) string {
	if name == "" {
		return filepath.Join(e.config.ModelDir, "eval")
	}
	return filepath.Join(e.config.ModelDir, "eval_"+name)
}

// LatestCheckpoint returns the path of the latest checkpoint, "" if there is
// none.
func (e *Estimator) LatestCheckpoint() (string, error) {
	if err := e.ready(context.Background(), ""); err != nil {
		return "", err
	}
	return train.LatestCheckpoint(e.config.ModelDir)
}

// VariableNames returns the names of the variables in the latest checkpoint,
// sorted. Without a checkpoint the error is NotFound.
func (e *Estimator) VariableNames() (names []string, err error) {
	err = e.read(func(r *train.CheckpointReader) error {
		for _, v := range r.Variables() {
			names = append(names, v.Name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// VariableValue returns what a variable has in the latest checkpoint.
func (e *Estimator) VariableValue(name string) (t *tf.Tensor, err error) {
	err = e.read(func(r *train.CheckpointReader) error {
		t, err = r.Tensor(name)
		return err
	})
	return t, err
}

// resumable returns the checkpoint that training goes on from: the latest one or, if
// that is damaged or its files are gone, the last one that is whole, as sessions choose
// it. It is "" if there is none.
func (e *Estimator) resumable() (string, error) {
	state, err := train.ReadCheckpointState(e.config.ModelDir)
	if state == nil || err != nil {
		return "", err
	}
	path, err := e.LatestCheckpoint()
	if err != nil {
		return "", err
	}
	if path != "" {
		if _, err := stepOf(path); err == nil {
			return path, nil
		}
	}
	good, err := train.LastGoodCheckpoint(e.config.ModelDir)
	if path == "" && tf.CodeOf(err) == tf.NotFound {
		return "", nil // no file is left: training says so, and evaluation takes initial values, as in TensorFlow
	}
	if err == nil && good != state.Latest {
		slog.Warn("an earlier checkpoint is used, since the latest is damaged or its files are gone", "latest", state.Latest, "used", good)
	}
	return good, err
}

// read opens the latest checkpoint.
func (e *Estimator) read(f func(r *train.CheckpointReader) error) error {
	path, err := e.LatestCheckpoint()
	if err != nil {
		return err
	}
	if path == "" {
		return e.fault(tf.NotFound, "Could not find trained model in model_dir: %s.", e.config.ModelDir)
	}
	r, err := train.OpenCheckpoint(path)
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

// checkpoint returns path or, if it is empty, the latest checkpoint; if the files of that are gone,
// the one that training would go on from.
func (e *Estimator) checkpoint(path string) (string, error) {
	if path != "" {
		if !train.CheckpointExists(path) {
			return "", e.fault(tf.NotFound, "there must be a checkpoint at the path that is given: Failed to find any matching files for %s", path)
		}
		return path, nil
	}
	if path, err := e.LatestCheckpoint(); path != "" || err != nil {
		return path, err
	}
	return e.resumable()
}

// errUnfinished ends a session whose user panics.
var errUnfinished = errors.New("estimator: the steps have not come to their end")

// inSession calls f with a session and closes that with what f returns, also when f
// panics: a hook, or the loop over predictions.
func inSession(s *train.MonitoredSession, f func() error) (err error) {
	err = errUnfinished
	defer func() { err = s.CloseWith(err) }()
	err = f()
	return err
}

// session returns a session whose variables are those of a checkpoint, or
// initial values if path is empty. It is of this process, or of the server at an
// address.
func (e *Estimator) session(ctx context.Context, b *build, path, address string, hooks []train.Hook) (*train.MonitoredSession, error) {
	if path != "" {
		if err := e.fits(b.g, path); err != nil {
			return nil, err
		}
	}
	options := e.config.Session
	if address != "" {
		options = append(slices.Clone(options), session.Target(address))
	}
	c := &train.ChiefSessionCreator{Graph: b.g, Scaffold: b.scaffold(), Options: options, CheckpointPath: path}
	return train.NewMonitoredSession(ctx, b.g, train.MonitoredOptions{Creator: c, Hooks: hooks})
}
