package tf

import "strings"

// A Variable is a tensor that outlives steps: a resource on a device, read and
// assigned by operations. In a session its initializer has to run before it
// is read; in an eager graph it is initialized at once.
type Variable struct {
	name    string
	handle  Output
	read    Output // the one read that graphs share; none in eager graphs
	initial Output
	init    *Operation
	isInit  Output
	dtype   DType
	shape   Shape
	train   bool
	slots   map[string]*Variable
	slice   *SliceInfo // if it is a part of a larger variable
	ref     bool       // of the old kind, which hands out references

	constraint func(v Output) Output
}

// Names of TensorFlow's collections of variables.
const (
	GlobalVariables    = "variables"
	LocalVariables     = "local_variables"
	TrainableVariables = "trainable_variables"
	// ModelVariables are those of layers, without what optimizers keep.
	ModelVariables = "model_variables"
	// MovingAverageVariables have averages.
	MovingAverageVariables = "moving_average_variables"
	// GlobalStep holds the variable that counts updates.
	GlobalStep = "global_step"
)

// A VariableOptions adjusts a new variable.
type VariableOptions struct {
	Name         string // "Variable" if empty
	NotTrainable bool
	Local        bool // not saved, initialized on each task (a counter of epochs, say)
	Device       string
	ColocateWith *Variable
	// Constraint is what optimizers make of the variable's value after each
	// update: a projection onto the values that are allowed.
	Constraint func(v Output) Output
	// Reference makes a variable of the old kind, as programs without
	// use_resource have it: a step's reads of it may see assignments of the
	// same step that come later.
	Reference bool
}

// NewVariable adds a variable with the initial value that initial computes. It does
// not depend on control inputs in force, unless initial does: see [Graph.InitScope].
// Nodes are named as TensorFlow names them: v, v/Assign, v/Read/ReadVariableOp.
func NewVariable(initial Output, o VariableOptions) *Variable {
	if o.Name == "" {
		o.Name = "Variable"
	}
	v := &Variable{initial: initial, dtype: initial.DType(), shape: initial.Shape(), train: !o.NotTrainable, ref: o.Reference, constraint: o.Constraint}
	g := initial.Graph()
	if g == nil {
		g = NewGraph()
		g.fail(initial.Err())
	}
	if g = g.current(); g.functions.body != nil {
		g.fail(Errorf(InvalidArgument, "variables must be made outside of functions, %q is made in %s: make it before the function is traced", o.Name, g.functions.body.name))
	}
	v.ref = v.ref && !g.IsEager()
	g.outside(g.scope.flow, func() { // whoever initializes v need not run what is going on
		v.addHandle(g, &o)
		v.addOps(g)
	})
	if v.collect(g, o.Local); !o.Local {
		v.told(g)
	}
	return v
}

// told tells whoever asks for new variables of an eager graph of v. Its error becomes v's.
func (v *Variable) told(g *Graph) {
	if made := g.eager.made; made != nil && v.handle.Err() == nil {
		if err := made(v); err != nil {
			v.handle = Failed(g, "Variable", err).Output(0)
		}
	}
}

// addOps adds what every variable has beside its handle.
func (v *Variable) addOps(g *Graph) {
	if g.IsEager() {
		v.init = v.assign("Assign", v.initial)
		v.initial = Output{} // which would keep the memory of its value
		return
	}
	if v.ref {
		v.init = v.assign("Assign", v.initial, Name(v.name+"/Assign/"))
		v.read = Apply(g, "Identity", []Output{v.handle}, Name(v.name+"/read/"), colocated(v)).Output(0)
		return
	}
	v.isInit = Apply(g, "VarIsInitializedOp", []Output{v.handle}, Name(v.name+"/IsInitialized/VarIsInitializedOp/")).Output(0)
	v.init = v.assign("Assign", v.initial, Name(v.name+"/Assign/"))
	v.read = Apply(g, "ReadVariableOp", []Output{v.handle}, Attr("dtype", v.dtype), Name(v.name+"/Read/ReadVariableOp/"), colocated(v)).Output(0)
}

func colocated(v *Variable) Option {
	if v.handle.Err() != nil {
		return nil
	}
	return ColocateWith(v.handle.op)
}

// addHandle adds the node that names the variable.
func (v *Variable) addHandle(g *Graph, o *VariableOptions) {
	v.name = g.UniqueName(o.Name)
	if err := v.initial.Err(); err != nil { // what is made of the variable has the same error
		if v.handle = v.initial; v.initial.IsZero() {
			v.handle = Failed(g, "Variable", err).Output(0)
		}
		return
	}
	kind, opts := "VarHandleOp", []Option{Name(v.name + "/"), Attr("dtype", v.dtype), Attr("shape", v.shape), OnDevice(o.Device)}
	if v.ref {
		kind = "VariableV2" // known by its node's name
	} else {
		opts = append(opts, Attr("shared_name", v.name))
	}
	if o.ColocateWith != nil {
		opts = append(opts, colocated(o.ColocateWith))
	}
	v.handle = Apply(g, kind, nil, opts...).Output(0)
}

func (v *Variable) collect(g *Graph, local bool) {
	if g.Finalized() {
		return // v has the error
	}
	if local {
		g.AddToCollection(LocalVariables, v)
		return
	}
	g.AddToCollection(GlobalVariables, v)
	if v.train {
		g.AddToCollection(TrainableVariables, v)
	}
}

var errNoVariable = Errorf(InvalidArgument, "a variable must not be nil: what returned it, as ExponentialMovingAverage.Average does before Apply, had none")

// sure returns v or, where there is none, a variable all of whose operations have the error
// that says so, with the program's line.
func (v *Variable) sure() *Variable {
	if v != nil {
		return v
	}
	x := Failed(nil, "Variable", errNoVariable).Output(0)
	return &Variable{handle: x, read: x, initial: x, init: x.op, isInit: x}
}

// Operation returns the operation that gives the variable's value, so that a session
// can be asked for a variable; nil if there is no variable.
func (v *Variable) Operation() *Operation {
	if v == nil {
		return nil
	}
	return v.Value().Operation()
}

// Name returns the variable's name.
func (v *Variable) Name() string { return v.sure().name }

// Graph returns the graph that the variable belongs to.
func (v *Variable) Graph() *Graph { return v.sure().handle.Graph() }

// DType returns the type of the variable's value.
func (v *Variable) DType() DType { return v.sure().dtype }

// Shape returns the shape of the variable's value, as far as it is fixed.
func (v *Variable) Shape() Shape { return v.sure().shape }

// Constraint returns what optimizers make of the variable's value after each
// update, nil if they leave it as it is.
func (v *Variable) Constraint() func(v Output) Output { return v.sure().constraint }

// IsReference reports whether v is a variable of the old kind.
func (v *Variable) IsReference() bool { return v.sure().ref }

// Handle returns what operations on the variable take: a resource, or the
// reference of a variable of the old kind.
func (v *Variable) Handle() Output { return v.sure().handle }

// Initializer returns the operation that gives the variable its initial value, nil if
// the graph was read from a file that names none.
func (v *Variable) Initializer() *Operation { return v.sure().init }

// SetInitial makes x, of the variable's type and shape, its initial value, before
// operations that run the initializer have been added: a value from a checkpoint,
// say.
func (v *Variable) SetInitial(x Output, opts ...Option) {
	v = v.sure()
	v.initial = x
	v.init = v.assign("Assign", x, Join(opts, colocated(v))...)
}

// Initial returns the initial value. In an eager graph, which does not keep
// it, that is the value that the variable has.
func (v *Variable) Initial() Output {
	v = v.sure()
	if v.initial.IsZero() {
		return v.Value()
	}
	return v.initial
}

// IsInitialized returns whether the variable has a value, as a bool scalar.
func (v *Variable) IsInitialized() Output {
	v = v.sure()
	if v.isInit.IsZero() {
		op := "VarIsInitializedOp"
		if v.ref {
			op = "IsVariableInitialized"
		}
		return Apply(nil, op, []Output{v.handle}).Output(0)
	}
	return v.isInit
}

// Value returns the variable's value. In a graph all uses share one read,
// which a step does before or after assignments as control dependencies say;
// see Read.
func (v *Variable) Value() Output {
	v = v.sure()
	if v.read.IsZero() || v.read.op.g.functions.inner != nil {
		return v.Read()
	}
	return v.read
}

// Read adds a read of its own, which runs after the control dependencies in
// force.
func (v *Variable) Read(opts ...Option) (x Output) {
	v = v.sure()
	op := "Identity"
	if !v.ref {
		op, opts = "ReadVariableOp", Join(opts, Attr("dtype", v.dtype))
	}
	return Apply(nil, op, []Output{v.handle}, Join(opts, inScope(v.Graph(), "Read"))...).Output(0)
}

// inScope names an operation of g in a scope of its own that nothing else can enter: Scope
// would have what other goroutines add meanwhile in it, too.
func inScope(g *Graph, name string) Option {
	return optionFunc(func(s *Spec) {
		g := g.current()
		if prefix := g.prefixOf(name); !g.IsEager() && !strings.HasSuffix(s.Name, "/") {
			s.Name = g.scope.names.unique(prefix+s.Name) + "/"
		}
	})
}

// Assign adds an operation that makes x, of the variable's type and shape, the
// variable's value. In an eager graph this happens at once, unless the operation
// has an error.
func (v *Variable) Assign(x Output, opts ...Option) *Operation {
	return v.assign("Assign", x, opts...)
}

// AssignAdd adds an operation that adds x to the variable.
func (v *Variable) AssignAdd(x Output, opts ...Option) *Operation {
	return v.assign("AssignAdd", x, opts...)
}

// AssignSub adds an operation that subtracts x from the variable.
func (v *Variable) AssignSub(x Output, opts ...Option) *Operation {
	return v.assign("AssignSub", x, opts...)
}

func (v *Variable) assign(op string, x Output, opts ...Option) *Operation {
	if v == nil {
		return Failed(x.Graph(), op, errNoVariable)
	}
	if v.ref {
		return Apply(nil, op, []Output{v.handle, x}, opts...)
	}
	if g := v.Graph(); g.IsEager() && !v.shape.Compatible(x.Shape()) { // eager handles do not know the shape that the variable was declared with
		return Failed(g.current(), op+"VariableOp", Errorf(InvalidArgument, "a variable's value must have its shape: variable %s has %v, the value %v", v.name, v.shape, x.Shape()))
	}
	return Apply(nil, op+"VariableOp", []Output{v.handle, x}, Join(opts, Attr("dtype", v.dtype))...)
}

// Slot returns the variable that an optimizer keeps beside v under a name,
// making it with initial when it is first asked for. It is called v/name and
// lives on v's device.
func (v *Variable) Slot(name string, initial func() Output) *Variable {
	return v.SlotIn("", name, initial)
}

// SlotIn is Slot for an optimizer in a variable scope, whose name the slot's
// begins with: scope/v/name. A slot of a part of a larger variable is a part too,
// of what checkpoints have under the larger variable's name.
func (v *Variable) SlotIn(scope, name string, initial func() Output) *Variable {
	if v == nil {
		return v.sure()
	}
	full := v.name + "/" + name
	if scope != "" {
		full = scope + "/" + full
	}
	s := v.beside(name, full, initial)
	if part := v.slice; part != nil && s.slice == nil && s.Shape().Equal(v.Shape()) {
		// TensorFlow cuts off as many bytes as v's name has, even if the slot's does
		// not begin with it: dnn/dnn/w/part_0/Adam is called dnn/w/t_0/Adam.
		s.SetSlice(SliceInfo{FullName: part.FullName + "/" + s.name[len(v.name)+1:], FullShape: part.FullShape, Offset: part.Offset, Shape: part.Shape})
	}
	return s
}

// Shared returns the variable of the given name that an optimizer keeps for
// all variables it was given, v the first of them. Its name begins with that of
// the scope of operations that is open.
func (v *Variable) Shared(name string, initial func() Output) *Variable {
	if v == nil {
		return v.sure()
	}
	return v.beside(name, v.Graph().CurrentScope()+name, initial)
}

func (v *Variable) beside(key, name string, initial func() Output) *Variable {
	if s := v.slots[key]; s != nil {
		return s
	}
	if v.slots == nil {
		v.slots = map[string]*Variable{}
	}
	g := v.Graph()
	g.InitScope(func() { // a step in a branch or a loop updates what is outside
		g.Scope("", func() {
			v.slots[key] = NewVariable(initial(), VariableOptions{Name: name, NotTrainable: true, ColocateWith: v, Reference: v.ref})
		})
	})
	return v.slots[key]
}

// Variables returns the variables of one of g's collections, in the order they
// were added. The body of a function has those of the graphs around, too.
func Variables(g *Graph, collection string) []*Variable {
	var out []*Variable
	if g != nil && g.functions.body != nil {
		out = Variables(g.functions.body.outer, collection)
	}
	for _, x := range g.Collection(collection) {
		if v, ok := x.(*Variable); ok {
			out = append(out, v)
		}
	}
	return out
}

// InitializeAll adds an operation that initializes all global and local
// variables that the graph has so far.
func InitializeAll(g *Graph) *Operation {
	var ops []*Operation
	for _, c := range []string{GlobalVariables, LocalVariables} {
		for _, v := range Variables(g, c) {
			if v.init != nil { // some that are read from a file have none
				ops = append(ops, v.init)
			}
		}
	}
	return Group(g, "init", ops...)
}
