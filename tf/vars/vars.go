// Package vars gives variables their names and shares them: TensorFlow's
// variable_scope and get_variable.
//
//	vars.Scope(g, "layer1", vars.ScopeOptions{Regularizer: vars.L2(1e-4)}, func() {
//		w := vars.Get(g, "weights", tf.Shape{784, 10}) // layer1/weights, float32, Glorot's initial values
//		...
//	})
//
// [Get] makes a variable; a second call with the name is an error unless the scope
// says [Always] or [Auto]. Layers and recurrent cells get their variables in this
// way, so that scopes share them, too. A scope also sets types, initial values,
// regularizers, partitioners and getters for all that is inside.
package vars

import (
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
)

// Reuse says whether Get may make a variable.
type Reuse uint8

const (
	// Inherit: as the scope around says. Outermost, Get makes variables and
	// refuses names that are taken.
	Inherit Reuse = iota
	// Always: the variable has to exist. Scopes inside cannot take that back, but for
	// those that say Auto.
	Always
	// Auto: the variable is made if it does not exist.
	Auto
)

// A Regularizer returns what a variable's value adds to the loss.
type Regularizer func(v tf.Output) tf.Output

// A Getter does what Get does.
type Getter func(g *tf.Graph, name string, s tf.Shape, o Options) *tf.Variable

// Options adjust a variable that Get makes. What is left zero is as the scope
// says.
type Options struct {
	DType        tf.DType // float32
	Initializer  initializers.Initializer
	Regularizer  Regularizer
	NotTrainable bool
	Local        bool     // in the collection of local variables
	Collections  []string // further ones
	Device       string
	Constraint   Constraint // what optimizers make of the variable after each update
}

// ScopeOptions are what a scope says of the variables in it. What is left zero
// is as the scope around says.
type ScopeOptions struct {
	Reuse       Reuse
	DType       tf.DType
	Initializer initializers.Initializer
	Regularizer Regularizer
	Partitioner Partitioner
	// Getter replaces Get. It may call get, with other arguments or not at
	// all, and must return a variable. Getters of scopes around are called by
	// those inside.
	Getter func(get Getter, g *tf.Graph, name string, s tf.Shape, o Options) *tf.Variable
}

// store is what a graph knows of its variables; it is kept, as in TensorFlow,
// in a collection.
type store struct {
	vars  map[string]*tf.Variable
	parts map[string]*Partitioned
	scope scope         // the current one
	slice *tf.SliceInfo // which part of a variable is made, if it is one
	// opened counts how often a scope of a name has been opened since the scope
	// around it was closed last: Unique chooses a name that has not been.
	opened map[string]int
}

type scope struct {
	prefix string // "a/b/", or ""
	ops    string // the prefix of names of operations
	o      ScopeOptions
	getter Getter
}

const storeKey = "__variable_store"

// storeOf returns what is known of g's variables. A function of an eager graph has those
// of the graph.
func storeOf(g *tf.Graph) *store {
	g = author.Home(g)
	if c := g.Collection(storeKey); len(c) > 0 {
		return c[0].(*store)
	}
	s := &store{vars: map[string]*tf.Variable{}, parts: map[string]*Partitioned{}, opened: map[string]int{}}
	s.scope.getter = s.get
	if g != nil { // without a graph nothing is kept, and what asks for a variable fails
		g.AddToCollection(storeKey, s)
	}
	return s
}

var errNoFunction = tf.Errorf(tf.InvalidArgument, "a scope of variables needs a function to call, got nil")

// Scope calls f; variables that Get makes or finds in f have names that begin
// with name and a slash, and operations are in the name scope of that name. With the
// empty name only o is new.
func Scope(g *tf.Graph, name string, o ScopeOptions, f func()) {
	if f == nil {
		tf.Failed(g, "variable_scope", errNoFunction)
		return
	}
	s := storeOf(g)
	if name == "" || g == nil {
		s.within(s.scope.inside("", o), f)
		return
	}
	in := s.scope.inside(name, o)
	s.opened[in.name()]++
	defer s.closeBelow(in.prefix)
	g.Scope(name, func() {
		in.ops = g.CurrentScope()
		s.within(in, f)
	})
}

// Unique is Scope with a name that no other scope beside this one has had since
// the scope around was opened: name, name_1, and so on.
func Unique(g *tf.Graph, name string, o ScopeOptions, f func()) {
	s := storeOf(g)
	unique := name
	for n := 1; s.opened[s.scope.prefix+unique] > 0; n++ {
		unique = name + "_" + itoa(n)
	}
	Scope(g, unique, o, f)
}

// A Captured is a scope that was open once and can be entered again: the object
// that Python's tf.variable_scope returns.
type Captured struct {
	g     *tf.Graph
	scope scope
}

// Capture returns the scope that is open.
func Capture(g *tf.Graph) *Captured { return &Captured{author.Home(g), storeOf(g).scope} }

// Name returns the name of the scope.
func (c *Captured) Name() string { return c.scope.name() }

// OpsScope returns the prefix of names that operations of the scope got, with
// its slash: tf.Graph.Scope enters it again.
func (c *Captured) OpsScope() string { return c.scope.ops }

// Enter calls f in the scope, wherever it is called from, adjusted by o.
// Operations that f adds are named as if the scope had never been left.
func (c *Captured) Enter(o ScopeOptions, f func()) {
	if f == nil {
		tf.Failed(c.g, "variable_scope", errNoFunction)
		return
	}
	if c.g == nil {
		f()
		return
	}
	s := storeOf(c.g)
	counts := maps.Clone(s.opened)
	defer func() { s.opened = counts }() // what is opened inside has no effect outside
	c.g.Scope(c.scope.ops, func() { s.within(c.scope.inside("", o), f) })
}

// within calls f in scope in.
func (s *store) within(in scope, f func()) {
	outer := s.scope
	defer func() { s.scope = outer }()
	s.scope = in
	f()
}

// closeBelow forgets which scopes have been opened below one that is closed:
// when it is opened again to reuse its variables, the same names follow.
func (s *store) closeBelow(prefix string) {
	maps.DeleteFunc(s.opened, func(name string, _ int) bool { return strings.HasPrefix(name, prefix) })
}

// inside returns the scope below s.
func (s scope) inside(name string, o ScopeOptions) scope {
	in := scope{prefix: s.prefix, ops: s.ops, o: s.o, getter: s.getter}
	if name != "" {
		in.prefix += name + "/"
	}
	if o.Reuse != Inherit {
		in.o.Reuse = o.Reuse
	}
	if o.DType != tf.Invalid {
		in.o.DType = o.DType
	}
	if o.Initializer != nil {
		in.o.Initializer = o.Initializer
	}
	if o.Regularizer != nil {
		in.o.Regularizer = o.Regularizer
	}
	if o.Partitioner != nil {
		in.o.Partitioner = o.Partitioner
	}
	if custom := o.Getter; custom != nil {
		outer := s.getter
		in.getter = func(g *tf.Graph, name string, shape tf.Shape, o Options) *tf.Variable {
			return custom(outer, g, name, shape, o)
		}
	}
	return in
}

// Name returns the name of the current variable scope, "" outside of all.
func Name(g *tf.Graph) string { return storeOf(g).scope.name() }

func (s scope) name() string { return strings.TrimSuffix(s.prefix, "/") }

// HasPartitioner reports whether the current scope cuts variables into parts,
// which GetPartitioned then makes.
func HasPartitioner(g *tf.Graph) bool { return storeOf(g).scope.o.Partitioner != nil }

// Get returns the variable of that name in the current scope, and makes it if
// there is none and the scope allows it. A mistake (a name that is taken or
// missing, a shape or type other than the variable's) is kept by the graph and
// by what is computed from the variable.
func Get(g *tf.Graph, name string, shape tf.Shape, o ...Options) *tf.Variable {
	if g == nil {
		return failed(nil, name, errNoGraph)
	}
	if name == "" {
		return failed(g, "Variable", tf.Errorf(tf.InvalidArgument, "a variable must have a name, got \"\""))
	}
	s := storeOf(g)
	full := s.scope.prefix + name
	if v := s.scope.getter(g, full, shape, s.scope.complete(first(o))); v != nil {
		return v
	}
	return failed(g, full, tf.Errorf(tf.InvalidArgument, "a getter must return a variable, got nil for %s", full))
}

var errNoGraph = tf.Errorf(tf.InvalidArgument, "a variable needs a graph, got nil: make one by tf.NewGraph")

// first returns the options that were given, if any.
func first(o []Options) (opt Options) {
	if len(o) > 0 {
		opt = o[0]
	}
	return opt
}

// complete fills in what the scope says, or TensorFlow's defaults.
func (s *scope) complete(o Options) Options {
	if o.DType == tf.Invalid {
		o.DType = s.o.DType
	}
	if o.DType == tf.Invalid {
		o.DType = tf.Float32
	}
	if o.Initializer == nil {
		o.Initializer = s.o.Initializer
	}
	if o.Regularizer == nil {
		o.Regularizer = s.o.Regularizer
	}
	if o.Initializer == nil {
		o.Initializer = defaultInitializer(o.DType)
	}
	return o
}

// defaultInitializer is Glorot's for real numbers that are not whole, and zeros for what is
// counted or named. Complex numbers have none, as in TensorFlow: layers of zeros learn nothing.
func defaultInitializer(d tf.DType) initializers.Initializer {
	switch {
	case d.IsFloat():
		return initializers.GlorotUniform
	case d.IsComplex():
		return func(g *tf.Graph, d tf.DType, _ tf.Shape) tf.Output {
			return tf.Failed(g, "initializer", tf.Errorf(tf.InvalidArgument, "An initializer is required for a variable of %v", d)).Output(0)
		}
	}
	return initializers.Zeros
}

// All returns the variables that Get has made in a graph, by name.
func All(g *tf.Graph) []*tf.Variable {
	s := storeOf(g)
	var all []*tf.Variable
	for _, v := range s.vars {
		all = append(all, v)
	}
	slices.SortFunc(all, func(a, b *tf.Variable) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}
