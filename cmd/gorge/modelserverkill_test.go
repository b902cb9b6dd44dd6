package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// TestModelServerKilled: when the process of a server is killed, all calls under way
// and those that follow fail with UNAVAILABLE, at once.
func TestModelServerKilled(t *testing.T) {
	cmd := exec.Command(os.Args[0], "model-server", "--host=127.0.0.1", "--port=0", "--model_name=half", "--model_base_path="+halfModel, "--log=error")
	cmd.Env = append(os.Environ(), mainVariable+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(out).ReadString('\n')
	parts := addressLine.FindStringSubmatch(line)
	if parts == nil {
		t.Fatalf("the server says %q, %v", line, err)
	}
	cc, err := grpc.NewClient(parts[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	request := &servingpb.PredictRequest{ModelSpec: &servingpb.ModelSpec{Name: "half"}, Inputs: map[string]*pb.TensorProto{"x": {
		Dtype: pb.DataType_DT_FLOAT, FloatVal: []float32{2}, TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: 1}}},
	}}}
	call := func() error {
		return cc.Invoke(ctx, "/tensorflow.serving.PredictionService/Predict", request, &servingpb.PredictResponse{})
	}
	if err := call(); err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	started := make(chan struct{}, 8)
	for range cap(started) {
		clients.Go(func() {
			for first := true; ; first = false {
				err := call()
				if first {
					started <- struct{}{}
				}
				if err == nil {
					continue
				}
				if status.Code(err) != codes.Unavailable {
					t.Errorf("a call fails with %v", err)
				}
				return
			}
		})
	}
	for range cap(started) {
		<-started
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	if err := call(); status.Code(err) != codes.Unavailable {
		t.Errorf("a later call fails with %v", err)
	}
}
