package rpc

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// keeper is a worker whose answers are to be acknowledged, and that never answers an
// acknowledgement.
type keeper struct {
	UnimplementedWorker
	asked chan struct{} // for each acknowledgement that comes
}

func (k *keeper) RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error) {
	return &TensorResponse{Tensor: core.Scalar("kept"), RequireAck: true}, nil
}

func (k *keeper) RecvBuf(context.Context, *pb.RecvBufRequest) (*BufferResponse, error) {
	return &BufferResponse{Content: noise(4), Sent: func() {}, RequireAck: true}, nil
}

func (k *keeper) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	return &pb.GetStatusResponse{}, nil
}

func (k *keeper) MarkRecvFinished(ctx context.Context, _ *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	k.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// underWay counts the acknowledgements that a client is making.
type underWay struct {
	callCounter
	acks atomic.Int64
}

func (u *underWay) Call(ctx context.Context, path string) (context.Context, func(error)) {
	if path != method.WorkerMarkRecvFinished {
		return ctx, func(error) {}
	}
	u.acks.Add(1)
	return ctx, func(error) { u.acks.Add(-1) }
}

// TestCloseEndsAcknowledgements: a channel does not leave behind acknowledgements that
// the server does not answer, and begins none once it is closed.
func TestCloseEndsAcknowledgements(t *testing.T) {
	for _, byLink := range []bool{false, true} {
		k, see := &keeper{asked: make(chan struct{}, 2)}, &underWay{}
		ch, err := Dial(serveLinks(t, k), DialConfig{Observer: see, NoLinks: !byLink})
		if err != nil {
			t.Fatal(err)
		}
		if byLink {
			linked(t, ch)
		}
		w := NewWorkerClient(ch)
		if err := w.RecvBuf(t.Context(), &pb.RecvBufRequest{RequestId: requestid.New()}, make([]byte, 4)); err != nil {
			t.Error(err)
		}
		got := make(chan rendezvous.Result, 1)
		transport := NewTransport(&Channels{open: map[string]*Channel{"task": ch}}, 0)
		transport.Recv(t.Context(), "task", 5, "key", rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
		if r := <-got; r.Err != nil {
			t.Error(r.Err)
		}
		<-k.asked
		<-k.asked
		if n := see.acks.Load(); n != 2 {
			t.Errorf("by link %v: %d acknowledgements are under way, want 2", byLink, n)
		}
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
		if n := see.acks.Load(); n != 0 {
			t.Errorf("by link %v: %d acknowledgements are left behind", byLink, n)
		}
		ch.acks.start(func() { t.Error("a closed channel acknowledges") })
		ch.acks.calls.Wait()
	}
}
