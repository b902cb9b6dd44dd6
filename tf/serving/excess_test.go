package serving

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/record"
)

// TestContextOfManyExamples: what examples share is copied for each of them. A request that
// is small as a message is refused if the copies do not fit the memory.
func TestContextOfManyExamples(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	shared := &pb.Example{Features: &pb.Features{Feature: map[string]*pb.Feature{"pad": {Kind: &pb.Feature_BytesList{BytesList: &pb.BytesList{Value: [][]byte{make([]byte, 1<<20)}}}}}}}
	in := examples(make([]float32, 256)...).GetExampleList().GetExamples()
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 64<<20))
	_, err := s.Regress(t.Context(), &servingpb.RegressionRequest{
		ModelSpec: spec("m", "regress"), Input: &servingpb.Input{Kind: &servingpb.Input_ExampleListWithContext{ExampleListWithContext: &servingpb.ExampleListWithContext{Examples: in, Context: shared}}},
	})
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestRequestsFitMemory: a request by gRPC that is short and would take more memory than
// there is when it is decoded is refused by the code for that.
func TestRequestsFitMemory(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer(append(s.GRPCOptions(), grpc.Creds(Credentials(nil)))...)
	s.RegisterGRPC(g)
	go g.Serve(lis)
	defer g.Stop()
	cc, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	mayUse(t, 64<<20)
	in := &servingpb.ExampleList{Examples: make([]*pb.Example, 4_000_000)} // 8 MB
	empty := &pb.Example{}
	for i := range in.Examples {
		in.Examples[i] = empty
	}
	r := &servingpb.RegressionRequest{ModelSpec: spec("m", "regress"), Input: &servingpb.Input{Kind: &servingpb.Input_ExampleList{ExampleList: in}}}
	err = cc.Invoke(t.Context(), "/tensorflow.serving.PredictionService/Regress", r, &servingpb.RegressionResponse{})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("four million examples in eight megabytes: %v", err)
	}
}

// TestWarmupBeyondMemory: a warm-up request that does not fit the memory is no damage.
func TestWarmupBeyondMemory(t *testing.T) {
	dir := models(t, 1)
	s := serve(t, Config{}, dir)
	name := filepath.Join(dir, "1", filepath.FromSlash(warmupFile))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(name, record.None)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(make([]byte, 64<<20)), w.Close()); err != nil {
		t.Fatal(err)
	}
	h := s.m.Latest("m")
	defer h.Release()
	runtime.GC()
	mayUse(t, 16<<20)
	if err := s.warmUp(t.Context(), h.Model); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestExampleIsShort: the example of a request has a bounded length, however many
// dimensions the input has.
func TestExampleIsShort(t *testing.T) {
	for _, shape := range []tf.Shape{{64, 64, 64, 16}, {-1, 224, 224, 3}, {2, 3}, nil} {
		text, err := json.Marshal(sample(tf.Float32, shape, maxSamples))
		if err != nil || len(text) > 1<<20 {
			t.Errorf("%v: %d bytes, %v", shape, len(text), err)
		}
	}
	if text, _ := json.Marshal(sample(tf.Float32, tf.Shape{2, -1, 3}, maxSamples)); string(text) != "[[[0.0,0.0,0.0]],[[0.0,0.0,0.0]]]" {
		t.Errorf("of a small input: %s", text)
	}
}

// TestWaitingRecords: a disk that is slow does not make the records that wait for it fill
// the memory, and a large one is written when none waits.
func TestWaitingRecords(t *testing.T) {
	l := &requestLogs{log: slog.New(slog.DiscardHandler), queue: make(chan logged, maxWaiting), files: map[string]*os.File{}}
	m := &Model{Name: "m", Log: RequestLog{Prefix: t.TempDir() + "/log", Share: 1}}
	add := func(n int) {
		l.add(m, &handle{}, func() *servingpb.PredictionLog {
			r := &servingpb.PredictRequest{ClientId: bytes.Repeat([]byte{1}, n)}
			return &servingpb.PredictionLog{LogType: &servingpb.PredictionLog_PredictLog{PredictLog: &servingpb.PredictLog{Request: r}}}
		})
	}
	for range maxWaiting {
		add(1 << 20)
	}
	n, bytes := len(l.queue), 0
	close(l.queue)
	for r := range l.queue {
		bytes += len(r.data)
	}
	if n == 0 || bytes > 64<<20 {
		t.Errorf("%d records of %d bytes wait", n, bytes)
	}
	l.queue = make(chan logged, maxWaiting)
	l.waiting.Store(0)
	add(80 << 20)
	add(1)
	if n := len(l.queue); n != 1 {
		t.Errorf("%d records wait beside a large one", n)
	}
}
