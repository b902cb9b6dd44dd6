package step

import (
	"fmt"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Partial keeps the books of a step that is run in pieces: which of the
// feeds and fetches that it was set up with are still to come, and which
// fetches can be computed from the feeds so far. It only decides; direct
// sessions and masters move the tensors. All methods may be called from any
// goroutine.
type Partial struct {
	graph *graph.Graph
	reads map[*graph.Node][]graph.Edge // inputs of nodes that read what is fed instead of what they read in graph

	mu      sync.Mutex
	feeds   map[string]bool // by full name: whether it has come
	fetches map[string]bool
}

// NewPartial returns the books of a step on g, the whole placed graph, in which
// nothing has been fed yet. Names that g lacks are errors.
func NewPartial(g *graph.Graph, sig pass.Signature) (*Partial, error) {
	p := &Partial{graph: g, reads: pass.ReadsOfFed(g, sig), feeds: map[string]bool{}, fetches: map[string]bool{}}
	for _, l := range []struct {
		names []string
		into  map[string]bool
		what  string
	}{{sig.Feeds, p.feeds, "Feed"}, {sig.Fetches, p.fetches, "Fetch"}} {
		for _, name := range l.names {
			full, err := FullName(name)
			if err != nil {
				return nil, err
			}
			if _, err := p.edge(full); err != nil {
				return nil, core.Errorf(core.NotFound, "%s %s: not found", l.what, name)
			}
			l.into[full] = false
		}
	}
	return p, nil
}

// FullName returns "x:0" for "x" too.
func FullName(tensor string) (string, error) {
	node, k, err := core.ParseTensorName(tensor)
	return fmt.Sprintf("%s:%d", node, k), err
}

// edge resolves a full name.
func (p *Partial) edge(full string) (graph.Edge, error) {
	node, k, err := core.ParseTensorName(full)
	if err != nil {
		return graph.Edge{}, err
	}
	n := p.graph.Node(node)
	if n == nil || k >= len(n.OutTypes) {
		return graph.Edge{}, core.Errorf(core.NotFound, "%s: not found", full)
	}
	return graph.Edge{Node: n, Out: k}, nil
}

// Take checks that a piece may be run, which brings feeds and asks for
// fetches: all of them were announced, none has been there before, and no
// fetch needs a feed that is still to come. It notes them as done, and reports
// whether that was the last piece. A piece that is refused changes nothing.
func (p *Partial) Take(feeds, fetches []string) (last bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in, err := pending(p.feeds, feeds, "feed", "fed")
	if err != nil {
		return false, err
	}
	out, err := pending(p.fetches, fetches, "fetch", "fetched")
	if err != nil {
		return false, err
	}
	if err := p.computable(in, out); err != nil {
		return false, err
	}
	for _, x := range in {
		p.feeds[x] = true
	}
	for _, x := range out {
		p.fetches[x] = true
	}
	return p.done(), nil
}

// pending returns the full names of a list, all of which must be expected.
func pending(of map[string]bool, names []string, what, done string) ([]string, error) {
	out := make([]string, len(names))
	for i, name := range names {
		full, err := FullName(name)
		if err != nil {
			return nil, err
		}
		was, known := of[full]
		switch {
		case !known:
			return nil, core.Errorf(core.InvalidArgument, "The %s %s was not specified in partial_run_setup.", what, name)
		case was || what == "feed" && slices.Contains(out[:i], full):
			return nil, core.Errorf(core.InvalidArgument, "The %s %s has already been %s.", what, name, done)
		}
		out[i] = full
	}
	return out, nil
}

// Done reports whether all that was announced has been fed and fetched.
func (p *Partial) Done() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done()
}

func (p *Partial) done() bool {
	for _, of := range []map[string]bool{p.feeds, p.fetches} {
		for _, did := range of {
			if !did {
				return false
			}
		}
	}
	return true
}

// computable reports as an error that a fetch needs a feed that has come
// neither before nor with this piece. What lies behind a feed is not needed.
func (p *Partial) computable(feeds, fetches []string) error {
	fed := make(map[graph.Edge]bool, len(p.feeds)) // by feed: whether it is there
	for name, was := range p.feeds {
		e, err := p.edge(name)
		if err != nil {
			return err
		}
		fed[e] = was || slices.Contains(feeds, name)
	}
	w := walk{reads: p.reads, fed: fed, seen: map[*graph.Node]bool{}}
	for _, name := range fetches {
		e, err := p.edge(name)
		if err != nil {
			return err
		}
		if err := w.need(e); err != nil {
			return err
		}
	}
	return w.visitAll()
}

// walk goes from nodes to all that they need.
type walk struct {
	reads map[*graph.Node][]graph.Edge
	fed   map[graph.Edge]bool
	seen  map[*graph.Node]bool
	todo  []*graph.Node
}

func (w *walk) visit(n *graph.Node) {
	if !w.seen[n] {
		w.seen[n] = true
		w.todo = append(w.todo, n)
	}
}

// need visits the node of an edge, unless the edge is fed. One that is still to be fed is an error.
func (w *walk) need(e graph.Edge) error {
	switch there, isFeed := w.fed[e]; {
	case !isFeed:
		w.visit(e.Node)
	case !there:
		return core.Errorf(core.InvalidArgument, "Fetch %s can't be computed from the feeds that have been fed so far.", e.Name())
	}
	return nil
}

// visitAll visits what the fetches depend on, up to feeds.
func (w *walk) visitAll() error {
	for len(w.todo) > 0 {
		n := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		in, differs := w.reads[n]
		if !differs {
			in = n.In
		}
		for _, e := range in {
			if err := w.need(e); err != nil {
				return err
			}
		}
		for _, c := range n.Control {
			if err := w.await(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// await is need for what something waits for: in the place of a placeholder that is the feed.
func (w *walk) await(n *graph.Node) error {
	if n.Role() == core.Fed {
		return w.need(graph.Edge{Node: n})
	}
	w.visit(n)
	return nil
}
