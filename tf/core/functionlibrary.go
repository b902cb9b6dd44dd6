package core

import (
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Library holds the functions of a graph by name. It does not change; Merge
// makes a larger one. The nil Library is empty.
type Library struct {
	def   *pb.FunctionDefLibrary
	funcs map[string]*pb.FunctionDef
	ops   map[string]*OpDef // what a node that calls the function by name looks like
	grads map[string]string
	// frozen: def must not change, since attributes of nodes share large strings with it,
	// see [memory.Freeze], or since its nodes share attributes, see Adopt.
	frozen bool

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
	if len(def.GetFunction()) == 0 && len(def.GetGradient()) == 0 {
		return nil, nil
	}
	l := &Library{def: def, funcs: map[string]*pb.FunctionDef{}, ops: map[string]*OpDef{}, grads: map[string]string{}}
	for _, f := range def.GetFunction() {
		if err := l.add(f); err != nil {
			return nil, err
		}
	}
	for _, g := range def.GetGradient() {
		if err := l.addGradient(g); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Library) addGradient(g *pb.GradientDef) error {
	name, grad := g.GetFunctionName(), g.GetGradientFunc()
	if have, ok := l.grads[name]; ok && have != grad {
		return Errorf(InvalidArgument, "Cannot assign gradient function '%s' to '%s' because it already has gradient function '%s'", grad, name, have)
	}
	l.grads[name] = grad
	return nil
}

func (l *Library) add(f *pb.FunctionDef) error {
	name := f.GetSignature().GetName()
	if have := l.funcs[name]; have != nil {
		if proto.Equal(have, f) {
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
	l.funcs[name], l.ops[name] = f, d
	l.frozen = l.frozen || hasFrozen(f)
	return nil
}

// hasFrozen reports whether a function has strings that must not change.
func hasFrozen(f *pb.FunctionDef) bool {
	for _, n := range f.GetNodeDef() {
		for _, v := range n.GetAttr() {
			if memory.Frozen(v.GetS()) {
				return true
			}
		}
	}
	return false
}

// Proto returns the library as it is written to a GraphDef, nil if it is empty. It is a
// copy if the library has what must not change: a program may change messages.
func (l *Library) Proto() *pb.FunctionDefLibrary {
	if l == nil {
		return nil
	}
	if l.frozen {
		return proto.CloneOf(l.def)
	}
	return l.def
}

// Merge returns the functions of both libraries. One that both have must be the
// same in both.
func (l *Library) Merge(def *pb.FunctionDefLibrary) (*Library, error) {
	if l == nil {
		return NewLibrary(def)
	}
	if len(def.GetFunction()) == 0 && len(def.GetGradient()) == 0 {
		return l, nil
	}
	out := &Library{
		def:   &pb.FunctionDefLibrary{Function: slices.Clone(l.def.GetFunction()), Gradient: slices.Clone(l.def.GetGradient())},
		funcs: maps.Clone(l.funcs), ops: maps.Clone(l.ops), grads: maps.Clone(l.grads), frozen: l.frozen,
	}
	for _, f := range def.GetFunction() {
		known := len(out.funcs)
		if err := out.add(f); err != nil {
			return nil, err
		}
		if len(out.funcs) > known {
			out.def.Function = append(out.def.Function, f)
		}
	}
	for _, g := range def.GetGradient() {
		known := len(out.grads)
		if err := out.addGradient(g); err != nil {
			return nil, err
		}
		if len(out.grads) > known {
			out.def.Gradient = append(out.def.Gradient, g)
		}
	}
	return out, nil
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
	out := &Library{
		def:   &pb.FunctionDefLibrary{Function: append(slices.Clip(l.def.GetFunction()), def), Gradient: l.def.GetGradient()},
		funcs: maps.Clone(l.funcs), ops: maps.Clone(l.ops), grads: l.grads, frozen: l.frozen,
	}
	return out, out.add(def)
}

// Find returns the definition of a function, or nil.
func (l *Library) Find(name string) *pb.FunctionDef {
	if l == nil {
		return nil
	}
	return l.funcs[name]
}

// Gradient returns the name of the function that computes the gradient of
// another, "" if none is defined.
func (l *Library) Gradient(name string) string {
	if l == nil {
		return ""
	}
	return l.grads[name]
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
