// Package vars gives variables their names and shares them: TensorFlow's
// variable_scope and get_variable.
package vars

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
)

// Reuse says whether Get may make a variable.
type Reuse uint8

const (
	// Inherit: as the scope around says. Outermost, Get makes variables and
	// refuses names that are taken.
	Inherit Reuse = iota
	// Always: the variable has to exist. Scopes inside cannot take that back.
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
	// all. Getters of scopes around are called by those inside.
	Getter func(get Getter, g *tf.Graph, name string, s tf.Shape, o Options) *tf.Variable
}

// store is what a graph knows of its variables; it is kept, as in TensorFlow,
// in a collection.
type store struct {
	vars  map[string]*tf.Variable
	parts map[string]*Partitioned
	scope scope          // the current one
	named map[string]int // how often Unique has opened a name
}

type scope struct {
	prefix string // "a/b/", or ""
	o      ScopeOptions
	getter Getter
}

const storeKey = "__variable_store"

func storeOf(g *tf.Graph) *store {
	if c := g.Collection(storeKey); len(c) > 0 {
		return c[0].(*store)
	}
	s := &store{vars: map[string]*tf.Variable{}, parts: map[string]*Partitioned{}, named: map[string]int{}}
	s.scope.getter = s.get
	g.AddToCollection(storeKey, s)
	return s
}

// Scope calls f; variables that Get makes or finds in f have names that begin
// with name and a slash, and operations are in the name scope of that name. With the
// empty name only o is new.
func Scope(g *tf.Graph, name string, o ScopeOptions, f func()) {
	s := storeOf(g)
	outer := s.scope
	defer func() { s.scope = outer }()
	s.scope = outer.inside(name, o)
	if name == "" {
		f()
		return
	}
	g.Scope(name, f)
}

// Unique is Scope with a name that no other scope beside this one has: name,
// name_1, and so on.
func Unique(g *tf.Graph, name string, o ScopeOptions, f func()) {
	s := storeOf(g)
	full := s.scope.prefix + name
	n := s.named[full]
	s.named[full]++
	if n > 0 {
		name += "_" + itoa(n)
	}
	Scope(g, name, o, f)
}

// inside returns the scope below s.
func (s scope) inside(name string, o ScopeOptions) scope {
	in := scope{prefix: s.prefix, o: s.o, getter: s.getter}
	if name != "" {
		in.prefix += name + "/"
	}
	if o.Reuse != Inherit && s.o.Reuse != Always {
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
func Name(g *tf.Graph) string { return strings.TrimSuffix(storeOf(g).scope.prefix, "/") }

// Get returns the variable of that name in the current scope, and makes it if
// there is none and the scope allows it. A mistake (a name that is taken or
// missing, a shape or type other than the variable's) is kept by the graph and
// by what is computed from the variable.
func Get(g *tf.Graph, name string, shape tf.Shape, o ...Options) *tf.Variable {
	s := storeOf(g)
	var opt Options
	if len(o) > 0 {
		opt = o[0]
	}
	return s.scope.getter(g, s.scope.prefix+name, shape, s.scope.complete(opt))
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

// defaultInitializer is Glorot's for numbers that are not whole, zeros for
// others.
func defaultInitializer(d tf.DType) initializers.Initializer {
	if d.IsFloat() {
		return initializers.GlorotUniform
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
