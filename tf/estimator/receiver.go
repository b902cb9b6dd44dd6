package estimator

import (
	"context"
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Receiver is what a served model gets: placeholders, and the features that
// are made of them.
type Receiver struct {
	Features feature.Features
	// Labels are for models that are exported for training or evaluation.
	Labels feature.Features
	Inputs map[string]tf.Output
	// Alternatives are other inputs by names, from which the same features follow:
	// signatures NAME:KEY take them.
	Alternatives map[string]map[string]tf.Output
}

// A ReceiverFn adds a Receiver to the graph that is exported.
type ReceiverFn func(g *tf.Graph) (*Receiver, error)

// ParsingReceiver serves serialized tf.Example records, an input "examples".
func ParsingReceiver(spec *feature.ParseSpec) ReceiverFn { return parsing(spec, -1) }

// ParsingReceiverOf is [ParsingReceiver] of batches of n records: TensorFlow's
// default_batch_size.
func ParsingReceiverOf(n int, spec *feature.ParseSpec) ReceiverFn {
	if n < 1 {
		return badBatch(n)
	}
	return parsing(spec, n)
}

// badBatch refuses the size of a batch.
func badBatch(n int) ReceiverFn {
	return func(*tf.Graph) (*Receiver, error) {
		return nil, tf.Errorf(tf.InvalidArgument, "default_batch_size must be positive, got %d", n)
	}
}

func parsing(spec *feature.ParseSpec, n int) ReceiverFn {
	return func(g *tf.Graph) (*Receiver, error) {
		if spec == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "a parsing receiver needs a ParseSpec, got nil")
		}
		x := ops.Placeholder(g, tf.String, tf.Shape{n}, tf.Name("input_example_tensor"))
		return &Receiver{Features: spec.Parse(x), Inputs: map[string]tf.Output{"examples": x}}, nil
	}
}

// RawReceiver serves tensors as they are, by the features' keys. Shapes are those
// of batches: their first size is -1.
func RawReceiver(features map[string]tf.ArgSpec) ReceiverFn {
	return func(g *tf.Graph) (*Receiver, error) {
		if len(features) == 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "feature_spec cannot be empty: a raw receiver must have a feature")
		}
		r := &Receiver{Features: feature.Features{}, Inputs: map[string]tf.Output{}}
		r.placeholders(g, features, r.Features)
		return r, nil
	}
}

// RawReceiverOf is [RawReceiver] of batches of n examples, whichever first size the
// shapes have: TensorFlow's default_batch_size.
func RawReceiverOf(n int, features map[string]tf.ArgSpec) ReceiverFn {
	if n < 1 {
		return badBatch(n)
	}
	return RawReceiver(batchesOf(n, features))
}

// batchesOf gives shapes another first size, as far as they are known.
func batchesOf(n int, all map[string]tf.ArgSpec) map[string]tf.ArgSpec {
	out := make(map[string]tf.ArgSpec, len(all))
	for key, a := range all {
		if s := a.Shape; s != nil {
			a.Shape = append(tf.Shape{n}, s[min(1, len(s)):]...)
		}
		out[key] = a
	}
	return out
}

// placeholders adds inputs by key, and puts them among features or labels.
func (r *Receiver) placeholders(g *tf.Graph, all map[string]tf.ArgSpec, to feature.Features) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		x := ops.Placeholder(g, all[key].DType, all[key].Shape, tf.Name(key))
		to[key], r.Inputs[key] = x, x
	}
}

// RawSupervisedReceiver returns a receiver function for exports of models for
// training and evaluation, whose inputs are features and labels as the model gets
// them: TensorFlow's build_raw_supervised_input_receiver_fn. n is the size of
// batches, and 0 stands for any: the first size of the shapes does not count.
func RawSupervisedReceiver(n int, features, labels map[string]tf.ArgSpec) ReceiverFn {
	switch {
	case n < 0:
		return badBatch(n)
	case n == 0:
		n = -1
	}
	return func(g *tf.Graph) (*Receiver, error) {
		for _, key := range slices.Sorted(maps.Keys(features)) {
			if _, twice := labels[key]; twice {
				return nil, tf.Errorf(tf.InvalidArgument, "Features and labels must have distinct keys. Found overlapping keys: %q", key)
			}
		}
		r := &Receiver{Features: feature.Features{}, Labels: feature.Features{}, Inputs: map[string]tf.Output{}}
		r.placeholders(g, batchesOf(n, features), r.Features)
		r.placeholders(g, batchesOf(n, labels), r.Labels)
		return r, nil
	}
}

// SupervisedReceiver is [RawSupervisedReceiver] of the features and labels of an
// input function, of batches of any size: TensorFlow's
// build_supervised_input_receiver_fn_from_input_fn. The function is called once,
// now. Features and labels must be dense.
func SupervisedReceiver(ctx context.Context, input InputFn) (ReceiverFn, error) {
	if err := core.NeedContext(ctx, "SupervisedReceiver"); err != nil {
		return nil, err
	}
	if input == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a supervised receiver needs an input function, got nil")
	}
	in, err := input(ctx)
	if err != nil {
		return nil, err
	}
	g := tf.NewGraph()
	_, features, labels, err := in.placeholders(g)
	if err == nil {
		err = g.Err()
	}
	if err != nil {
		return nil, err
	}
	x, err := argSpecs(features)
	if err != nil {
		return nil, err
	}
	y, err := argSpecs(labels)
	return RawSupervisedReceiver(0, x, y), err
}

// argSpecs returns what describes dense tensors.
func argSpecs(all feature.Features) (map[string]tf.ArgSpec, error) {
	out := map[string]tf.ArgSpec{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		x, ok := all[key].(tf.Output)
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "features and labels of a supervised receiver must be dense, got a %T: %q", all[key], key)
		}
		out[key] = tf.ArgSpec{DType: x.DType().Base(), Shape: x.Shape()}
	}
	return out, nil
}
