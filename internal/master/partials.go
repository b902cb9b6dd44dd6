package master

import (
	"maps"
	"strconv"
	"sync"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf"
)

// A partialRun is a step that a client runs bit by bit: which of its feeds have
// come, and which fetches have gone. Its methods decide what may come next and
// do nothing else.
type partialRun struct {
	id    int64
	graph *graph.Graph // of the session when the step was set up
	parts []registered

	mu      sync.Mutex
	fed     map[string]bool // by tensor: all that set-up named
	fetched map[string]bool
}

// advance checks the next call of the step and notes what it feeds and fetches.
// It reports whether nothing is left after it.
func (p *partialRun) advance(c *call) (last bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range c.feeds {
		if err := pending(p.fed, "feed", name, "fed"); err != nil {
			return false, err
		}
	}
	for name := range c.fetches {
		if err := pending(p.fetched, "fetch", name, "fetched"); err != nil {
			return false, err
		}
	}
	fed := maps.Clone(p.fed)
	for name := range c.feeds {
		fed[name] = true
	}
	if err := computable(p.graph, fed, c.fetches); err != nil {
		return false, err
	}
	p.fed = fed
	for name := range c.fetches {
		p.fetched[name] = true
	}
	return all(p.fed) && all(p.fetched), nil
}

func pending(done map[string]bool, kind, name, verb string) error {
	switch was, known := done[name]; {
	case !known:
		return tf.Errorf(tf.InvalidArgument, "The %s %s was not specified in partial_run_setup.", kind, name)
	case was:
		return tf.Errorf(tf.InvalidArgument, "The %s %s has already been %s.", kind, name, verb)
	}
	return nil
}

func all(done map[string]bool) bool {
	for _, d := range done {
		if !d {
			return false
		}
	}
	return true
}

// computable checks that nothing that the fetches need still has to be fed.
func computable(g *graph.Graph, fed map[string]bool, fetches map[string][]string) error {
	for name := range fetches {
		node, k, err := tf.ParseTensorName(name)
		if err != nil {
			return err
		}
		if n := g.Node(node); n != nil && waits(graph.Edge{Node: n, Out: k}, fed) {
			return tf.Errorf(tf.InvalidArgument, "Fetch %s can't be computed from the feeds that have been fed so far.", name)
		}
	}
	return nil
}

// waits reports whether a tensor depends on a feed that has not come. What has
// come is not looked behind.
func waits(e graph.Edge, fed map[string]bool) bool {
	todo := []graph.Edge{e}
	seen := map[graph.Edge]bool{}
	for len(todo) > 0 {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[e] {
			continue
		}
		seen[e] = true
		switch came, isFeed := fed[e.Name()]; {
		case isFeed && !came:
			return true
		case isFeed:
			continue
		}
		todo = append(todo, e.Node.In...)
		for _, c := range e.Node.Control {
			todo = append(todo, graph.Edge{Node: c})
		}
	}
	return false
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
	return nil, tf.Errorf(tf.InvalidArgument, "Must run PartialRunSetup before performing partial runs")
}

func (t *partials) remove(handle string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, handle)
}
