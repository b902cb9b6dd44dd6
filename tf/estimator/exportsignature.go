package estimator

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// signatures returns the entry points of what is exported for a mode.
func (b *build) signatures(mode Mode, r *Receiver) (map[string]savedmodel.SignatureSpec, error) {
	switch mode {
	case Train:
		return map[string]savedmodel.SignatureSpec{"train": b.spec.supervised(savedmodel.TrainMethod, r)}, nil
	case Eval:
		return map[string]savedmodel.SignatureSpec{"eval": b.spec.supervised(savedmodel.EvalMethod, r)}, nil
	}
	return b.serving(r)
}

// supervised returns the entry point of training or evaluation, with TensorFlow's
// names: those that begin with the kind of output get no prefix.
func (s *Spec) supervised(method string, r *Receiver) savedmodel.SignatureSpec {
	outputs := map[string]tf.Output{"loss": s.Loss}
	for key, x := range s.Predictions {
		outputs[prefixed("predictions", key)] = x
	}
	for key, m := range s.EvalMetrics {
		outputs[prefixed("metrics", key)+"/value"] = m.Value
		outputs[prefixed("metrics", key)+"/update_op"] = m.Update
	}
	return savedmodel.SignatureSpec{Method: method, Inputs: r.Inputs, Outputs: outputs}
}

func prefixed(kind, key string) string {
	if strings.HasPrefix(key, kind) {
		return key
	}
	return kind + "/" + key
}

// serving returns the entry points for prediction.
func (b *build) serving(r *Receiver) (map[string]savedmodel.SignatureSpec, error) {
	outputs := b.spec.ExportOutputs
	if len(outputs) == 0 {
		outputs = map[string]ExportOutput{savedmodel.DefaultSignature: PredictOutput{b.spec.Predictions}}
	}
	all := map[string]ExportOutput{}
	maps.Copy(all, outputs)
	if _, ok := all[savedmodel.DefaultSignature]; !ok {
		if len(all) > 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Multiple export_outputs were provided, but none of them is specified as the default. Do this by naming one of them with %q: got %q", savedmodel.DefaultSignature, slices.Sorted(maps.Keys(all)))
		}
		for _, only := range outputs {
			all[savedmodel.DefaultSignature] = only
		}
	}
	signatures := signaturesOf(all, r.Inputs, "")
	for name, inputs := range r.Alternatives {
		maps.Copy(signatures, signaturesOf(outputs, inputs, name+":"))
	}
	if len(signatures) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "a SavedModel must have a signature, none of %q fits the receiver", slices.Sorted(maps.Keys(all)))
	}
	return signatures, nil
}

// signaturesOf returns those that inputs fit, with a prefix before their names.
func signaturesOf(all map[string]ExportOutput, inputs map[string]tf.Output, prefix string) map[string]savedmodel.SignatureSpec {
	signatures := map[string]savedmodel.SignatureSpec{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		s, err := all[key].signature(inputs)
		if err != nil {
			slog.Warn("Export excludes a signature because it cannot be served via TensorFlow Serving APIs", "signature", prefix+key, "reason", tf.AsError(err).Message())
			continue
		}
		signatures[prefix+key] = s
	}
	return signatures
}
