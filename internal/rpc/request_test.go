package rpc

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A taker is a worker that takes graphs.
type taker struct{ UnimplementedWorker }

func (taker) RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return &pb.RegisterGraphResponse{}, nil
}

// mayUse bounds how much memory the process may use from now on, until the test ends.
func mayUse(t *testing.T, more int64) {
	for range 2 { // what pools keep is freed by the second
		runtime.GC()
	}
	used, _ := memory.Usage()
	before := memory.SetLimit(used + more)
	t.Cleanup(func() { memory.SetLimit(before) })
}

// TestRequestsFitMemory: a message that would take more than the process may use, though
// it is short, is refused before it is decoded, whatever carries it; what fits is taken
// afterwards.
func TestRequestsFitMemory(t *testing.T) {
	mayUse(t, 64<<20)
	large := &pb.RegisterGraphRequest{GraphDef: &pb.GraphDef{Node: make([]*pb.NodeDef, 1_000_000)}} // 2 MB
	empty := &pb.NodeDef{}
	for i := range large.GraphDef.Node {
		large.GraphDef.Node[i] = empty
	}
	small := &pb.RegisterGraphRequest{GraphDef: &pb.GraphDef{Node: large.GraphDef.Node[:10_000]}}
	ways := map[string]func(*testing.T) *Channel{
		"grpc": func(t *testing.T) *Channel {
			return dial(t, serve(t, ServerConfig{}, withWorker(taker{})), DialConfig{})
		},
		"link": func(t *testing.T) *Channel {
			c := dial(t, serveLinks(t, taker{}), DialConfig{})
			linked(t, c)
			return c
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			w := NewWorkerClient(way(t))
			_, err := w.RegisterGraph(t.Context(), large)
			if core.CodeOf(err) != core.ResourceExhausted || !strings.Contains(err.Error(), "memory of the process must stay within its limit") {
				t.Errorf("a million nodes in two megabytes: %v", err)
			}
			if _, err := w.RegisterGraph(t.Context(), small); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStreamedRequestsFitMemory is the same for the requests of a stream.
func TestStreamedRequestsFitMemory(t *testing.T) {
	mayUse(t, 64<<20)
	cc := dial(t, serve(t, ServerConfig{}, func(s *grpc.Server) { RegisterEager(s, streamer{}) }), DialConfig{})
	s, err := cc.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/tensorflow.eager.EagerService/StreamingEnqueue")
	if err != nil {
		t.Fatal(err)
	}
	items := make([]*pb.QueueItem, 2_000_000)
	empty := &pb.QueueItem{}
	for i := range items {
		items[i] = empty
	}
	if err := s.SendMsg(&pb.EnqueueRequest{Queue: items}); err != nil {
		t.Fatal(err)
	}
	if err := fromStatus(s.RecvMsg(&pb.EnqueueResponse{}), nil); core.CodeOf(err) != core.ResourceExhausted {
		t.Errorf("two million items in four megabytes: %v", err)
	}
}
