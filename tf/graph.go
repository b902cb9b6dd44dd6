package tf

import (
	"slices"
	"strings"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Graph is a dataflow graph under construction. Operations are only ever
// added. One goroutine at a time may build it; sessions on it may run the
// while.
//
// The functions that add operations return no errors: the first one is kept
// and returned by Err, by session.New and by every other consumer, and the
// Outputs that depend on it are marked.
type Graph struct {
	mu        sync.Mutex // guards what sessions read: ops, their shapes, byName, err, library, version
	ops       []*Operation
	byName    map[string]*Operation
	names     map[string]int // by lower-case name: the next suffix to try
	err       error
	strict    bool
	eager     *eagerCache // nil unless the graph computes at once
	scope     string      // prefix of names, with its "/"
	device    DeviceSpec
	devFunc   func(*core.Node) string
	control   []*dependencies     // in force, the outermost first
	flow      *ControlFlowContext // in force
	groups    []*Operation        // that operations are colocated with
	overrides map[string]GradFunc // by op
	reaches   int                 // calls of reaching under way
	holds     int                 // calls of held under way
	public    int                 // while there are: how many operations sessions see
	colls     map[string][]any
	library   *core.Library
	version   int                 // producer version of an imported graph, 0 for our own
	body      *Function           // that g is the body of, nil if none
	inner     *Graph              // that operations are added to instead, while a function is traced
	traced    int                 // how many functions there are, in the outermost graph
	functions map[string]*binding // functions traced, by name in the library, in the outermost graph
	symbolic  bool                // that g is the body of the gradient of a function
	shown     int                 // how many operations sessions have seen

	tapes   int          // recordings in progress, in an eager graph
	taped   []*Operation // what they have seen
	seed    int64
	hasSeed bool
	seeded  int64 // how many ops got their op seed from the graph's
}

// A GraphOption adjusts a new graph.
type GraphOption func(*Graph)

// Strict makes the first error a panic: handy in tests.
func Strict() GraphOption { return func(g *Graph) { g.strict = true } }

// NewGraph returns an empty graph.
func NewGraph(opts ...GraphOption) *Graph {
	g := &Graph{byName: map[string]*Operation{}, names: map[string]int{}, device: AnyDevice, colls: map[string][]any{}}
	for _, o := range opts {
		o(g)
	}
	return g
}

// Err returns the first error met while building g, if any.
func (g *Graph) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Operations returns the operations added so far, in order, but for those of
// loops and gradients that are still being built. It is safe while the graph
// grows.
func (g *Graph) Operations() []*Operation {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.holds > 0 {
		return slices.Clip(g.ops[:g.public])
	}
	return slices.Clip(g.ops)
}

// SessionOperations is Operations for a session: it settles the operations that
// are returned, which gradients of functional control flow may still change
// before.
func (g *Graph) SessionOperations() []*Operation {
	ops := g.Operations()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shown = max(g.shown, len(ops))
	return ops
}

// Operation returns the operation of the given name, or nil.
func (g *Graph) Operation(name string) *Operation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byName[name]
}

// Library returns the functions of g, nil if there are none, and the version of
// the graph's producer.
func (g *Graph) Library() (library *core.Library, producer int) {
	g = g.outermost()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.version == 0 {
		return g.library, core.ProducerVersion
	}
	return g.library, g.version
}

// Output returns the output that "node:1" or "node" (which is "node:0") names.
func (g *Graph) Output(name string) (Output, error) {
	node, k, err := core.ParseTensorName(name)
	if err != nil {
		return Output{}, err
	}
	op := g.Operation(node)
	if op == nil {
		return Output{}, Errorf(NotFound, "The name '%s' refers to a Tensor which does not exist. The operation, '%s', does not exist in the graph.", name, node)
	}
	if k >= len(op.OutTypes) {
		return Output{}, Errorf(InvalidArgument, "The name '%s' refers to a Tensor which does not exist. The operation, '%s', exists but only has %d outputs.", name, node, len(op.OutTypes))
	}
	return op.Output(k), nil
}

// Scope calls f; operations that f adds are named name/.... A name that ends
// in "/" re-enters the scope of exactly that name, "" the top level.
func (g *Graph) Scope(name string, f func()) {
	g = g.current()
	old := g.scope
	defer func() { g.scope = old }()
	switch {
	case g.IsEager(): // names nobody asks for would only pile up
	case name == "":
		g.scope = ""
	case strings.HasSuffix(name, "/"):
		g.scope = name
	default:
		g.scope = g.UniqueName(name) + "/"
	}
	f()
}

// CurrentScope returns the prefix of names in force, with its "/", so that
// Scope can re-enter it.
func (g *Graph) CurrentScope() string { return g.current().scope }

// Device calls f; operations that f adds go to the given device, as far as
// scopes within and options of the operations do not override it. An empty
// spec within a scope leaves it all open again.
func (g *Graph) Device(spec string, f func()) {
	g = g.current()
	old := g.device
	defer func() { g.device = old }()
	d, err := ParseDevice(spec)
	if err != nil {
		g.fail(err)
	}
	if spec == "" {
		g.device = AnyDevice
	} else {
		g.device = old.Override(d)
	}
	f()
}

// DeviceFunc calls f; choose says for each operation that f adds which device
// it asks for, and the result is merged under what is asked for explicitly.
func (g *Graph) DeviceFunc(choose func(*core.Node) string, f func()) {
	g = g.current()
	old := g.devFunc
	defer func() { g.devFunc = old }()
	g.devFunc = choose
	f()
}

// AddToCollection adds v to the named collection.
func (g *Graph) AddToCollection(name string, v any) { g.colls[name] = append(g.colls[name], v) }

// Collection returns the members of a collection, in the order they were added.
func (g *Graph) Collection(name string) []any { return slices.Clone(g.colls[name]) }

// Collections returns the names of the collections that have members, sorted.
func (g *Graph) Collections() []string { return sortedKeys(g.colls) }

// SetSeed sets the graph's random seed.
func (g *Graph) SetSeed(seed int64) { g.seed, g.hasSeed = seed, true }

// fail records err as the graph's, if it is the first. In an eager graph a
// failure is the matter of the Output that it poisons.
func (g *Graph) fail(err error) {
	if g.strict {
		panic(err)
	}
	if g.IsEager() {
		return
	}
	g.mu.Lock()
	if g.err == nil {
		g.err = err
	}
	g.mu.Unlock()
	if g.body != nil {
		g.body.outer.fail(err)
	}
}

// add makes ops part of the graph: sessions see all of them or none.
func (g *Graph) add(ops ...*Operation) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ops = append(g.ops, ops...)
	for _, op := range ops {
		g.byName[op.Name] = op
	}
}
