package graph_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// typed is a node of type float32.
func typed(name, op string, in ...string) *pb.NodeDef {
	return &pb.NodeDef{Name: name, Op: op, Input: in, Attr: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: pb.DataType(core.Float32)}}}}
}

func with(n *pb.NodeDef, attr string, v *pb.AttrValue) *pb.NodeDef {
	n.Attr[attr] = v
	return n
}

func text(s string) *pb.AttrValue  { return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(s)}} }
func number(i int64) *pb.AttrValue { return &pb.AttrValue{Value: &pb.AttrValue_I{I: i}} }

func readNodes(t *testing.T, nodes ...*pb.NodeDef) *graph.Graph {
	t.Helper()
	g, err := graph.FromProto(&pb.GraphDef{Node: nodes})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestStraighten: what begins an iteration outside of loops passes its value on. That
// of a loop stays, and so does one to which its own value comes back.
func TestStraighten(t *testing.T) {
	arg := func() *pb.NodeDef { return with(typed("x", "_Arg"), "index", number(0)) }
	for name, c := range map[string]struct {
		nodes []*pb.NodeDef
		want  string // op of n
	}{
		"outside":    {[]*pb.NodeDef{arg(), typed("n", "NextIteration", "x")}, "Identity"},
		"for others": {[]*pb.NodeDef{arg(), typed("n", "NextIteration", "x"), with(typed("m", "Merge", "n", "x"), "N", number(2))}, "Identity"},
		"beside a loop": {[]*pb.NodeDef{arg(), typed("n", "NextIteration", "x"), with(typed("e", "Enter", "x"), "frame_name", text("f")),
			with(typed("m", "Merge", "e", "o"), "N", number(2)), typed("o", "NextIteration", "m")}, "Identity"},
		"of a loop": {[]*pb.NodeDef{arg(), with(typed("e", "Enter", "x"), "frame_name", text("f")),
			with(typed("m", "Merge", "e", "n"), "N", number(2)), typed("n", "NextIteration", "m")}, "NextIteration"},
		"in a cycle":      {[]*pb.NodeDef{arg(), with(typed("m", "Merge", "x", "n"), "N", number(2)), typed("n", "NextIteration", "m")}, "NextIteration"},
		"of a wrong loop": {[]*pb.NodeDef{arg(), typed("y", "Exit", "x"), typed("n", "NextIteration", "x")}, "NextIteration"},
	} {
		g := readNodes(t, c.nodes...)
		if err := g.Straighten(); err != nil {
			t.Fatal(err)
		}
		if got := g.Node("n").OpName(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if o := g.Node("o"); o != nil && o.OpName() != "NextIteration" {
			t.Errorf("%s: the loop's own is %s", name, o.OpName())
		}
	}
}

// TestInputsOfFrames: the input of a loop is named first, of two loops the later one's.
func TestInputsOfFrames(t *testing.T) {
	enter := func(name, in, frame string) *pb.NodeDef {
		return with(typed(name, "Enter", in), "frame_name", text(frame))
	}
	for want, in := range map[string][]string{"x is in frame 'f'. The input y is in frame ''": {"y", "x"}, "z is in frame 'g'. The input x is in frame 'f'": {"x", "z"}} {
		g := readNodes(t, with(typed("y", "_Arg"), "index", number(0)), enter("x", "y", "f"), enter("z", "y", "g"), typed("a", "AddV2", in...))
		order, err := g.Sorted()
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Frames(order)
		plain := strings.NewReplacer("{{node ", "", "}}", "")
		if err == nil || !strings.Contains(plain.Replace(err.Error()), want) {
			t.Errorf("inputs %v: %v, want %s", in, err, want)
		}
	}
}

// TestForeignAttributes: those that an op lacks are kept as they came.
func TestForeignAttributes(t *testing.T) {
	want := with(with(typed("a", "_Arg"), "index", number(0)), "more", text("\xff"))
	want.Attr[""] = &pb.AttrValue{}
	def, err := readNodes(t, want).Proto()
	if err != nil {
		t.Fatal(err)
	}
	got := def.GetNode()[0]
	if !proto.Equal(got.GetAttr()["more"], want.GetAttr()["more"]) || got.GetAttr()[""] == nil {
		t.Errorf("attributes are %v, want %v", got.GetAttr(), want.GetAttr())
	}
}

// TestValidDevice: what TensorFlow's master takes.
func TestValidDevice(t *testing.T) {
	for _, name := range []string{"", "/", "/job:*", "/task:*", "/cpu:*", "/CPU:0", "/gpu:1", "/device:CPU", "/device:CPU:*", "/device:*", "/device:*:0", "/job:a/job:b", "/task:01", "/device:a_b:0", "/task:1/job:w_2"} {
		if !graph.ValidDevice(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"///", "//", "//job:w", "/job:w//task:0", "/job:w/", "/job:", "/task:", "/replica:x", "/cpu:", "/cpu", "/device:", "/device:CPU:", "/Cpu:0", "job:w", "cpu:0", " /cpu:0", "/cpu:0 ", "/cpu:0\n", "/task:-1", "/task:+1", "/Device:CPU:0", "/JOB:w", "/job:1x", "/job:a-b", "/job:w:0", "/device:CPU:0:0", "@w"} {
		if graph.ValidDevice(name) {
			t.Errorf("%q is taken", name)
		}
	}
}
