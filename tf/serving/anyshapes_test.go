package serving

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestShapesAreTheModels: a request may have another shape than the signature says, as with
// TensorFlow Serving; one that is batched may not.
func TestShapesAreTheModels(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir()
	if err := savedmodel.SimpleSave(t.Context(), s, filepath.Join(dir, "1"), map[string]tf.Output{"x": x}, map[string]tf.Output{"y": x.Mul(2)}); err != nil {
		t.Fatal(err)
	}
	for _, batching := range []*Batching{nil, {}} {
		server := serve(t, Config{Batching: batching}, dir)
		want := tf.OK
		if batching != nil {
			want = tf.InvalidArgument
		}
		r := &servingpb.PredictRequest{ModelSpec: spec("m", ""), Inputs: map[string]*pb.TensorProto{"x": {Dtype: pb.DataType_DT_FLOAT, FloatVal: []float32{1, 2},
			TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 2}}}}}}
		out, err := server.Predict(t.Context(), r)
		if tf.CodeOf(err) != want || err == nil && (len(out.GetOutputs()["y"].GetFloatVal()) != 2 || out.GetOutputs()["y"].GetFloatVal()[1] != 4) {
			t.Errorf("gRPC, batching %v: %v, %v", batching, out, err)
		}
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/models/m:predict", strings.NewReader(`{"inputs": [1, 2]}`)))
		body, _ := io.ReadAll(w.Body)
		if (w.Code == http.StatusOK) != (want == tf.OK) || w.Code == http.StatusOK && strings.Join(strings.Fields(string(body)), "") != `{"outputs":[2.0,4.0]}` {
			t.Errorf("REST, batching %v: %d %s", batching, w.Code, body)
		}
	}
}
