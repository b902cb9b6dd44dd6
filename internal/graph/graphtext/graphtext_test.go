package graphtext

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
)

func TestRoundTrip(t *testing.T) {
	const text = `c = Const[dtype=float32, value=float32[2]{1, 2.5}]
s = Const[dtype=string, value=string[]{"a # \"b\""}] @/job:ps/task:1
x = Placeholder[dtype=float32, shape=[?,2]] @/device:CPU:1
sum = AddV2[_class=("loc:@c"), _n=3](c, x, ^s) @/job:w/replica:0/task:0/device:CPU:0
n = IdentityN(c, s, sum)
p = Pack[axis=1](sum, n:2)
e = Empty[dtype=int32, init=true](shape)
shape = Const[dtype=int32, value=int32[3]{7}]
`
	g, err := Parse(text)
	if err == nil {
		g, err = Parse(Print(g))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := Print(g); got != text {
		t.Errorf("got\n%swant\n%s", got, text)
	}
}

func TestParseInfersTypesAndShapes(t *testing.T) {
	g, err := Parse(`
		y = AddV2(x, c)    # before its inputs
		x = Placeholder[dtype=int64, shape=[?,1]]
		c = Const[dtype=int64, value=int64[5]{1, 2, 3, 4, 5}]
		l = IdentityN(y, k)
		k = Const[dtype=bool, value=bool[]{true}]`)
	if err != nil {
		t.Fatal(err)
	}
	y, l := g.Node("y"), g.Node("l")
	if y.Type("T") != core.Int64 || !y.OutShape(0).Equal(core.Shape{-1, 5}) {
		t.Errorf("y is %v%v, want int64[?,5]", y.OutTypes[0], y.OutShape(0))
	}
	if l.OutTypes[0] != core.Int64 || l.OutTypes[1] != core.Bool {
		t.Errorf("l has types %v", l.OutTypes)
	}
}

func TestParseValues(t *testing.T) {
	for _, c := range []struct {
		value string
		want  any
	}{
		{`"a\n"`, "a\n"}, {`-5`, int64(-5)}, {`1.5`, float32(1.5)}, {`true`, true}, {`float32`, core.Float32},
		{`("x", "y")`, []string{"x", "y"}}, {`()`, []string{}}, {`nan`, nil},
	} {
		g, err := Parse("n = NoOp[_a=" + c.value + "]")
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		if got := g.Nodes[0].Attr("_a"); c.want != nil && !core.AttrEqual(got, c.want) {
			t.Errorf("%s: got %#v, want %#v", c.value, got, c.want)
		}
	}
}

func TestParseTensorElements(t *testing.T) {
	g, err := Parse(`a = Const[dtype=uint8, value=uint8[2,2]{9}]
		b = Const[dtype=float64, value=float64[3]{-inf, nan, 1e300}]
		c = Const[dtype=int32, value=int32[0]{}]`)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": "uint8[2,2]{9, 9, 9, 9}", "b": "float64[3]{-Inf, NaN, 1e+300}", "c": "int32[0]{}",
	} {
		if got := g.Node(name).TensorAttr("value").String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"x", "a node has the form"},
		{"= NoOp", "a node has the form"},
		{"a = NoOp\na = NoOp", "line 2: column 4: node a is defined twice"},
		{"a = Nop", "Op type not registered 'Nop'"},
		{"a = NoOp[", "a list must end with ']'"},
		{"a = NoOp[_x]", "an attribute has the form name=value"},
		{"a = NoOp[_x=]", "an attribute that the op does not declare"},
		{"a = NoOp[_x=1, _x=2]", "given twice"},
		{"a = NoOp[y=1]", "NodeDef mentions attr 'y' not in Op<name=NoOp>"},
		{"a = NoOp[_x=1 _y=2]", "a list goes on with ','"},
		{"a = NoOp @/job:1", "bad job name"},
		{"a = NoOp @ b c", "nothing may follow"},
		{"a = NoOp(^b)", "Unknown input node '^b'"},
		{"a = NoOp(,)", "must have a name"},
		{"a = Identity(b)", "NodeDef missing attr 'T' from Op<name=Identity>"},
		{"a = Identity()", "NodeDef missing attr 'T' from Op<name=Identity>"},
		{"a = Identity[T=float32](a:1)", "Connecting to invalid output 1 of source node a which has 1 outputs."},
		{"a = Identity[T=float32](a)", "cycle"},
		{"a = Identity[T=floaty](a)", "must be a type"},
		{"a = Const[dtype=float32, value=float32[2]{1, 2, 3}]", "the elements must fill the shape [2]: there are 3"},
		{"a = Const[dtype=float32, value=float32[?]{1}]", "known shape of moderate size"},
		{"a = Const[dtype=float32, value=float32[99999999]{1}]", "known shape of moderate size"},
		{"a = Const[dtype=int8, value=int8[1]{300}]", "an element must be a int8"},
		{"a = Const[dtype=half, value=half[1]{1}]", "have no text form"},
		{"a = Placeholder[dtype=float32, shape=[x]]", "a size must be a number or ?"},
		{"a = Placeholder[dtype=float32, shape=unknown]", "a shape has the form"},
		{"a = Empty[dtype=int32, init=maybe](a)", "number or truth value"},
	} {
		_, err := Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want ...%s...", c.text, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a = Const[dtype=float32, value=float32[2]{1, 2}]\nb = AddV2(a, a:0, ^a) @/device:CPU:0 # x")
	f.Add(`q = IdentityN[T=(int32, string), _x=("a", "b")]`)
	f.Add("p = Placeholder[dtype=bool, shape=<unknown>, _f=1.5]")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := Parse(text)
		if err != nil {
			return
		}
		once := Print(g)
		again, err := Parse(once)
		if err != nil {
			t.Fatalf("%q is printed as %q, which cannot be read: %v", text, once, err)
		}
		if twice := Print(again); twice != once {
			t.Fatalf("%q is printed as %q, then as %q", text, once, twice)
		}
	})
}
