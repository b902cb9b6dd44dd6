package remote

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/pb"
)

// Master is what sessions need of a master: over the network, or in this process.
type Master interface {
	CreateSession(context.Context, *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error)
	ExtendSession(context.Context, *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error)
	PartialRunSetup(context.Context, *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error)
	RunStep(context.Context, *pb.RunStepRequest) (*pb.RunStepResponse, error)
	CloseSession(context.Context, *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error)
	MakeCallable(context.Context, *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error)
	RunCallable(context.Context, *pb.RunCallableRequest) (*pb.RunCallableResponse, error)
	Reset(context.Context, *pb.ResetRequest) (*pb.ResetResponse, error)
}

// local knows the masters of this process by their targets: a session on one of them
// calls it without a network, as TensorFlow's do.
var local struct {
	mu      sync.Mutex
	masters map[string]Master
}

// Serve gives sessions of this process a master for a target, until Unserve is called.
func Serve(target string, m Master) {
	local.mu.Lock()
	defer local.mu.Unlock()
	if local.masters == nil {
		local.masters = map[string]Master{}
	}
	local.masters[target] = m
}

// Unserve takes a master back, unless another one has its target by now.
func Unserve(target string, m Master) {
	local.mu.Lock()
	defer local.mu.Unlock()
	if local.masters[target] == m {
		delete(local.masters, target)
	}
}

// localMaster returns the master of a target, nil if it is not in this process.
func localMaster(target string) Master {
	local.mu.Lock()
	defer local.mu.Unlock()
	return local.masters[target]
}
