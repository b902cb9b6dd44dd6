package cluster

import (
	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A session may bring a cluster of its own, made of servers that were started
// as parts of others or alone: ClusterSpec propagation. Its tasks reach each
// other through channels that last as long as the session.

// ownCluster is such a cluster as the server's master sees it.
type ownCluster struct{ workers }

// Close ends the channels to the other tasks.
func (c *ownCluster) Close() error { return c.cache.Close() }

// joinAsMaster connects the master with the workers of a session's cluster.
func (s *Server) joinAsMaster(def *pb.ClusterDef, own string) (master.Cluster, error) {
	spec, err := s.peersOf.spec(def)
	if err != nil {
		return nil, err
	}
	ch := rpc.NewChannels(addressBook(spec), s.dial)
	return &ownCluster{workers{own: own, worker: s.worker, cache: ch, tasks: spec.tasks()}}, nil
}

// joinAsWorker connects the worker with the other workers of a session's
// cluster.
func (s *Server) joinAsWorker(def *pb.ClusterDef, own string) (worker.Cluster, error) {
	spec, err := s.peersOf.spec(def)
	if err != nil {
		return worker.Cluster{}, err
	}
	ch := rpc.NewChannels(addressBook(spec), s.dial)
	leave := func() {
		if err := ch.Close(); err != nil {
			s.log.Info("closing the channels of a session's cluster", "error", err)
		}
	}
	return worker.Cluster{Transport: rpc.NewTransport(ch, s.retries), Peer: s.peers(own, ch), Member: s.members(ch), Leave: leave}, nil
}

// peers finds the workers of other tasks for the server's own.
func (s *Server) peers(own string, ch rpc.WorkerCache) func(task string) (worker.Peer, error) {
	all := &workers{own: own, cache: ch}
	return func(task string) (worker.Peer, error) { return all.Worker(task) }
}
