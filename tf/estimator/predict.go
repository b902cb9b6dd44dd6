package estimator

import (
	"context"
	"iter"
	"log/slog"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/train"
)

// PredictOptions adjust [Estimator.Predict].
type PredictOptions struct {
	Keys       []string // of the predictions that are wanted; none: all
	Checkpoint string   // the one to use, the latest if it is ""
	Hooks      []train.Hook
	// Batches yields predictions by the batch, not by the example.
	Batches bool
}

// Predict yields the predictions for each example of an input, by key, in the
// order of the input. After an error, such as that of ctx, it yields nothing more.
// The session ends with the loop; an error of that is logged if the program has
// left the loop.
func (e *Estimator) Predict(ctx context.Context, input InputFn, o PredictOptions) iter.Seq2[map[string]*tf.Tensor, error] {
	made := caller()
	return func(yield func(map[string]*tf.Tensor, error) bool) {
		left := false
		give := func(p map[string]*tf.Tensor, err error) bool {
			left = !yield(p, err)
			return !left
		}
		switch err := e.predict(ctx, input, o, made, give); {
		case err != nil && left:
			slog.Error("the session of predictions has not ended well", "error", err)
		case err != nil:
			yield(nil, err)
		}
	}
}

func (e *Estimator) predict(ctx context.Context, input InputFn, o PredictOptions, at string, yield func(map[string]*tf.Tensor, error) bool) error {
	if err := e.ready(ctx, "Predict"); err != nil {
		return err
	}
	path, err := e.checkpoint(o.Checkpoint)
	if err != nil {
		return err
	}
	if path == "" {
		slog.Info("Could not find trained model in model_dir: running initialization to predict.", "model_dir", e.config.ModelDir)
	}
	b, err := e.build(ctx, Predict, input)
	if err != nil {
		return err
	}
	keys, fetches, err := b.wanted(o.Keys)
	if err != nil {
		return tf.Errorf(tf.InvalidArgument, "%s (predicted at %s)", tf.AsError(err).Message(), at)
	}
	if err := b.feed.start(); err != nil {
		return err
	}
	defer b.feed.close()
	s, err := e.session(ctx, b, path, e.config.Master, append(slices.Clone(o.Hooks), b.spec.PredictHooks...))
	if err != nil {
		return err
	}
	return inSession(s, func() error {
		for !s.ShouldStop() {
			out, err := b.predictBatch(ctx, s, fetches)
			if err != nil {
				return withoutEnd(err)
			}
			if more, err := give(keys, out, o.Batches, yield); !more {
				return err
			}
		}
		return ctx.Err()
	})
}

// wanted returns the predictions to compute.
func (b *build) wanted(keys []string) ([]string, []tf.Fetchable, error) {
	all := slices.Sorted(maps.Keys(b.spec.Predictions))
	if len(keys) == 0 {
		keys = all
	}
	var fetches []tf.Fetchable
	for _, key := range keys {
		x, ok := b.spec.Predictions[key]
		if !ok {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected to run at least one output from %q, provided %q: a key must be one of the model's predictions", all, key)
		}
		fetches = append(fetches, x)
	}
	return keys, fetches, nil
}

func (b *build) predictBatch(ctx context.Context, s *train.MonitoredSession, fetches []tf.Fetchable) ([]*tf.Tensor, error) {
	feeds, err := b.feed.next(ctx)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, feeds, fetches...)
}

// give yields a batch, and reports whether more is wanted.
func give(keys []string, out []*tf.Tensor, whole bool, yield func(map[string]*tf.Tensor, error) bool) (bool, error) {
	if whole {
		return yield(byKey(keys, out), nil), nil
	}
	n := -1
	for i, t := range out {
		if t.Rank() == 0 || n >= 0 && t.Dim(0) != n {
			return false, tf.Errorf(tf.InvalidArgument, "Batch length of predictions should be same. %s has shape %v, the first of %q has batch length %d", keys[i], t.Shape(), keys, n)
		}
		n = t.Dim(0)
	}
	for i := range n {
		one := make([]*tf.Tensor, len(out))
		for j, t := range out {
			one[j] = rowOf(t, i)
		}
		if !yield(byKey(keys, one), nil) {
			return false, nil
		}
	}
	return true, nil
}

func byKey(keys []string, out []*tf.Tensor) map[string]*tf.Tensor {
	m := make(map[string]*tf.Tensor, len(keys))
	for i, key := range keys {
		m[key] = out[i]
	}
	return m
}

// rowOf copies the i-th row of t.
func rowOf(t *tf.Tensor, i int) *tf.Tensor {
	row := core.NewTensor(t.DType(), t.Shape()[1:])
	n := row.Len()
	rows.Mover(row, (*core.Tensor)(t))(0, i*n, n)
	return (*tf.Tensor)(row)
}
