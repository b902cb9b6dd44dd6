package estimator

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// An ExportOutput is what one signature of an exported model returns:
// [ClassificationOutput], [RegressionOutput] or [PredictOutput].
type ExportOutput interface {
	// signature returns the entry point for inputs, or why they do not fit.
	signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error)
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
	return savedmodel.Classify(x, o.Classes, o.Scores), err
}

func (o RegressionOutput) signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error) {
	x, err := examples("Regression", inputs)
	return savedmodel.Regress(x, o.Value), err
}

func (o PredictOutput) signature(inputs map[string]tf.Output) (savedmodel.SignatureSpec, error) {
	return savedmodel.Predict(inputs, o.Outputs), nil
}
