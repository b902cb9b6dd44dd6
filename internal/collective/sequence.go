package collective

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// sequences number the steps of graphs that several masters run, each a part of
// its own: the leader says where a graph's steps begin, and all count alike.
type sequences struct {
	mu   sync.Mutex
	next map[int64]int64         // by graph
	busy map[int64]chan struct{} // graphs of which a step is under way; closed at its end
}

// stepBits is the number of low bits that the number of a step may have.
const stepBits = 57

func newStep() int64 { return rand.Int64N(1 << stepBits) }

// NextStep returns the number of the next step of a graph, when the one before is
// over. It ends with RetireStep.
func (r *Runtime) NextStep(ctx context.Context, graph int64) (int64, error) {
	if err := r.sequences.begin(ctx, graph); err != nil {
		return 0, err
	}
	id, err := r.number(ctx, graph)
	if err != nil {
		r.sequences.end(graph)
	}
	return id, err
}

// begin waits for its turn with a graph.
func (q *sequences) begin(ctx context.Context, graph int64) error {
	for {
		q.mu.Lock()
		over := q.busy[graph]
		if over == nil {
			if q.busy == nil {
				q.busy = map[int64]chan struct{}{}
			}
			q.busy[graph] = make(chan struct{})
			q.mu.Unlock()
			return nil
		}
		q.mu.Unlock()
		select {
		case <-over:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *sequences) end(graph int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	close(q.busy[graph])
	delete(q.busy, graph)
}

// number returns the next number, which it asks the leader for if it is not known.
func (r *Runtime) number(ctx context.Context, graph int64) (int64, error) {
	if id, known := r.sequences.get(graph, r.env.Leader == ""); known {
		return id, nil
	}
	leader, err := r.peer(r.env.Leader)
	if err != nil {
		return 0, err
	}
	resp, err := leader.GetStepSequence(ctx, &pb.GetStepSequenceRequest{GraphKey: []int64{graph}})
	if err != nil {
		return 0, err
	}
	for _, s := range resp.GetStepSequence() {
		if s.GetGraphKey() == graph {
			return r.sequences.set(graph, s.GetNextStepId()), nil
		}
	}
	return 0, core.Errorf(core.Internal, "the leader %s must tell the next step of graph %d, it did not", r.env.Leader, graph)
}

// get returns the next number of a graph; one that is new gets one if invent says
// so.
func (q *sequences) get(graph int64, invent bool) (int64, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	id, known := q.next[graph]
	if !known && invent {
		return q.put(graph, newStep()), true
	}
	return id, known
}

func (q *sequences) set(graph, id int64) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.put(graph, id)
}

// put keeps a number. The caller holds mu.
func (q *sequences) put(graph, id int64) int64 {
	if q.next == nil {
		q.next = map[int64]int64{}
	}
	q.next[graph] = id
	return id
}

// RetireStep ends a step. One that has succeeded is followed by the next; after
// one that has not, the same number comes again, as at all other masters.
func (r *Runtime) RetireStep(graph, id int64, succeeded bool) {
	q := &r.sequences
	defer q.end(graph)
	q.mu.Lock()
	defer q.mu.Unlock()
	if next, known := q.next[graph]; succeeded && known && next == id {
		q.next[graph] = (id + 1) & (1<<stepBits - 1)
	} else if known && next != id {
		delete(q.next, graph)
	}
}

// GetStepSequence tells other tasks the next steps of graphs.
func (r *Runtime) GetStepSequence(_ context.Context, req *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	if r.env.Leader != "" {
		return nil, core.Errorf(core.Internal, "GetStepSequenceAsync called at non-group-leader")
	}
	resp := &pb.GetStepSequenceResponse{}
	for _, graph := range req.GetGraphKey() {
		id, _ := r.sequences.get(graph, true)
		resp.StepSequence = append(resp.StepSequence, &pb.StepSequence{GraphKey: graph, NextStepId: id})
	}
	return resp, nil
}
