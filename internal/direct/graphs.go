package direct

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
)

// graphs prepares what steps run, once for each signature.
type graphs struct {
	source *tf.Graph
	cfg    *Config
	rt     *step.Runtime

	cache step.Plans[*step.Graph]
	ctx   context.Context // ends with the session
	steps *sync.WaitGroup // of the session

	placing chan struct{} // holds a value while a graph is being placed
	placed  *graph.Graph
	size    int               // operations of source that placed has
	pinned  map[string]string // devices of nodes with state
	forgot  bool              // forget has dropped plans

	folded  atomic.Int64                   // bytes that constants of frozen graphs take beside the variables
	sweeper atomic.Pointer[memory.Sweeper] // nil: the variables are not large
}

// ends says how feeds come into a graph and fetches leave it.
type ends byte

const (
	inFrame      ends = 'f' // all at once, as arguments and results
	inRendezvous ends = 'r' // piece by piece
)

// get returns the graph for a signature. The caller is counted by c.steps.
func (c *graphs) get(ctx context.Context, sig pass.Signature, by ends) (*step.Graph, error) {
	var short [256]byte
	key := sig.AppendKey(append(short[:0], byte(by)))
	return c.cache.Get(ctx, key, step.Maker[*step.Graph]{Within: c.ctx, Working: c.steps, Make: func(ctx context.Context) (*step.Graph, error) {
		return c.build(graph.NewBudget(ctx, c.cfg.Limits), sig, by)
	}})
}

func (c *graphs) build(b *graph.Budget, sig pass.Signature, by ends) (*step.Graph, error) {
	return c.buildTelling(b, sig, by, c.cfg.Build.LogFusion)
}

// buildTelling is build that tells log, unless that is nil, what is fused.
func (c *graphs) buildTelling(b *graph.Budget, sig pass.Signature, by ends, log func(string)) (*step.Graph, error) {
	g, err := c.needed(b, sig, by)
	if err != nil {
		return nil, err
	}
	o := c.cfg.Build
	o.LogFusion = log
	return c.rt.Build(g, o)
}

// needed returns the part of the graph that a signature needs, placed.
func (c *graphs) needed(b *graph.Budget, sig pass.Signature, by ends) (*graph.Graph, error) {
	full, err := c.extend(b)
	if err != nil {
		return nil, err
	}
	g, err := pass.ClientGraph(full.Within(b), sig, c.terminals(by))
	if err != nil || !c.cfg.CollectivesInOrder {
		return g, err
	}
	return g, pass.OrderCollectives(g)
}

func (c *graphs) terminals(by ends) pass.Terminals {
	client := c.cfg.Devices.Client()
	return pass.Terminals{Frame: by == inFrame, ClientDevice: client.Spec().String(), Incarnation: client.Incarnation()}
}

// extend places what has been added to the graph since the last time.
func (c *graphs) extend(b *graph.Budget) (*graph.Graph, error) {
	select {
	case c.placing <- struct{}{}:
		defer func() { <-c.placing }()
	case <-b.Context().Done():
		return nil, graph.Ended(b.Context(), "the planning of a graph")
	}
	ops := c.source.SessionOperations()
	if c.placed != nil && len(ops) == c.size {
		return c.placed, nil
	}
	library, producer := c.source.Library()
	g := source.Graph(ops, library, producer).Within(b)
	if err := b.CheckSize(len(g.Nodes)); err != nil {
		return nil, err
	}
	if err := pass.Lower(g, c.cfg.Build.Disabled); err != nil {
		return nil, err
	}
	p := pass.Placer{Devices: deviceInfo(c.cfg.Devices), Soft: c.cfg.Build.Soft, Pinned: c.pinned}
	if err := p.Place(g); err != nil {
		return nil, err
	}
	for _, n := range g.Nodes {
		if n.Def.Stateful {
			c.pinned[n.Name] = n.Device
		}
	}
	if c.cfg.LogPlacement != nil {
		c.cfg.LogPlacement(pass.Placement(g))
	}
	g.Budget = nil // its planning is over
	c.placed, c.size = g, len(ops)
	return g, nil
}

// forget drops the placed graph, which is made again for the next signature that is new: nodes with
// state stay where they are. The first time it drops the plans of all steps, too: before variables are
// frozen steps have restored and initialized them, which they do once.
func (c *graphs) forget(b *graph.Budget) error {
	select {
	case c.placing <- struct{}{}:
		defer func() { <-c.placing }()
	case <-b.Context().Done():
		return graph.Ended(b.Context(), "the planning of a graph")
	}
	c.placed = nil
	if !c.forgot {
		c.forgot = true
		c.cache.Forget(func(string) bool { return true })
	}
	return nil
}

func deviceInfo(set *device.Set) []pass.DeviceInfo {
	out := make([]pass.DeviceInfo, len(set.List()))
	for i, d := range set.List() {
		out[i] = pass.DeviceInfo{Spec: d.Spec(), Incarnation: d.Incarnation(), Local: true}
	}
	return out
}
