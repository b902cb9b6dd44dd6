package savedmodel

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A SignatureSpec says what a signature to save computes from what.
type SignatureSpec struct {
	Method          string // PredictMethod, …; "" is PredictMethod
	Inputs, Outputs map[string]tf.Output
	Defaults        map[string]*tf.Tensor // of inputs that need not be given
}

// Predict describes a signature with any inputs and outputs.
func Predict(inputs, outputs map[string]tf.Output) SignatureSpec {
	return SignatureSpec{Method: PredictMethod, Inputs: inputs, Outputs: outputs}
}

// Classify describes a signature that classifies serialized tf.Example records, a
// vector of strings. For each it computes the labels of classes, strings of shape
// [n, k], or their scores, floats of that shape, or both; one of them may be the
// zero Output.
func Classify(examples, classes, scores tf.Output) SignatureSpec {
	s := SignatureSpec{Method: ClassifyMethod, Inputs: map[string]tf.Output{"inputs": examples}, Outputs: map[string]tf.Output{}}
	if !classes.IsZero() {
		s.Outputs["classes"] = classes
	}
	if !scores.IsZero() {
		s.Outputs["scores"] = scores
	}
	return s
}

// Regress describes a signature that computes a float for each of a vector of
// serialized tf.Example records.
func Regress(examples, predictions tf.Output) SignatureSpec {
	return SignatureSpec{Method: RegressMethod, Inputs: map[string]tf.Output{"inputs": examples}, Outputs: map[string]tf.Output{"outputs": predictions}}
}

// proto returns s for a MetaGraph of g.
func (s SignatureSpec) proto(g *tf.Graph) (*pb.SignatureDef, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	def := &pb.SignatureDef{MethodName: s.Method}
	if s.Method == "" {
		def.MethodName = PredictMethod
	}
	var err error
	if def.Inputs, err = tensorInfos(g, "input", s.Inputs); err != nil {
		return nil, err
	}
	if def.Outputs, err = tensorInfos(g, "output", s.Outputs); err != nil {
		return nil, err
	}
	def.Defaults, err = s.defaults()
	return def, err
}

// check compares the tensors with what the method takes and returns.
func (s SignatureSpec) check() error {
	if len(s.Outputs) == 0 {
		return tf.Errorf(tf.InvalidArgument, "a signature must have an output")
	}
	want := map[string]tf.DType{}
	switch s.Method {
	case ClassifyMethod:
		want = map[string]tf.DType{"inputs": tf.String, "classes": tf.String, "scores": tf.Float32}
	case RegressMethod:
		want = map[string]tf.DType{"inputs": tf.String, "outputs": tf.Float32}
	}
	for _, m := range []map[string]tf.Output{s.Inputs, s.Outputs} {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if d, ok := want[key]; ok && !m[key].IsZero() && m[key].DType() != d {
				return tf.Errorf(tf.InvalidArgument, "%q of %s must have type %v, got %v", key, s.Method, d, m[key].DType())
			}
		}
	}
	return nil
}

func tensorInfos(g *tf.Graph, kind string, all map[string]tf.Output) (map[string]*pb.TensorInfo, error) {
	out := map[string]*pb.TensorInfo{}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		x := all[key]
		if err := belongs(g, x); err != nil {
			return nil, tf.Errorf(tf.CodeOf(err), "%s %q: %s", kind, key, tf.AsError(err).Message())
		}
		out[key] = &pb.TensorInfo{
			Encoding: &pb.TensorInfo_Name{Name: x.Name()}, Dtype: pb.DataType(x.DType().Base()), TensorShape: core.ShapeProto(x.Shape()),
		}
	}
	return out, nil
}

func (s SignatureSpec) defaults() (map[string]*pb.TensorProto, error) {
	out := map[string]*pb.TensorProto{}
	for _, key := range slices.Sorted(maps.Keys(s.Defaults)) {
		x, t := s.Inputs[key], s.Defaults[key]
		if x.IsZero() || t == nil || t.DType() != x.DType().Base() || !x.Shape().Compatible(t.Shape()) {
			return nil, tf.Errorf(tf.InvalidArgument, "the default of %q must fit the input of this name, got %v", key, t)
		}
		out[key] = core.TensorProto((*core.Tensor)(t))
	}
	return out, nil
}
