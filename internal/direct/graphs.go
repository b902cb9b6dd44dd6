package direct

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf"
)

// graphs prepares what steps run, once for each signature.
type graphs struct {
	source *tf.Graph
	cfg    *Config
	rt     *step.Runtime

	mu    sync.RWMutex
	cache map[string]*entry

	placing sync.Mutex
	placed  *graph.Graph
	size    int               // operations of source that placed has
	pinned  map[string]string // devices of nodes with state
}

// entry is a signature that is being prepared or ready.
type entry struct {
	once  sync.Once
	graph *step.Graph
	err   error
}

// ends says how feeds come into a graph and fetches leave it.
type ends byte

const (
	inFrame      ends = 'f' // all at once, as arguments and results
	inRendezvous ends = 'r' // piece by piece
)

// get returns the graph for a signature.
func (c *graphs) get(sig pass.Signature, by ends) (*step.Graph, error) {
	var short [256]byte
	key := sig.AppendKey(append(short[:0], byte(by)))
	c.mu.RLock()
	e := c.cache[string(key)]
	c.mu.RUnlock()
	if e == nil {
		e = c.insert(string(key))
	}
	e.once.Do(func() { e.graph, e.err = c.build(sig, by) })
	if e.err != nil {
		c.forget(string(key), e) // the graph may grow what is missing
	}
	return e.graph, e.err
}

func (c *graphs) insert(key string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.cache[key]
	if e == nil {
		e = &entry{}
		c.cache[key] = e
	}
	return e
}

func (c *graphs) forget(key string, e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache[key] == e {
		delete(c.cache, key)
	}
}

func (c *graphs) build(sig pass.Signature, by ends) (*step.Graph, error) {
	full, err := c.extend()
	if err != nil {
		return nil, err
	}
	g, err := pass.ClientGraph(full, sig, c.terminals(by))
	if err != nil {
		return nil, err
	}
	if c.cfg.CollectivesInOrder {
		if err := pass.OrderCollectives(g); err != nil {
			return nil, err
		}
	}
	return c.rt.Build(g, c.cfg.DisabledPasses)
}

func (c *graphs) terminals(by ends) pass.Terminals {
	client := c.cfg.Devices.Client()
	return pass.Terminals{Frame: by == inFrame, ClientDevice: client.Spec().String(), Incarnation: client.Incarnation()}
}

// extend places what has been added to the graph since the last time.
func (c *graphs) extend() (*graph.Graph, error) {
	c.placing.Lock()
	defer c.placing.Unlock()
	ops := c.source.SessionOperations()
	if c.placed != nil && len(ops) == c.size {
		return c.placed, nil
	}
	library, producer := c.source.Library()
	g := source.Graph(ops, library, producer)
	if err := pass.Lower(g, c.cfg.DisabledPasses); err != nil {
		return nil, err
	}
	p := pass.Placer{Devices: deviceInfo(c.cfg.Devices), Soft: c.cfg.Soft, Pinned: c.pinned}
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
	c.placed, c.size = g, len(ops)
	return g, nil
}

func deviceInfo(set *device.Set) []pass.DeviceInfo {
	out := make([]pass.DeviceInfo, len(set.List()))
	for i, d := range set.List() {
		out[i] = pass.DeviceInfo{Spec: d.Spec(), Incarnation: d.Incarnation(), Local: true}
	}
	return out
}
