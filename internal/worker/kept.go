package worker

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// What a step keeps in the session stays if its handle is fetched.

// endKept ends a step for the tensors that the session keeps.
func (s *session) endKept(g *step.Graph, req *pb.RunGraphRequest, succeeded bool) {
	if !s.rt.Kept.Pending() {
		return
	}
	fetches := sentAway(g)
	for _, key := range req.GetRecvKey() {
		if k, err := rendezvous.ParseKey(key); err == nil {
			fetches = append(fetches, k.Edge)
		}
	}
	s.rt.Kept.End(req.GetStepId(), fetches, succeeded)
}

// endKeptOfPieces is endKept for a step in pieces, in which clients fetch all that they can.
func (s *session) endKeptOfPieces(g *step.Graph, id int64, succeeded bool) {
	if !s.rt.Kept.Pending() {
		return
	}
	fetches := sentAway(g)
	eachSend(g, func(n *graph.Node) {
		if n.Bool("client_terminated") {
			fetches = append(fetches, rendezvous.KeyOf(&n.Node).Edge)
		}
	})
	s.rt.Kept.End(id, fetches, succeeded)
}

// sentAway returns the tensors that g sends to other tasks. Clients fetch at the task of
// their master: which of its values they want, the others are not told.
func sentAway(g *step.Graph) (tensors []string) {
	eachSend(g, func(n *graph.Node) {
		k := rendezvous.KeyOf(&n.Node)
		from, _ := k.SrcTask() // names that are none are those of no task, here and there
		to, _ := k.DstTask()
		if from != to && len(n.In) == 1 {
			tensors = append(tensors, n.In[0].Name())
		}
	})
	return tensors
}

// eachSend calls f with the nodes of g that send.
func eachSend(g *step.Graph, f func(*graph.Node)) {
	for _, part := range g.Partitions() {
		for _, n := range part.Nodes {
			if n.Role() == core.Sends {
				f(n)
			}
		}
	}
}
