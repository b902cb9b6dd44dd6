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

func (t *partials) find(handle string) (*partialRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.runs[handle]; p != nil {
		return p, nil
	}
	return nil, core.Errorf(core.InvalidArgument, "Must run PartialRunSetup before performing partial runs")
}

func (t *partials) remove(handle string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, handle)
}
