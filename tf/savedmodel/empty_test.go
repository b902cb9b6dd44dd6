package savedmodel_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestNoOutputs: a signature without outputs, as the initial state of a policy that
// has none, can be prepared and run; it gives nothing.
func TestNoOutputs(t *testing.T) {
	dir := saved(t)
	mg := renamed(t, dir, func(*pb.NodeDef) {})
	mg.SignatureDef["nothing"] = &pb.SignatureDef{MethodName: savedmodel.PredictMethod}
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	sig := m.Signature("nothing")
	if err := sig.Prepare(t.Context()); err != nil {
		t.Error(err)
	}
	out, err := sig.Run(t.Context(), nil)
	if err != nil || out == nil || len(out) > 0 {
		t.Errorf("a signature without outputs gave %v, %v", out, err)
	}
	if _, err := sig.Run(t.Context(), map[string]any{"x": 1}); err == nil {
		t.Error("an unknown input is accepted")
	}
}
