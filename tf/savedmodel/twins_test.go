package savedmodel_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestTwins runs a signature of which two inputs are one tensor.
func TestTwins(t *testing.T) {
	dir := saved(t)
	mg := renamed(t, dir, func(*pb.NodeDef) {})
	sig := mg.SignatureDef["serving_default"]
	sig.Inputs["x2"] = sig.Inputs["x"]
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	look(t, m, map[string]any{"x": []string{"two"}, "x2": []string{"two"}})
	_, err = m.Signature("serving_default").Run(t.Context(), map[string]any{"x": []string{"two"}, "x2": []string{"one"}})
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), `inputs "x" and "x2" must be equal: both are tensor x:0`) {
		t.Errorf("different values: %v", err)
	}
}
