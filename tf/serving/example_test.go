package serving_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http/httptest"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/pb/servingpb"
	"github.com/gorge-tf/gorge/tf/serving"
)

// predict asks a model server for a·x + b.
func predict(ctx context.Context, address string, x ...float32) ([]float32, error) {
	cc, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	defer cc.Close()
	request := &servingpb.PredictRequest{
		ModelSpec: &servingpb.ModelSpec{Name: "half"},
		Inputs: map[string]*pb.TensorProto{"x": {
			Dtype: pb.DataType_DT_FLOAT, FloatVal: x,
			TensorShape: &pb.TensorShapeProto{Dim: []*pb.TensorShapeProto_Dim{{Size: int64(len(x))}}},
		}},
	}
	answer := &servingpb.PredictResponse{}
	if err := cc.Invoke(ctx, "/tensorflow.serving.PredictionService/Predict", request, answer); err != nil {
		return nil, err
	}
	return answer.GetOutputs()["y"].GetFloatVal(), nil
}

// A server of one model, called by gRPC.
func Example() {
	s, err := serving.New(serving.Config{Models: []serving.Model{{Name: "half", BasePath: "half", FS: os.DirFS("testdata")}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(context.Background()); err != nil {
		log.Fatal(err)
	}
	g := grpc.NewServer(append(s.GRPCOptions(), grpc.Creds(serving.Credentials(nil)))...)
	s.RegisterGRPC(g)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go g.Serve(lis)
	defer g.Stop()
	fmt.Println(predict(context.Background(), lis.Addr().String(), 2, 4))
	// Output: [3 4] <nil>
}

// The REST API is a handler that a program mounts.
func ExampleServer_Handler() {
	s, err := serving.New(serving.Config{Models: []serving.Model{{Name: "half", BasePath: "half", FS: os.DirFS("testdata")}}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	if err := s.Ready(context.Background()); err != nil {
		log.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/readyz/half", nil))
	fmt.Print(w.Body)
	// Output: ok
}
