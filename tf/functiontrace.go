package tf

import (
	"maps"
	"slices"
	"sync"
)

// traceState is the part of a graph that concerns functions. The graphs of a program
// form a tree: the outermost graph has the library, and the body of each function is
// a graph whose functions.body.outer is the graph around it. While a Go function is
// traced, every graph on the way down has the next one as inner:
//
//	program's graph ──inner──▶ body of f ──inner──▶ body of a function in f
//	                ◀──outer──           ◀──outer──
//
// current follows inner, outermost follows outer.
//
// Guard: body and symbolic are set before others see the graph; inner and count
// belong to the goroutine that builds. mu guards traced, which errors of steps ask
// from other goroutines; it is never held together with published.mu.
type traceState struct {
	body     *Function           // that the graph is the body of, nil if none
	symbolic bool                // the graph is the body of the gradient of a function
	constant map[*Operation]bool // that were added where recording was stopped
	inner    *Graph              // that operations are added to instead, while a function is traced

	// In the outermost graph only.
	count  int // functions traced so far
	mu     sync.Mutex
	traced map[string]*binding // by name in the library
}

// keep notes that b is in the library.
func (s *traceState) keep(b *binding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.traced == nil {
		s.traced = map[string]*binding{}
	}
	s.traced[b.name] = b
}

// find returns the function that was traced and is in the library by that name, nil
// if none is.
func (s *traceState) find(name string) *binding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.traced[name]
}

// bodies returns the bodies of all functions traced, in no order.
func (s *traceState) bodies() []*Graph {
	s.mu.Lock()
	defer s.mu.Unlock()
	bodies := map[*Graph]bool{}
	for _, b := range s.traced {
		bodies[b.f.body] = true
	}
	return slices.Collect(maps.Keys(bodies))
}

// current returns the graph that operations are added to which g is asked to
// add.
func (g *Graph) current() *Graph {
	for g.functions.inner != nil {
		g = g.functions.inner
	}
	return g
}

// outermost returns the graph that has the library.
func (g *Graph) outermost() *Graph {
	for g.functions.body != nil {
		g = g.functions.body.outer
	}
	return g
}

// encloses reports whether h is the body of a function of g, or of one in it.
func (g *Graph) encloses(h *Graph) bool {
	for h.functions.body != nil {
		if h = h.functions.body.outer; h == g {
			return true
		}
	}
	return false
}

// within calls add; what it adds to the graph around f becomes part of f.
func (f *Function) within(add func()) { during(f.outer, &f.outer.functions.inner, f.body, add) }

// directly calls add; what it adds to g does become part of g, although a
// function is being traced.
func (g *Graph) directly(add func()) { during(g, &g.functions.inner, nil, add) }

// nextTraced numbers the functions of a graph.
func (g *Graph) nextTraced() int {
	s := &g.outermost().functions
	s.count++
	return s.count
}
