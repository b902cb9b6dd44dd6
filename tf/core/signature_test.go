package core

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseArgs(t *testing.T) {
	for s, want := range map[string][]ArgDef{
		"":                            nil,
		"x: float":                    {{Name: "x", Type: Float32}},
		"a: T; b: T;":                 {{Name: "a", TypeAttr: "T"}, {Name: "b", TypeAttr: "T"}},
		"values: N * T; axis: int32":  {{Name: "values", TypeAttr: "T", NumAttr: "N"}, {Name: "axis", Type: Int32}},
		"ref: Ref(T); v: Ref(double)": {{Name: "ref", TypeAttr: "T", Ref: true}, {Name: "v", Type: Float64, Ref: true}},
		"names: M*string":             {{Name: "names", Type: String, NumAttr: "M"}},
		" x :  half ":                 {{Name: "x", Type: Float16}},
	} {
		got, err := parseArgs(s)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%q: %v\n%s", s, err, cmp.Diff(want, got))
		}
	}
}

func TestParseAttrs(t *testing.T) {
	for s, want := range map[string][]AttrDef{
		"":                                  nil,
		"T: type":                           {{Name: "T", Kind: "type"}},
		"T: {float, half} = DT_FLOAT":       {{Name: "T", Kind: "type", Types: []DType{Float32, Float16}, Default: Float32}},
		"N: int >= 2":                       {{Name: "N", Kind: "int", HasMin: true, Min: 2}},
		"N: int >= -1 = 3; b: bool=true":    {{Name: "N", Kind: "int", HasMin: true, Min: -1, Default: int64(3)}, {Name: "b", Kind: "bool", Default: true}},
		"ts: list({int32, int64}) >= 1":     {{Name: "ts", Kind: "type", List: true, HasMin: true, Min: 1, Types: []DType{Int32, Int64}}},
		"p: {'SAME', 'VALID'} = 'SAME'":     {{Name: "p", Kind: "string", Strings: []string{"SAME", "VALID"}, Default: "SAME"}},
		`s: string = "a; b = [c]"`:          {{Name: "s", Kind: "string", Default: "a; b = [c]"}},
		"s: string = ''":                    {{Name: "s", Kind: "string", Default: ""}},
		"f: float = 1e-3":                   {{Name: "f", Kind: "float", Default: float32(1e-3)}},
		"l: list(int) = [1, -2]":            {{Name: "l", Kind: "int", List: true, Default: []int64{1, -2}}},
		"l: list(string) = ['a', 'b,c']":    {{Name: "l", Kind: "string", List: true, Default: []string{"a", "b,c"}}},
		"l: list(float) = []":               {{Name: "l", Kind: "float", List: true, Default: []float32{}}},
		"l: list(bool) = [true,false]":      {{Name: "l", Kind: "bool", List: true, Default: []bool{true, false}}},
		"l: list(type) = [DT_INT32, bool]":  {{Name: "l", Kind: "type", List: true, Default: []DType{Int32, Bool}}},
		"l: list(shape) = [[2, -1], {}]":    {{Name: "l", Kind: "shape", List: true, Default: []Shape{{2, -1}, {}}}},
		"l: list(func) = []":                {{Name: "l", Kind: "func", List: true, Default: []Func{}}},
		"s: shape = { unknown_rank: true }": {{Name: "s", Kind: "shape", Default: Shape(nil)}},
		"s: shape = {}":                     {{Name: "s", Kind: "shape", Default: Shape{}}},
		"f: func; t: tensor":                {{Name: "f", Kind: "func"}, {Name: "t", Kind: "tensor"}},
		"T: realnumbertype":                 {{Name: "T", Kind: "type", Types: realNumberTypes}},
	} {
		got, err := parseAttrs(s)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%q: %v\n%s", s, err, cmp.Diff(want, got))
		}
	}
}

func TestDefaultTensor(t *testing.T) {
	got, err := parseAttrs("t: tensor = uint8[255, 0]")
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := got[0].Default.(*Tensor); !ok || b.String() != "uint8[2]{255, 0}" {
		t.Errorf("default %v", got[0].Default)
	}
}

func TestMalformedSignatures(t *testing.T) {
	shape := func(*Infer) error { return nil }
	def := func(in, attrs string) OpDef {
		return OpDef{Name: "TestMalformed", In: in, Attrs: attrs, Shape: shape, NoGrad: NotDifferentiable}
	}
	for name, c := range map[string]struct {
		d    OpDef
		want string
	}{
		"no type":           {def("x", ""), `"x": want name: type`},
		"empty type":        {def("x:", ""), "want name: type"},
		"bad name":          {def("1x: float", ""), "want name: type"},
		"bad type":          {def("x: [float]", ""), "bad type"},
		"bad length":        {def("x: 2 * float", ""), "bad length"},
		"unknown attr":      {def("x: T", ""), `no type attr "T"`},
		"attr is no type":   {def("x: T", "T: int"), `no type attr "T"`},
		"attr is no length": {def("x: N * float", "N: type"), `no int attr "N"`},
		"twice an input":    {def("x: float; x: float", ""), "two arguments are named x"},
		"twice an attr":     {def("", "a: int; a: int"), "two attrs are named a"},
		"attr without type": {def("", "a"), "want name: type"},
		"unknown kind":      {def("", "a: number"), `unknown type "number"`},
		"open list":         {def("", "a: list(int"), "unknown type"},
		"list of lists":     {def("", "a: list(list(int))"), "unknown type"},
		"empty set":         {def("", "a: {}"), "a set must be"},
		"mixed set":         {def("", "a: {float, 'x'}"), "a set must be"},
		"set of nonsense":   {def("", "a: {float, nonsense}"), `unknown type "nonsense"`},
		"bad minimum":       {def("", "a: int >= x"), "invalid syntax"},
		"bad tensor":        {def("", "t: tensor = [1]"), "bytes in brackets"},
		"bad byte":          {def("", "t: tensor = uint8[256]"), "out of range"},
		"bad default":       {def("", "a: int = x"), "invalid syntax"},
		"bare string":       {def("", "a: string = x"), "bad default"},
		"open string":       {def("", "a: string = 'x"), "bad default"},
		"not allowed":       {def("", "a: {'x'} = 'y'"), "must be one of"},
		"too small":         {def("", "a: int >= 2 = 1"), "at least 2"},
		"list, no brackets": {def("", "a: list(int) = 1"), "must stand in brackets"},
		"bad list item":     {def("", "a: list(int) = [1, x]"), "invalid syntax"},
		"bad shape":         {def("", "a: shape = [-2]"), `bad size "-2"`},
		"shape, no bracket": {def("", "a: shape = 2"), "a shape must stand in brackets"},
		"no shape function": {OpDef{Name: "TestMalformed", NoGrad: NotDifferentiable}, "no shape function"},
		"no gradient":       {OpDef{Name: "TestMalformed", Shape: shape}, "exactly one of Grad and NoGrad"},
		"shape of nothing":  {OpDef{Name: "TestMalformed", Shape: shape, NoGrad: NotDifferentiable, In: "a: float", ShapeAt: map[int]int{0: 1}}, "input 1 stands for input 0 of 1"},
		"shape of a list":   {OpDef{Name: "TestMalformed", Shape: shape, NoGrad: NotDifferentiable, In: "a: float; b: N * float", Attrs: "N: int", ShapeAt: map[int]int{0: 1}}, "input b is a list"},
		"registered":        {OpDef{Name: "TestTwice", Shape: shape, NoGrad: NotDifferentiable}, "registered twice"},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, "core: op "+c.d.Name) || !strings.Contains(p, c.want) {
					t.Errorf("panicked with %q, want %q", p, c.want)
				}
			}()
			Register(c.d)
		})
	}
}

func init() {
	Register(OpDef{Name: "TestTwice", Shape: func(*Infer) error { return nil }, NoGrad: NotDifferentiable})
}

func FuzzParseAttrs(f *testing.F) {
	for _, s := range []string{"T: {float, half} = DT_FLOAT", "N: int >= -1 = 3; b: bool=true", "l: list(shape) = [[2, -1], {}]", "s: string = 'a;b'", "l: list(type) >= 1 = [DT_INT32]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		attrs, err := parseAttrs(s)
		if err != nil {
			return
		}
		for i := range attrs {
			d := &attrs[i]
			if attrKinds[d.Kind] == nil || !isIdentifier(d.Name) {
				t.Errorf("%q has attr %q of kind %q", s, d.Name, d.Kind)
			}
			if d.Default != nil && d.Check(d.Default) != nil {
				t.Errorf("%q: the default is refused: %v", s, d.Check(d.Default))
			}
		}
	})
}

func FuzzParseArgs(f *testing.F) {
	for _, s := range []string{"a: T; b: N * T", "x: Ref(float)", "x: N*Ref(T)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		args, err := parseArgs(s)
		for _, a := range args {
			if err == nil && (a.Type == Invalid) == (a.TypeAttr == "") {
				t.Errorf("%q: argument %+v", s, a)
			}
		}
	})
}
