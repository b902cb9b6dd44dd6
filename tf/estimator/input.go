package estimator

import (
	"context"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// An InputFn returns what a model is fed with. It is called once for each
// training, evaluation or prediction, which ends with the dataset.
type InputFn func(ctx context.Context) (*Input, error)

// An Input is a dataset of batches, with the names of its components.
type Input struct {
	Data *data.Dataset
	// Keys name the components of the dataset's elements, in their order.
	Keys []string
	// Labels are those keys, or keys of what Map returns, that are labels and no
	// features.
	Labels []string
	// Map, if given, turns components into features and labels in the graph: it
	// parses tf.Example records, for example.
	Map func(f feature.Features) feature.Features
}

// feeder takes batches from a dataset to placeholders.
type feeder struct {
	in *Input
	it *data.Iterator
	xs []tf.Output
}

// placeholders adds what in feeds, and returns features and labels.
func (in *Input) placeholders(g *tf.Graph) (f *feeder, features, labels feature.Features, err error) {
	if in == nil || in.Data == nil {
		return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "an input function must return an Input with a dataset")
	}
	if err := in.Data.Err(); err != nil {
		return nil, nil, nil, err
	}
	types, shapes := in.Data.Types(), in.Data.Shapes()
	if len(types) != len(in.Keys) {
		return nil, nil, nil, tf.Errorf(tf.InvalidArgument, "an Input must have a key for each component of its dataset: %d keys %q, %d components", len(in.Keys), in.Keys, len(types))
	}
	f, features = &feeder{in: in}, feature.Features{}
	g.Scope("input", func() {
		for i, key := range in.Keys {
			if _, twice := features[key]; twice {
				err = tf.Errorf(tf.InvalidArgument, "the keys of an Input must differ, got %q twice", key)
			}
			x := ops.Placeholder(g, types[i], shapes[i])
			f.xs = append(f.xs, x)
			features[key] = x
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	if in.Map != nil {
		features = in.Map(features)
	}
	features, labels, err = in.split(features)
	return f, features, labels, err
}

// split takes labels out of features.
func (in *Input) split(all feature.Features) (features, labels feature.Features, err error) {
	features = maps.Clone(all)
	for _, key := range in.Labels {
		x, ok := all[key]
		if !ok {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "the label %q must be among what the input has: %q", key, slices.Sorted(maps.Keys(all)))
		}
		if labels == nil {
			labels = feature.Features{}
		}
		labels[key] = x
		delete(features, key)
	}
	return features, labels, nil
}

func (f *feeder) start() (err error) {
	f.it, err = f.in.Data.Iterator()
	return err
}

func (f *feeder) close() {
	if f.it != nil {
		f.it.Close()
	}
}

// next returns the feeds of a step, or the error data.End.
func (f *feeder) next(ctx context.Context) (session.Feeds, error) {
	e, err := f.it.NextShared(ctx)
	if err != nil {
		return nil, err
	}
	if len(e) != len(f.xs) {
		return nil, tf.Errorf(tf.InvalidArgument, "an element of the input has %d components, the first one's dataset %d", len(e), len(f.xs))
	}
	feeds := make(session.Feeds, len(e))
	for i, t := range e {
		feeds[f.xs[i]] = t
	}
	return feeds, nil
}
