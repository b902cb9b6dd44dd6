package tf

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Graph is a dataflow graph under construction. Operations are only ever
// added. One goroutine at a time may build it; sessions on it may run the
// while.
//
// The functions that add operations return no errors: the first one is kept
// and returned by Err, by session.New and by every other consumer, and the
// Outputs that depend on it are marked.
type Graph struct {
	mu      sync.Mutex // guards what sessions read: ops, byName
	ops     []*Operation
	byName  map[string]*Operation
	names   map[string]int // by lower-case name: the next suffix to try
	err     error
	strict  bool
	eval    Evaluator
	scope   string // prefix of names, with its "/"
	device  DeviceSpec
	devFunc func(*Node) string
	control []*Operation
	colls   map[string][]any
	library any // function library as it came from a GraphDef
	version int // producer version of an imported graph, 0 for our own

	variables int          // how many there are
	tapes     int          // recordings in progress, in an eager graph
	taped     []*Operation // what they have seen
	seed      int64
	hasSeed   bool
	seeded    int64 // how many ops got their op seed from the graph's
}

// An Evaluator computes operations as they are added; it makes a graph eager.
type Evaluator interface {
	Eval(n *Node, in []*Tensor) ([]*Tensor, error)
}

// A GraphOption adjusts a new graph.
type GraphOption func(*Graph)

// Strict makes the first error a panic: handy in tests.
func Strict() GraphOption { return func(g *Graph) { g.strict = true } }

// Eager makes the graph compute each operation with e as it is added. Package
// eager offers it ready-made.
func Eager(e Evaluator) GraphOption { return func(g *Graph) { g.eval = e } }

// NewGraph returns an empty graph.
func NewGraph(opts ...GraphOption) *Graph {
	g := &Graph{byName: map[string]*Operation{}, names: map[string]int{}, device: AnyDevice, colls: map[string][]any{}}
	for _, o := range opts {
		o(g)
	}
	return g
}

// Err returns the first error met while building g, if any.
func (g *Graph) Err() error { return g.err }

// IsEager reports whether operations are computed as they are added.
func (g *Graph) IsEager() bool { return g.eval != nil }

// Operations returns the operations added so far, in order. It is safe while
// the graph grows.
func (g *Graph) Operations() []*Operation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clip(g.ops)
}

// Operation returns the operation of the given name, or nil.
func (g *Graph) Operation(name string) *Operation {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byName[name]
}

// Library returns the function library as it came from a GraphDef, nil if there
// is none, and the version of the graph's producer.
func (g *Graph) Library() (library any, producer int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.version == 0 {
		return g.library, ProducerVersion
	}
	return g.library, g.version
}

// Output returns the output that "node:1" or "node" (which is "node:0") names.
func (g *Graph) Output(name string) (Output, error) {
	node, k, err := ParseTensorName(name)
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
	old := g.scope
	defer func() { g.scope = old }()
	switch {
	case g.eval != nil: // names nobody asks for would only pile up
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
func (g *Graph) CurrentScope() string { return g.scope }

// Device calls f; operations that f adds go to the given device, as far as
// scopes within and options of the operations do not override it. An empty
// spec within a scope leaves it all open again.
func (g *Graph) Device(spec string, f func()) {
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
func (g *Graph) DeviceFunc(choose func(*Node) string, f func()) {
	old := g.devFunc
	defer func() { g.devFunc = old }()
	g.devFunc = choose
	f()
}

// ControlDependencies calls f; operations that f adds run after all of ops.
func (g *Graph) ControlDependencies(ops []*Operation, f func()) {
	old := g.control
	defer func() { g.control = old }()
	g.control = append(slices.Clip(old), ops...)
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

// UniqueName returns name within the current scope, made unique as TensorFlow
// does it: "x", "x_1", .... Names are taken case-insensitively.
func (g *Graph) UniqueName(name string) string {
	if exact, ok := strings.CutSuffix(name, "/"); ok {
		g.names[strings.ToLower(exact)]++
		return exact
	}
	name = g.scope + name
	base := strings.ToLower(name)
	i := g.names[base]
	g.names[base] = i + 1
	if i == 0 {
		return name
	}
	for ; ; i++ {
		key := fmt.Sprintf("%s_%d", base, i)
		if _, taken := g.names[key]; !taken {
			g.names[key] = 1
			return fmt.Sprintf("%s_%d", name, i)
		}
	}
}

// fail records err as the graph's, if it is the first.
func (g *Graph) fail(err error) {
	if g.strict {
		panic(err)
	}
	if g.err == nil {
		g.err = err
	}
}

// add makes op part of the graph.
func (g *Graph) add(op *Operation) {
	g.mu.Lock()
	g.ops = append(g.ops, op)
	g.byName[op.Name] = op
	g.mu.Unlock()
}

// ParseTensorName splits "node:1" into node and output; "node" is output 0.
func ParseTensorName(s string) (node string, k int, err error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, nil
	}
	if err := parseNumber(&k, s[i+1:]); err != nil || i == 0 || k < 0 {
		return "", 0, Errorf(InvalidArgument, "a tensor's name has the form node:number, got %q", s)
	}
	return s[:i], k, nil
}
