package serving

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/serving/versions"
	wire "github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/record"
)

// writeWarmups writes warm-up requests for version 1.
func writeWarmups(t *testing.T, dir string, logs ...*servingpb.PredictionLog) {
	t.Helper()
	name := filepath.Join(dir, "1", filepath.FromSlash(warmupFile))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := wire.NewWriter(f)
	for _, l := range logs {
		b, err := proto.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
}

func predictLog(r *servingpb.PredictRequest) *servingpb.PredictionLog {
	return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{Request: r}}}
}

// runs counts runs of models.
type runs struct {
	noMetrics
	n map[string]int
}

func (r *runs) Examples(string, int) { r.n["examples"]++ }

// TestWarmup: warm-up requests are answered before a version is available; one that
// fails makes the loading fail.
func TestWarmup(t *testing.T) {
	dir := models(t, 1)
	writeWarmups(t, dir, predictLog(predict(1)),
		&servingpb.PredictionLog{LogType: &servingpb.PredictionLog_ClassifyLog{ClassifyLog: &servingpb.ClassifyLog{Request: &servingpb.ClassificationRequest{ModelSpec: spec("m", "classify"), Input: examples(1)}}}},
		&servingpb.PredictionLog{LogType: &servingpb.PredictionLog_RegressLog{RegressLog: &servingpb.RegressLog{Request: &servingpb.RegressionRequest{ModelSpec: spec("m", "regress"), Input: examples(1)}}}},
		&servingpb.PredictionLog{LogType: &servingpb.PredictionLog_MultiInferenceLog{MultiInferenceLog: &servingpb.MultiInferenceLog{Request: &servingpb.MultiInferenceRequest{
			Input: examples(1), Tasks: []*servingpb.InferenceTask{{ModelSpec: spec("m", "regress"), MethodName: "tensorflow/serving/regress"}}}}}})
	r := &runs{n: map[string]int{}}
	serve(t, Config{Metrics: r, WarmupRounds: 2}, dir)
	if r.n["examples"] != 6 {
		t.Errorf("%d of 6 warm-up requests with examples", r.n["examples"])
	}
	for want, logs := range map[string][]*servingpb.PredictionLog{
		"assets.extra/tf_serving_warmup_requests: Serving signature key \"S\" not found.": {predictLog(&servingpb.PredictRequest{ModelSpec: spec("m", "S")})},
		"warm-up request 2 of ":           {predictLog(predict(1)), predictLog(&servingpb.PredictRequest{ModelSpec: spec("m", "S")})},
		"Unsupported log_type for warmup": {{LogType: &servingpb.PredictionLog_SessionRunLog{}}, {}},
		"exceeds the maximum (1000)":      many(1001),
	} {
		dir := models(t, 1)
		writeWarmups(t, dir, logs...)
		loadFails(t, dir, want)
		serve(t, Config{NoWarmup: true}, dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "1", filepath.FromSlash(warmupFile)), []byte("no records, but long enough"), 0o600); err != nil {
		t.Fatal(err)
	}
	loadFails(t, dir, "Please verify your warmup data is in TFRecord format.")
}

func many(n int) (out []*servingpb.PredictionLog) {
	for range n {
		out = append(out, predictLog(predict(1)))
	}
	return out
}

func loadFails(t *testing.T, dir, want string) {
	t.Helper()
	s, err := New(Config{Models: []Model{{Name: "m", BasePath: dir}}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestRequestLog: what is logged can be read, and is good for warm-up.
func TestRequestLog(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "log")
	m := Model{Name: "m", BasePath: models(t, 1), Log: RequestLog{Prefix: prefix, Share: 1}}
	s, err := New(Config{Models: []Model{m}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := s.Predict(t.Context(), predict(2)); err != nil {
			t.Error(err)
		}
	}
	ask(s, "POST", "/v1/models/m:predict", strings.NewReader(`{"instances": [2]}`))
	s.Close()
	files, _ := filepath.Glob(prefix + "-m-*.tfrecord")
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	r, err := record.Open(files[0], record.None)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for b, err := r.Next(); err == nil; b, err = r.Next() {
		l := &servingpb.PredictionLog{}
		if err := proto.Unmarshal(b, l); err != nil || l.GetPredictLog().GetResponse().GetOutputs()["y"] == nil || l.GetLogMetadata().GetModelSpec().GetVersion().GetValue() != 1 {
			t.Errorf("%v, %v", l, err)
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d records", n)
	}
}

// TestClientsChooseNoFiles: a configuration that comes from a client makes the server
// write nothing.
func TestClientsChooseNoFiles(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	prefix := filepath.Join(t.TempDir(), "log")
	c := &servingpb.ModelServerConfig{}
	text := fmt.Sprintf(`model_config_list { config { name: 'm' base_path: '%s' model_platform: 'tensorflow'
		logging_config { log_collector_config { filename_prefix: '%s' } sampling_config { sampling_rate: 1 } } } }`, s.model("m").BasePath, prefix)
	if err := ParseText([]byte(text), c); err != nil {
		t.Fatal(err)
	}
	if _, err := s.HandleReloadConfigRequest(t.Context(), &servingpb.ReloadConfigRequest{Config: c}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Predict(t.Context(), predict(1)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if files, _ := filepath.Glob(prefix + "*"); len(files) > 0 {
		t.Errorf("files %v", files)
	}
}

// TestRequestLogOnABadDisk: requests are answered all the same.
func TestRequestLogOnABadDisk(t *testing.T) {
	m := Model{Name: "m", BasePath: models(t, 1), Log: RequestLog{Prefix: filepath.Join(t.TempDir(), "no", "such", "directory"), Share: 1}}
	s := serve(t, Config{Models: []Model{m}}, "")
	for range 2 * maxWaiting {
		if _, err := s.Predict(t.Context(), predict(2)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamagedFiles: models with bytes that are cut off or flipped are loaded or are
// not; nothing else happens.
func TestDamagedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		for range 25 {
			dir := models(t, 1)
			file := filepath.Join(dir, "1", filepath.FromSlash(name))
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				b = b[:r.IntN(len(b))]
			} else {
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			tryDamaged(t, dir)
		}
		dir := models(t, 1)
		if err := os.Remove(filepath.Join(dir, "1", filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
		loadFails(t, dir, "{name: m version: 1} due to error: ")
	}
}

// tryDamaged serves a model that may be damaged; a panic would be an error with a
// stack.
func tryDamaged(t *testing.T, dir string) {
	t.Helper()
	s, err := New(Config{Models: []Model{{Name: "m", BasePath: dir}}, Poll: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(t.Context()); err != nil {
		if strings.Contains(err.Error(), "panicked") {
			t.Error(err)
		}
		return
	}
	if _, err := s.Predict(t.Context(), predict(1)); err != nil && strings.Contains(err.Error(), "panicked") {
		t.Error(err)
	}
}

// TestReloadsKeepMemoryFlat loads and unloads hundreds of versions, with
// GORGE_FAULTS=100 a thousand.
func TestReloadsKeepMemoryFlat(t *testing.T) {
	dir := models(t, 1)
	s := serve(t, Config{}, dir)
	s.m.Aspire("m", nil)
	rounds := 300
	if os.Getenv("GORGE_FAULTS") != "" {
		rounds = 1000
	}
	var after100 uint64
	for i := range rounds {
		want := map[int64]versions.Place{int64(i + 2): {Path: filepath.Join(dir, "1")}}
		s.m.Aspire("m", want)
		s.m.Wait(t.Context(), func() bool {
			v := s.m.Status("m")
			return v[0].Number == int64(i+2) && v[0].State == versions.Available && (len(v) == 1 || v[1].State == versions.End)
		})
		if i == 99 {
			after100 = heap()
		}
	}
	if now := heap(); now > after100+4<<20 {
		t.Errorf("%d bytes after 100 reloads, %d after %d", after100, now, rounds)
	}
	if _, err := s.Predict(t.Context(), predict(1)); err != nil {
		t.Error(err)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestGRPC calls a server over a connection: names of services, codes, texts that
// are cut, and messages that are none.
func TestGRPC(t *testing.T) {
	s := serve(t, Config{MaxMessage: 10_000}, models(t, 1))
	g := grpc.NewServer(s.GRPCOptions()...)
	s.RegisterGRPC(g)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go g.Serve(lis)
	defer g.Stop()
	cc, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	call := func(r *servingpb.PredictRequest) (*servingpb.PredictResponse, error) {
		out := &servingpb.PredictResponse{}
		return out, cc.Invoke(t.Context(), "/tensorflow.serving.PredictionService/Predict", r, out)
	}
	if out, err := call(predict(2)); err != nil || fmt.Sprint(out.GetOutputs()["y"].GetFloatVal()) != "[2]" {
		t.Errorf("%v, %v", out, err)
	}
	r := predict(2)
	r.OutputFilter = []string{strings.Repeat("o", 2000)}
	if _, err := call(r); status.Code(err) != codes.InvalidArgument || len(status.Convert(err).Message()) != maxStatus+len("...TRUNCATED") {
		t.Errorf("%v", err)
	}
	if _, err := call(predict(make([]float32, 5000)...)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a large message: %v", err)
	}
	st := &servingpb.GetModelStatusResponse{}
	if err := cc.Invoke(t.Context(), "/tensorflow.serving.ModelService/GetModelStatus", &servingpb.GetModelStatusRequest{ModelSpec: spec("m", "")}, st); err != nil || len(st.GetModelVersionStatus()) != 1 {
		t.Errorf("%v, %v", st, err)
	}
}

// FuzzPredictMessages: no message makes the server panic.
func FuzzPredictMessages(f *testing.F) {
	for _, r := range []*servingpb.PredictRequest{predict(1, 2), {}, {ModelSpec: labeled("x")}} {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	s := serve(f, Config{Batching: &Batching{MaxSize: 8}}, models(f, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &servingpb.PredictRequest{}
		if proto.Unmarshal(b, r) != nil {
			return
		}
		if _, err := s.Predict(context.Background(), r); tf.CodeOf(err) == tf.Internal {
			t.Errorf("%v: %v", r, err)
		}
	})
}

// FuzzREST: no body makes the server panic.
func FuzzREST(f *testing.F) {
	for _, body := range []string{`{"instances": [1, 2]}`, `{"signature_name": "two", "inputs": {"x": [1], "k": [[2]]}}`, `{"signature_name": "classify", "examples": [{"x": 1.0}]}`} {
		for _, method := range []string{"predict", "classify", "regress"} {
			f.Add(method, []byte(body))
		}
	}
	s := serve(f, Config{}, models(f, 1))
	f.Fuzz(func(t *testing.T, method string, body []byte) {
		for _, known := range []string{"predict", "classify", "regress"} {
			if method == known {
				if w := ask(s, "POST", "/v1/models/m:"+method, strings.NewReader(string(body))); w.Code == 500 {
					t.Errorf("%s %q: %s", method, body, w.Body)
				}
			}
		}
	})
}
