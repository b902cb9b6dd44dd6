package core_test

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	core.Register(core.OpDef{
		Name: "TestAttrs", Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable,
		Attrs: "s: {'x', 'y'} = 'x'; i: int >= 0 = 1; f: float = 1; b: bool = true; t: {float, int32} = DT_FLOAT; d: shape = {}; " +
			"ls: list({'x', 'y'}) = []; li: list(int) >= 1 = [1]; lf: list(float) = []; lb: list(bool) = []; lt: list({float, bool}) = []; " +
			"ld: list(shape) = []; any: type = DT_INT32; lv: list(tensor) = []; lfn: list(func) = []; need: int",
	})
}

func testNode(k string, v any) (*core.Node, error) {
	var s tf.Spec
	s.Set("need", 1)
	s.Set(k, v)
	return core.NewNode("n", "TestAttrs", s.Attrs)
}

func TestAttrsAreReadAsTheyWereSet(t *testing.T) {
	for _, c := range []struct {
		k       string
		v, want any
		read    func(n *core.Node) any
	}{
		{"s", "y", "y", func(n *core.Node) any { return n.Str("s") }},
		{"s", []byte("y"), "y", func(n *core.Node) any { return n.Str("s") }},
		{"i", 5, 5, func(n *core.Node) any { return n.Int("i") }},
		{"i", int32(5), 5, func(n *core.Node) any { return n.Int("i") }},
		{"f", 2.5, float32(2.5), func(n *core.Node) any { return n.Float("f") }},
		{"b", false, false, func(n *core.Node) any { return n.Bool("b") }},
		{"t", core.Int32, core.Int32, func(n *core.Node) any { return n.Type("t") }},
	} {
		n, err := testNode(c.k, c.v)
		if err != nil || c.read(n) != c.want {
			t.Errorf("%s = %v: got %v, %v", c.k, c.v, n, err)
		}
	}
	n, err := testNode("li", []int{3, -4})
	if err != nil || !slices.Equal(n.Ints("li"), []int{3, -4}) {
		t.Errorf("ints: %v, %v", n, err)
	}
	n, err = testNode("d", core.Shape(nil))
	if err != nil || n.ShapeAttr("d") != nil {
		t.Errorf("an unknown shape: %v, %v", n, err)
	}
	if n.Attr("i") != int64(1) || n.Str("s") != "x" || !n.Bool("b") || n.Attr("nothing") != nil {
		t.Errorf("defaults: %v", n.Attrs)
	}
}

func TestBadAttrs(t *testing.T) {
	for _, c := range []struct {
		k    string
		v    any
		want string
	}{
		{"s", "z", `attr "s" must be one of ["x" "y"], got "z"`},
		{"ls", []string{"x", "z"}, `attr "ls" must be one of ["x" "y"], got "z"`},
		{"s", 1, `attr "s" must be string, got int64`},
		{"i", "1", `attr "i" must be int, got string`},
		{"i", -1, `attr "i" must have value at least 0, got -1`},
		{"i", uint(1), `attr "i" must be int, got uint`},
		{"li", []int{}, `attr "li" must have length at least 1, got 0`},
		{"li", 1, `attr "li" must be list(int), got int64`},
		{"t", core.Bool, `attr "t" must be one of [float32 int32], got bool`},
		{"lt", []core.DType{core.Bool, core.Int8}, `attr "lt" must be one of [float32 bool], got int8`},
		{"any", core.DType(99), `attr "any" must be a known type, got DType(99)`},
		{"lv", []*core.Tensor{nil}, `attr "lv" must not be a nil tensor`},
		{"nonsense", 1, "TestAttrs has no attribute \"nonsense\": it takes no options of its own"},
		{"", 1, "TestAttrs has no attribute"},
		{"i", nil, `attr "i" must be int, got <nil>`},
	} {
		if _, err := testNode(c.k, c.v); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v, want %s", c.k, c.v, err, c.want)
		}
	}
	if _, err := core.NewNode("n", "TestAttrs", nil); err == nil || !strings.Contains(err.Error(), `attr "need" has to be given`) {
		t.Errorf("without a needed attr: %v", err)
	}
	if _, err := core.NewNode("n", "Nonsense", nil); core.CodeOf(err) != core.NotFound || !strings.Contains(err.Error(), "Op type not registered 'Nonsense' in binary") {
		t.Errorf("an unknown op: %v", err)
	}
}

func TestPrivateAttrsAreKept(t *testing.T) {
	n, err := testNode("_private", "kept")
	if err != nil || n.Str("_private") != "kept" {
		t.Errorf("got %v, %v", n, err)
	}
	n, err = testNode("s", core.Placeholder("S"))
	if err != nil || n.Attr("s") != any(core.Placeholder("S")) {
		t.Errorf("a placeholder: %v, %v", n, err)
	}
}

// values has one attribute value of each kind, and how TensorFlow writes it.
var values = map[string]any{
	`s: "x"`: "x", `i: -3`: int64(-3), `f: 1.5`: float32(1.5), `b: true`: true, `type: DT_HALF`: core.Float16,
	`type: DT_FLOAT_REF`: core.Float32.Ref(), `placeholder: "T"`: core.Placeholder("T"),
	`shape { dim { size: -1 } dim { size: 2 } }`: core.Shape{-1, 2}, `shape { unknown_rank: true }`: core.Shape(nil), `shape { }`: core.Shape{},
	`tensor { dtype: DT_INT32 tensor_shape { } tensor_content: "\x07\x00\x00\x00" }`: core.Scalar(int32(7)),
	`func { name: "f" attr { key: "k" value { i: 1 } } }`:                            core.Func{Name: "f", Attrs: core.Attrs{"k": int64(1)}},
	`list { s: "a" s: "" }`: []string{"a", ""}, `list { i: 1 i: 2 }`: []int64{1, 2}, `list { f: 1 }`: []float32{1}, `list { b: true b: false }`: []bool{true, false},
	`list { type: DT_BOOL }`: []core.DType{core.Bool}, `list { shape { } }`: []core.Shape{{}}, `list { func { name: "f" } }`: []core.Func{{Name: "f", Attrs: core.Attrs{}}},
	`list { tensor { dtype: DT_BOOL tensor_shape { } tensor_content: "\x01" } }`: []*core.Tensor{core.Scalar(true)},
}

func TestAttrProtos(t *testing.T) {
	for text, v := range values {
		want := &pb.AttrValue{}
		if err := prototext.Unmarshal([]byte(text), want); err != nil {
			t.Fatal(err)
		}
		got, err := core.AttrProto(v)
		if err != nil || prototext.Format(got) != prototext.Format(want) {
			t.Errorf("%v is written as %v, %v; want %s", v, got, err, text)
		}
		back, err := core.AttrFromProto(want, nil)
		if err != nil || !core.AttrEqual(back, v) && !equalTensors(back, v) {
			t.Errorf("%s is read as %#v, %v; want %#v", text, back, err, v)
		}
	}
	if _, err := core.AttrProto(struct{}{}); core.CodeOf(err) != core.Internal {
		t.Errorf("a struct as attribute: %v", err)
	}
	if _, err := core.AttrsProto(core.Attrs{"f": core.Func{Attrs: core.Attrs{"x": 1 + 2i}}}); core.CodeOf(err) != core.Internal {
		t.Errorf("a complex number in a function's attribute: %v", err)
	}
}

func equalTensors(a, b any) bool {
	x, ok := a.([]*core.Tensor)
	y, ok2 := b.([]*core.Tensor)
	return ok && ok2 && slices.EqualFunc(x, y, core.TensorsEqual)
}

func TestEmptyListsHaveTheirKind(t *testing.T) {
	empty := &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{}}}
	for kind, want := range map[string]any{
		"string": []string{}, "int": []int64{}, "float": []float32{}, "bool": []bool{}, "type": []core.DType{},
		"shape": []core.Shape{}, "tensor": []*core.Tensor{}, "func": []core.Func{},
	} {
		got, err := core.AttrFromProto(empty, &core.AttrDef{Name: "l", Kind: kind, List: true})
		if err != nil || !core.AttrEqual(got, want) {
			t.Errorf("%s: %#v, %v", kind, got, err)
		}
	}
}

func TestBadAttrProtos(t *testing.T) {
	for _, text := range []string{
		"", "type: 99", "type: -1", "list { type: 99 }", "tensor { dtype: DT_INVALID }",
		"shape { dim { size: -3 } }", "func { name: 'f' attr { key: 'k' value { } } }",
	} {
		p := &pb.AttrValue{}
		if err := prototext.Unmarshal([]byte(text), p); err != nil {
			t.Fatal(err)
		}
		if v, err := core.AttrFromProto(p, nil); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%q is read as %v, %v", text, v, err)
		}
	}
}

func TestAttrsText(t *testing.T) {
	if s := (core.Attrs{"b": true, "T": core.Float32}).String(); s != "[T=float32 b=true]" {
		t.Errorf("got %s", s)
	}
	if s := (core.Attrs{}).String(); s != "[]" {
		t.Errorf("got %s", s)
	}
}

// TestMinimumOfFunctions: only integers and lists have a smallest value or length.
func TestMinimumOfFunctions(t *testing.T) {
	for _, text := range []string{
		`name: "a" type: "bool" has_minimum: true minimum: 1 default_value { b: true }`,
		`name: "a" type: "float" has_minimum: true`,
		`name: "a" type: "func" has_minimum: true minimum: 1`,
	} {
		def := &pb.FunctionDefLibrary{}
		if err := prototext.Unmarshal([]byte(`function { signature { name: "f" attr { `+text+` } } }`), def); err != nil {
			t.Fatal(err)
		}
		if _, err := core.NewLibrary(def); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), "minimum") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
