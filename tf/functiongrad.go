package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() { core.RegisterGradientBody(gradientBody) }

// gradientBody returns the body of the gradient of f: what the library defines
// for it, or else what differentiating f's own body gives.
func gradientBody(l *core.Library, f core.Func) (*core.FunctionBody, error) {
	body, err := l.Body(f)
	if err != nil {
		return nil, err
	}
	if name := l.Gradient(f.Name); name != "" {
		return customGradient(l, body, core.Func{Name: name, Attrs: f.Attrs})
	}
	g := NewGraph()
	g.functions.symbolic = true
	if err := g.ImportProto(&pb.GraphDef{Node: body.Graph.GetNode(), Versions: body.Graph.GetVersions(), Library: l.Proto()}, ImportOptions{}); err != nil {
		return nil, err
	}
	d := &differentiated{g: g, of: body, body: &core.FunctionBody{Name: body.Name, ArgTypes: slices.Concat(body.ArgTypes, body.RetTypes), RetTypes: body.ArgTypes, Stateful: body.Stateful}}
	if err := d.run(); err != nil {
		return nil, err
	}
	def, err := g.GraphProto(0)
	if err != nil {
		return nil, err
	}
	def.Library = nil
	def.Node = slices.DeleteFunc(def.Node, func(n *pb.NodeDef) bool { return slices.Contains(body.Rets, n.GetName()) })
	d.body.Graph = def
	return d.body, nil
}

// customGradient returns the body of grad, which the library defines to be the
// gradient of a function.
func customGradient(l *core.Library, of *core.FunctionBody, grad core.Func) (*core.FunctionBody, error) {
	body, err := l.Body(grad)
	if err == nil && len(body.RetTypes) != len(of.ArgTypes) {
		err = Errorf(InvalidArgument, "SymGrad expects to return %d value(s), but get %d value(s) instead", len(of.ArgTypes), len(body.RetTypes))
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// differentiated is the body of a function that becomes that of its gradient.
type differentiated struct {
	g        *Graph
	of, body *core.FunctionBody
}

func (d *differentiated) run() error {
	d.body.Args = slices.Clone(d.of.Args)
	var xs []Output
	o := GradientOptions{ZeroUnconnected: true}
	for _, name := range d.of.Args {
		xs = append(xs, d.g.Operation(name).Output(0))
	}
	for i, name := range d.of.Rets {
		y := d.g.Operation(name).Input(0)
		dy := Apply(d.g, "_Arg", nil, Attr("T", d.of.RetTypes[i]), Attr("index", len(d.body.Args)), Name("dy"))
		d.body.Args = append(d.body.Args, dy.Name)
		if trainable(y.DType()) {
			o.Ys, o.GradYs = append(o.Ys, y), append(o.GradYs, dy.Output(0))
		}
	}
	for _, x := range xs {
		if trainable(x.DType()) {
			o.Xs = append(o.Xs, x)
		}
	}
	grads, err := d.gradients(o)
	if err != nil {
		return err
	}
	d.returns(xs, grads)
	return d.g.Err()
}

// trainable tells the types that have gradients of their own type.
func trainable(d DType) bool { return d.IsFloat() || d.IsComplex() || d.Base() == Variant }

func (d *differentiated) gradients(o GradientOptions) ([]Gradient, error) {
	if len(o.Ys) == 0 || len(o.Xs) == 0 {
		return make([]Gradient, len(o.Xs)), nil
	}
	return Differentiate(o)
}

// returns adds a result for each argument: zeros for those that have no
// gradient.
func (d *differentiated) returns(xs []Output, grads []Gradient) {
	for i, x := range xs {
		dx := Output{}
		if trainable(x.DType()) {
			dx, grads = grads[0].Output(), grads[1:]
		}
		if dx.IsZero() {
			dx = Apply(nil, "ZerosLike", []Output{x}).Output(0)
		}
		r := Apply(nil, "_Retval", []Output{dx}, Attr("index", i), Name("dx"))
		d.body.Rets = append(d.body.Rets, r.Name)
	}
}

// callGrad is the gradient of a call: a call of the gradient.
func callGrad(f func(*Operation) core.Func) GradFunc {
	return func(op *Operation, dy []Output) []Gradient {
		if grads := functionGradients(op, op.in, []core.Func{f(op)}, dy); grads != nil {
			return grads
		}
		return splitGradients(op.in, addGradientCall("SymbolicGradient", op.in, 0, op, dy, Attr("f", f(op))))
	}
}

// addGradientCall adds an op that takes what op takes and the gradients of op's
// results, zeros where there is none, and returns gradients for all inputs of
// op but the first skip.
func addGradientCall(name string, in []Output, skip int, op *Operation, dy []Output, opts ...Option) []Output {
	args := slices.Clone(in)
	for k, d := range dy {
		if d.IsZero() {
			d = Apply(nil, "ZerosLike", []Output{op.Output(k)}).Output(0)
		}
		args = append(args, d)
	}
	var tin, tout []DType
	for _, x := range args[skip:] {
		tin = append(tin, x.DType().Base())
	}
	for _, x := range in[skip:] {
		tout = append(tout, x.DType().Base())
	}
	return Apply(nil, name, args, Join(opts, Attr("Tin", tin), Attr("Tout", tout))...).Outputs()
}

// splitGradients drops the gradients of inputs that can have none.
func splitGradients(in, grads []Output) []Gradient {
	out := make([]Gradient, len(in))
	for i, x := range in {
		if i < len(grads) && trainable(x.DType()) {
			out[i] = Dense(grads[i])
		}
	}
	return out
}
