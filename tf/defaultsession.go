package tf

import (
	"context"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A StepRunner runs steps of one graph, as sessions do.
type StepRunner interface {
	// Graph returns the graph.
	Graph() *Graph
	// RunStep feeds values and returns a tensor for each fetch, nil for
	// operations.
	RunStep(ctx context.Context, feeds map[Output]Value, fetches ...Fetchable) ([]*Tensor, error)
}

type defaultSession struct{}

// WithDefaultSession returns a context in which Eval and Run use r, whatever
// the graph's own default is. Of no context it makes none, which Eval and Run refuse.
func WithDefaultSession(ctx context.Context, r StepRunner) context.Context {
	if ctx == nil {
		return nil
	}
	return context.WithValue(ctx, defaultSession{}, r)
}

// interactive lists, by graph, the sessions that have made themselves the
// default, the latest last. A graph is not kept by it: sessions leave the list
// when they are closed.
var interactive = struct {
	sync.Mutex
	of map[*Graph][]StepRunner
}{of: map[*Graph][]StepRunner{}}

// SetDefaultSession makes r the one that Eval and Run use for outputs and
// operations of r's graph, until the function that it returns is called. Nil is none.
func SetDefaultSession(r StepRunner) (remove func()) {
	if r == nil {
		return func() {}
	}
	g := r.Graph()
	if g == nil { // a session that could not be made
		return func() {}
	}
	interactive.Lock()
	defer interactive.Unlock()
	interactive.of[g] = append(interactive.of[g], r)
	return func() {
		interactive.Lock()
		defer interactive.Unlock()
		list := interactive.of[g]
		if i := slices.Index(list, r); i >= 0 {
			list = slices.Delete(list, i, i+1)
		}
		if interactive.of[g] = list; len(list) == 0 {
			delete(interactive.of, g)
		}
	}
}

// runnerFor finds the session to use for something of g.
func runnerFor(ctx context.Context, g *Graph, does, what, method string) (StepRunner, error) {
	if err := core.NeedContext(ctx, "a step"); err != nil {
		return nil, err
	}
	if r, ok := ctx.Value(defaultSession{}).(StepRunner); ok {
		if h := r.Graph(); h != nil && h != g { // nil: r says itself what is wrong
			return nil, Errorf(InvalidArgument, "Cannot use the default session to %s %s: the %s's graph is different from the session's graph. Pass a session on that graph.", does, what, what)
		}
		return r, nil
	}
	interactive.Lock()
	defer interactive.Unlock()
	if list := interactive.of[g]; len(list) > 0 {
		return list[len(list)-1], nil
	}
	return nil, Errorf(InvalidArgument, "Cannot %s %s using `%s`: No default session is registered. Use session.Interactive or a context from tf.WithDefaultSession.", does, what, method)
}

// Eval returns the value of x, as the default session computes it: that of the
// context (WithDefaultSession), or the one that was made interactive last on
// x's graph.
func (x Output) Eval(ctx context.Context, feeds map[Output]Value) (*Tensor, error) {
	if err := x.Err(); err != nil {
		return nil, err
	}
	r, err := runnerFor(ctx, x.Graph(), "evaluate", "tensor", "Eval()")
	if err != nil {
		return nil, err
	}
	out, err := r.RunStep(ctx, feeds, x)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Run runs op in the default session, which Eval finds in the same way.
func (op *Operation) Run(ctx context.Context, feeds map[Output]Value) error {
	if err := op.Err(); err != nil {
		return err
	}
	r, err := runnerFor(ctx, op.Graph(), "execute", "operation", "Run()")
	if err != nil {
		return err
	}
	_, err = r.RunStep(ctx, feeds, op)
	return err
}
