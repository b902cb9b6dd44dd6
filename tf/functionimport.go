package tf

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// inFunctions returns the operation that o names in the body of a function of g. If g
// has no such function, as when o names none, it returns the only operation of that
// name in all bodies, nil if none or several have one.
func (g *Graph) inFunctions(o core.Origin) (found *Operation) {
	functions := &g.outermost().functions
	if b := functions.find(o.Function); b != nil {
		return b.f.body.Operation(o.Node)
	}
	for _, body := range functions.bodies() {
		if op := body.Operation(o.Node); op != nil {
			if found != nil {
				return nil
			}
			found = op
		}
	}
	return found
}

// callee returns the function that f names, to be called with in: as it was
// traced, or from the library.
func (g *Graph) callee(f core.Func, in []Output) (*binding, error) {
	if b := g.outermost().functions.find(f.Name); b != nil && len(f.Attrs) == 0 {
		return b, nil
	}
	library, _ := g.Library()
	body, err := library.Body(f)
	if err != nil {
		return nil, err
	}
	if len(in) != len(body.Args) {
		return nil, Errorf(InvalidArgument, "function %s takes %d arguments, got %d", f.Name, len(body.Args), len(in))
	}
	i := &bodyImport{f: newFunction(g, f.Name), body: body, args: map[string]Output{}}
	if err := i.run(SpecOf(in...)); err != nil {
		return nil, err
	}
	return &binding{f: i.f, name: f.Name, args: slices.Clone(i.f.own), rets: i.f.rets}, nil
}

// bodyImport makes a function of the library one that might have been traced.
type bodyImport struct {
	f    *Function
	body *core.FunctionBody
	args map[string]Output
	rets map[string]string // by name of the node: what it returns
}

func (i *bodyImport) run(args []ArgSpec) error {
	for k, name := range i.body.Args {
		args[k].Name, args[k].DType = name, i.body.ArgTypes[k]
		i.args[name] = i.f.addNamedArg(args[k])
		i.f.own = append(i.f.own, i.args[name])
	}
	nodes, err := i.nodes()
	if err != nil {
		return err
	}
	def := &pb.GraphDef{Node: nodes, Versions: i.body.Graph.GetVersions()}
	if err := i.f.body.ImportProto(def, ImportOptions{Inputs: i.used(def)}); err != nil {
		return err
	}
	for _, name := range i.body.Rets {
		x, err := i.result(i.rets[name])
		if err != nil {
			return err
		}
		i.f.rets = append(i.f.rets, x)
	}
	for _, name := range i.body.ControlRets {
		op := i.f.body.Operation(name)
		if op == nil { // a list of arguments, or a node that gives a result
			return Errorf(InvalidArgument, "Control return %s of function %s is no operation.", name, i.f.name)
		}
		i.f.effects = append(i.f.effects, op)
	}
	return nil
}

func (i *bodyImport) result(name string) (Output, error) {
	if x, ok := i.args[name]; ok {
		return x, nil
	}
	return i.f.body.Output(name)
}

// nodes returns the nodes of the body without arguments and results. Nothing
// has to wait for an argument.
func (i *bodyImport) nodes() (out []*pb.NodeDef, err error) {
	i.rets = map[string]string{}
	for _, n := range i.body.Graph.GetNode() {
		switch core.RoleOf(n.GetOp()) {
		case core.Argument:
		case core.Result:
			if len(n.GetInput()) == 0 {
				return nil, Errorf(InvalidArgument, "node '%s' of function %s must have an input", n.GetName(), i.f.name)
			}
			i.rets[n.GetName()] = n.GetInput()[0]
		default:
			out = append(out, i.withoutArgControl(n))
		}
	}
	return out, nil
}

func (i *bodyImport) withoutArgControl(n *pb.NodeDef) *pb.NodeDef {
	onArg := func(in string) bool {
		name, control := strings.CutPrefix(in, "^")
		_, arg := i.args[name]
		return control && arg
	}
	if !slices.ContainsFunc(n.GetInput(), onArg) {
		return n
	}
	return &pb.NodeDef{Name: n.GetName(), Op: n.GetOp(), Device: n.GetDevice(), Attr: n.GetAttr(), Input: slices.DeleteFunc(slices.Clone(n.GetInput()), onArg)}
}

// used returns the arguments that nodes read.
func (i *bodyImport) used(def *pb.GraphDef) map[string]Output {
	out := map[string]Output{}
	for _, n := range def.GetNode() {
		for _, in := range n.GetInput() {
			if x, ok := i.args[in]; ok {
				out[in] = x
			}
		}
	}
	return out
}

// oldFlow reports whether the body has conditionals or loops of the old kind,
// which gradients go through only with contexts that a library does not have.
func (b *binding) oldFlow() bool {
	return slices.ContainsFunc(b.f.body.published.all(), func(op *Operation) bool { return op.isSwitch() || op.isEnter() || op.isMerge() })
}
