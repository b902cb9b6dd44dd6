package tf

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/pb"
)

// A Library holds the functions of a graph by name. It does not change; Merge
// makes a larger one. The nil Library is empty.
type Library struct {
	def   *pb.FunctionDefLibrary
	funcs map[string]*pb.FunctionDef
	ops   map[string]*OpDef // what a node that calls the function by name looks like
	grads map[string]string
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
		name, grad := g.GetFunctionName(), g.GetGradientFunc()
		if have, ok := l.grads[name]; ok && have != grad {
			return nil, Errorf(InvalidArgument, "Cannot assign gradient function '%s' to '%s' because it already has gradient function '%s'", grad, name, have)
		}
		l.grads[name] = grad
	}
	return l, nil
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
	return nil
}

// Proto returns the library as it is written to a GraphDef, nil if it is empty.
func (l *Library) Proto() *pb.FunctionDefLibrary {
	if l == nil {
		return nil
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
	out := &pb.FunctionDefLibrary{Function: slices.Clone(l.def.GetFunction()), Gradient: slices.Clone(l.def.GetGradient())}
	for _, f := range def.GetFunction() {
		if have := l.funcs[f.GetSignature().GetName()]; have == nil || !proto.Equal(have, f) {
			out.Function = append(out.Function, f)
		}
	}
	for _, g := range def.GetGradient() {
		if l.grads[g.GetFunctionName()] != g.GetGradientFunc() {
			out.Gradient = append(out.Gradient, g)
		}
	}
	return NewLibrary(out)
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

// Reachable returns the part of l that the given nodes and function attributes
// can call, directly or not.
func (l *Library) Reachable(nodes func(yield func(op string, attrs Attrs) bool)) *Library {
	if l == nil {
		return nil
	}
	r := &reach{l: l, seen: map[string]bool{}}
	for op, attrs := range nodes {
		r.name(op)
		r.attrs(attrs)
	}
	for len(r.todo) > 0 {
		f := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		for _, n := range f.GetNodeDef() {
			r.name(n.GetOp())
			for _, v := range n.GetAttr() {
				r.value(v)
			}
		}
	}
	return r.library()
}

// reach finds the functions that can be called.
type reach struct {
	l    *Library
	seen map[string]bool
	todo []*pb.FunctionDef
}

func (r *reach) name(name string) {
	f := r.l.funcs[name]
	if f == nil || r.seen[name] {
		return
	}
	r.seen[name] = true
	r.todo = append(r.todo, f)
	if g := r.l.grads[name]; g != "" {
		r.name(g)
	}
}

func (r *reach) attrs(attrs Attrs) {
	for _, v := range attrs {
		switch v := v.(type) {
		case Func:
			r.call(v)
		case []Func:
			for _, f := range v {
				r.call(f)
			}
		}
	}
}

func (r *reach) call(f Func) {
	r.name(f.Name)
	r.attrs(f.Attrs)
}

func (r *reach) value(v *pb.AttrValue) {
	funcs := v.GetList().GetFunc()
	if f := v.GetFunc(); f != nil {
		funcs = append(slices.Clip(funcs), f)
	}
	for _, f := range funcs {
		r.name(f.GetName())
		for _, v := range f.GetAttr() {
			r.value(v)
		}
	}
}

func (r *reach) library() *Library {
	if len(r.seen) == 0 {
		return nil
	}
	out := &Library{def: &pb.FunctionDefLibrary{}, funcs: map[string]*pb.FunctionDef{}, ops: map[string]*OpDef{}, grads: map[string]string{}}
	for _, f := range r.l.def.GetFunction() {
		if name := f.GetSignature().GetName(); r.seen[name] && out.funcs[name] == nil {
			out.funcs[name], out.ops[name] = f, r.l.ops[name]
			out.def.Function = append(out.def.Function, f)
		}
	}
	for _, g := range r.l.def.GetGradient() {
		if name := g.GetFunctionName(); r.seen[name] && out.grads[name] == "" {
			out.grads[name] = g.GetGradientFunc()
			out.def.Gradient = append(out.def.Gradient, g)
		}
	}
	return out
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
