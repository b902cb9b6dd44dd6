package optest

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// signature returns TensorFlow's definition of an op, nil if there is none.
func (g golden) signature(t *testing.T, op string) *pb.OpDef {
	data := g["signature "+op]
	if data == nil {
		return nil
	}
	var d pb.OpDef
	if err := proto.Unmarshal([]byte(core.Data[string](data)[0]), &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

// testSignatures compares every declaration with TensorFlow's: graphs cross
// over both ways.
func testSignatures(t *testing.T, s *suite) {
	for _, name := range s.ops {
		want := s.golden.signature(t, name)
		own := slices.ContainsFunc(samples, func(s Sample) bool { return s.Op == name && s.own() })
		if want == nil && !own {
			t.Errorf("%s: no signature: run golden.py; samples of an op that TensorFlow does not have say what they want", name)
		}
		if want == nil {
			continue
		}
		d := core.Lookup(name)
		compareArgs(t, name+" inputs", d.Inputs, want.GetInputArg())
		compareArgs(t, name+" outputs", d.Outputs, want.GetOutputArg())
		compareAttrs(t, name, d.AttrDefs, want.GetAttr())
		if d.Stateful != want.GetIsStateful() {
			t.Errorf("%s: stateful is %v, TensorFlow's %v", name, d.Stateful, want.GetIsStateful())
		}
	}
}

func compareArgs(t *testing.T, what string, got []core.ArgDef, want []*pb.OpDef_ArgDef) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d, TensorFlow's %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		expect := core.ArgDef{
			Name: w.GetName(), Type: tf.DType(w.GetType()), TypeAttr: w.GetTypeAttr(), NumAttr: w.GetNumberAttr(), ListAttr: w.GetTypeListAttr(), Ref: w.GetIsRef(),
		}
		if got[i] != expect {
			t.Errorf("%s: %+v, TensorFlow's %+v", what, got[i], expect)
		}
	}
}

func compareAttrs(t *testing.T, what string, got []core.AttrDef, want []*pb.OpDef_AttrDef) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d attributes, TensorFlow's %d", what, len(got), len(want))
		return
	}
	for i, w := range want {
		d := &got[i]
		if d.Name != w.GetName() || d.TypeName() != w.GetType() || d.HasMin != w.GetHasMinimum() || d.Min != w.GetMinimum() {
			t.Errorf("%s: attribute %s: %s (minimum %v %d), TensorFlow's %s: %s (minimum %v %d)", what,
				d.Name, d.TypeName(), d.HasMin, d.Min, w.GetName(), w.GetType(), w.GetHasMinimum(), w.GetMinimum())
		}
		compareAllowed(t, what+" "+d.Name, d, w.GetAllowedValues().GetList())
		compareDefault(t, what+" "+d.Name, d, w)
	}
}

func compareAllowed(t *testing.T, what string, d *core.AttrDef, want *pb.AttrValue_ListValue) {
	t.Helper()
	types := map[tf.DType]bool{}
	for _, w := range want.GetType() {
		types[tf.DType(w)] = true
	}
	for _, have := range d.Types {
		if !types[have] {
			t.Errorf("%s: %v is not allowed in TensorFlow", what, have)
		}
		delete(types, have)
	}
	for missing := range types {
		t.Errorf("%s: %v is allowed in TensorFlow", what, missing)
	}
	var strs []string
	for _, w := range want.GetS() {
		strs = append(strs, string(w))
	}
	if fmt.Sprintf("%q", strs) != fmt.Sprintf("%q", d.Strings) {
		t.Errorf("%s: allowed are %q, in TensorFlow %q", what, d.Strings, strs)
	}
}

func compareDefault(t *testing.T, what string, d *core.AttrDef, w *pb.OpDef_AttrDef) {
	t.Helper()
	want := w.GetDefaultValue()
	if want == nil {
		if d.Default != nil {
			t.Errorf("%s: default is %v, TensorFlow has none", what, d.Default)
		}
		return
	}
	got, err := core.AttrProto(d.Default)
	if err != nil {
		t.Errorf("%s: default %v: %v", what, d.Default, err)
		return
	}
	if !proto.Equal(got, want) && !emptyLists(got, want) && !sameTensor(d.Default, want) {
		t.Errorf("%s: default is %v, TensorFlow's %v", what, got, want)
	}
}

// sameTensor: a tensor has several forms.
func sameTensor(got any, want *pb.AttrValue) bool {
	have, ok := got.(*core.Tensor)
	t, err := core.TensorFromProto(want.GetTensor())
	return ok && err == nil && core.TensorsEqual(have, t)
}

// emptyLists: lists without elements are equal whatever the elements would be.
func emptyLists(a, b *pb.AttrValue) bool {
	empty := &pb.AttrValue_ListValue{}
	return a.GetList() != nil && b.GetList() != nil && proto.Equal(a.GetList(), empty) && proto.Equal(b.GetList(), empty)
}
