package core

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/pb"
)

// AttrProto returns an attribute value as an AttrValue.
func AttrProto(v any) (*pb.AttrValue, error) {
	switch v := v.(type) {
	case string:
		return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(v)}}, nil
	case int64:
		return &pb.AttrValue{Value: &pb.AttrValue_I{I: v}}, nil
	case float32:
		return &pb.AttrValue{Value: &pb.AttrValue_F{F: v}}, nil
	case bool:
		return &pb.AttrValue{Value: &pb.AttrValue_B{B: v}}, nil
	case DType:
		return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType(v)}}, nil
	case Shape:
		return &pb.AttrValue{Value: &pb.AttrValue_Shape{Shape: ShapeProto(v)}}, nil
	case *Tensor:
		t, err := EncodeTensor(v)
		return &pb.AttrValue{Value: &pb.AttrValue_Tensor{Tensor: t}}, err
	case Placeholder:
		return &pb.AttrValue{Value: &pb.AttrValue_Placeholder{Placeholder: string(v)}}, nil
	case Func:
		f, err := funcProto(v)
		return &pb.AttrValue{Value: &pb.AttrValue_Func{Func: f}}, err
	case *pb.AttrValue:
		return v, nil
	}
	l, err := listProto(v)
	return &pb.AttrValue{Value: &pb.AttrValue_List{List: l}}, err
}

func funcProto(f Func) (*pb.NameAttrList, error) {
	p := &pb.NameAttrList{Name: f.Name}
	attrs, err := AttrsProto(f.Attrs)
	p.Attr = attrs
	return p, err
}

func listProto(v any) (*pb.AttrValue_ListValue, error) {
	l := &pb.AttrValue_ListValue{}
	switch v := v.(type) {
	case []string:
		for _, s := range v {
			l.S = append(l.S, []byte(s))
		}
	case []int64:
		l.I = v
	case []float32:
		l.F = v
	case []bool:
		l.B = v
	case []DType:
		for _, d := range v {
			l.Type = append(l.Type, pb.DataType(d))
		}
	case []Shape:
		for _, s := range v {
			l.Shape = append(l.Shape, ShapeProto(s))
		}
	case []*Tensor:
		for _, t := range v {
			p, err := EncodeTensor(t)
			if err != nil {
				return nil, err
			}
			l.Tensor = append(l.Tensor, p)
		}
	case []Func:
		for _, f := range v {
			p, err := funcProto(f)
			if err != nil {
				return nil, err
			}
			l.Func = append(l.Func, p)
		}
	default:
		return nil, Errorf(Internal, "a %T is no attribute value", v)
	}
	return l, nil
}

// AttrsProto returns a whole set of attributes.
func AttrsProto(a Attrs) (map[string]*pb.AttrValue, error) {
	if len(a) == 0 {
		return nil, nil
	}
	out := make(map[string]*pb.AttrValue, len(a))
	for k, v := range a {
		p, err := AttrProto(v)
		if err != nil {
			return nil, err
		}
		out[k] = p
	}
	return out, nil
}

// AttrFromProto reads an AttrValue for attribute d, which tells an empty list
// from a missing value; d is nil for attributes that the op does not declare.
func AttrFromProto(p *pb.AttrValue, d *AttrDef) (any, error) {
	switch v := p.GetValue().(type) {
	case *pb.AttrValue_S:
		return memory.Text(v.S), nil
	case *pb.AttrValue_I:
		return v.I, nil
	case *pb.AttrValue_F:
		return v.F, nil
	case *pb.AttrValue_B:
		return v.B, nil
	case *pb.AttrValue_Type:
		return typeFromProto(v.Type)
	case *pb.AttrValue_Shape:
		return ShapeFromProto(v.Shape)
	case *pb.AttrValue_Tensor:
		return TensorFromProto(v.Tensor)
	case *pb.AttrValue_Placeholder:
		return Placeholder(v.Placeholder), nil
	case *pb.AttrValue_Func:
		return funcFromProto(v.Func)
	case *pb.AttrValue_List:
		return listFromProto(v.List, d)
	}
	return nil, Errorf(InvalidArgument, "an attribute value must be set")
}

func typeFromProto(t pb.DataType) (DType, error) {
	if d := DType(t); t == 0 || t > 0 && t <= 255 && d.Valid() {
		return d, nil
	}
	return Invalid, Errorf(InvalidArgument, "%d is no data type", t)
}

func funcFromProto(p *pb.NameAttrList) (Func, error) {
	attrs, err := AttrsFromProto(p.GetAttr(), nil)
	return Func{Name: p.GetName(), Attrs: attrs}, err
}

// AttrsFromProto reads a whole set of attributes of a node of op def, which
// may be nil.
func AttrsFromProto(m map[string]*pb.AttrValue, def *OpDef) (Attrs, error) {
	out := make(Attrs, len(m))
	for k, p := range m {
		var d *AttrDef
		if def != nil {
			d = def.attrs[k]
		}
		if d == nil && def != nil { // kept as it came: it is not read here
			out[k] = p
			if v, err := AttrFromProto(p, nil); err == nil && strings.HasPrefix(k, "_") {
				out[k] = v
			}
			continue
		}
		v, err := AttrFromProto(p, d)
		if err != nil {
			return nil, Errorf(InvalidArgument, "attr %q: %s", k, AsError(err).Message())
		}
		out[k] = v
	}
	return out, nil
}

func listFromProto(l *pb.AttrValue_ListValue, d *AttrDef) (any, error) {
	kind := listKind(l)
	if d != nil {
		kind = d.Kind
	}
	switch kind {
	case "string":
		return mapList(l.GetS(), func(b []byte) (string, error) { return string(b), nil })
	case "int":
		return mapList(l.GetI(), same[int64])
	case "float":
		return mapList(l.GetF(), same[float32])
	case "bool":
		return mapList(l.GetB(), same[bool])
	case "type":
		return mapList(l.GetType(), typeFromProto)
	case "shape":
		return mapList(l.GetShape(), ShapeFromProto)
	case "tensor":
		return mapList(l.GetTensor(), TensorFromProto)
	case "func":
		return mapList(l.GetFunc(), funcFromProto)
	}
	return []int64{}, nil
}

// listKind tells from its contents what an undeclared list holds.
func listKind(l *pb.AttrValue_ListValue) string {
	switch {
	case len(l.GetS()) > 0:
		return "string"
	case len(l.GetF()) > 0:
		return "float"
	case len(l.GetB()) > 0:
		return "bool"
	case len(l.GetType()) > 0:
		return "type"
	case len(l.GetShape()) > 0:
		return "shape"
	case len(l.GetTensor()) > 0:
		return "tensor"
	case len(l.GetFunc()) > 0:
		return "func"
	}
	return "int"
}

func same[T any](v T) (T, error) { return v, nil }

func mapList[P, T any](in []P, f func(P) (T, error)) ([]T, error) {
	out := make([]T, len(in))
	for i, p := range in {
		v, err := f(p)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}
