package master

import (
	"context"
	"strconv"
	"sync"

	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
)

// A partialRun is a step that a client runs in pieces.
type partialRun struct {
	id    int64
	parts []registered
	books *step.Partial
	ctx   context.Context // ends when a piece fails, with its error
	end   context.CancelCauseFunc

	// Guarded by the mu of partials.
	pieces int  // under way
	over   bool // no more begin
}

// partials are the partial runs of one session, by handle.
type partials struct {
	mu   sync.Mutex
	next int
	runs map[string]*partialRun
}

func (t *partials) add(p *partialRun) (handle string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil {
		t.runs = map[string]*partialRun{}
	}
	handle = strconv.Itoa(t.next)
	t.next++
	t.runs[handle] = p
	return handle
}

// begin counts a piece of a step, which ends with end.
func (t *partials) begin(handle string) (*partialRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.runs[handle]; p != nil {
		p.pieces++
		return p, nil
	}
	return nil, core.Errorf(core.InvalidArgument, "Must run PartialRunSetup before performing partial runs")
}

// end ends a piece, after which the step may be over: then none begins any more. It
// reports whether the step can be cleaned up: it is over, and none is under way. One
// that came to a worker later would begin the step there anew.
func (t *partials) end(handle string, p *partialRun, over bool) (clean bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.pieces--
	if over {
		p.over = true
		delete(t.runs, handle)
	}
	return p.over && p.pieces == 0
}
