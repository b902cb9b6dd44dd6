package cluster

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/pb"
)

// masterClient is what sessions need of a master: over the network, or in this
// process.
type masterClient interface {
	CreateSession(context.Context, *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error)
	ExtendSession(context.Context, *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error)
	PartialRunSetup(context.Context, *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error)
	RunStep(context.Context, *pb.RunStepRequest) (*pb.RunStepResponse, error)
	CloseSession(context.Context, *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error)
	MakeCallable(context.Context, *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error)
	RunCallable(context.Context, *pb.RunCallableRequest) (*pb.RunCallableResponse, error)
}

// registry knows the servers that this process has started: a session on one
// of them calls its master without a network, as TensorFlow's do.
type registry struct {
	mu      sync.Mutex
	servers map[string]*Server // by target
}

var localServers registry

func (r *registry) add(s *Server) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.servers == nil {
		r.servers = map[string]*Server{}
	}
	r.servers[s.target] = s
}

func (r *registry) remove(s *Server) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.servers[s.target] == s {
		delete(r.servers, s.target)
	}
}

// master returns the master behind a target, nil if it is not in this process.
func (r *registry) master(target string) masterClient {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.servers[target]; s != nil {
		return s.service
	}
	return nil
}
