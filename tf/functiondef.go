package tf

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A binding is a function as the library has it: with what it captures among
// its arguments, in an order that suits its callers.
type binding struct {
	f          *Function
	name       string
	args, rets []Output
	stateful   bool
}

// bind returns f as a function of its own arguments and of captured, among
// which has to be all that f captures. A loop's body returns those arguments,
// too.
func (f *Function) bind(captured []Output, loop bool) (*binding, error) {
	b := binding{f: f, args: slices.Clone(f.own), rets: slices.Clone(f.rets)}
	for _, x := range captured {
		y := f.argFor(x)
		if b.args = append(b.args, y); loop {
			b.rets = append(b.rets, y)
		}
	}
	return b.define()
}

// argFor returns the argument for x, an output around f, which need not be used.
func (f *Function) argFor(x Output) Output {
	if i := slices.Index(f.captured, x); i >= 0 {
		return f.inner[i]
	}
	return f.capturePlain(x)
}

// define puts b in the library, unless it is there.
func (b *binding) define() (*binding, error) {
	f := b.f
	for i := range f.bound {
		if have := &f.bound[i]; slices.Equal(have.args, b.args) && slices.Equal(have.rets, b.rets) {
			return have, nil
		}
	}
	root := f.outer.outermost()
	library, _ := root.Library()
	b.name = f.name
	for i := 1; library.Find(b.name) != nil; i++ {
		b.name = fmt.Sprintf("%s_%d", f.name, i)
	}
	def, err := b.proto()
	if err != nil {
		return nil, err
	}
	if err := root.published.addFunction(def); err != nil {
		return nil, err
	}
	b.stateful = def.GetSignature().GetIsStateful()
	f.bound = append(f.bound, *b)
	root.functions.keep(b)
	return b, nil
}

// needed returns the operations of the body that results and effects depend on,
// without arguments, in order.
func (b *binding) needed() []*Operation {
	seen := map[*Operation]bool{}
	var todo []*Operation
	visit := func(op *Operation) {
		if !seen[op] {
			seen[op] = true
			todo = append(todo, op)
		}
	}
	for _, op := range b.f.effects {
		visit(op)
	}
	for _, x := range b.rets {
		visit(x.op)
	}
	for len(todo) > 0 {
		op := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range op.sources() {
			visit(x)
		}
	}
	return slices.DeleteFunc(slices.Clone(b.f.body.published.all()), func(op *Operation) bool { return !seen[op] || op.Role() == core.Argument })
}

// proto returns b as it is written to a library.
func (b *binding) proto() (*pb.FunctionDef, error) {
	ops := b.needed()
	def := &pb.FunctionDef{Signature: &pb.OpDef{Name: b.name, IsStateful: stateful(ops)}, Ret: map[string]string{}, ArgAttr: map[uint32]*pb.FunctionDef_ArgAttrs{}}
	for i, x := range b.args {
		def.Signature.InputArg = append(def.Signature.InputArg, &pb.OpDef_ArgDef{Name: x.op.Name, Type: pb.DataType(x.DType())})
		if s := x.Shape(); s != nil {
			shapes, err := core.AttrProto([]Shape{s})
			if err != nil {
				return nil, err
			}
			def.ArgAttr[uint32(i)] = &pb.FunctionDef_ArgAttrs{Attr: map[string]*pb.AttrValue{"_output_shapes": shapes}}
		}
	}
	for _, op := range ops {
		n, err := op.bodyProto()
		if err != nil {
			return nil, err
		}
		def.NodeDef = append(def.NodeDef, n)
	}
	names := map[string]bool{}
	for _, x := range b.rets {
		name := unusedIn(names, argName(x.op.Name))
		def.Signature.OutputArg = append(def.Signature.OutputArg, &pb.OpDef_ArgDef{Name: name, Type: pb.DataType(x.DType().Base())})
		def.Ret[name] = x.inBody()
	}
	for _, op := range b.f.effects {
		name := unusedIn(names, op.Name)
		def.Signature.ControlOutput = append(def.Signature.ControlOutput, name)
		if def.ControlRet == nil {
			def.ControlRet = map[string]string{}
		}
		def.ControlRet[name] = op.Name
	}
	return def, nil
}

// unusedIn returns name, with a suffix if it is taken, and takes it.
func unusedIn(taken map[string]bool, name string) string {
	for base, i := name, 1; taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	taken[name] = true
	return name
}

// bodyProto returns op as a node of a function's body, where inputs are named
// otherwise than in a graph.
func (op *Operation) bodyProto() (*pb.NodeDef, error) {
	n, err := op.NodeProto()
	if err != nil {
		return nil, err
	}
	for i, x := range op.in {
		n.Input[i] = x.inBody()
	}
	return n, nil
}

// inBody returns the name of x in a function's body: "node:product:0", or that
// of an argument.
func (x Output) inBody() string {
	if x.op.Role() == core.Argument {
		return x.op.Name
	}
	return x.op.InBody(x.k)
}
