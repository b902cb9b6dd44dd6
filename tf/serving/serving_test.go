package serving

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/serving/versions"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// models returns a directory with versions of testdata/half.
func models(t testing.TB, version ...int) string {
	t.Helper()
	dir := t.TempDir()
	for _, v := range version {
		install(t, dir, v, v)
	}
	return dir
}

// install moves a copy of a version of testdata/half to a directory, as one that is
// complete.
func install(t testing.TB, dir string, from, to int) {
	t.Helper()
	tmp := filepath.Join(dir, fmt.Sprintf("tmp%d", to))
	if err := os.CopyFS(tmp, os.DirFS(fmt.Sprintf("testdata/half/%d", from))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, fmt.Sprint(to))); err != nil {
		t.Fatal(err)
	}
}

// serve returns a server of one model, m, that is ready.
func serve(t testing.TB, cfg Config, dir string) *Server {
	t.Helper()
	if cfg.Models == nil {
		cfg.Models = []Model{{Name: "m", BasePath: dir}}
	}
	if cfg.Poll == 0 {
		cfg.Poll = -1
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func spec(name, signature string) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{Name: name, SignatureName: signature}
}

func at(version int64) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{Name: "m", VersionChoice: &servingpb.ModelSpec_Version{Version: wrapperspb.Int64(version)}}
}

func labeled(label string) *servingpb.ModelSpec {
	return &servingpb.ModelSpec{Name: "m", VersionChoice: &servingpb.ModelSpec_VersionLabel{VersionLabel: label}}
}

func floats(x ...float32) *pb.TensorProto {
	return &pb.TensorProto{Dtype: pb.DataType_DT_FLOAT, TensorShape: core.ShapeProto(tf.Shape{len(x)}), FloatVal: x}
}

func predict(x ...float32) *servingpb.PredictRequest {
	return &servingpb.PredictRequest{ModelSpec: spec("m", ""), Inputs: map[string]*pb.TensorProto{"x": floats(x...)}}
}

func examples(x ...float32) *servingpb.Input {
	l := &servingpb.ExampleList{}
	for _, v := range x {
		l.Examples = append(l.Examples, &pb.Example{Features: &pb.Features{Feature: map[string]*pb.Feature{"x": {Kind: &pb.Feature_FloatList{FloatList: &pb.FloatList{Value: []float32{v}}}}}}})
	}
	return &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: l}}
}

func TestCalls(t *testing.T) {
	s := serve(t, Config{}, models(t, 1, 2))
	p, err := s.Predict(t.Context(), predict(2, 4))
	if err != nil || fmt.Sprint(p.GetOutputs()["y"].GetFloatVal()) != "[3 4]" {
		t.Errorf("%v, %v", p, err)
	}
	if m := p.GetModelSpec(); m.GetName() != "m" || m.GetVersion().GetValue() != 2 || m.GetSignatureName() != "serving_default" {
		t.Errorf("answered by %v", m)
	}
	c, err := s.Classify(t.Context(), &servingpb.ClassificationRequest{ModelSpec: spec("m", "classify"), Input: examples(2, 4)})
	if err != nil || c.GetResult().GetClassifications()[1].GetClasses()[0].GetLabel() != "4" || c.GetResult().GetClassifications()[0].GetClasses()[0].GetScore() != 3 {
		t.Errorf("%v, %v", c, err)
	}
	r, err := s.Regress(t.Context(), &servingpb.RegressionRequest{ModelSpec: spec("m", "regress"), Input: examples(2, 4)})
	if err != nil || r.GetResult().GetRegressions()[1].GetValue() != 4 {
		t.Errorf("%v, %v", r, err)
	}
	m, err := s.MultiInference(t.Context(), &servingpb.MultiInferenceRequest{Input: examples(6), Tasks: []*servingpb.InferenceTask{
		{ModelSpec: spec("m", "classify"), MethodName: "tensorflow/serving/classify"}, {ModelSpec: spec("m", "regress"), MethodName: "tensorflow/serving/regress"},
	}})
	if err != nil || m.GetResults()[0].GetClassificationResult().GetClassifications()[0].GetClasses()[0].GetLabel() != "5" || m.GetResults()[1].GetRegressionResult().GetRegressions()[0].GetValue() != 5 {
		t.Errorf("%v, %v", m, err)
	}
	d, err := s.GetModelMetadata(t.Context(), &servingpb.GetModelMetadataRequest{ModelSpec: spec("m", ""), MetadataField: []string{"signature_def"}})
	defs := &servingpb.SignatureDefMap{}
	if err != nil || pb.UnpackAny(d.GetMetadata()["signature_def"], defs) != nil || len(defs.GetSignatureDef()) != 4 {
		t.Errorf("%v, %v", d, err)
	}
	st, err := s.GetModelStatus(t.Context(), &servingpb.GetModelStatusRequest{ModelSpec: spec("m", "")})
	if err != nil || len(st.GetModelVersionStatus()) != 1 || st.GetModelVersionStatus()[0].GetState() != servingpb.ModelVersionStatus_AVAILABLE {
		t.Errorf("%v, %v", st, err)
	}
}

func TestErrorsOfCalls(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	ctx := t.Context()
	call := func(r *servingpb.PredictRequest) error { _, err := s.Predict(ctx, r); return err }
	two := func(in map[string]*pb.TensorProto) error {
		return call(&servingpb.PredictRequest{ModelSpec: spec("m", "two"), Inputs: in})
	}
	filter := func(keys ...string) error { r := predict(1); r.OutputFilter = keys; return call(r) }
	classify := func(signature string, in *servingpb.Input) error {
		_, err := s.Classify(ctx, &servingpb.ClassificationRequest{ModelSpec: spec("m", signature), Input: in})
		return err
	}
	multi := func(tasks ...*servingpb.InferenceTask) error {
		_, err := s.MultiInference(ctx, &servingpb.MultiInferenceRequest{Input: examples(1), Tasks: tasks})
		return err
	}
	status := func(m *servingpb.ModelSpec) error {
		_, err := s.GetModelStatus(ctx, &servingpb.GetModelStatusRequest{ModelSpec: m})
		return err
	}
	reload := func(text string) error {
		c := &servingpb.ModelServerConfig{}
		if err := ParseText([]byte(text), c); err != nil {
			t.Fatal(err)
		}
		_, err := s.HandleReloadConfigRequest(ctx, &servingpb.ReloadConfigRequest{Config: c})
		return err
	}
	_, metadata := s.GetModelMetadata(ctx, &servingpb.GetModelMetadataRequest{ModelSpec: spec("m", ""), MetadataField: []string{"F"}})
	for _, c := range []struct {
		err  error
		code tf.Code
		want string
	}{
		{call(&servingpb.PredictRequest{}), tf.InvalidArgument, "Missing ModelSpec"},
		{call(&servingpb.PredictRequest{ModelSpec: spec("", "")}), tf.InvalidArgument, "ModelSpec has no name specified."},
		{call(&servingpb.PredictRequest{ModelSpec: spec("none", "")}), tf.NotFound, "Servable not found for request: Latest(none)"},
		{call(&servingpb.PredictRequest{ModelSpec: at(7)}), tf.NotFound, "Servable not found for request: Specific(m, 7)"},
		{call(&servingpb.PredictRequest{ModelSpec: labeled("L")}), tf.InvalidArgument, "Unrecognized servable version label: L"},
		{call(&servingpb.PredictRequest{ModelSpec: spec("m", "S")}), tf.FailedPrecondition, `Serving signature key "S" not found.`},
		{two(map[string]*pb.TensorProto{"x": floats(1)}), tf.InvalidArgument, "input size does not match signature: 1!=2 len({x}) != len({k,x}). Sent extra: {}. Missing but required: {k}."},
		{two(map[string]*pb.TensorProto{"x": floats(1), "q": floats(1)}), tf.InvalidArgument, "Signature input alias: k(feed name: k:0) not found in request and no default value provided. Inputs expected to be in the request {q,x}, or default input alias set: "},
		{two(map[string]*pb.TensorProto{"x": {Dtype: 99}, "k": floats(1)}), tf.InvalidArgument, "tensor parsing error: x"},
		{filter("o"), tf.InvalidArgument, "output tensor alias not found in signature: o Outputs expected to be in the set {y}."},
		{filter("y", "y"), tf.InvalidArgument, "duplicate output tensor alias: y"},
		{classify("S", examples(1)), tf.InvalidArgument, "No signature was found with the name: S"},
		{classify("classify", nil), tf.InvalidArgument, "Input is empty."},
		{classify("two", examples(1)), tf.InvalidArgument, "Expected one input Tensor."},
		{multi(), tf.InvalidArgument, "ModelSpec has no name specified."},
		{multi(&servingpb.InferenceTask{ModelSpec: spec("m", "regress"), MethodName: "x"}), tf.Unimplemented, "Unsupported signature method_name: x"},
		{multi(&servingpb.InferenceTask{ModelSpec: spec("m", "S")}), tf.InvalidArgument, "Requested signature not found in model graph: S"},
		{metadata, tf.InvalidArgument, "Metadata field F is not supported"},
		{status(spec("none", "")), tf.NotFound, "Could not find any versions of model none"},
		{status(at(7)), tf.NotFound, "Could not find version 7 of model m"},
		{reload(`model_config_list { config { name: 'm' base_path: '/p' } }`), tf.InvalidArgument, "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform, model name is m"},
		{reload(`model_config_list { config { name: 'm' base_path: 'p' model_platform: 'tensorflow' } }`), tf.InvalidArgument, "Expected model m to have an absolute path or URI; got base_path()=p"},
		{reload(``), tf.InvalidArgument, "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported"},
		{reload(`model_config_list { config { name: 'm' base_path: '` + s.model("m").BasePath + `' model_platform: 'tensorflow' version_labels { key: 'a' value: 9 } } }`), tf.FailedPrecondition, "Request to assign label to version 9 of model m, which is not currently available for inference"},
	} {
		if tf.CodeOf(c.err) != c.code || tf.AsError(c.err).Message() != c.want {
			t.Errorf("\n got %v\nwant %v: %s", c.err, c.code, c.want)
		}
	}
}

// TestLoadingFails: a model that cannot be loaded is named, with the reason.
func TestLoadingFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "1"), 0o777); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Models: []Model{{Name: "M", BasePath: dir}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.Ready(t.Context())
	if tf.CodeOf(err) != tf.Unknown || !strings.HasPrefix(tf.AsError(err).Message(), "1 model(s) did not become available: {{{name: M version: 1} due to error: NOT_FOUND: Could not find SavedModel") {
		t.Errorf("%v", err)
	}
	// A version that was being copied is loaded once it is whole.
	if err := os.CopyFS(filepath.Join(dir, "1"), os.DirFS("testdata/half/1")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := s.m.Wait(ctx, func() bool { return s.m.Status("M")[0].State == versions.Available }); err != nil {
		t.Errorf("%v: %v", err, s.m.Status("M"))
	}
}

// TestVersionsChangeUnderLoad replaces versions while clients call: none fails, and
// what they get goes from version to version.
func TestVersionsChangeUnderLoad(t *testing.T) {
	dir := models(t, 1)
	s := serve(t, Config{Batching: &Batching{}}, dir)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if p, err := s.Predict(t.Context(), predict(2)); err != nil || p.GetOutputs()["y"].GetFloatVal()[0] < 2 {
					t.Errorf("%v, %v", p, err)
					return
				}
			}
		})
	}
	rounds := 30
	if n, err := strconv.Atoi(os.Getenv("GORGE_FAULTS")); err == nil {
		rounds = 10 * n
	}
	for v := 2; v < 2+rounds; v++ {
		install(t, dir, 1+v%2, v)
		s.look()
		if err := s.m.Wait(t.Context(), func() bool { return s.m.Status("m")[0].State == versions.Available }); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint(v-1))); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	clients.Wait()
	if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint(1+rounds))); err != nil {
		t.Fatal(err)
	}
	s.look() // no version is left: the model goes
	if _, err := s.Predict(t.Context(), predict(1)); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("without versions: %v", err)
	}
}

// byVersion sends 200 requests that name no version, and counts what answers them.
func byVersion(t *testing.T, s *Server) map[int64]int {
	count := map[int64]int{}
	for range 200 {
		p, err := s.Predict(t.Context(), predict(2))
		if err != nil {
			t.Fatal(err)
		}
		count[p.GetModelSpec().GetVersion().GetValue()]++
	}
	return count
}

// TestLabelsAndCanaries sends requests by label, and a share of all others.
func TestLabelsAndCanaries(t *testing.T) {
	dir := models(t, 1, 2)
	m := Model{Name: "m", BasePath: dir, Versions: VersionPolicy{All: true}, Labels: map[string]int64{"old": 1, "new": 2}, Canary: Canary{Label: "old", Share: 0.5}}
	s := serve(t, Config{Models: []Model{m}}, "")
	count := byVersion(t, s)
	if count[1] < 50 || count[2] < 50 {
		t.Errorf("requests by version: %v", count)
	}
	r := predict(2)
	r.ModelSpec = labeled("old")
	if p, err := s.Predict(t.Context(), r); err != nil || p.GetModelSpec().GetVersion().GetValue() != 1 {
		t.Errorf("%v, %v", p, err)
	}
	m.Labels = map[string]int64{"old": 2}
	m.Canary = Canary{}
	if err := s.Reload(t.Context(), []Model{m}); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Predict(t.Context(), r); err != nil || p.GetModelSpec().GetVersion().GetValue() != 2 {
		t.Errorf("after the label has moved: %v, %v", p, err)
	}
	if err := s.Reload(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Predict(t.Context(), predict(2)); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("of a model that has gone: %v", err)
	}
	gone := Model{Name: "gone", BasePath: filepath.Join(dir, "none")}
	if err := s.Reload(t.Context(), []Model{gone}); tf.CodeOf(err) != tf.Unknown {
		t.Errorf("of a model without versions: %v", err)
	}
}

// TestEmbedded serves a model that is in no directory.
func TestEmbedded(t *testing.T) {
	s := serve(t, Config{Models: []Model{{Name: "m", BasePath: "half", FS: os.DirFS("testdata")}}}, "")
	if p, err := s.Predict(t.Context(), predict(2)); err != nil || p.GetOutputs()["y"].GetFloatVal()[0] != 3 {
		t.Errorf("%v, %v", p, err)
	}
}

// TestLimits: requests above the bound fail at once, and ends of contexts count.
func TestLimits(t *testing.T) {
	s := serve(t, Config{MaxRequests: 1}, models(t, 1))
	done, err := s.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Predict(t.Context(), predict(1)); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("above the bound: %v", err)
	}
	done()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Predict(ctx, predict(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the client has gone: %v", err)
	}
}
