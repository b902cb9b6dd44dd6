package xla_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// call adds a call of the module of a case to g.
func call(t *testing.T, g *tf.Graph, name string, in []tf.Output, opts ...tf.Option) *tf.Operation {
	t.Helper()
	cases, _ := readCases(t, *modules)
	n := cases.Operation(name + "/call")
	all := []tf.Option{tf.Name("f")}
	for attr, v := range n.Attrs {
		all = append(all, tf.Attr(attr, v))
	}
	return tf.Apply(g, "XlaCallModule", in, append(all, opts...)...)
}

// inputs returns constants like the arguments of a case.
func inputs(t *testing.T, g *tf.Graph, name string) (in []tf.Output) {
	t.Helper()
	cases, _ := readCases(t, *modules)
	for _, x := range cases.Operation(name + "/call").Inputs() {
		v := cases.Operation(strings.Replace(x.Operation().Name, "/x_", "/in_", 1)).TensorAttr("value")
		in = append(in, tf.Apply(g, "Const", nil, tf.Attr("value", v), tf.Attr("dtype", v.DType())).Output(0))
	}
	return in
}

func want(t *testing.T, name string) *tf.Tensor {
	t.Helper()
	cases, _ := readCases(t, *modules)
	return (*tf.Tensor)(cases.Operation(name + "/want_0").TensorAttr("value"))
}

// TestEager calls a module in a graph that computes at once, and in a function of it.
func TestEager(t *testing.T) {
	g := eager.New()
	y, err := call(t, g, "mlp", inputs(t, g, "mlp")).Output(0).Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Equal(t, y, want(t, "mlp"), tftest.Within(1e-5, 1e-5))
	f := eager.NewFunc(g, "f", func(in []tf.Output, _ ...any) []tf.Output { return call(t, in[0].Graph(), "mlp", in).Outputs() })
	out := f.Call(inputs(t, g, "mlp"))
	if y, err = out[0].Value(); err != nil {
		t.Fatal(err)
	}
	tftest.Equal(t, y, want(t, "mlp"), tftest.Within(1e-5, 1e-5))
}

// TestCluster calls a module in a session of a server.
func TestCluster(t *testing.T) {
	server, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	y, err := run(t, g, call(t, g, "mlp", inputs(t, g, "mlp")), session.Target(server.Target()))
	if err != nil {
		t.Fatal(err)
	}
	tftest.Equal(t, y, want(t, "mlp"), tftest.Within(1e-5, 1e-5))
}

// TestGradient: the functions of jax2tf have gradients of their own, the operation has
// none, as in TensorFlow.
func TestGradient(t *testing.T) {
	g := tf.NewGraph()
	in := inputs(t, g, "mlp")
	_, err := tf.Gradients(call(t, g, "mlp", in).Output(0), in[0])
	if err == nil || !strings.Contains(err.Error(), "No gradient defined for operation") {
		t.Errorf("got %v", err)
	}
}

// TestMistakes: what is wrong with a call is told with the node's name, in TensorFlow's
// words where it has some.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		opt  tf.Option
		code tf.Code
		want string
	}{
		{tf.Attr("version", 3), tf.InvalidArgument, "XlaCallModuleOp with version 3 is not supported anymore. Must be >= 4"},
		{tf.Attr("version", 11), tf.InvalidArgument, "XlaCallModuleOp with version 11 is not supported by this build. Must be <= 10"},
		{tf.Attr("platforms", []string{}), tf.InvalidArgument, "XlaCallModuleOp with version 10 must have non-empty platforms."},
		{tf.Attr("platforms", []string{"CUDA"}), tf.NotFound, "The current platform CPU is not among the platforms required by the module: [CUDA]"},
		{tf.Attr("platforms", []string{"CPU", "CUDA"}), tf.InvalidArgument, "It must be called with 4 because the module main function takes 5 arguments of which 1 platform index arguments, and 0 token arguments."},
		{tf.Attr("dim_args_spec", []string{"0.0"}), tf.Unimplemented, "dim_args_spec attribute is no longer supported"},
		{tf.Attr("module", "abc"), tf.InvalidArgument, "Cannot deserialize computation: "},
		{tf.Attr("Sout", []tf.Shape{}), tf.InvalidArgument, "The size of Sout (0) must match the size of Tout (1)"},
		{tf.Attr("Tout", []tf.DType{tf.Float64}), tf.InvalidArgument, "result 0 of the module main function must be of type"},
	} {
		g := tf.NewGraph()
		_, err := run(t, g, call(t, g, "mlp", inputs(t, g, "mlp"), c.opt))
		if tf.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "f") {
			t.Errorf("got %v %v, want %s", tf.CodeOf(err), err, c.want)
		}
	}
	g := tf.NewGraph()
	in := inputs(t, g, "mlp")
	in[0] = tf.Apply(g, "Const", nil, tf.Attr("value", core.NewTensor(tf.Float32, tf.Shape{2, 7})), tf.Attr("dtype", tf.Float32)).Output(0)
	if _, err := run(t, g, call(t, g, "mlp", in)); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an argument of another shape: got %v", err)
	}
}

func run(t *testing.T, g *tf.Graph, op *tf.Operation, opts ...session.Option) (*tf.Tensor, error) {
	t.Helper()
	if err := op.Err(); err != nil {
		return nil, err
	}
	s, err := session.New(g, opts...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, op.Output(0))
	if err != nil {
		return nil, err
	}
	return out[0], nil
}
