package layers_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// walk has a model of every layer. testdata/walk.py has the same ones.
var walk = map[string]func(x tf.Output) tf.Output{
	"dense": func(x tf.Output) tf.Output { return layers.Dense(x, 5) },
	"dense_options": func(x tf.Output) tf.Output {
		return layers.Dense(x, 5, layers.Tanh, layers.DenseOpts{NoBias: true, KernelRegularizer: vars.L2(0.1), ActivityRegularizer: vars.L2(0.3), Name: "fc"})
	},
	"dense_rank3": func(x tf.Output) tf.Output {
		return layers.Dense(x, 5, layers.DenseOpts{BiasRegularizer: vars.L2(0.5)}, layers.Relu)
	},
	"dense_twice": func(x tf.Output) tf.Output { return layers.Dense(layers.Dense(x, 5), 2) },
	"flatten":     layers.Flatten,
	"conv1d": func(x tf.Output) tf.Output {
		return layers.Conv1D(x, 4, 3, layers.ConvOpts{Strides: []int{2}})
	},
	"conv1d_same": func(x tf.Output) tf.Output {
		return layers.Conv1D(x, 4, 3, layers.ConvOpts{Padding: "same", Dilation: []int{2}, Activation: layers.Relu})
	},
	"conv2d": func(x tf.Output) tf.Output {
		return layers.Conv2D(x, 4, []int{3, 2}, layers.ConvOpts{Strides: []int{2, 1}, KernelRegularizer: vars.L2(0.1)})
	},
	"conv2d_same": func(x tf.Output) tf.Output {
		return layers.Conv2D(x, 4, 3, layers.ConvOpts{Padding: "SAME", Dilation: []int{2, 1}, NoBias: true})
	},
	"conv3d": func(x tf.Output) tf.Output {
		return layers.Conv3D(x, 3, []int{2, 3, 2}, layers.ConvOpts{Padding: "SAME", Strides: []int{1, 2, 1}})
	},
	"conv2d_transpose": func(x tf.Output) tf.Output {
		return layers.Conv2DTranspose(x, 4, []int{3, 2}, layers.ConvOpts{Strides: []int{2, 3}})
	},
	"conv2d_transpose_same": func(x tf.Output) tf.Output {
		return layers.Conv2DTranspose(x, 4, 3, layers.Tanh, layers.ConvOpts{Strides: []int{2}, Padding: "SAME"})
	},
	"conv3d_transpose": func(x tf.Output) tf.Output {
		return layers.Conv3DTranspose(x, 3, 2, layers.ConvOpts{Strides: []int{2}})
	},
	"separable_conv1d": func(x tf.Output) tf.Output {
		return layers.SeparableConv1D(x, 4, 3, layers.SeparableOpts{Multiplier: 2})
	},
	"separable_conv2d": func(x tf.Output) tf.Output {
		return layers.SeparableConv2D(x, 4, []int{3, 2}, layers.SeparableOpts{Multiplier: 2, ConvOpts: layers.ConvOpts{Strides: []int{2}, Padding: "SAME"}})
	},
	"conv1d_causal": func(x tf.Output) tf.Output {
		return layers.Conv1D(x, 4, 3, layers.ConvOpts{Padding: "CAUSAL", Dilation: []int{2}})
	},
	"conv1d_causal_strided": func(x tf.Output) tf.Output {
		return layers.Conv1D(x, 4, 3, layers.ConvOpts{Padding: "causal", Strides: []int{2}})
	},
	"conv1d_groups": func(x tf.Output) tf.Output { return layers.Conv1D(x, 6, 2, layers.ConvOpts{Groups: 3}) },
	"conv2d_groups": func(x tf.Output) tf.Output {
		return layers.Conv2D(x, 6, []int{3, 2}, layers.ConvOpts{Groups: 2, Strides: []int{2}, Padding: "SAME"})
	},
	"conv3d_groups": func(x tf.Output) tf.Output { return layers.Conv3D(x, 4, 2, layers.ConvOpts{Groups: 2}) },
	"separable_conv1d_causal": func(x tf.Output) tf.Output {
		return layers.SeparableConv1D(x, 4, 3, layers.SeparableOpts{ConvOpts: layers.ConvOpts{Padding: "CAUSAL"}})
	},
	"batch_normalization_adjustment": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{Adjustment: adjustment})
	},
	"batch_normalization_adjustment_tensor": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, ops.Scalar(x.Graph(), true), layers.BatchNormOpts{Adjustment: adjustment, Renorm: &layers.RenormOpts{}})
	},
	"batch_normalization_adjustment_infer": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, false, layers.BatchNormOpts{Adjustment: adjustment})
	},
	"depthwise_conv2d": func(x tf.Output) tf.Output {
		return layers.DepthwiseConv2D(x, []int{3, 2}, layers.SeparableOpts{Multiplier: 2})
	},
	"max_pooling1d":     func(x tf.Output) tf.Output { return layers.MaxPool1D(x, 3, 2, "VALID") },
	"max_pooling2d":     func(x tf.Output) tf.Output { return layers.MaxPool2D(x, []int{3, 2}, []int{2, 1}, "SAME") },
	"max_pooling3d":     func(x tf.Output) tf.Output { return layers.MaxPool3D(x, []int{2, 3, 2}, 2, "VALID") },
	"average_pooling1d": func(x tf.Output) tf.Output { return layers.AvgPool1D(x, 3, 2, "SAME") },
	"average_pooling2d": func(x tf.Output) tf.Output { return layers.AvgPool2D(x, []int{3, 2}, []int{2, 1}, "VALID") },
	"average_pooling3d": func(x tf.Output) tf.Output {
		return layers.AvgPool3D(x, []int{2, 3, 2}, []int{1, 2, 2}, "SAME")
	},
	"batch_normalization": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{Momentum: 0.8})
	},
	"batch_normalization_rank2": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{GammaRegularizer: vars.L2(0.1)})
	},
	"batch_normalization_infer": func(x tf.Output) tf.Output { return layers.BatchNorm(x, false) },
	"batch_normalization_tensor": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, ops.Scalar(x.Graph(), true))
	},
	"batch_normalization_first": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{Axes: []int{1}, Unfused: true})
	},
	"batch_normalization_axes": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{Axes: []int{1, 3}})
	},
	"batch_normalization_plain": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{NoCenter: true, NoScale: true})
	},
	"batch_normalization_renorm": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{Renorm: &layers.RenormOpts{RMin: 0.5, RMax: 2, DMax: 0.5, Momentum: 0.9}})
	},
	"batch_normalization_renorm_tensor": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, ops.Scalar(x.Graph(), false), layers.BatchNormOpts{Renorm: &layers.RenormOpts{}})
	},
	"batch_normalization_virtual": func(x tf.Output) tf.Output {
		return layers.BatchNorm(x, true, layers.BatchNormOpts{VirtualBatch: 2})
	},
	"batch_normalization_volumes": func(x tf.Output) tf.Output { return layers.BatchNorm(x, true) },
	"layer_normalization":         func(x tf.Output) tf.Output { return layers.LayerNorm(x) },
	"layer_normalization_axes": func(x tf.Output) tf.Output {
		return layers.LayerNorm(x, layers.LayerNormOpts{Axes: []int{1, 2}, Epsilon: 0.1})
	},
	"embedding": func(x tf.Output) tf.Output { return layers.Embedding(x, 5, 3) },
	"multi_head_attention": func(x tf.Output) tf.Output {
		return layers.MultiHeadAttention(x, x, 2, 4, layers.AttentionInputs{}, layers.AttentionOpts{ValueSize: 3, OutputSize: 5})
	},
	"multi_head_attention_causal": func(x tf.Output) tf.Output {
		return layers.MultiHeadAttention(x, x, 2, 4, layers.AttentionInputs{Causal: true})
	},
}

// adjustment scales examples by 1, 1.5, 2, … and adds 0, 0.25, 0.5, …
func adjustment(shape tf.Output) (scale, offset tf.Output) {
	g := shape.Graph()
	n := shape.At("0")
	size := ops.Concat(0, []tf.Output{n.Reshape(1), ops.OnesLike(ops.Slice(shape, []int{1}, []int{-1}))})
	each := ops.Reshape(ops.Range(g, 0, n, 1).Cast(tf.Float32), size)
	return each.Div(2).Add(1), each.Div(4)
}

// A walked is what TensorFlow made of one model.
type walked struct {
	Shape, Result        tf.Shape
	Variables, Trainable []string
	Out, Grad, Loss      []float64
	After                map[string][]float64
}

// sine returns the input of a model: sin(i), or for the embedding integers.
func sine(g *tf.Graph, name string, s tf.Shape) tf.Output {
	if name == "embedding" {
		return ops.Const(g, []int32{0, 3, 4, 1, 1, 2}, s...)
	}
	x := make([]float32, s.NumElements())
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	return ops.Const(g, x, s...)
}

// A model is one of the walk, built.
type model struct {
	want                 *walked
	out, loss, grad      tf.Output
	updates              *tf.Operation
	variables, trainable []*tf.Variable
}

// build adds the model of the given name.
func build(t *testing.T, g *tf.Graph, name string, want *walked) *model {
	t.Helper()
	all, trained := len(tf.Variables(g, tf.GlobalVariables)), len(tf.Variables(g, tf.TrainableVariables))
	losses := len(g.Collection("regularization_losses"))
	m := &model{want: want}
	x := sine(g, name, want.Shape)
	vars.Scope(g, name, vars.ScopeOptions{}, func() { m.out = walk[name](x) })
	if err := m.out.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m.variables, m.trainable = tf.Variables(g, tf.GlobalVariables)[all:], tf.Variables(g, tf.TrainableVariables)[trained:]
	m.loss = ops.Scalar(g, float32(0))
	for _, l := range g.Collection("regularization_losses")[losses:] {
		m.loss = m.loss.Add(l)
	}
	if x.DType().IsFloat() {
		gs, err := tf.Gradients(m.out.Mul(m.out).Sum(), x)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m.grad = gs[0]
	}
	m.updates = tf.Group(g, name+"_updates", vars.Updates(m.out)...)
	return m
}

func names(vs []*tf.Variable) []string {
	out := []string{}
	for _, v := range vs {
		out = append(out, v.Name())
	}
	return out
}

// TestWalk restores TensorFlow's checkpoint of every layer by the names of the
// variables and compares results, gradients, losses and updates; then it saves
// the models and compares the checkpoints.
func TestWalk(t *testing.T) {
	cases := map[string]*walked{}
	data, err := os.ReadFile("testdata/walk.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	models := map[string]*model{}
	for name, want := range cases {
		if walk[name] == nil {
			t.Errorf("%s: there is no model", name)
			continue
		}
		models[name] = build(t, g, name, want)
	}
	if len(cases) != len(walk) {
		t.Errorf("there are %d models for %d results of TensorFlow", len(walk), len(cases))
	}
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := saver.Restore(t.Context(), s, "testdata/walk.ckpt"); err != nil {
		t.Fatal(err)
	}
	saved, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "walk"))
	if err != nil {
		t.Fatal(err)
	}
	sameCheckpoints(t, "testdata/walk.ckpt", saved)
	for name, m := range models {
		t.Run(name, func(t *testing.T) { m.check(t, s) })
	}
}

func (m *model) check(t *testing.T, s *session.Session) {
	for _, c := range []struct{ got, want []string }{{names(m.variables), m.want.Variables}, {names(m.trainable), m.want.Trainable}} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("variables are %v, want %v", c.got, c.want)
		}
	}
	fetches := []tf.Fetchable{m.out, m.loss}
	if !m.grad.IsZero() {
		fetches = append(fetches, m.grad)
	}
	out, err := s.Run(t.Context(), nil, append(fetches, m.updates)...)
	if err != nil {
		t.Fatal(err)
	}
	if !out[0].Shape().Equal(m.want.Result) || !m.out.Shape().Compatible(m.want.Result) {
		t.Errorf("the shape is %v, before the step %v, want %v", out[0].Shape(), m.out.Shape(), m.want.Result)
	}
	near(t, "result", out[0], m.want.Out)
	near(t, "loss", out[1], m.want.Loss)
	if !m.grad.IsZero() {
		near(t, "gradient", out[2], m.want.Grad)
	}
	for _, v := range m.variables {
		if want, ok := m.want.After[v.Name()]; ok {
			after, err := s.Run(t.Context(), nil, v.Value())
			if err != nil {
				t.Fatal(err)
			}
			near(t, v.Name(), after[0], want)
		}
	}
}

func near(t *testing.T, what string, got *tf.Tensor, want []float64) {
	t.Helper()
	data := tf.Data[float32](got)
	if len(data) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(data), len(want))
	}
	for i, x := range data {
		if d := math.Abs(float64(x) - want[i]); !(d <= 2e-5*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, x, want[i])
		}
	}
}

// sameCheckpoints compares all tensors of two checkpoints.
func sameCheckpoints(t *testing.T, a, b string) {
	t.Helper()
	want, err := train.ListVariables(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := train.ListVariables(b)
	if err != nil || !slices.EqualFunc(got, want, func(x, y train.VariableInfo) bool {
		return x.Name == y.Name && x.DType == y.DType && x.Shape.Equal(y.Shape)
	}) {
		t.Fatalf("the checkpoint has %v, %v; want %v", got, err, want)
	}
	for _, v := range want {
		x, errX := train.LoadVariable(a, v.Name)
		y, errY := train.LoadVariable(b, v.Name)
		if errX != nil || errY != nil || !tftest.Equal(t, y, x) {
			t.Errorf("%s: %v, %v", v.Name, errX, errY)
		}
	}
}

// Every model computes in an eager graph too.
func TestWalkEagerly(t *testing.T) {
	cases := map[string]*walked{}
	data, err := os.ReadFile("testdata/walk.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range cases {
		v, err := walk[name](sine(eager.New(), name, want.Shape)).Value()
		if err != nil || !v.Shape().Equal(want.Result) {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}
