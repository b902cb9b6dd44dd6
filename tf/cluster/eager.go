package cluster

import (
	"context"

	"google.golang.org/grpc/peer"

	"github.com/gorge-tf/gorge/internal/eagerservice"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/tf/pb"
)

// eagerService puts an eager service behind gRPC.
type eagerService struct{ *eagerservice.Service }

// StreamingEnqueue returns what serves the requests of one stream.
func (s eagerService) StreamingEnqueue() func(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return s.NewStream().Enqueue
}

// clientOf tells clients apart by their connections: their calls say nothing of who
// makes them.
func clientOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return ""
	}
	return p.Addr.String()
}

// eagerPeers are the eager services of the tasks of a client's cluster.
type eagerPeers struct {
	*rpc.Channels
	closed func(error)
}

// joinEager connects the server with the eager services of a client's cluster.
func (s *Server) joinEager(def *pb.ClusterDef) (eagerservice.Peers, error) {
	spec, err := s.peersOf.spec(def)
	if err != nil {
		return nil, err
	}
	return &eagerPeers{rpc.NewChannels(addressBook(spec), s.dial), func(err error) {
		if err != nil {
			s.log.Info("closing the channels of an eager context's cluster", "error", err)
		}
	}}, nil
}

// Peer returns the eager service of a task.
func (p *eagerPeers) Peer(task string) (eagerservice.Peer, error) { return p.Eager(task) }

// Close ends the channels, and the calls over them.
func (p *eagerPeers) Close() { p.closed(p.Channels.Close()) }
