package step

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// library has functions of one int32 each: a constant, a product, a condition,
// and the factorial, which calls itself.
const library = `
library {
	function { signature { name: "one" input_arg { name: "n" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
		ret { key: "y" value: "c:output:0" } }
	function { signature { name: "prod" input_arg { name: "a" type_attr: "T" } input_arg { name: "b" type_attr: "T" } output_arg { name: "y" type_attr: "T" }
			attr { name: "T" type: "type" } }
		node_def { name: "mul" op: "Mul" input: "a" input: "b" attr { key: "T" value { placeholder: "T" } } }
		ret { key: "y" value: "mul:z:0" } }
	function { signature { name: "times" input_arg { name: "n" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "c" op: "one" input: "n" }
		node_def { name: "less" op: "Sub" input: "n" input: "c:y:0" attr { key: "T" value { type: DT_INT32 } } }
		node_def { name: "rest" op: "fact" input: "less:z:0" }
		node_def { name: "all" op: "prod" input: "n" input: "rest:y:0" attr { key: "T" value { type: DT_INT32 } } }
		ret { key: "y" value: "all:y:0" } }
	function { signature { name: "fact" input_arg { name: "n" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "one" op: "one" input: "n" }
		node_def { name: "more" op: "Greater" input: "n" input: "one:y:0" attr { key: "T" value { type: DT_INT32 } } }
		node_def { name: "if" op: "StatelessIf" input: "more:z:0" input: "n"
			attr { key: "Tcond" value { type: DT_BOOL } } attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
			attr { key: "then_branch" value { func { name: "times" } } } attr { key: "else_branch" value { func { name: "one" } } } attr { key: "_lower_using_switch_merge" value { b: true } } }
		ret { key: "y" value: "if:output:0" } }
	function { signature { name: "below" input_arg { name: "i" type: DT_INT32 } input_arg { name: "n" type: DT_INT32 } input_arg { name: "p" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "sub" op: "Sub" input: "n" input: "i" attr { key: "T" value { type: DT_INT32 } } }
		ret { key: "y" value: "sub:z:0" } }
	function { signature { name: "step" input_arg { name: "i" type: DT_INT32 } input_arg { name: "n" type: DT_INT32 } input_arg { name: "p" type: DT_INT32 }
			output_arg { name: "j" type: DT_INT32 } output_arg { name: "m" type: DT_INT32 } output_arg { name: "q" type: DT_INT32 } }
		node_def { name: "one" op: "one" input: "i" }
		node_def { name: "next" op: "AddV2" input: "i" input: "one:y:0" attr { key: "T" value { type: DT_INT32 } } }
		node_def { name: "mul" op: "prod" input: "p" input: "next:z:0" attr { key: "T" value { type: DT_INT32 } } }
		ret { key: "j" value: "next:z:0" } ret { key: "m" value: "n" } ret { key: "q" value: "mul:y:0" } }
	function { signature { name: "square_grad" input_arg { name: "x" type: DT_FLOAT } input_arg { name: "dy" type: DT_FLOAT } output_arg { name: "dx" type: DT_FLOAT } }
		node_def { name: "neg" op: "Neg" input: "dy" attr { key: "T" value { type: DT_FLOAT } } }
		ret { key: "dx" value: "neg:y:0" } }
	function { signature { name: "square" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
		node_def { name: "mul" op: "Mul" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
		ret { key: "y" value: "mul:z:0" } }
	function { signature { name: "own" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
		node_def { name: "mul" op: "Mul" input: "x" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
		ret { key: "y" value: "mul:z:0" } }
	function { signature { name: "checks" input_arg { name: "n" type: DT_INT32 } output_arg { name: "a" type: DT_INT32 } output_arg { name: "b" type: DT_INT32 } is_stateful: true }
		node_def { name: "no" op: "Const" attr { key: "dtype" value { type: DT_BOOL } } attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }
		node_def { name: "check" op: "Assert" input: "no" input: "n" attr { key: "T" value { list { type: DT_INT32 } } } }
		node_def { name: "copy" op: "Identity" input: "n" input: "^check" attr { key: "T" value { type: DT_INT32 } } }
		ret { key: "a" value: "n" } ret { key: "b" value: "copy:output:0" } }
	function { signature { name: "second" input_arg { name: "a" type: DT_INT32 } input_arg { name: "b" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		ret { key: "y" value: "b" } }
	function { signature { name: "both" input_arg { name: "a" type: DT_INT32 } input_arg { name: "b" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } output_arg { name: "z" type: DT_INT32 } }
		ret { key: "y" value: "b" } ret { key: "z" value: "b" } }
	function { signature { name: "looped" input_arg { name: "n" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "l" op: "TestLoop" input: "n" }
		ret { key: "y" value: "l:y:0" } }
	function { signature { name: "elsewhere" input_arg { name: "n" type: DT_INT32 } output_arg { name: "y" type: DT_INT32 } }
		node_def { name: "mul" op: "Mul" input: "n" input: "n" device: "/device:GPU:0" attr { key: "T" value { type: DT_INT32 } } }
		ret { key: "y" value: "mul:z:0" } }
	gradient { function_name: "own" gradient_func: "square_grad" }
}
node { name: "n" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } attr { key: "shape" value { shape {} } } }
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape {} } } }
`

const ints3 = `list { type: DT_INT32 type: DT_INT32 type: DT_INT32 }`

// buildFunctions builds a graph that has the library, is fed n and x, and returns y, with
// passes disabled.
func buildFunctions(t *testing.T, rt *Runtime, nodes string, disabled ...string) (*Graph, error) {
	t.Helper()
	def := &pb.GraphDef{}
	if err := prototext.Unmarshal([]byte(library+nodes), def); err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromProto(def)
	if err != nil {
		return nil, err
	}
	if err := pass.Lower(g, disabled); err != nil {
		t.Fatal(err)
	}
	p := pass.Placer{}
	for _, d := range rt.Devices.List() {
		p.Devices = append(p.Devices, pass.DeviceInfo{Spec: d.Spec(), Local: true})
	}
	if err := p.Place(g); err != nil {
		return nil, err
	}
	client := rt.Devices.Client().Spec().String()
	if g, err = pass.ClientGraph(g, pass.Signature{Feeds: []string{"n:0", "x:0"}, Fetches: []string{"y:0"}}, pass.Terminals{Frame: true, ClientDevice: client}); err != nil {
		t.Fatal(err)
	}
	return rt.Build(g, BuildOptions{})
}

// runBuilt runs what buildFunctions has built, fed 5 and 3.
func runBuilt(t *testing.T, g *Graph) (*core.Tensor, error) {
	t.Helper()
	frame := NewFrame([]*core.Tensor{core.Scalar(int32(5)), core.Scalar(float32(3))}, 1)
	if err := g.Run(t.Context(), Args{ID: 1, Rendezvous: rendezvous.NewLocal(g.rt.Devices), Frame: frame}); err != nil {
		return nil, err
	}
	out, err := frame.Leave(nil)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// runFunctions builds a graph that has the library and runs it.
func runFunctions(t *testing.T, nodes string, disabled ...string) (*core.Tensor, error) {
	t.Helper()
	built, err := buildFunctions(t, newRuntime(t), nodes, disabled...)
	if err != nil {
		return nil, err
	}
	return runBuilt(t, built)
}

var functionCases = []struct{ name, nodes, want string }{
	{"by name", `node { name: "y" op: "prod" input: "n" input: "n" attr { key: "T" value { type: DT_INT32 } } }`, "int32[]{25}"},
	{"recursion", `node { name: "y" op: "fact" input: "n" }`, "int32[]{120}"},
	{"on another device", `node { name: "y" op: "fact" input: "n" device: "/device:CPU:1" }`, "int32[]{120}"},
	// TensorFlow does not look at devices in functions that are called by name.
	{"by name, with a device that is not there", `node { name: "y" op: "elsewhere" input: "n" }`, "int32[]{25}"},
	{"call", `node { name: "y" op: "PartitionedCall" input: "n" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
		attr { key: "f" value { func { name: "times" } } } }`, "int32[]{120}"},
	{"not to be inlined", `node { name: "y" op: "PartitionedCall" input: "n" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
		attr { key: "f" value { func { name: "times" } } } attr { key: "_noinline" value { b: true } } }`, "int32[]{120}"},
	{"loop", loopNode(true) + `node { name: "y" op: "Identity" input: "w:2" attr { key: "T" value { type: DT_INT32 } } }`, "int32[]{120}"},
	{"loop as a kernel", loopNode(false) + `node { name: "y" op: "Identity" input: "w:2" attr { key: "T" value { type: DT_INT32 } } }`, "int32[]{120}"},
	{"loop that is not lowered", strings.Replace(loopNode(false), "StatelessWhile", "_While", 1) + `node { name: "y" op: "Identity" input: "w:2" attr { key: "T" value { type: DT_INT32 } } }`, "int32[]{120}"},
	{"condition that is not lowered", `node { name: "y" op: "_If" input: "x" input: "n" attr { key: "Tcond" value { type: DT_FLOAT } } attr { key: "Tin" value { list { type: DT_INT32 } } }
		attr { key: "Tout" value { list { type: DT_INT32 } } } attr { key: "then_branch" value { func { name: "fact" } } } attr { key: "else_branch" value { func { name: "one" } } } }`, "int32[]{120}"},
	{"case beyond the last", `node { name: "y" op: "Case" input: "n" input: "n" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
		attr { key: "branches" value { list { func { name: "one" } func { name: "fact" } } } } attr { key: "_lower_using_switch_merge" value { b: true } } }`, "int32[]{120}"},
	{"condition that is no bool", `node { name: "y" op: "If" input: "x" input: "n" attr { key: "Tcond" value { type: DT_FLOAT } } attr { key: "Tin" value { list { type: DT_INT32 } } }
		attr { key: "Tout" value { list { type: DT_INT32 } } } attr { key: "then_branch" value { func { name: "fact" } } } attr { key: "else_branch" value { func { name: "one" } } }
		attr { key: "_lower_using_switch_merge" value { b: true } } }`, "int32[]{120}"},
	{"gradient", gradientNode("square"), "float32[]{18}"}, // 2 * x * dy, where both are 3
	{"gradient of its own", gradientNode("own"), "float32[]{-3}"},
}

func loopNode(lower bool) string {
	attr := ""
	if lower {
		attr = `attr { key: "_lower_using_switch_merge" value { b: true } }`
	}
	return `node { name: "zero" op: "Sub" input: "n" input: "n" attr { key: "T" value { type: DT_INT32 } } } node { name: "one" op: "one" input: "n" }
	node { name: "w" op: "StatelessWhile" input: "zero" input: "n" input: "one" attr { key: "T" value { ` + ints3 + ` } }
		attr { key: "cond" value { func { name: "below" } } } attr { key: "body" value { func { name: "step" } } } ` + attr + ` }`
}

func gradientNode(f string) string {
	return `node { name: "y" op: "SymbolicGradient" input: "x" input: "x" attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } }
		attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "f" value { func { name: "` + f + `" } } } }`
}

// TestEffectsOfBranches: of a branch that does not list its effects only those
// happen that what is read depends on.
func TestEffectsOfBranches(t *testing.T) {
	got, err := runFunctions(t, `
	node { name: "if" op: "If" input: "n" input: "n" attr { key: "Tcond" value { type: DT_INT32 } } attr { key: "Tin" value { list { type: DT_INT32 } } }
		attr { key: "Tout" value { list { type: DT_INT32 type: DT_INT32 } } } attr { key: "then_branch" value { func { name: "checks" } } } attr { key: "else_branch" value { func { name: "checks" } } }
		attr { key: "_lower_using_switch_merge" value { b: true } } }
	node { name: "y" op: "Identity" input: "if" attr { key: "T" value { type: DT_INT32 } } }`)
	if err != nil || core.Data[int32](got)[0] != 5 {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestErrorsOfInlinedNodes: a client hears of a node by the name that it has in
// its function, whether or not that has taken the place of the call.
func TestErrorsOfInlinedNodes(t *testing.T) {
	for _, c := range []struct {
		node     string
		disabled []string
	}{{"call/check", nil}, {"check", []string{"function_inlining"}}} {
		_, err := runFunctions(t, `
	node { name: "call" op: "StatefulPartitionedCall" input: "n" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 type: DT_INT32 } } }
		attr { key: "f" value { func { name: "checks" } } } }
	node { name: "y" op: "Identity" input: "call:1" attr { key: "T" value { type: DT_INT32 } } }`, c.disabled...)
		e := core.AsError(err)
		if e.Node != c.node || e.Origin != (core.Origin{Function: "checks", Node: "check"}) || !strings.HasSuffix(e.WireMessage(), "\n\t [[{{function_node checks}}{{node check}}]]") {
			t.Errorf("got %v of %s, on the wire %q", err, e.Node, e.WireMessage())
		}
	}
}

// TestFunctions: inlined or called, lowered or not, results are the same.
func TestFunctions(t *testing.T) {
	for _, c := range functionCases {
		for _, disabled := range [][]string{nil, {"all"}, {"function_inlining"}, {"lower_functional_ops"}} {
			got, err := runFunctions(t, c.nodes, disabled...)
			if err != nil || got.String() != c.want {
				t.Errorf("%s without %v: got %v, %v, want %s", c.name, disabled, got, err, c.want)
			}
		}
	}
}

// TestFunctionErrors: the words are the same whether or not a call would have
// been inlined.
func TestFunctionErrors(t *testing.T) {
	call := func(f, in, out string) string {
		return `node { name: "y" op: "PartitionedCall" input: "n" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { ` + out + ` } } }
			attr { key: "f" value { func { name: "` + f + `" ` + in + ` } } } }`
	}
	for _, c := range []struct {
		nodes string
		code  core.Code
		want  string
	}{
		{call("nothing", "", "type: DT_INT32"), core.NotFound, "Function nothing is not defined."},
		{call("prod", "", "type: DT_INT32"), core.InvalidArgument, "Attr T is not found from prod"},
		{call("prod", `attr { key: "T" value { type: DT_INT32 } }`, "type: DT_INT32"), core.InvalidArgument, "Expects 2 arguments, but 1 is provided"},
		{call("square", "", "type: DT_INT32"), core.InvalidArgument, "Expects arg[0] to be float but int32 is provided"},
		{call("one", "", "type: DT_FLOAT"), core.InvalidArgument, "Expects ret[0] to be float, but int32 is provided."},
		{call("elsewhere", "", "type: DT_INT32"), core.InvalidArgument, "Cannot assign a device for operation y/mul"},
		{call("step", "", "type: DT_INT32"), core.InvalidArgument, "Expects 3 arguments, but 1 is provided"},
	} {
		_, err := runFunctions(t, c.nodes)
		if core.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

// TestPassNames: what takes functions apart can be disabled by name.
func TestPassNames(t *testing.T) {
	for _, name := range []string{"lower_functional_ops", "function_inlining"} {
		if !slices.Contains(pass.PassNames(), name) {
			t.Errorf("%s is no pass", name)
		}
	}
}

// TestLoopErrors: bounds and bodies that do not fit, in TensorFlow's words.
func TestLoopErrors(t *testing.T) {
	loop := func(delta, body string) string {
		attrs := `attr { key: "T" value { list { type: DT_INT32 } } } attr { key: "body" value { func { name: "` + body + `" } } }`
		return `node { name: "zero" op: "Sub" input: "n" input: "n" attr { key: "T" value { type: DT_INT32 } } } node { name: "minus" op: "Neg" input: "n" attr { key: "T" value { type: DT_INT32 } } }
	node { name: "y" op: "For" input: "zero" input: "n" input: "` + delta + `" input: "n" ` + attrs + ` }`
	}
	for _, c := range []struct{ nodes, want string }{
		{loop("minus", "second"), "Invalid start/limit/delta: 0 5 -5"},
		{loop("zero", "second"), "Invalid start/limit/delta: 0 5 0"},
		{loop("n", "both"), "For loop body returned 2 arguments. Expected: 1"},
	} {
		if _, err := runFunctions(t, c.nodes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}
