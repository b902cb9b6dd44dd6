package tf_test

import (
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// tensorFlowGraph is a graph that TensorFlow has written: variables, device
// scopes, colocation, control dependencies, lists of outputs.
//
//go:embed testdata/graph.pbtxt
var tensorFlowGraph []byte

func parseGraph(t testing.TB, text string) *pb.GraphDef {
	t.Helper()
	def := &pb.GraphDef{}
	if err := prototext.Unmarshal([]byte(text), def); err != nil {
		t.Fatal(err)
	}
	return def
}

func TestGraphsOfTensorFlowSurvive(t *testing.T) {
	want := parseGraph(t, string(tensorFlowGraph))
	for _, shuffle := range []func([]*pb.NodeDef){func([]*pb.NodeDef) {}, slices.Reverse[[]*pb.NodeDef]} {
		shuffle(want.Node)
		g := tf.NewGraph()
		if err := g.ImportProto(want, tf.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		got, err := g.GraphProto(0)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Node) != len(want.Node) || got.GetVersions().GetProducer() != want.GetVersions().GetProducer() {
			t.Fatalf("%d nodes of version %v", len(got.Node), got.GetVersions())
		}
		for i, n := range want.Node {
			if a, b := canonical(t, got.Node[i]), canonical(t, n); !proto.Equal(a, b) {
				t.Errorf("got %v\nwant %v", a, b)
			}
		}
	}
}

// canonical writes tensors in the one form that we write.
func canonical(t *testing.T, n *pb.NodeDef) *pb.NodeDef {
	n = proto.CloneOf(n)
	for _, a := range n.GetAttr() {
		if p := a.GetTensor(); p != nil {
			x, err := core.TensorFromProto(p)
			if err != nil {
				t.Fatal(err)
			}
			a.Value = &pb.AttrValue_Tensor{Tensor: core.TensorProto(x)}
		}
	}
	return n
}

func TestImportedShapes(t *testing.T) {
	g := tf.NewGraph()
	if err := g.ImportGraphDef(tensorFlowGraph, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"x:0": "x:0 float32[?,3]", "y": "y:0 float32[?,2]", "split:1": "split:1 float32[?,1]", "swapped": "swapped:0 float32[?,2]",
	} {
		if x, err := g.Output(name); err != nil || x.String() != want {
			t.Errorf("%s is %v, %v; want %s", name, x, err, want)
		}
	}
	if after := g.Operation("after"); after.Str("_note") != "kept" || len(after.ControlInputs()) != 1 {
		t.Errorf("attributes %v, after %v", after.Attrs, after.ControlInputs())
	}
	if name := noOp(g, tf.Name("y")).Name; name != "y_1" {
		t.Errorf("a new operation took the name %s", name)
	}
}

func TestExportAndImport(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{-1, 2})
	w := constant(g, (*tf.Tensor)(fromSlice(t, []float32{1, 2, 3, 4}, 2, 2)), tf.Name("w"))
	y := matMul(x, w, tf.Name("y"), tf.Attr("transpose_b", true), tf.OnDevice("/cpu:0"))
	noOp(g, tf.Name("done"), tf.After(y.Operation()), tf.Attr("_private", []int{1, 2}))
	for name, marshal := range map[string]func() ([]byte, error){"binary": g.MarshalGraphDef, "text": g.MarshalGraphDefText} {
		data, err := marshal()
		if err != nil {
			t.Fatal(err)
		}
		h := tf.NewGraph()
		if err := h.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := h.MarshalGraphDef()
		if err != nil {
			t.Fatal(err)
		}
		if first, _ := g.MarshalGraphDef(); string(first) != string(again) {
			t.Errorf("%s: the graph is another one:\n%s", name, data)
		}
	}
	if p, err := g.GraphProto(3); err != nil || len(p.Node) != 1 || p.Node[0].Name != "done" {
		t.Errorf("from the third on: %v, %v", p, err)
	}
	for _, from := range []int{-1, 5} {
		if _, err := g.GraphProto(from); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("from number %d on: %v", from, err)
		}
	}
}

func TestImportWithPrefix(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "mine", tf.Float32, tf.Shape{4, 3})
	for _, prefix := range []string{"a", "b/"} {
		if err := g.ImportGraphDef(tensorFlowGraph, tf.ImportOptions{Prefix: prefix, Inputs: map[string]tf.Output{"x:0": x}}); err != nil {
			t.Fatal(err)
		}
	}
	y, err := g.Output("b/y")
	if err != nil || !y.Shape().Equal(tf.Shape{4, 2}) {
		t.Errorf("got %v, %v", y, err)
	}
	if w := g.Operation("a/layer/w"); !slices.Equal(w.Strs("_class"), []string{"loc:@a/layer/w"}) {
		t.Errorf("the variable is colocated with %v", w.Strs("_class"))
	}
	if matmul := g.Operation("a/MatMul"); matmul.Input(0) != x || matmul.Input(1).Operation().Name != "a/MatMul/ReadVariableOp" {
		t.Errorf("inputs are %v", matmul.Inputs())
	}
	if n := len(g.Operation("a/after").ControlInputs()); n != 1 || g.Operation("a/after").Pos() != "node a/after" {
		t.Errorf("%d control inputs, position %s", n, g.Operation("a/after").Pos())
	}
}

func TestLoopsAreImported(t *testing.T) {
	g := tf.NewGraph()
	err := g.ImportProto(parseGraph(t, `
		node { name: "merge" op: "Merge" input: "enter" input: "next" attr { key: "T" value { type: DT_INT32 } } attr { key: "N" value { i: 2 } } }
		node { name: "next" op: "NextIteration" input: "merge" attr { key: "T" value { type: DT_INT32 } } }
		node { name: "enter" op: "Enter" input: "c" attr { key: "T" value { type: DT_INT32 } } attr { key: "frame_name" value { s: "f" } } }
		node { name: "c" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }
		versions { producer: 100 }`), tf.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if merge := g.Operation("merge"); merge.Input(1).Operation().Name != "next" {
		t.Errorf("inputs are %v", merge.Inputs())
	}
	if _, version := g.Library(); version != 100 {
		t.Errorf("the producer is version %d", version)
	}
}

func TestLibrariesAreMerged(t *testing.T) {
	function := func(name, op string) string {
		return fmt.Sprintf(`library { function { signature { name: %q } node_def { name: "n" op: %q } } }`, name, op)
	}
	g := tf.NewGraph()
	for _, text := range []string{function("f", "NoOp"), function("g", "NoOp"), function("f", "NoOp")} {
		if err := g.ImportProto(parseGraph(t, text), tf.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	library, _ := g.Library()
	if n := len(library.Names()); n != 2 {
		t.Errorf("%d functions", n)
	}
	err := g.ImportProto(parseGraph(t, function("f", "Abort")), tf.ImportOptions{})
	if err == nil || !strings.Contains(err.Error(), "a different function with the same name already exists") {
		t.Errorf("another f: %v", err)
	}
}

func TestBadGraphDefs(t *testing.T) {
	const c = `node { name: "c" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } `
	const neg = `attr { key: "T" value { type: DT_FLOAT } } } `
	for name, text := range map[string]string{
		"Op type not registered 'Nonsense'":                              `node { name: "n" op: "Nonsense" }`,
		"Node 'n': Unknown input node 'x'":                               `node { name: "n" op: "Neg" input: "x" ` + neg,
		"Node 'n': Unknown input node '^x'":                              `node { name: "n" op: "NoOp" input: "^x" }`,
		"Connecting to invalid output 1 of source node c which has 1":    c + `node { name: "n" op: "Neg" input: "c:1" ` + neg,
		"a tensor's name has the form node:number, got \"c:x\"":          c + `node { name: "n" op: "Neg" input: "c:x" ` + neg,
		"Neg takes 1 inputs, got 2":                                      c + `node { name: "n" op: "Neg" input: "c" input: "c" ` + neg,
		"Neg takes 1 inputs, got 0":                                      `node { name: "n" op: "Neg" ` + neg,
		"Non-control input 'c' after control input":                      c + `node { name: "n" op: "Neg" input: "^c" input: "c" ` + neg,
		"input 0 must be float64, got c:0 float32<unknown>":              c + `node { name: "n" op: "Neg" input: "c" attr { key: "T" value { type: DT_DOUBLE } } }`,
		"Node 'c' is not unique":                                         c + c,
		"Node name 'taken' already exists in the Graph":                  `node { name: "taken" op: "NoOp" }`,
		"Node '_n': Node name contains invalid characters":               `node { name: "_n" op: "NoOp" }`,
		"Node '': Node name contains invalid characters":                 `node { op: "NoOp" }`,
		"NodeDef missing attr 'T' from Op<name=Neg>":                     c + `node { name: "n" op: "Neg" input: "c" }`,
		`attr "T" must be one of`:                                        c + `node { name: "n" op: "Neg" input: "c" attr { key: "T" value { type: DT_STRING } } }`,
		`attr "T": 99 is no data type`:                                   c + `node { name: "n" op: "Neg" input: "c" attr { key: "T" value { type: 99 } } }`,
		`attr "T" must be type, got int64`:                               c + `node { name: "n" op: "Neg" input: "c" attr { key: "T" value { i: 1 } } }`,
		"Malformed device specification '/x'":                            `node { name: "n" op: "NoOp" device: "/x" }`,
		"2 nodes in a cycle":                                             `node { name: "a" op: "NoOp" input: "^b" } node { name: "b" op: "NoOp" input: "^a" }`,
		"1 nodes in a cycle":                                             `node { name: "a" op: "NoOp" input: "^a" }`,
		"the graph asks for a consumer of version 9999999":               `versions { min_consumer: 9999999 }`,
		"which must be at least 0 and at most 65536, got 10000000000000": `node { name: "n" op: "Split" attr { key: "num_split" value { i: 10000000000000 } } attr { key: "T" value { type: DT_FLOAT } } }`,
		"Encountered overflow when multiplying the sizes of a tensor": `node { name: "n" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
			attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } dim { size: 1099511627776 } } float_val: 1 } } } }`,
		"in binary or text format": "node {",
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			noOp(g, tf.Name("taken"))
			err := g.ImportGraphDef([]byte(text), tf.ImportOptions{})
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("got %v", err)
			}
			if n := len(g.Operations()); n != 1 || g.Err() != nil {
				t.Errorf("the graph has %d operations now, %v", n, g.Err())
			}
		})
	}
}

func TestBadReplacements(t *testing.T) {
	g, other := tf.NewGraph(), tf.NewGraph()
	x, foreign := placeholder(g, "x", tf.Float32, nil), placeholder(other, "foreign", tf.Float32, nil)
	wrong := placeholder(g, "wrong", tf.Int32, nil)
	bad := tf.Apply(other, "Nonsense", nil).Output(0)
	for want, inputs := range map[string]map[string]tf.Output{
		"were not found in graph_def: [z, z:1]":        {"z": x, "z:1": x},
		"must belong to the graph":                     {"x": foreign},
		"Op type not registered":                       {"x": bad},
		"input 0 must be float32, got wrong:0 int32":   {"x": wrong},
		"a tensor's name has the form node:number, go": {"x:": x},
	} {
		err := g.ImportGraphDef(tensorFlowGraph, tf.ImportOptions{Prefix: "p", Inputs: inputs})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzImportGraphDef(f *testing.F) {
	binary, err := proto.Marshal(parseGraph(f, string(tensorFlowGraph)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(binary)
	f.Add(tensorFlowGraph)
	f.Add([]byte(`node { name: "a" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 3 } } } attr { key: "dtype" value { type: DT_INT32 } } }`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if tooBig(data) {
			return
		}
		g := tf.NewGraph()
		if err := g.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
			if len(g.Operations()) != 0 {
				t.Errorf("half a graph was imported: %v", err)
			}
			return
		}
		out, err := g.MarshalGraphDef()
		if err != nil {
			t.Fatal(err)
		}
		if err := tf.NewGraph().ImportGraphDef(out, tf.ImportOptions{}); err != nil {
			t.Errorf("what was imported cannot be imported again: %v", err)
		}
	})
}

// tooBig tells graphs with constants that unfold to more than a fuzzer has
// time for.
func tooBig(data []byte) bool {
	def := &pb.GraphDef{}
	if proto.Unmarshal(data, def) != nil && prototext.Unmarshal(data, def) != nil {
		return false
	}
	for _, n := range def.GetNode() {
		for _, a := range n.GetAttr() {
			for _, p := range append(a.GetList().GetTensor(), a.GetTensor()) {
				if claimsMuch(p) {
					return true
				}
			}
		}
	}
	return false
}

// claimsMuch tells tensors that few bytes unfold to more memory than a fuzzer
// has time to clear.
func claimsMuch(p *pb.TensorProto) bool {
	s, err := core.ShapeFromProto(p.GetTensorShape())
	return err == nil && s.NumElements() > 1<<20
}

// TestOldPlaceholders: before version 24 a placeholder without dimensions had any
// shape.
func TestOldPlaceholders(t *testing.T) {
	for producer, want := range map[int32]tf.Shape{0: nil, 23: nil, 24: {}, 1000: {}} {
		g := tf.NewGraph()
		def := &pb.GraphDef{Versions: &pb.VersionDef{Producer: producer}, Node: []*pb.NodeDef{{Name: "x", Op: "Placeholder", Attr: map[string]*pb.AttrValue{
			"dtype": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}, "shape": {Value: &pb.AttrValue_Shape{Shape: &pb.TensorShapeProto{}}},
		}}}}
		if err := g.ImportProto(def, tf.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		if x, err := g.Output("x:0"); err != nil || !x.Shape().Equal(want) || (x.Shape() == nil) != (want == nil) {
			t.Errorf("version %d: %v, %v, want %v", producer, x.Shape(), err, want)
		}
	}
}

// TestImportOfManyInputs: a message of nodes that claim many inputs takes no memory for them.
func TestImportOfManyInputs(t *testing.T) {
	def := &pb.GraphDef{}
	for i := range 2000 {
		def.Node = append(def.Node, &pb.NodeDef{Name: strconv.Itoa(i), Op: "AddN", Attr: map[string]*pb.AttrValue{
			"T": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}, "N": {Value: &pb.AttrValue_I{I: 1 << 16}},
		}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := tf.NewGraph().ImportProto(def, tf.ImportOptions{})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; tf.CodeOf(err) != tf.InvalidArgument || took > 50<<20 {
		t.Errorf("%v, %d bytes", err, took)
	}
}

// TestImportOfManyOutputs: a message of nodes that claim many outputs takes bounded memory.
func TestImportOfManyOutputs(t *testing.T) {
	def := &pb.GraphDef{}
	for i := range 500 {
		def.Node = append(def.Node, &pb.NodeDef{Name: strconv.Itoa(i), Op: "Split", Input: []string{"0", "0"}, Attr: map[string]*pb.AttrValue{
			"T": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}, "num_split": {Value: &pb.AttrValue_I{I: 1 << 16}},
		}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := tf.NewGraph().ImportProto(def, tf.ImportOptions{})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; tf.CodeOf(err) != tf.ResourceExhausted || took > 40<<20 {
		t.Errorf("%v, %d bytes", err, took)
	}
}
