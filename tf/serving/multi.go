package serving

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// MultiInference runs several signatures of a model on the same examples, in one
// step: a call of PredictionService.
func (s *Server) MultiInference(ctx context.Context, r *servingpb.MultiInferenceRequest) (*servingpb.MultiInferenceResponse, error) {
	done, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	spec := &servingpb.ModelSpec{}
	if len(r.GetTasks()) > 0 && r.GetTasks()[0].GetModelSpec() != nil {
		spec = r.GetTasks()[0].GetModelSpec()
	}
	h, err := s.acquire(spec)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	plan, err := h.Model.plan(r.GetTasks(), s.cfg.CheckMethods)
	if err != nil {
		return nil, err
	}
	out, err := plan.run(ctx, h, r)
	if err != nil {
		return nil, err
	}
	s.logs.add(s.model(h.ID.Name), h, func() *servingpb.PredictionLog {
		return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_MultiInferenceLog{MultiInferenceLog: &servingpb.MultiInferenceLog{Request: r, Response: out}}}
	})
	return out, nil
}

// A multiPlan has the tensors of several signatures.
type multiPlan struct {
	v       *servable
	tasks   []*servingpb.InferenceTask
	sigs    []*signature
	inputs  map[string]bool // names of tensors
	outputs map[string]bool
}

// plan checks the tasks of a request and collects their tensors.
func (v *servable) plan(tasks []*servingpb.InferenceTask, checkMethods bool) (*multiPlan, error) {
	p := &multiPlan{v: v, tasks: tasks, inputs: map[string]bool{}, outputs: map[string]bool{}}
	seen := map[string]bool{}
	for _, t := range tasks {
		name := signatureOf(t.GetModelSpec())
		switch {
		case t.GetModelSpec().GetName() == "":
			return nil, tf.Errorf(tf.InvalidArgument, "Found ModelSpec with an empty model name.")
		case t.GetModelSpec().GetName() != tasks[0].GetModelSpec().GetName():
			return nil, tf.Errorf(tf.InvalidArgument, "All ModelSpecs in a MultiInferenceRequest must access the same model name.")
		case seen[name]:
			return nil, tf.Errorf(tf.InvalidArgument, "Duplicate evaluation of signature: %s", name)
		case v.signatures[name] == nil:
			return nil, tf.Errorf(tf.InvalidArgument, "Requested signature not found in model graph: %s", name)
		}
		seen[name] = true
		if err := p.add(t, v.signatures[name], checkMethods); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// add adds the tensors of a task.
func (p *multiPlan) add(t *servingpb.InferenceTask, sig *signature, checkMethod bool) error {
	outs := []string{regressOutputs}
	var err error
	switch t.GetMethodName() {
	case savedmodel.ClassifyMethod:
		outs, err = sig.classifyOutputs()
	case savedmodel.RegressMethod:
		err = sig.checkRegression()
	default:
		return tf.Errorf(tf.Unimplemented, "Unsupported signature method_name: %s", t.GetMethodName())
	}
	if err == nil {
		err = sig.checkMethod(t.GetMethodName(), checkMethod)
	}
	if err == nil {
		err = sig.sig.Err()
	}
	if err != nil {
		return err
	}
	p.sigs = append(p.sigs, sig)
	p.inputs[sig.def.GetInputs()[exampleInputs].GetName()] = true
	for _, key := range outs {
		p.outputs[sig.def.GetOutputs()[key].GetName()] = true
	}
	return nil
}

// run runs all tasks and makes their results.
func (p *multiPlan) run(ctx context.Context, h *handle, r *servingpb.MultiInferenceRequest) (*servingpb.MultiInferenceResponse, error) {
	examples, err := serialize(r.GetInput())
	if err != nil {
		return nil, err
	}
	p.v.metrics.Examples(p.v.id.Name, examples.Len())
	in, out := sorted(p.inputs), sorted(p.outputs)
	c, done, err := p.v.callable(in, out)
	if err != nil {
		return nil, err
	}
	defer done()
	args := make([]*tf.Tensor, len(in))
	for i := range args {
		args[i] = examples
	}
	got, err := c.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	byName := map[string]*tf.Tensor{}
	for i, name := range out {
		byName[name] = got[i]
	}
	answer := &servingpb.MultiInferenceResponse{}
	for i, t := range p.tasks {
		one, err := result(examples.Len(), t, p.sigs[i], byName)
		if err != nil {
			return nil, err
		}
		one.ModelSpec = answered(h, signatureOf(t.GetModelSpec()))
		answer.Results = append(answer.Results, one)
	}
	return answer, nil
}

// result makes the result of a task.
func result(n int, t *servingpb.InferenceTask, sig *signature, got map[string]*tf.Tensor) (*servingpb.InferenceResult, error) {
	output := func(key string) *tf.Tensor { return got[sig.def.GetOutputs()[key].GetName()] }
	if t.GetMethodName() == savedmodel.ClassifyMethod {
		r, err := classes(n, output(classifyClasses), output(classifyScores))
		return &servingpb.InferenceResult{Result: &servingpb.InferenceResult_ClassificationResult{ClassificationResult: r}}, err
	}
	r, err := values(n, output(regressOutputs))
	return &servingpb.InferenceResult{Result: &servingpb.InferenceResult_RegressionResult{RegressionResult: r}}, err
}
