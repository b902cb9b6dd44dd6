package core

import (
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A Library holds the functions of a graph by name. It does not change; Merge
// makes a larger one. The nil Library is empty.
type Library struct {
	list  []*function
	funcs map[string]*function
	ops   map[string]*OpDef // what a node that calls the function by name looks like
	grads map[string]string
	// gradients are the entries of grads as they were given.
	gradients []*pb.GradientDef
	// registered are the functions of gradients that nodes name, "" where two are named so.
	registered map[string]string
	// frozen: functions must not change, since attributes of nodes share large strings with them,
	// see [memory.Freeze], or since their nodes share attributes, see Adopt.
	frozen bool

	make sync.Once
	made *pb.FunctionDefLibrary // what Proto returns of one that is not frozen

	derive  sync.Once
	derived any
}

// Derived returns what make has worked out from l, the first time that it is
// asked for. The engine's passes keep there what they know of the functions.
func (l *Library) Derived(make func() any) any {
	l.derive.Do(func() { l.derived = make() })
	return l.derived
}

// NewLibrary reads a function library, which may be nil.
func NewLibrary(def *pb.FunctionDefLibrary) (*Library, error) {
	if isEmpty(def) {
		return nil, nil
	}
	l := &Library{funcs: map[string]*function{}, ops: map[string]*OpDef{}, grads: map[string]string{}, registered: map[string]string{}}
	if err := l.addAll(def); err != nil {
		return nil, err
	}
	return l, nil
}

func isEmpty(def *pb.FunctionDefLibrary) bool {
	return len(def.GetFunction()) == 0 && len(def.GetGradient()) == 0 && len(def.GetRegisteredGradients()) == 0
}

// addAll adds what def has to l, which nothing else uses yet.
func (l *Library) addAll(def *pb.FunctionDefLibrary) error {
	for _, f := range def.GetFunction() {
		if err := l.add(f); err != nil {
			return err
		}
	}
	for _, g := range def.GetGradient() {
		if err := l.addGradient(g); err != nil {
			return err
		}
	}
	for _, g := range def.GetRegisteredGradients() {
		l.register(g.GetRegisteredOpType(), g.GetGradientFunc())
	}
	return nil
}

// register notes which function a name of gradients stands for. Each program that has
// written a library has names of its own: one may stand for others in another library.
func (l *Library) register(name, grad string) {
	if have, ok := l.registered[name]; ok && have != grad {
		grad = ""
	}
	l.registered[name] = grad
}

func (l *Library) addGradient(g *pb.GradientDef) error {
	name, grad := g.GetFunctionName(), g.GetGradientFunc()
	have, ok := l.grads[name]
	if ok && have != grad {
		return Errorf(InvalidArgument, "Cannot assign gradient function '%s' to '%s' because it already has gradient function '%s'", grad, name, have)
	}
	if !ok {
		l.gradients = append(l.gradients, g)
	}
	l.grads[name] = grad
	return nil
}

func (l *Library) add(f *pb.FunctionDef) error {
	name := f.GetSignature().GetName()
	if have := l.funcs[name]; have != nil {
		if proto.Equal(have.message(), f) {
			return nil
		}
		return Errorf(InvalidArgument, "Cannot add function '%s' because a different function with the same name already exists.", name)
	}
	if registry[name] != nil {
		return Errorf(InvalidArgument, "Cannot add function '%s' because an op with the same name already exists.", name)
	}
	d, err := functionOp(f)
	if err != nil {
		return Errorf(InvalidArgument, "function '%s': %s", name, AsError(err).Message())
	}
	l.ops[name], l.funcs[name] = d, &function{def: f}
	l.list = append(l.list, l.funcs[name])
	l.frozen = l.frozen || hasFrozen(f)
	return nil
}

// Proto returns the library as it is written to a GraphDef, nil if it is empty. It is a
// copy if the library has what must not change: a program may change messages.
func (l *Library) Proto() *pb.FunctionDefLibrary {
	if l == nil {
		return nil
	}
	if l.frozen {
		return proto.CloneOf(l.message())
	}
	l.make.Do(func() { l.made = l.message() })
	return l.made
}

// message returns a message with the functions of l themselves.
func (l *Library) message() *pb.FunctionDefLibrary {
	out := &pb.FunctionDefLibrary{Gradient: l.gradients}
	for _, f := range l.list {
		out.Function = append(out.Function, f.message())
	}
	for _, name := range sortedKeys(l.registered) {
		if grad := l.registered[name]; grad != "" {
			out.RegisteredGradients = append(out.RegisteredGradients, &pb.RegisteredGradient{RegisteredOpType: name, GradientFunc: grad})
		}
	}
	return out
}

// Merge returns the functions of both libraries. One that both have must be the
// same in both.
func (l *Library) Merge(def *pb.FunctionDefLibrary) (*Library, error) {
	if l == nil {
		return NewLibrary(def)
	}
	if isEmpty(def) {
		return l, nil
	}
	out := l.clone()
	if err := out.addAll(def); err != nil {
		return nil, err
	}
	return out, nil
}

// clone returns a library with the functions of l, to which others can be added.
func (l *Library) clone() *Library {
	return &Library{
		list: slices.Clip(l.list), gradients: slices.Clip(l.gradients),
		funcs: maps.Clone(l.funcs), ops: maps.Clone(l.ops), grads: maps.Clone(l.grads), frozen: l.frozen,
		registered: maps.Clone(l.registered),
	}
}

// Adopt is Merge for a message that the caller gives away, and whose nodes may share the
// messages of their attributes.
func (l *Library) Adopt(def *pb.FunctionDefLibrary) (*Library, error) {
	out, err := l.Merge(def)
	if err == nil && out != l {
		out.frozen = true
	}
	return out, err
}

// With returns l and one function more.
func (l *Library) With(def *pb.FunctionDef) (*Library, error) {
	if l == nil {
		return NewLibrary(&pb.FunctionDefLibrary{Function: []*pb.FunctionDef{def}})
	}
	out := l.clone()
	return out, out.add(def)
}

// Find returns the definition of a function, or nil.
func (l *Library) Find(name string) *pb.FunctionDef {
	if l == nil {
		return nil
	}
	if f := l.funcs[name]; f != nil {
		return f.message()
	}
	return nil
}

// Gradient returns the name of the function that computes the gradient of
// another, "" if none is defined.
func (l *Library) Gradient(name string) string {
	if l == nil {
		return ""
	}
	return l.grads[name]
}

// Registered returns the name of the function that computes the gradient of nodes whose
// attribute _gradient_op_type is name, "" if none is defined. Its arguments are the gradients
// of the node's outputs and what it captures.
func (l *Library) Registered(name string) string {
	if l == nil {
		return ""
	}
	return l.registered[name]
}

// Names returns the names of all functions, sorted.
func (l *Library) Names() []string {
	if l == nil {
		return nil
	}
	return sortedKeys(l.funcs)
}

// LookupOp returns the definition of an op or of a function that is called as
// one.
func (l *Library) LookupOp(name string) (*OpDef, error) {
	if l != nil && l.ops[name] != nil {
		return l.ops[name], nil
	}
	return LookupOp(name)
}

// Key returns a text that tells f, with its attributes, from all others.
func (f Func) Key() string {
	if len(f.Attrs) == 0 {
		return f.Name
	}
	p, err := funcProto(f)
	if err != nil {
		return f.Name + f.Attrs.String()
	}
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	return string(b)
}
