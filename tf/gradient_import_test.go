package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// reversed is a graph as TensorFlow writes it: y is x, and has a gradient of its own.
func reversed() *pb.GraphDef {
	text := func(s string) *pb.AttrValue { return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(s)}} }
	double := &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType_DT_DOUBLE}}
	doubles := &pb.AttrValue{Value: &pb.AttrValue_List{List: &pb.AttrValue_ListValue{Type: []pb.DataType{pb.DataType_DT_DOUBLE, pb.DataType_DT_DOUBLE}}}}
	return &pb.GraphDef{Versions: &pb.VersionDef{Producer: 1882}, Node: []*pb.NodeDef{
		{Name: "x", Op: "Placeholder", Attr: map[string]*pb.AttrValue{"dtype": double}},
		{Name: "same", Op: "Identity", Input: []string{"x"}, Attr: map[string]*pb.AttrValue{"T": double}},
		{Name: "IdentityN", Op: "IdentityN", Input: []string{"same", "x"}, Attr: map[string]*pb.AttrValue{"T": doubles, "_gradient_op_type": text("CustomGradient-2")}},
		{Name: "y", Op: "Identity", Input: []string{"IdentityN"}, Attr: map[string]*pb.AttrValue{"T": double}},
	}}
}

// TestGradientOfAnotherProgram: a gradient that a program has registered is not in its
// graph, so there is none but one that is given.
func TestGradientOfAnotherProgram(t *testing.T) {
	reverse := func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(tf.Output{}, tf.Apply(nil, "Neg", dy[:1]).Output(0))
	}
	for name, funcs := range map[string]map[string]tf.GradFunc{"none": nil, "other": {"IdentityN": reverse}, "given": {"CustomGradient-2": reverse}} {
		g := tf.NewGraph()
		w := vec(g, 2)
		g.GradientOverrideMap(funcs, func() {
			if err := g.ImportProto(reversed(), tf.ImportOptions{Inputs: map[string]tf.Output{"x:0": w}}); err != nil {
				t.Fatal(err)
			}
		})
		gs, err := tf.Gradients(g.Operation("y").Output(0), w)
		if name == "given" {
			if err != nil {
				t.Fatal(err)
			}
			tftest.Elements(t, run(t, g, gs[0])[0], []float64{-1})
		} else if tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), `No gradient defined for operation 'IdentityN'`) || !strings.Contains(err.Error(), `"CustomGradient-2"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
