package rpc

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A giver answers every RecvTensor with the same tensor.
type giver struct {
	UnimplementedWorker
	t *core.Tensor
}

func (g giver) RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error) {
	return &TensorResponse{Tensor: g.t.Share()}, nil
}

// BenchmarkRecvTensor receives over loopback into memory that is used again.
func BenchmarkRecvTensor(b *testing.B) {
	for _, n := range []int{16, 1 << 10, 1 << 20, 64 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			addr, stop := benchServer(b, giver{t: random(core.Uint8, core.Shape{n})})
			defer stop()
			cc, err := Dial(addr, DialConfig{})
			if err != nil {
				b.Fatal(err)
			}
			defer cc.Close()
			w, dst := NewWorkerClient(cc), memory.New(n)
			alloc := func(core.DType, core.Shape) (*memory.Buffer, error) { return dst.Ref(), nil }
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				resp, err := w.RecvTensor(context.Background(), &pb.RecvTensorRequest{RequestId: 1}, alloc)
				if err != nil {
					b.Fatal(err)
				}
				resp.Tensor.Release()
			}
		})
	}
}

func benchServer(b *testing.B, w WorkerServer) (string, func()) {
	b.Helper()
	lis, err := listen()
	if err != nil {
		b.Fatal(err)
	}
	s := grpc.NewServer(ServerOptions(ServerConfig{})...)
	RegisterWorker(s, w)
	go func() { _ = s.Serve(lis) }()
	return lis.Addr().String(), s.Stop
}
