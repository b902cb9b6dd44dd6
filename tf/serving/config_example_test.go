package serving_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/serving"
)

// request asks for a·x + b.
func request(x ...float32) *servingpb.PredictRequest {
	return &servingpb.PredictRequest{
		ModelSpec: &servingpb.ModelSpec{Name: "half"},
		Inputs: map[string]*pb.TensorProto{"x": {
			Dtype: pb.DataType_DT_FLOAT, FloatVal: x,
			TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: int64(len(x))}}},
		}},
	}
}

// half is a model with two versions: version n computes x/2 + n.
var half = serving.Model{Name: "half", BasePath: "half", FS: os.DirFS("testdata")}

// start returns a server whose models are ready.
func start(c serving.Config) *serving.Server {
	s, err := serving.New(c)
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Ready(context.Background()); err != nil {
		log.Fatal(err)
	}
	return s
}

// The latest version is served unless a policy says otherwise.
func ExampleVersionPolicy() {
	for _, p := range []serving.VersionPolicy{{}, {Specific: []int64{1}}} {
		m := half
		m.Versions = p
		s := start(serving.Config{Models: []serving.Model{m}})
		r, err := s.Predict(context.Background(), request(2, 4))
		fmt.Println(r.GetModelSpec().GetVersion().GetValue(), r.GetOutputs()["y"].GetFloatVal(), err)
		s.Close()
	}
	// Output:
	// 2 [3 4] <nil>
	// 1 [2 3] <nil>
}

// A share of the requests that name no version goes to the version with a label: here
// all of them, and the latest version gets none.
func ExampleCanary() {
	m := half
	m.Versions = serving.VersionPolicy{All: true}
	m.Labels = map[string]int64{"old": 1}
	m.Canary = serving.Canary{Label: "old", Share: 1}
	s := start(serving.Config{Models: []serving.Model{m}})
	defer s.Close()
	r, err := s.Predict(context.Background(), request(2))
	fmt.Println(r.GetModelSpec().GetVersion().GetValue(), err)
	// Output: 1 <nil>
}

// The text is that of TensorFlow Serving's --batching_parameters_file.
func ExampleBatching() {
	b, err := serving.ParseBatching([]byte(`
		max_batch_size { value: 32 }
		batch_timeout_micros { value: 500 }
		allowed_batch_sizes: [8, 32]
	`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.MaxSize, b.Timeout, b.Sizes)
	s := start(serving.Config{Models: []serving.Model{half}, Batching: b})
	defer s.Close()
	r, err := s.Predict(context.Background(), request(2, 4))
	fmt.Println(r.GetOutputs()["y"].GetFloatVal(), err)
	// Output:
	// 32 500µs [8 32]
	// [3 4] <nil>
}

// batches are metrics that print the sizes of batches.
type batches struct{}

func (batches) Request(string, string, string, tf.Code, time.Duration) {}
func (batches) Run(string, string, time.Duration)                      {}
func (batches) Examples(string, int)                                   {}

func (batches) Batch(model string, size, requests int) {
	fmt.Printf("a batch of %d rows for %d request of %s\n", size, requests, model)
}

// A server tells metrics of its own kind; package servingmetrics has them for
// Prometheus.
func ExampleMetrics() {
	var m serving.Metrics = batches{}
	b := &serving.Batching{MaxSize: 32, Sizes: []int{8, 32}}
	s := start(serving.Config{Models: []serving.Model{half}, Batching: b, Metrics: m})
	defer s.Close()
	_, err := s.Predict(context.Background(), request(2, 4))
	fmt.Println(err)
	// Output:
	// a batch of 8 rows for 1 request of half
	// <nil>
}

// calls is an observer that prints calls as they end.
type calls struct{}

func (calls) Serve(ctx context.Context, method, by string) (context.Context, func(error)) {
	return ctx, func(err error) { fmt.Println(by, method, status.Code(err), tf.CodeOf(err)) }
}

// post sends a request to the REST API, and returns the status of the answer.
func post(s *serving.Server, model, token string) int {
	r := httptest.NewRequest("POST", "/v1/models/"+model+":predict", strings.NewReader(`{"instances": [2, 4]}`))
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w.Code
}

// An observer sees every call: it can trace them. Errors have the codes of gRPC,
// which are TensorFlow's.
func ExampleObserver() {
	var o serving.Observer = calls{}
	s := start(serving.Config{Models: []serving.Model{half}, Observer: o})
	defer s.Close()
	post(s, "half", "")
	post(s, "third", "")
	// Output:
	// http /tensorflow.serving.PredictionService/Predict OK OK
	// http /tensorflow.serving.PredictionService/Predict NotFound NOT_FOUND
}

// Requests are written to files, from which they can be read, or which warm up the
// versions that follow.
func ExampleRequestLog() {
	dir, err := os.MkdirTemp("", "log")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m := half
	m.Log = serving.RequestLog{Prefix: filepath.Join(dir, "requests"), Share: 1}
	s := start(serving.Config{Models: []serving.Model{m}})
	_, err = s.Predict(context.Background(), request(2, 4))
	s.Close() // what has been logged is in the file then
	fmt.Println(err, logged(dir))
	// Output: <nil> [2 4]
}

// logged returns what the first request asks in the file of a directory.
func logged(dir string) []float32 {
	files, err := filepath.Glob(filepath.Join(dir, "requests-half-*.tfrecord"))
	if err != nil || len(files) != 1 {
		log.Fatal(files, err)
	}
	r, err := record.Open(files[0], record.None)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	b, err := r.Next()
	if err != nil {
		log.Fatal(err)
	}
	entry := &servingpb.PredictionLog{}
	if err := proto.Unmarshal(b, entry); err != nil {
		log.Fatal(err)
	}
	return entry.GetPredictLog().GetRequest().GetInputs()["x"].GetFloatVal()
}

// Tokens say who may predict and who may only look. Certificates are other files of
// the same kind; without one the server cannot be called by gRPC.
func ExampleSecurity() {
	dir, err := os.MkdirTemp("", "security")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("observe watcher a-token-that-may-look\nrun robot a-token-that-may-run\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	security, err := serving.OpenSecurity(serving.SecurityFiles{Tokens: tokens}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer security.Close()
	s := start(serving.Config{Models: []serving.Model{half}, Security: security})
	defer s.Close()
	fmt.Println(post(s, "half", ""), post(s, "half", "a-token-that-may-look"), post(s, "half", "a-token-that-may-run"))
	// Output: 401 403 200
}
