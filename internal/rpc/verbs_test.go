package rpc

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// verbsPeer answers with what it was asked, one further.
type verbsPeer struct{ err error }

func (p verbsPeer) GetRemoteAddress(_ context.Context, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	if p.err != nil {
		return nil, p.err
	}
	ch := proto.Clone(req.GetChannel()).(*pb.Channel)
	ch.Qpn++
	return &pb.GetRemoteAddressResponse{HostName: "peer of " + req.GetHostName(), Channel: ch, Mr: req.GetMr()}, nil
}

func askVerbs(t *testing.T, addr string) (*pb.GetRemoteAddressResponse, error) {
	t.Helper()
	c := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{})
	defer c.Close()
	return c.GetRemoteAddress(t.Context(), "/job:ps/replica:0/task:0", &pb.GetRemoteAddressRequest{
		HostName: "worker", Channel: &pb.Channel{Lid: 1, Qpn: 2, Psn: 3, Snp: 1 << 63, Iid: 5},
		Mr: []*pb.MemoryRegion{{RemoteAddr: 1 << 63, Rkey: 1 << 31}, {RemoteAddr: 7, Rkey: 8}},
	})
}

func TestGetRemoteAddress(t *testing.T) {
	addr := serve(t, ServerConfig{}, func(s *grpc.Server) { RegisterVerbs(s, verbsPeer{}) })
	got, err := askVerbs(t, addr)
	if err != nil {
		t.Fatal(err)
	}
	want := &pb.GetRemoteAddressResponse{
		HostName: "peer of worker", Channel: &pb.Channel{Lid: 1, Qpn: 3, Psn: 3, Snp: 1 << 63, Iid: 5},
		Mr: []*pb.MemoryRegion{{RemoteAddr: 1 << 63, Rkey: 1 << 31}, {RemoteAddr: 7, Rkey: 8}},
	}
	if !proto.Equal(got, want) {
		t.Errorf("answer is %v, want %v", got, want)
	}
}

// TestGetRemoteAddressErrors: a task's own error arrives, and one that does not
// have the service says so.
func TestGetRemoteAddressErrors(t *testing.T) {
	addr := serve(t, ServerConfig{}, func(s *grpc.Server) {
		RegisterVerbs(s, verbsPeer{core.Errorf(core.InvalidArgument, "two regions are needed")})
	})
	if _, err := askVerbs(t, addr); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "two regions") {
		t.Errorf("error of the service: %v", err)
	}
	addr = serve(t, ServerConfig{}, withWorker(UnimplementedWorker{}))
	if _, err := askVerbs(t, addr); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("a server without the service: %v", err)
	}
}
