package master_test

import (
	"context"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A listener is a worker that keeps what sessions are opened with.
type listener struct {
	master.Worker
	mu  *sync.Mutex
	got map[string]*pb.CreateWorkerSessionRequest
}

func (l listener) CreateWorkerSession(ctx context.Context, req *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	l.mu.Lock()
	l.got[req.GetServerDef().GetJobName()] = req
	l.mu.Unlock()
	return l.Worker.CreateWorkerSession(ctx, req)
}

// Workers hear of all devices of a session that wants to share them.
func TestSharedDevices(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  *pb.ConfigProto
		want int
	}{
		"not asked for":            {&pb.ConfigProto{}, 0},
		"asked for":                {&pb.ConfigProto{ShareClusterDevicesInSession: true}, 2},
		"as it was once asked for": {&pb.ConfigProto{Experimental: &pb.ConfigProto_Experimental{ShareClusterDevicesInSession: true}}, 2},
	} {
		cl := newCluster(t, ps0, worker0)
		got := map[string]*pb.CreateWorkerSessionRequest{}
		var mu sync.Mutex
		cl.wrap = func(_ string, w master.Worker) master.Worker { return listener{w, &mu, got} }
		connect(t, cl.master(worker0), tf.NewGraph(), c.cfg)
		for _, job := range []string{"ps", "worker"} {
			if n := len(got[job].GetClusterDeviceAttributes()); n != c.want {
				t.Errorf("%s: %s hears of %d devices, want %d", name, job, n, c.want)
			}
		}
	}
}
