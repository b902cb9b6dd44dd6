package estimator

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// An ExportOutput is what one signature of an exported model returns:
// [ClassificationOutput], [RegressionOutput] or [PredictOutput].
type ExportOutput interface {
	// signature returns the entry point for inputs, or why they do not fit.
	signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error)
	// check refuses outputs of types that no signature of this kind has.
	check() error
}

// A ClassificationOutput has scores, float32 [batch n], and the names of the
// classes, string [batch n]; one of them may be left out. Its only input is a
// vector of serialized examples.
type ClassificationOutput struct{ Scores, Classes tf.Output }

// A RegressionOutput has values, float32 [batch 1]. Its only input is a vector of
// serialized examples.
type RegressionOutput struct{ Value tf.Output }

// A PredictOutput has any outputs by key.
type PredictOutput struct{ Outputs map[string]tf.Output }

// examples returns the only input, which has to be of strings.
func examples(kind string, inputs map[string]tf.Output) (tf.Output, error) {
	for _, x := range inputs {
		if len(inputs) == 1 && x.DType() == tf.String {
			return x, nil
		}
	}
	return tf.Output{}, tf.Errorf(tf.InvalidArgument, "%s input must be a single string Tensor; got %d inputs", kind, len(inputs))
}

func (o ClassificationOutput) signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error) {
	if o.Scores.IsZero() && o.Classes.IsZero() {
		return savedmodel.SignatureSpec{}, tf.Errorf(tf.InvalidArgument, "At least one of scores and classes must be set.")
	}
	x, err := examples("Classification", inputs)
	if err == nil && !o.Scores.IsZero() {
		err = served("Classification scores", o.Scores)
	}
	return savedmodel.Classify(x, o.Classes, o.Scores), err
}

func (o RegressionOutput) signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error) {
	x, err := examples("Regression", inputs)
	if err == nil {
		err = served("Regression output", o.Value)
	}
	return savedmodel.Regress(x, o.Value), err
}

func (o ClassificationOutput) check() error {
	if o.Scores.IsZero() && o.Classes.IsZero() {
		return tf.Errorf(tf.InvalidArgument, "Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and `classes` must be defined.")
	}
	for _, x := range []tf.Output{o.Scores, o.Classes} {
		if !x.IsZero() && x.Err() != nil {
			return x.Err()
		}
	}
	if !o.Scores.IsZero() && !o.Scores.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "Classification scores must be a float32 Tensor; got %v", o.Scores)
	}
	if !o.Classes.IsZero() && o.Classes.DType().Base() != tf.String {
		return tf.Errorf(tf.InvalidArgument, "Classification classes must be a string Tensor; got %v", o.Classes)
	}
	return nil
}

func (o RegressionOutput) check() error {
	if err := o.Value.Err(); err != nil && !o.Value.IsZero() {
		return err
	}
	if o.Value.IsZero() || !o.Value.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "Regression output value must be a float32 Tensor; got %v", o.Value)
	}
	return nil
}

func (o PredictOutput) check() error {
	for _, key := range slices.Sorted(maps.Keys(o.Outputs)) {
		x := o.Outputs[key]
		if x.IsZero() {
			return tf.Errorf(tf.InvalidArgument, "Prediction output value must be a Tensor; got none for %q", key)
		}
		if err := x.Err(); err != nil {
			return err
		}
	}
	return nil
}

// served refuses floating-point numbers of types that requests for examples have no form for.
func served(what string, x tf.Output) error {
	if d := x.DType().Base(); d != tf.Float32 {
		return tf.Errorf(tf.InvalidArgument, "%s must be of type %v to be served, got %v", what, tf.Float32, d)
	}
	return nil
}

func (o PredictOutput) signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error) {
	return savedmodel.Predict(inputs, o.Outputs), nil
}
