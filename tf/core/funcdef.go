package core

import (
	"strings"

	"github.com/gorge-tf/gorge/tf/pb"
)

// functionOp returns the op that a node has which calls f by name.
func functionOp(f *pb.FunctionDef) (*OpDef, error) {
	sig := f.GetSignature()
	d := &OpDef{Name: sig.GetName(), Stateful: sig.GetIsStateful(), Shape: callShape, Kernels: AnyType(callByName), Function: true, attrs: map[string]*AttrDef{}}
	var err error
	if d.Inputs, err = argsFromProto(sig.GetInputArg()); err != nil {
		return nil, err
	}
	if d.Outputs, err = argsFromProto(sig.GetOutputArg()); err != nil {
		return nil, err
	}
	for _, p := range sig.GetAttr() {
		a, err := attrDefFromProto(p)
		if err != nil {
			return nil, err
		}
		d.AttrDefs = append(d.AttrDefs, a)
	}
	for i := range d.AttrDefs {
		d.attrs[d.AttrDefs[i].Name] = &d.AttrDefs[i]
	}
	if err := d.resolveArgs(d.Inputs); err != nil {
		return nil, err
	}
	return d, d.resolveArgs(d.Outputs)
}

func argsFromProto(in []*pb.OpDef_ArgDef) ([]ArgDef, error) {
	out := make([]ArgDef, len(in))
	for i, p := range in {
		t, err := typeFromProto(p.GetType())
		if err != nil {
			return nil, err
		}
		out[i] = ArgDef{Name: p.GetName(), Type: t, TypeAttr: p.GetTypeAttr(), NumAttr: p.GetNumberAttr(), ListAttr: p.GetTypeListAttr(), Ref: p.GetIsRef()}
		if t == Invalid && p.GetTypeAttr() == "" && p.GetTypeListAttr() == "" {
			return nil, Errorf(InvalidArgument, "argument '%s' must have a type", p.GetName())
		}
	}
	return out, nil
}

func attrDefFromProto(p *pb.OpDef_AttrDef) (AttrDef, error) {
	kind, list := within(p.GetType(), "list(", ")")
	d := AttrDef{Name: p.GetName(), Kind: kind, List: list, HasMin: p.GetHasMinimum(), Min: p.GetMinimum()}
	if attrKinds[kind] == nil {
		return d, Errorf(InvalidArgument, "attr '%s' must have a known type, got '%s'", p.GetName(), p.GetType())
	}
	if d.HasMin && !list && kind != "int" {
		return d, Errorf(InvalidArgument, "Attr '%s' has minimum for unsupported type %s", p.GetName(), p.GetType())
	}
	for _, t := range p.GetAllowedValues().GetList().GetType() {
		d.Types = append(d.Types, DType(t))
	}
	for _, s := range p.GetAllowedValues().GetList().GetS() {
		d.Strings = append(d.Strings, string(s))
	}
	if p.GetDefaultValue() == nil {
		return d, nil
	}
	v, err := AttrFromProto(p.GetDefaultValue(), &d)
	if err != nil {
		return d, err
	}
	d.Default = v
	return d, d.Check(v)
}

// callShape: what a call returns is known only as far as it says itself.
func callShape(c *Infer) error {
	shapes, ok := c.Attr("_output_shapes").([]Shape)
	for i := range c.NumOut() {
		if ok && i < len(shapes) {
			c.Set(i, shapes[i])
		}
	}
	return nil
}

// callByName is the kernel of a node whose op is a function.
func callByName(n *Node) (Kernel, error) {
	f := CalledByName(n)
	return AsyncCompute(func(c *OpContext, done func(error)) { c.CallFunction(f, done) }), nil
}

// CalledByName returns the function that a node whose op is a function calls.
func CalledByName(n *Node) Func {
	f := Func{Name: n.OpName(), Attrs: Attrs{}}
	for name, v := range n.Attrs {
		if !strings.HasPrefix(name, "_") {
			f.Attrs[name] = v
		}
	}
	return f
}
