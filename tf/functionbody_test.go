package tf_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func parseLibrary(t testing.TB, text string) *pb.FunctionDefLibrary {
	t.Helper()
	def := &pb.FunctionDefLibrary{}
	if err := prototext.Unmarshal([]byte(text), def); err != nil {
		t.Fatal(err)
	}
	return def
}

// poly takes a list and an attribute, refers to outputs in all ways there are,
// and has an effect.
const poly = `function {
	signature { name: "poly" input_arg { name: "xs" type_attr: "T" number_attr: "N" } input_arg { name: "i" type: DT_INT32 }
		output_arg { name: "first" type_attr: "T" } output_arg { name: "all" type_attr: "T" number_attr: "N" }
		attr { name: "T" type: "type" } attr { name: "N" type: "int" has_minimum: true minimum: 1 default_value { i: 2 } } is_stateful: true }
	node_def { name: "sum" op: "AddN" input: "xs" attr { key: "T" value { placeholder: "T" } } attr { key: "N" value { placeholder: "N" } } }
	node_def { name: "split" op: "Split" input: "i" input: "sum:sum:0" attr { key: "T" value { placeholder: "T" } } attr { key: "num_split" value { i: 3 } } }
	node_def { name: "copy" op: "IdentityN" input: "split:output:2" input: "xs:1" input: "^sum" attr { key: "T" value { list { type: DT_FLOAT type: DT_FLOAT } } } }
	node_def { name: "effect" op: "NoOp" input: "^copy" }
	ret { key: "first" value: "split:output:1" } ret { key: "all" value: "copy:output" } control_ret { key: "e" value: "effect" }
	arg_attr { key: 1 value { attr { key: "_output_shapes" value { list { shape {} } } } } }
}`

func TestFunctionBody(t *testing.T) {
	l, err := core.NewLibrary(parseLibrary(t, poly))
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Body(core.Func{Name: "poly", Attrs: core.Attrs{"T": tf.Float32}})
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]string{}
	for _, n := range b.Graph.Node {
		inputs[n.Name] = strings.Join(n.Input, " ")
	}
	for node, want := range map[string]string{"sum": "xs_0 xs_1", "split": "i sum", "copy": "split:2 xs_1 ^sum", "first_RetVal": "split:1",
		"all_RetVal": "copy", "all_RetVal_1": "copy:1", "effect": "^copy"} {
		if inputs[node] != want {
			t.Errorf("inputs of %s are %q, want %q", node, inputs[node], want)
		}
	}
	if got := strings.Join(b.Args, " ") + "; " + strings.Join(b.ControlRets, " "); got != "xs_0 xs_1 i; effect" || !b.Stateful || len(b.RetTypes) != 3 {
		t.Errorf("arguments and effects are %s, stateful %v, results %v", got, b.Stateful, b.RetTypes)
	}
	if err := tf.NewGraph().ImportProto(b.Graph, tf.ImportOptions{}); err != nil {
		t.Errorf("the body is no graph: %v", err)
	}
}

func TestBadFunctions(t *testing.T) {
	for _, c := range []struct{ change, to, want string }{
		{`"split:output:1"`, `"split:output:3"`, "Return first -> split:output:3 is not found"},
		{`"split:output:1"`, `"nothing"`, "is not found"},
		{`input: "xs:1"`, `input: "xs:2"`, "input xs:2 of node copy"},
		{`input: "^sum"`, `input: "^xs"`, "a list of arguments is no node"},
		{`value: "effect"`, `value: "none"`, "Control return none is not found."},
		{`placeholder: "N"`, `placeholder: "M"`, "Failed to bind all placeholders in: M"},
		{`name: "copy"`, `name: "sum"`, "Duplicated node name: sum"},
		{`op: "Split"`, `op: "Slit"`, "Op type not registered 'Slit'"},
		{`"copy:output"`, `"copy:output:0"`, "Bad ret types"},
	} {
		text := strings.Replace(poly, c.change, c.to, 1)
		l, err := core.NewLibrary(parseLibrary(t, text))
		if err == nil {
			_, err = l.Body(core.Func{Name: "poly", Attrs: core.Attrs{"T": tf.Float32}})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.to, err, c.want)
		}
	}
}

func TestLibraries(t *testing.T) {
	l, err := core.NewLibrary(parseLibrary(t, poly+` function { signature { name: "g" } } gradient { function_name: "poly" gradient_func: "g" }`))
	if err != nil {
		t.Fatal(err)
	}
	same, err := l.Merge(parseLibrary(t, poly))
	if err != nil || len(same.Names()) != 2 || same.Gradient("poly") != "g" {
		t.Errorf("merged with itself: %v, %v", same.Names(), err)
	}
	for _, c := range []struct{ text, want string }{
		{`function { signature { name: "poly" } }`, "Cannot add function 'poly' because a different function with the same name already exists."},
		{`function { signature { name: "Add" } }`, "Cannot add function 'Add' because an op with the same name already exists."},
		{`gradient { function_name: "poly" gradient_func: "h" }`, "Cannot assign gradient function 'h' to 'poly' because it already has gradient function 'g'"},
	} {
		if _, err := l.Merge(parseLibrary(t, c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// FuzzFunctionDef: whatever comes, there is a body or an error.
func FuzzFunctionDef(f *testing.F) {
	seed, err := proto.Marshal(parseLibrary(f, poly))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		def := &pb.FunctionDefLibrary{}
		if proto.Unmarshal(data, def) != nil {
			return
		}
		l, err := core.NewLibrary(def)
		if err != nil {
			return
		}
		for _, name := range l.Names() {
			b, err := l.Body(core.Func{Name: name, Attrs: core.Attrs{"T": tf.Float32}})
			if err == nil && len(b.Args) != len(b.ArgTypes) {
				t.Errorf("%d arguments of %d types", len(b.Args), len(b.ArgTypes))
			}
		}
	})
}

// TestFunctionsInAttributes: a function that hands its attribute on twice, to itself, makes
// of some hundred bytes what doubles with each call.
func TestFunctionsInAttributes(t *testing.T) {
	l, err := core.NewLibrary(parseLibrary(t, `function {
		signature { name: "double" attr { name: "x" type: "func" } }
		node_def { name: "call" op: "PartitionedCall" attr { key: "Tin" value { list {} } } attr { key: "Tout" value { list {} } }
			attr { key: "f" value { func { name: "double" attr { key: "x" value { func { name: "pair"
				attr { key: "a" value { placeholder: "x" } } attr { key: "b" value { placeholder: "x" } } } } } } } } } }`))
	if err != nil {
		t.Fatal(err)
	}
	f := core.Func{Name: "double", Attrs: core.Attrs{"x": core.Func{Name: "leaf"}}}
	for range 18 {
		body, err := l.Body(f)
		if core.CodeOf(err) == core.ResourceExhausted {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := core.AttrFromProto(body.Graph.Node[0].Attr["f"], nil)
		if err != nil {
			t.Fatal(err)
		}
		f = v.(core.Func)
	}
	t.Error("there is no end")
}

// TestGradientsOfOddFunctions: bodies may hold nodes that only the engine makes otherwise,
// and name what is no node. That is an error of who asks for gradients.
func TestGradientsOfOddFunctions(t *testing.T) {
	for want, odd := range map[string]string{
		"must have an input": `node_def { name: "r" op: "_Retval" attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 7 } } }`,
		"Control return r":   `node_def { name: "r" op: "_Retval" input: "x" attr { key: "T" value { type: DT_FLOAT } } attr { key: "index" value { i: 7 } } } control_ret { key: "r" value: "r" }`,
	} {
		g := tf.NewGraph()
		err := g.ImportProto(&pb.GraphDef{Library: parseLibrary(t, `function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
			node_def { name: "n" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } } ret { key: "y" value: "n:y:0" } `+odd+` }`)}, tf.ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x := placeholder(g, "x", tf.Float32, nil)
		y := tf.Apply(nil, "PartitionedCall", []tf.Output{x}, tf.Attr("f", core.Func{Name: "f"}), tf.Attr("Tout", []tf.DType{tf.Float32})).Output(0)
		if _, err := tf.Gradients(y, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that says %q", err, want)
		}
	}
}

// TestListsOfManyTensors: what nodes of a function name by one input each, lists of 65,536
// tensors, must fit into memory.
func TestListsOfManyTensors(t *testing.T) {
	var b strings.Builder
	b.WriteString(`function { signature { name: "f" input_arg { name: "i" type: DT_INT32 } input_arg { name: "x" type: DT_FLOAT } }
		node_def { name: "s" op: "Split" input: "i" input: "x" attr { key: "T" value { type: DT_FLOAT } } attr { key: "num_split" value { i: 65536 } } }`)
	for i := range 100 {
		fmt.Fprintf(&b, `node_def { name: "n%d" op: "AddN" input: "s:output" attr { key: "T" value { type: DT_FLOAT } } attr { key: "N" value { i: 65536 } } }`, i)
	}
	l, err := core.NewLibrary(parseLibrary(t, b.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 64<<20))
	if _, err := l.Body(core.Func{Name: "f"}); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Error(err)
	}
}

// TestManyResults: each of 65,536 results of a list is named in the time that the first is.
func TestManyResults(t *testing.T) {
	const n = 65536
	l, err := core.NewLibrary(parseLibrary(t, fmt.Sprintf(`function { signature { name: "f" input_arg { name: "y_RetVal_2" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT number_attr: "N" } attr { name: "N" type: "int" } }
		node_def { name: "u" op: "Unpack" input: "y_RetVal_2" attr { key: "T" value { type: DT_FLOAT } } attr { key: "num" value { i: %d } } }
		ret { key: "y" value: "u:output" } }`, n)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Body(core.Func{Name: "f", Attrs: core.Attrs{"N": int64(n)}})
	if err != nil {
		t.Fatal(err)
	}
	got := append(slices.Clone(b.Rets[:4]), b.Rets[n-1])
	if want := []string{"y_RetVal", "y_RetVal_1", "y_RetVal_3", "y_RetVal_4", "y_RetVal_65536"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTextOfManyNodes: the nodes of a function share a large string of the call's.
func TestTextOfManyNodes(t *testing.T) {
	const n = 1000
	var b strings.Builder
	b.WriteString(`function { signature { name: "f" input_arg { name: "x" type: DT_STRING } output_arg { name: "y" type: DT_STRING } attr { name: "s" type: "string" } } ret { key: "y" value: "x" }`)
	for i := range n {
		fmt.Fprintf(&b, `node_def { name: "n%d" op: "StringJoin" input: "x" attr { key: "N" value { i: 1 } } attr { key: "separator" value { placeholder: "s" } } }`, i)
	}
	l, err := core.NewLibrary(parseLibrary(t, b.String()+"}"))
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err = l.Body(core.Func{Name: "f", Attrs: core.Attrs{"s": strings.Repeat("s", 1<<20)}}); err != nil {
		t.Error(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 100<<20 {
		t.Errorf("a string of 1 MiB in %d nodes took %d bytes", n, after.TotalAlloc-before.TotalAlloc)
	}
}
