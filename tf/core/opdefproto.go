package core

import "github.com/gorge-tf/gorge/tf/pb"

// Proto returns the signature of d as graphs and MetaGraphs carry it.
func (d *OpDef) Proto() *pb.OpDef {
	p := &pb.OpDef{Name: d.Name, InputArg: argsProto(d.Inputs), OutputArg: argsProto(d.Outputs), IsStateful: d.Stateful, AllowsUninitializedInput: d.Uninitialized}
	for i := range d.AttrDefs {
		p.Attr = append(p.Attr, d.AttrDefs[i].proto())
	}
	return p
}

func argsProto(args []ArgDef) []*pb.OpDef_ArgDef {
	out := make([]*pb.OpDef_ArgDef, len(args))
	for i, a := range args {
		out[i] = &pb.OpDef_ArgDef{Name: a.Name, Type: pb.DataType(a.Type), TypeAttr: a.TypeAttr, NumberAttr: a.NumAttr, TypeListAttr: a.ListAttr, IsRef: a.Ref}
	}
	return out
}

func (d *AttrDef) proto() *pb.OpDef_AttrDef {
	p := &pb.OpDef_AttrDef{Name: d.Name, Type: d.TypeName(), HasMinimum: d.HasMin, Minimum: d.Min}
	if d.Default != nil {
		p.DefaultValue, _ = AttrProto(d.Default) // signatures were checked when they were registered
	}
	if d.Types != nil {
		p.AllowedValues, _ = AttrProto(d.Types)
	}
	if d.Strings != nil {
		p.AllowedValues, _ = AttrProto(d.Strings)
	}
	return p
}
