package interop

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// built is a sequence that opens a session with a graph that may be wrong, and
// fetches one tensor of it.
func built(name, fetch string, nodes ...*pb.NodeDef) sequence {
	return sequence{name: "graph/" + name, run: func(c *caller) {
		if c.create(nodes...) {
			c.step(nil, fetch)
		}
	}}
}

func builtOf(name, fetch string, g *pb.GraphDef) sequence {
	return sequence{name: "graph/" + name, run: func(c *caller) {
		if c.createWith(nil, g) {
			c.step(nil, fetch)
		}
	}}
}

func withVersions(v *pb.VersionDef) *pb.GraphDef { return &pb.GraphDef{Node: abc(), Versions: v} }

func withLibrary(l *pb.FunctionDefLibrary, nodes ...*pb.NodeDef) *pb.GraphDef {
	g := graphOf(nodes...)
	g.Library = l
	return g
}

// changed returns a node after a change.
func changed(n *pb.NodeDef, change func(*pb.NodeDef)) *pb.NodeDef {
	change(n)
	return n
}

// graphCalls bring graphs that are right and wrong.
var graphCalls = []sequence{
	built("node of no name", "c", constant("", 1.0)),
	built("node of odd name", "c", constant("a b", 1.0)),
	built("node whose name begins with an underscore", "_c", constant("_c", 1.0)),
	built("node whose name begins with a stroke", "c", constant("/c", 1.0)),
	built("node of a name in another script", "c", constant("größe", 1.0)),
	built("node with a colon", "c", constant("c:0", 1.0)),
	built("node of a name with dots", "a.b-c/d>e:0", constant("a.b-c/d>e", 1.0)),
	built("node of a long name", "c", constant(strings.Repeat("n", 70000), 1.0), constant("c", 1.0)),
	built("two nodes of one name", "c", constant("c", 1.0), constant("c", 2.0)),
	built("op of no name", "c", nodeOf("c", "", nil)),
	built("op that nobody knows", "c", nodeOf("c", "NoSuchOp", nil)),
	built("attribute missing", "c", nodeOf("c", "Placeholder", nil)),
	built("attribute too many", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["more"] = attribute(3) })),
	built("attribute with an underscore", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["_more"] = attribute(3) })),
	built("attribute of another kind", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["dtype"] = attribute(3) })),
	built("attribute without a value", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["dtype"] = &pb.AttrValue{} })),
	built("attribute of unknown type", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["dtype"] = attribute(pb.DataType(888)) })),
	built("attribute of a type that is not allowed", "n", constant("c", "x"), nodeOf("n", "Neg", ins{"c"}, "T", tf.String)),
	built("value of another type", "c", changed(constant("c", 1.0), func(n *pb.NodeDef) { n.Attr["dtype"] = attribute(tf.Int32) })),
	built("value without a shape", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", &pb.TensorProto{Dtype: 1})),
	built("value of negative shape", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{-5})})),
	built("value of huge shape", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{1 << 33, 1 << 33})})),
	built("value of short content", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{4}), TensorContent: []byte{1}})),
	built("input of another type", "n", constant("c", 1), simple("n", "Neg", "c")),
	built("input missing", "n", simple("n", "Neg", "q")),
	built("inputs too few", "n", constant("c", 1.0), nodeOf("n", "AddV2", ins{"c"}, "T", tf.Float32)),
	built("inputs too many", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"c", "c"}, "T", tf.Float32)),
	built("input of unknown output", "n", constant("c", 1.0), simple("n", "Neg", "c:3")),
	built("input of no name", "n", simple("n", "Neg", "")),
	built("input of odd name", "n", simple("n", "Neg", "a b")),
	built("input of control where data should be", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"^c"}, "T", tf.Float32)),
	built("control before data", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"^c", "c"}, "T", tf.Float32)),
	built("control twice", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"c", "^c", "^c"}, "T", tf.Float32)),
	built("control of an output", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"c", "^c:0"}, "T", tf.Float32)),
	built("control of unknown", "n", constant("c", 1.0), nodeOf("n", "Neg", ins{"c", "^q"}, "T", tf.Float32)),
	built("input is itself", "n", simple("n", "Neg", "n")),
	built("control is itself", "n", nodeOf("n", "NoOp", ins{"^n"})),
	built("cycle", "n", simple("n", "Neg", "m"), simple("m", "Neg", "n")),
	built("cycle of controls", "n", nodeOf("n", "NoOp", ins{"^m"}), nodeOf("m", "NoOp", ins{"^n"})),
	built("cycle beside", "c", constant("c", 1.0), simple("n", "Neg", "m"), simple("m", "Neg", "n")),
	built("merge without a loop", "m", nodeOf("m", "Merge", ins{"m", "n"}, "T", tf.Float32, "N", 2), simple("n", "Neg", "m")),
	built("device of strokes", "c", at("///", constant("c", 1.0))),
	built("device with a stroke behind", "c", at("/job:worker/", constant("c", 1.0))),
	built("device in capitals", "c", at("/Cpu:0", constant("c", 1.0))),
	built("device unknown", "c", at("/job:worker/task:7", constant("c", 1.0))),
	built("device of another job", "c", at("/job:ps", constant("c", 1.0))),
	built("device that is none", "c", at("nonsense", constant("c", 1.0))),
	built("device of unknown type", "c", at("/device:XYZ:0", constant("c", 1.0))),
	built("device by part", "c", at("/task:1", constant("c", 1.0))),
	built("device in the old form", "c", at("/cpu:0", constant("c", 1.0))),
	built("device that the task lacks", "c", at("/cpu:5", constant("c", 1.0))),
	{name: "graph/device softly", run: func(c *caller) {
		soft := &pb.ConfigProto{AllowSoftPlacement: true}
		for _, d := range []string{"/device:GPU:0", "/cpu:5", "/job:worker/task:1/device:GPU:3", "/job:ps", "/job:worker/task:7"} {
			c.note("device", d)
			if c.createWith(soft, graphOf(at(d, constant("c", 1.0)))) {
				c.step(nil, "c")
			}
		}
	}},
	built("colocated", "d", at(task1, constant("c", 1.0)), nodeOf("d", "Const", nil, "dtype", tf.Float32, "value", tensorOf(1.0))),
	built("colocated with nobody", "d", changed(constant("d", 1.0), func(n *pb.NodeDef) {
		n.Attr["_class"] = &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: [][]byte{[]byte("loc:@nobody")}}}}
	})),
	built("colocated against devices", "d", at(task1, constant("c", 1.0)), at(task0, changed(constant("d", 1.0), func(n *pb.NodeDef) {
		n.Attr["_class"] = &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{S: [][]byte{[]byte("loc:@c")}}}}
	}))),
	built("shapes that cannot be", "n", constant("x", []float32{1, 2}), constant("y", []float32{1, 2, 3}), twofold("n", "AddV2", "x", "y")),
	built("argument outside of a function", "c", nodeOf("c", "_Arg", nil, "T", tf.Float32, "index", 0)),
	built("result outside of a function", "c", constant("c", 1.0), nodeOf("r", "_Retval", ins{"c"}, "T", tf.Float32, "index", 0)),
	built("send of a client's", "c", constant("c", 1.0), nodeOf("s", "_Send", ins{"c"}, "T", tf.Float32, "tensor_name", "x", "send_device", "d", "send_device_incarnation", 1, "recv_device", "e")),
	builtOf("versions/none", "c", withVersions(nil)),
	builtOf("versions/old producer", "c", withVersions(&pb.VersionDef{Producer: -1})),
	builtOf("versions/new producer", "c", withVersions(&pb.VersionDef{Producer: 1 << 30})),
	builtOf("versions/new consumer", "c", withVersions(&pb.VersionDef{Producer: 27, MinConsumer: 1 << 30})),
	builtOf("versions/bad consumer", "c", withVersions(&pb.VersionDef{Producer: 27, BadConsumers: []int32{2, 5, 1 << 20}})),
	built("frames/no name", "x", constant("z", 0.0), enter("e", "z", ""), simple("x", "Exit", "e")),
	built("frames/parallel iterations too many", "x", constant("z", 0.0), enter("e", "z", "f", "parallel_iterations", 1<<33), simple("x", "Exit", "e")),
	built("frames/exit alone", "x", holder("z", tf.Float32), simple("x", "Exit", "z")),
	fedBuilt("frames/iteration alone", simple("n", "NextIteration", "p"), simple("y", "Neg", "n")),
	fedBuilt("frames/two iterations alone", simple("n", "NextIteration", "p"), simple("y", "NextIteration", "n")),
	fedBuilt("frames/merge of two", enter("e", "p", "f"), enter("g", "p", "g"), nodeOf("y", "Merge", ins{"e", "g"}, "T", tf.Float32, "N", 2)),
	fedBuilt("frames/inside and outside", enter("e", "p", "f"), twofold("a", "AddV2", "q", "e"), simple("y", "Exit", "a")),
	fedBuilt("frames/one in the other", enter("e", "p", "f"), enter("g", "e", "g"), twofold("a", "AddV2", "e", "g"), simple("y", "Exit", "a")),
	fedBuilt("frames/two parents", enter("e", "p", "f"), enter("g", "p", "g"), enter("e2", "g", "f"), twofold("a", "AddV2", "e", "e2"), simple("y", "Exit", "a")),
	{name: "graph/attribute too many of more nodes", run: func(c *caller) {
		more := func(n *pb.NodeDef) { n.Attr["more"] = attribute(3) }
		c.create(constant("c", 1.0))
		c.extend(changed(at(task1, simple("n", "Neg", "c")), more))
		c.step(nil, "n")
	}},
	builtOf("functions/attribute too many", "f", withLibrary(library(changedFunction("F", func(f *pb.FunctionDef) { f.NodeDef[0].Attr["more"] = attribute(3) })), constant("c", 3.0), nodeOf("f", "F", ins{"c"}, "more", 3))),
	built("value of unknown rank", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", unknownRank(2.0))),
	built("value of unknown rank with sizes", "c", nodeOf("c", "Const", nil, "dtype", tf.Float32, "value", &pb.TensorProto{Dtype: 1, TensorShape: &pb.TensorShapeProto{UnknownRank: true, Dim: shapeOf([]int64{2}).Dim}, FloatVal: []float32{1}})),
	built("too many elements", "y", nodeOf("y", "RandomUniform", ins{"d"}, "dtype", tf.Float32, "T", tf.Int64), sizes("d", 1<<31-1, 1<<31-1, 4)),
	builtOf("functions/call", "f", withLibrary(library(function("F", "Neg")), constant("c", 3.0), nodeOf("f", "F", ins{"c"}))),
	builtOf("functions/by handle", "f", withLibrary(library(function("F", "Neg")), constant("c", 3.0),
		nodeOf("f", "PartitionedCall", ins{"c"}, "Tin", []tf.DType{tf.Float32}, "Tout", []tf.DType{tf.Float32}, "f", &pb.NameAttrList{Name: "F"}))),
	builtOf("functions/unknown by handle", "f", withLibrary(nil, constant("c", 3.0),
		nodeOf("f", "PartitionedCall", ins{"c"}, "Tin", []tf.DType{tf.Float32}, "Tout", []tf.DType{tf.Float32}, "f", &pb.NameAttrList{Name: "G"}))),
	builtOf("functions/twice", "c", withLibrary(library(function("F", "Neg"), function("F", "Neg")), constant("c", 3.0))),
	builtOf("functions/twice and different", "c", withLibrary(library(function("F", "Neg"), function("F", "Square")), constant("c", 3.0))),
	builtOf("functions/of an op's name", "c", withLibrary(library(function("Neg", "Square")), constant("c", 3.0), simple("n", "Neg", "c"))),
	builtOf("functions/of no name", "c", withLibrary(library(function("", "Neg")), constant("c", 3.0))),
	builtOf("functions/without a signature", "c", withLibrary(library(&pb.FunctionDef{}), constant("c", 3.0))),
	builtOf("functions/of unknown ops", "f", withLibrary(library(function("F", "NoSuchOp")), constant("c", 3.0), nodeOf("f", "F", ins{"c"}))),
	builtOf("functions/without a result", "f", withLibrary(library(changedFunction("F", func(f *pb.FunctionDef) { f.Ret = nil })), constant("c", 3.0), nodeOf("f", "F", ins{"c"}))),
	builtOf("functions/with a wrong result", "f", withLibrary(library(changedFunction("F", func(f *pb.FunctionDef) { f.Ret["y"] = "q:y:0" })), constant("c", 3.0), nodeOf("f", "F", ins{"c"}))),
	builtOf("functions/gradient of unknown", "c", withLibrary(&pb.FunctionDefLibrary{Gradient: []*pb.GradientDef{{FunctionName: "A", GradientFunc: "B"}}}, constant("c", 3.0))),
}

// fedBuilt opens a session and fetches y of the nodes, with p and q fed.
func fedBuilt(name string, nodes ...*pb.NodeDef) sequence {
	return sequence{name: "graph/" + name, run: func(c *caller) {
		c.create(append(nodes, holder("p", tf.Float32), holder("q", tf.Float32))...)
		c.step([]any{"p", 3.0, "q", 4.0}, "y")
	}}
}

func enter(name, in, frame string, attrs ...any) *pb.NodeDef {
	return nodeOf(name, "Enter", ins{in}, append([]any{"T", tf.Float32, "frame_name", frame}, attrs...)...)
}

func unknownRank(v any) *pb.TensorProto {
	p := tensorOf(v)
	p.TensorShape = &pb.TensorShapeProto{UnknownRank: true}
	return p
}

// sizes is a constant that is a shape.
func sizes(name string, dims ...int64) *pb.NodeDef {
	return nodeOf(name, "Const", nil, "dtype", tf.Int64, "value", &pb.TensorProto{Dtype: pb.DataType(tf.Int64), TensorShape: shapeOf([]int64{int64(len(dims))}), Int64Val: dims})
}

func changedFunction(name string, change func(*pb.FunctionDef)) *pb.FunctionDef {
	f := function(name, "Neg")
	change(f)
	return f
}
