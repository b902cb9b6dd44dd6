package core

import "github.com/gorge-tf/gorge/tf/pb"

// substitute replaces placeholders in an attribute value by the call's
// attributes.
func (b *bodyBuilder) substitute(v *pb.AttrValue) (*pb.AttrValue, error) {
	switch x := v.GetValue().(type) {
	case *pb.AttrValue_Placeholder:
		w := b.attrs[x.Placeholder]
		if w == nil {
			return nil, Errorf(InvalidArgument, "Failed to bind all placeholders in: %s", x.Placeholder)
		}
		return w, b.count(funcsIn(w))
	case *pb.AttrValue_Func:
		f, err := b.substituteFunc(x.Func)
		return &pb.AttrValue{Value: &pb.AttrValue_Func{Func: f}}, err
	case *pb.AttrValue_List:
		if len(x.List.GetFunc()) == 0 {
			return v, nil
		}
		l := &pb.AttrValue_ListValue{}
		for _, f := range x.List.GetFunc() {
			g, err := b.substituteFunc(f)
			if err != nil {
				return nil, err
			}
			l.Func = append(l.Func, g)
		}
		return &pb.AttrValue{Value: &pb.AttrValue_List{List: l}}, nil
	}
	return v, nil
}

func (b *bodyBuilder) substituteFunc(f *pb.NameAttrList) (*pb.NameAttrList, error) {
	if err := b.count(1); err != nil {
		return nil, err
	}
	out := &pb.NameAttrList{Name: f.GetName(), Attr: make(map[string]*pb.AttrValue, len(f.GetAttr()))}
	for key, v := range f.GetAttr() {
		w, err := b.substitute(v)
		if err != nil {
			return nil, err
		}
		out.Attr[key] = w
	}
	return out, nil
}

// maxFuncs bounds the functions in values of attributes of one body. A function may hand on
// its own attribute in two places, and so may the one that it calls: their number doubles
// with each call, while the library stays small.
const maxFuncs = 100_000

// count notes n functions in values of attributes.
func (b *bodyBuilder) count(n int) error {
	if b.funcs += n; b.funcs > maxFuncs {
		return Errorf(ResourceExhausted, "attributes of the nodes of a function must have at most %d functions in their values", maxFuncs)
	}
	return nil
}

// funcsIn counts the functions in a value.
func funcsIn(v *pb.AttrValue) (n int) {
	fs := v.GetList().GetFunc()
	if f := v.GetFunc(); f != nil {
		fs = []*pb.NameAttrList{f}
	}
	for _, f := range fs {
		n++
		for _, w := range f.GetAttr() {
			n += funcsIn(w)
		}
	}
	return n
}
