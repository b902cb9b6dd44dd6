package tf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// registered is a graph with a node whose gradient the library has: five times that of its
// result, times the value that the node "a" has. gradient and captured are put in.
const registered = `
	node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape {} } } }
	node { name: "a" op: "Square" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
	node { name: "y" op: "IdentityN" input: "a" input: "x" attr { key: "T" value { list { type: [DT_FLOAT, DT_FLOAT] } } }
		attr { key: "_gradient_op_type" value { s: "CustomGradient-7" } } }
	library {
		function {
			signature { name: "grad" input_arg { name: "dy" type: DT_FLOAT } input_arg { name: "dx" type: DT_FLOAT } input_arg { name: "c" type: DT_FLOAT } output_arg { name: "out" type: DT_FLOAT } }
			node_def { name: "m" op: "Mul" input: "dy" input: "c" attr { key: "T" value { type: DT_FLOAT } } }
			ret { key: "out" value: "m:z:0" }
			arg_attr { key: 2 value { attr { key: "_captured_output" value { s: "CAPTURED" } } } }
			arg_attr { key: 0 value { attr { key: "_gradient_inputs" value { list { i: PLACE } } } } }
		}
		registered_gradients { gradient_func: "GRAD" registered_op_type: "CustomGradient-7" }
	}`

func importRegistered(t *testing.T, with ...string) *tf.Graph {
	t.Helper()
	g := tf.NewGraph()
	text := strings.NewReplacer(append(with, "CAPTURED", "a:0", "PLACE", "1", "GRAD", "grad")...).Replace(registered)
	if err := g.ImportGraphDef([]byte(text), tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	return g
}

func gradientAt(t *testing.T, g *tf.Graph) (string, error) {
	t.Helper()
	x, y := g.Operation("x").Output(0), g.Operation("y").Output(0)
	grads, err := tf.Gradients(y, x)
	if err != nil || grads[0].IsZero() {
		return "", err
	}
	s, err := session.New(g)
	if err != nil {
		return "", err
	}
	defer s.Close()
	out, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(3))}, grads[0])
	return fmt.Sprint(out), err
}

// TestGradientOfTheLibrary: the function of the library is called, also of a graph that was
// written and read again.
func TestGradientOfTheLibrary(t *testing.T) {
	g := importRegistered(t)
	def, err := g.GraphProto(0)
	if err != nil {
		t.Fatal(err)
	}
	again := tf.NewGraph()
	if err := again.ImportProto(def, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, g := range []*tf.Graph{g, again} {
		if got, err := gradientAt(t, g); err != nil || got != "[float32[]{9}]" {
			t.Errorf("%s (%v), want 9", got, err)
		}
	}
}

// TestGradientsThatDoNotFit: what the library says of a gradient need not be true.
func TestGradientsThatDoNotFit(t *testing.T) {
	for _, c := range []struct {
		how  []string
		code tf.Code
	}{
		{[]string{"GRAD", "none"}, tf.NotFound},
		{[]string{"CAPTURED", "none:0"}, tf.NotFound},
		{[]string{"CAPTURED", ""}, tf.NotFound},
		{[]string{"PLACE", "2"}, tf.InvalidArgument},
		{[]string{"PLACE", "-1"}, tf.InvalidArgument},
		{[]string{"i: PLACE", "i: [0, 1]"}, tf.InvalidArgument},
		{[]string{`input_arg { name: "dx" type: DT_FLOAT }`, `input_arg { name: "dx" type: DT_INT32 }`}, tf.InvalidArgument},
	} {
		if _, err := gradientAt(t, importRegistered(t, c.how...)); tf.CodeOf(err) != c.code {
			t.Errorf("%q: %v, want %v", c.how, err, c.code)
		}
	}
}

// TestNamesOfTwoGradients: two programs may have called different gradients alike. Neither is
// taken for the other.
func TestNamesOfTwoGradients(t *testing.T) {
	g := importRegistered(t)
	other := `library { registered_gradients { gradient_func: "other" registered_op_type: "CustomGradient-7" } }`
	if err := g.ImportGraphDef([]byte(other), tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := gradientAt(t, g); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("%v, want NOT_FOUND", err)
	}
}
