package graph

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// Limits bound what the planning and the running of graphs may take. A field
// that is 0 means the default, a negative one that there is no limit.
type Limits struct {
	Nodes         int           // that a graph may have, and that a call of a function may come to
	FunctionDepth int           // of calls of functions within one another
	FunctionCalls int           // of functions that one step has under way at once
	PlanTime      time.Duration // that the planning of one graph may take
}

// DefaultLimits are what nothing that ends by itself has been seen to need: ten
// million nodes take ten gigabytes, a call under way some ten kilobytes.
var DefaultLimits = Limits{Nodes: 10_000_000, FunctionDepth: 5_000, FunctionCalls: 100_000, PlanTime: 10 * time.Minute}

// Filled returns l with defaults in the place of zeros.
func (l Limits) Filled() Limits {
	d := &DefaultLimits
	return Limits{cmp.Or(l.Nodes, d.Nodes), cmp.Or(l.FunctionDepth, d.FunctionDepth), cmp.Or(l.FunctionCalls, d.FunctionCalls), cmp.Or(l.PlanTime, d.PlanTime)}
}

// Exceeds reports whether n is more than a limit allows.
func Exceeds(n, limit int) bool { return limit >= 0 && n > limit }

// A Budget is what the planning of a graph may take: it ends with a context, and
// at limits. Passes count in it the nodes that they look at. It belongs to the
// goroutine that plans. The nil Budget has no end.
type Budget struct {
	ctx     context.Context
	limits  Limits
	until   time.Time // zero: never
	visited int
	look    int // the context is looked at when visited has got here
}

// lookEvery is how many nodes are visited between looks at the context: about a
// millisecond's work.
const lookEvery = 1 << 10

// NewBudget returns a budget that ends with ctx.
func NewBudget(ctx context.Context, l Limits) *Budget {
	b := &Budget{ctx: ctx, limits: l.Filled()}
	if b.limits.PlanTime > 0 {
		b.until = time.Now().Add(b.limits.PlanTime)
	}
	return b
}

// Context returns the context that b ends with.
func (b *Budget) Context() context.Context {
	if b == nil {
		return context.Background()
	}
	return b.ctx
}

// Limits returns the limits of b.
func (b *Budget) Limits() Limits {
	if b == nil {
		return DefaultLimits
	}
	return b.limits
}

// Visited is how many nodes have been looked at.
func (b *Budget) Visited() int {
	if b == nil {
		return 0
	}
	return b.visited
}

// Visit counts n nodes that are looked at. It fails when the planning is to end;
// Visit(0) looks at once whether it is.
func (b *Budget) Visit(n int) error {
	if b == nil {
		return nil
	}
	if b.visited += n; b.visited < b.look && n > 0 {
		return nil
	}
	b.look = b.visited + lookEvery
	return b.ended()
}

func (b *Budget) ended() error {
	if b.ctx.Err() != nil {
		return Ended(b.ctx, "the planning of a graph")
	}
	if !b.until.IsZero() && time.Now().After(b.until) {
		return core.Errorf(core.DeadlineExceeded, "the planning of a graph must take at most %v (limit plan_time): it has taken longer, for %d visits of nodes", b.limits.PlanTime, b.visited)
	}
	return nil
}

// Ended is the error of something that ends because ctx has ended.
func Ended(ctx context.Context, what string) error {
	cause := context.Cause(ctx)
	var e *core.Error
	switch {
	case core.CodeOf(cause) == core.DeadlineExceeded:
		return &core.Error{Code: core.DeadlineExceeded, Msg: what + " has not ended in time", Err: cause}
	case errors.As(cause, &e):
		return e
	}
	return &core.Error{Code: core.Canceled, Msg: what + " was cancelled", Err: cause}
}

// nodeSize is about what a node takes while a graph is read, placed and rewritten, beside
// the message it came in.
const nodeSize = 1 << 10

// CheckSize fails if a graph of n nodes is too large, or if there is no memory to plan it.
func (b *Budget) CheckSize(n int) error {
	if limit := b.Limits().Nodes; Exceeds(n, limit) {
		return core.Errorf(core.ResourceExhausted, "a graph must have at most %d nodes (limit max_nodes), this one has %d", limit, n)
	}
	return memory.TryRoom(n * nodeSize)
}

// Within returns g as one whose planning counts against b. Its nodes are those
// of g.
func (g *Graph) Within(b *Budget) *Graph {
	c := *g
	c.Budget = b
	return &c
}
