package tf

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Graph is a dataflow graph under construction. Operations are only ever
// added. One goroutine at a time should build it; sessions on it may run
// meanwhile. Several goroutines may add single operations at once, as steps do that ask
// for x.Add(1) or [Variable.Read], but then the names that these get depend on who comes
// first. Not safe beside any other goroutine that adds are loops, conditionals,
// functions, gradients and seeds. What is in force during a call ([Graph.Scope],
// [Graph.Device], [Graph.ControlDependencies], …) is so for all goroutines: TensorFlow
// keeps it for each thread, Go knows no such place.
//
// The functions that add operations return no errors: the first one is kept
// and returned by Err, by session.New and by every other consumer, and the
// Outputs that depend on it are marked.
type Graph struct {
	// What sessions read has a lock; the rest belongs to the goroutine that builds.
	// Each part says its guard.
	published published
	scope     buildingScope
	functions traceState
	eager     eagerState
}

// A GraphOption adjusts a new graph.
type GraphOption func(*Graph)

// Strict makes the first error a panic: handy in tests.
func Strict() GraphOption { return func(g *Graph) { g.scope.strict = true } }

// NewGraph returns an empty graph.
func NewGraph(opts ...GraphOption) *Graph {
	g := &Graph{published: published{byName: map[string]*Operation{}}, scope: newBuildingScope()}
	for _, o := range opts {
		o(g)
	}
	return g
}

// Err returns the first error met while building g, if any.
func (g *Graph) Err() error { return g.published.firstError() }

// Operations returns the operations added so far, in order, but for those of
// loops and gradients that are still being built. It is safe while the graph
// grows.
func (g *Graph) Operations() []*Operation { return g.published.list() }

// SessionOperations is Operations for a session: it settles the operations that
// are returned, which gradients of functional control flow may still change
// before.
func (g *Graph) SessionOperations() []*Operation { return g.published.show() }

// Operation returns the operation of the given name, or nil.
func (g *Graph) Operation(name string) *Operation { return g.published.find(name) }

// Library returns the functions of g, nil if there are none, and the version of
// the graph's producer.
func (g *Graph) Library() (library *core.Library, producer int) {
	return g.outermost().published.functions()
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
	during(g, &g.scope.prefix, g.prefixOf(name), f)
}

// prefixOf returns the prefix of names in a scope of that name. Scopes of eager
// graphs have none of their own: unused names would only pile up.
func (g *Graph) prefixOf(name string) string {
	switch {
	case g.IsEager():
		return inForce(&g.scope, &g.scope.prefix)
	case name == "" || strings.HasSuffix(name, "/"):
		return name
	}
	return g.UniqueName(name) + "/"
}

// CurrentScope returns the prefix of names in force, with its "/", so that
// Scope can re-enter it.
func (g *Graph) CurrentScope() string {
	g = g.current()
	return inForce(&g.scope, &g.scope.prefix)
}

// Device calls f; operations that f adds go to the given device, as far as
// scopes within and options of the operations do not override it. An empty
// spec within a scope leaves it all open again.
func (g *Graph) Device(spec string, f func()) {
	g = g.current()
	d, err := ParseDevice(spec)
	if err != nil {
		g.fail(calling(err))
	}
	if spec == "" {
		d = AnyDevice
	} else {
		d = inForce(&g.scope, &g.scope.device).Override(d)
	}
	during(g, &g.scope.device, d, f)
}

// DeviceFunc calls f; choose says for each operation that f adds which device
// it asks for, and the result is merged under what is asked for explicitly.
func (g *Graph) DeviceFunc(choose func(*core.Node) string, f func()) {
	g = g.current()
	during(g, &g.scope.chooseDevice, choose, f)
}

// AddToCollection adds v to the named collection. A nil graph keeps nothing. That the
// graph is finalized becomes its error, which nothing else could carry.
func (g *Graph) AddToCollection(name string, v any) {
	if g == nil {
		return
	}
	if err := g.checkOpen(); err != nil {
		g.published.fail(calling(err))
		return
	}
	g.scope.collect(name, v)
}

// Collection returns the members of a collection, in the order they were added.
// A nil graph has none.
func (g *Graph) Collection(name string) []any {
	if g == nil {
		return nil
	}
	return slices.Clone(g.scope.collection(name))
}

// Collections returns the names of the collections that have members, sorted.
func (g *Graph) Collections() []string { return g.scope.collectionNames() }

// fail records err as the graph's, if it is the first, and as that of the graphs
// around. In an eager graph a failure is the matter of the Output that it poisons, and so
// it is in one that is finalized, which stays as good as it was.
func (g *Graph) fail(err error) {
	if g.scope.strict {
		panic(err)
	}
	if g.IsEager() || g.Finalized() {
		return
	}
	g.published.fail(err)
	if g.functions.body != nil {
		g.functions.body.outer.fail(err)
	}
}
