package serving

import (
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gorge-tf/gorge/tf/pb/servingpb"
)

// TestPlainGRPC: a gRPC server of a program's own options, which has gRPC's codec, answers.
func TestPlainGRPC(t *testing.T) {
	s := serve(t, Config{}, models(t, 1))
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	s.RegisterGRPC(g)
	go g.Serve(lis)
	defer g.Stop()
	cc, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	for _, n := range []int{1, 5000} {
		out := &servingpb.PredictResponse{}
		if err := cc.Invoke(t.Context(), "/tensorflow.serving.PredictionService/Predict", predict(make([]float32, n)...), out); err != nil || len(out.GetOutputs()["y"].GetFloatVal()) != n {
			t.Errorf("%d numbers: %v, %v", n, len(out.GetOutputs()["y"].GetFloatVal()), err)
		}
	}
}
