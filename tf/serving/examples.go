package serving

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// The keys of signatures that take examples.
const (
	exampleInputs   = "inputs"
	classifyClasses = "classes"
	classifyScores  = "scores"
	regressOutputs  = "outputs"
)

// Classify finds the classes of examples: a call of PredictionService.
func (s *Server) Classify(ctx context.Context, r *servingpb.ClassificationRequest) (*servingpb.ClassificationResponse, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defer h.Release()
	result, err := h.Model.classify(ctx, signatureOf(r.GetModelSpec()), r.GetInput(), s.cfg)
	if err != nil {
		return nil, err
	}
	out := &servingpb.ClassificationResponse{Result: result, ModelSpec: answered(h, r.GetModelSpec().GetSignatureName())}
	s.logs.add(s.model(h.ID.Name), h, func() *servingpb.PredictionLog {
		return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_ClassifyLog{ClassifyLog: &servingpb.ClassifyLog{Request: r, Response: out}}}
	})
	return out, nil
}

// Regress computes values of examples: a call of PredictionService.
func (s *Server) Regress(ctx context.Context, r *servingpb.RegressionRequest) (*servingpb.RegressionResponse, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	h, err := s.acquire(r.GetModelSpec())
	if err != nil {
		return nil, err
	}
	defer h.Release()
	result, err := h.Model.regress(ctx, signatureOf(r.GetModelSpec()), r.GetInput(), s.cfg)
	if err != nil {
		return nil, err
	}
	out := &servingpb.RegressionResponse{Result: result, ModelSpec: answered(h, r.GetModelSpec().GetSignatureName())}
	s.logs.add(s.model(h.ID.Name), h, func() *servingpb.PredictionLog {
		return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_RegressLog{RegressLog: &servingpb.RegressLog{Request: r, Response: out}}}
	})
	return out, nil
}

func (v *servable) classify(ctx context.Context, name string, in *servingpb.Input, c Config) (*servingpb.ClassificationResult, error) {
	sig, err := v.exampleSignature(name, savedmodel.ClassifyMethod, c.CheckMethods)
	if err != nil {
		return nil, err
	}
	want, err := sig.classifyOutputs()
	if err != nil {
		return nil, err
	}
	n, out, err := v.runExamples(ctx, sig, in, want, "Classify")
	if err != nil {
		return nil, err
	}
	return classes(n, out[classifyClasses], out[classifyScores])
}

func (v *servable) regress(ctx context.Context, name string, in *servingpb.Input, c Config) (*servingpb.RegressionResult, error) {
	sig, err := v.exampleSignature(name, savedmodel.RegressMethod, c.CheckMethods)
	if err != nil {
		return nil, err
	}
	if err := sig.checkRegression(); err != nil {
		return nil, err
	}
	n, out, err := v.runExamples(ctx, sig, in, []string{regressOutputs}, "Regress")
	if err != nil {
		return nil, err
	}
	return values(n, out[regressOutputs])
}

// exampleSignature finds the signature of a call of Classify or Regress.
func (v *servable) exampleSignature(name, method string, checkMethod bool) (*signature, error) {
	sig := v.signatures[name]
	if sig == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "No signature was found with the name: %s", name)
	}
	if err := sig.checkMethod(method, checkMethod); err != nil {
		return nil, err
	}
	return sig, sig.sig.Err()
}

var callNames = map[string]string{savedmodel.ClassifyMethod: "classification", savedmodel.RegressMethod: "regression"}

func (s *signature) checkMethod(method string, check bool) error {
	if check && s.def.GetMethodName() != method {
		return tf.Errorf(tf.InvalidArgument, "Expected %s signature method_name to be %s. Was: %s", callNames[method], method, s.def.GetMethodName())
	}
	return nil
}

// classifyOutputs returns the keys of what a signature computes, if it classifies.
func (s *signature) classifyOutputs() (out []string, err error) {
	switch {
	case len(s.keys) != 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Expected one input Tensor.")
	case len(s.outs) != 1 && len(s.outs) != 2:
		return nil, tf.Errorf(tf.InvalidArgument, "Expected one or two output Tensors, found %d", len(s.outs))
	case s.keys[0] != exampleInputs:
		return nil, tf.Errorf(tf.InvalidArgument, "No classification inputs found in SignatureDef: %v", s.def)
	}
	for _, key := range s.outs {
		if key == classifyClasses || key == classifyScores {
			out = append(out, key)
		}
	}
	if out == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected classification signature outputs to contain at least one of \"%s\" or \"%s\". Signature was: %v", classifyClasses, classifyScores, s.def)
	}
	return out, nil
}

// checkRegression refuses a signature that is none of regression.
func (s *signature) checkRegression() error {
	switch {
	case len(s.keys) != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected one input Tensor.")
	case len(s.outs) != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected one output Tensor.")
	case s.keys[0] != exampleInputs:
		return tf.Errorf(tf.InvalidArgument, "No regression inputs found in SignatureDef: %v", s.def)
	case s.outs[0] != regressOutputs:
		return tf.Errorf(tf.InvalidArgument, "No regression outputs found in SignatureDef: %v", s.def)
	}
	return nil
}

// runExamples runs a signature on examples and returns their number, too.
func (v *servable) runExamples(ctx context.Context, sig *signature, in *servingpb.Input, want []string, api string) (int, map[string]*tf.Tensor, error) {
	examples, err := serialize(in)
	if err != nil {
		return 0, nil, err
	}
	v.metrics.Examples(v.id.Name, examples.Len())
	start := time.Now()
	out, err := sig.run(ctx, map[string]*tf.Tensor{exampleInputs: examples}, want)
	if err == nil {
		v.metrics.Run(v.id.Name, api, time.Since(start))
	}
	return examples.Len(), out, err
}

// serialize returns examples as a vector of records. What they share comes first in
// each record: of features of one name, those of the example win.
func serialize(in *servingpb.Input) (*tf.Tensor, error) {
	examples, shared := in.GetExampleList().GetExamples(), []byte(nil)
	if c := in.GetExampleListWithContext(); c != nil {
		examples = c.GetExamples()
		var err error
		if shared, err = marshal(c.GetContext()); err != nil {
			return nil, err
		}
	}
	if len(examples) == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input is empty.")
	}
	if err := core.Guard("the request", func() error { core.Room(len(shared) * len(examples)); return nil }); err != nil {
		return nil, err // a message that is small may stand for more than fits the memory
	}
	records := make([]string, len(examples))
	for i, e := range examples {
		b, err := marshal(e)
		if err != nil {
			return nil, err
		}
		records[i] = string(shared) + string(b)
	}
	return tf.Adopt(records)
}

func marshal(e *pb.Example) ([]byte, error) {
	b, err := proto.Marshal(e)
	if err != nil {
		return nil, tf.Errorf(tf.Internal, "Error parsing serialized input.")
	}
	return b, nil
}
