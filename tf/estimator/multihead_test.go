package estimator_test

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// heads is what TensorFlow's estimators computed: see testdata/heads.py.
type heads struct {
	Several struct {
		Metrics               map[string]float64
		Predictions           map[string][]float64
		Summaries, Signatures []string
	}
	Shapes struct{ Metrics, Summary map[string]any }
	Moved  struct{ Embedding, Predictions []float64 }
}

func readHeads(t *testing.T) (h heads) {
	t.Helper()
	text, err := os.ReadFile("testdata/heads.json")
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// severalInput is the batch of heads.py, again and again.
func severalInput(context.Context) (*estimator.Input, error) {
	const n = 12
	var x, size [n][]float32
	var kind, likes []int64
	var tags [n][]int64
	w := make([]float32, n)
	for i := range n {
		a, b := float32(math.Sin(float64(i))), float32(math.Cos(float64(i)*1.3))
		x[i], size[i], w[i] = []float32{a, b}, []float32{a*2 - b + 0.5}, float32(1+i%3)
		kind, likes = append(kind, int64(i*i%3)), append(likes, 0)
		if i%5 < 2 {
			likes[i] = 1
		}
		tags[i] = []int64{int64(i % 2), 0}
		if i%3 == 0 {
			tags[i][1] = 1
		}
	}
	return table(map[string]any{"x": x[:], "weight": w, "kind": kind, "likes": likes, "size": size[:], "tags": tags[:]}, "kind", "likes", "size", "tags")(context.Background())
}

// again repeats an input for ever.
func again(in estimator.InputFn) estimator.InputFn {
	return func(ctx context.Context) (*estimator.Input, error) {
		i, err := in(ctx)
		if err == nil {
			i.Data = i.Data.Repeat(data.Infinite)
		}
		return i, err
	}
}

// several returns the heads of heads.py.
func several(t *testing.T) *estimator.MultiHead {
	t.Helper()
	var all []*estimator.Head
	add := func(h *estimator.Head, err error) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	o := func(name string) estimator.HeadOptions { return estimator.HeadOptions{Name: name, MeanLoss: true} }
	weighted := o("likes")
	weighted.WeightColumn = "weight"
	add(estimator.MultiClassHead(3, o("kind")))
	add(estimator.BinaryHead(weighted))
	add(estimator.RegressionHead(1, o("size")))
	add(estimator.MultiLabelHead(2, o("tags")))
	m, err := estimator.NewMultiHead(all, 1, 0.5, 2, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// severalModel is the model of heads.py.
func severalModel(t *testing.T, specs *[]*estimator.Spec) estimator.ModelFn {
	m := several(t)
	wave := func(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
		x := make([]float32, s.NumElements())
		for i := range x {
			x[i] = float32(math.Sin(float64(i)) * 0.3)
		}
		return ops.Const(g, x, s...)
	}
	return func(c *estimator.Call) (*estimator.Spec, error) {
		w := vars.Get(c.Graph, "w", tf.Shape{2, 7}, vars.Options{Initializer: wave})
		b := tf.NewVariable(ops.Const(c.Graph, make([]float32, 7)), tf.VariableOptions{Name: "b"})
		c.Graph.AddToCollection(losses.RegularizationCollection, ops.Square(w.Value()).Sum().Mul(0.01))
		logits := ops.MatMul(c.Features["x"].(tf.Output), w.Value()).Add(b.Value())
		s, err := m.Spec(c, logits, estimator.Minimizer(train.GradientDescent{LearningRate: 0.2}))
		*specs = append(*specs, s)
		return s, err
	}
}

// TestMultiHead trains four heads on one layer as TensorFlow does. Areas under
// curves are left out: TensorFlow 2's heads interpolate them in another way.
func TestMultiHead(t *testing.T) {
	want := readHeads(t).Several
	var specs []*estimator.Spec
	e, err := estimator.New(severalModel(t, &specs), estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), again(severalInput), estimator.TrainOptions{Steps: 60}); err != nil {
		t.Fatal(err)
	}
	m, err := e.Evaluate(t.Context(), again(severalInput), estimator.EvalOptions{Steps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := slices.Sorted(maps.Keys(m)), slices.Sorted(maps.Keys(want.Metrics)); !slices.Equal(a, b) {
		t.Errorf("metrics are %q, want %q", a, b)
	}
	for key, v := range want.Metrics {
		if !strings.HasPrefix(key, "auc") {
			near(t, key, m[key], v)
		}
	}
	tags := map[string]bool{}
	for _, ev := range eventsIn(t, e.ModelDir()) {
		for _, v := range ev.GetSummary().GetValue() {
			tags[v.GetTag()] = true
		}
	}
	delete(tags, "global_step/sec")
	if got := slices.Sorted(maps.Keys(tags)); !slices.Equal(got, want.Summaries) {
		t.Errorf("summaries are %q, want %q", got, want.Summaries)
	}
	for p, err := range e.Predict(t.Context(), severalInput, estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		samePredictions(t, p, want.Predictions)
		break
	}
	if got := slices.Sorted(maps.Keys(specs[len(specs)-1].ExportOutputs)); !slices.Equal(got, want.Signatures) {
		t.Errorf("signatures are %q, want %q", got, want.Signatures)
	}
}

// TestMultiHeadMistakes: each names what is wrong.
func TestMultiHeadMistakes(t *testing.T) {
	one, _ := estimator.RegressionHead(1, estimator.HeadOptions{Name: "a", MeanLoss: true})
	sum, _ := estimator.RegressionHead(1, estimator.HeadOptions{Name: "b"})
	nameless, _ := estimator.RegressionHead(1, estimator.HeadOptions{})
	for want, c := range map[string]struct {
		heads   []*estimator.Head
		weights []float32
	}{
		"Must specify heads":                {nil, nil},
		"must have name specified":          {[]*estimator.Head{one, nameless}, nil},
		"the names of heads must differ":    {[]*estimator.Head{one, one}, nil},
		"must have the same size":           {[]*estimator.Head{one}, []float32{1, 2}},
		"The loss_reduction must be":        {[]*estimator.Head{one, sum}, nil},
		"All given heads must have name sp": {[]*estimator.Head{nil}, nil},
	} {
		if _, err := estimator.NewMultiHead(c.heads, c.weights...); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, c := range map[string]struct {
		logits tf.Shape
		names  []string
		labels []string
	}{
		"Could not split logits":        {tf.Shape{3, 6}, nil, nil},
		"labels has missing values":     {tf.Shape{3, 7}, nil, []string{"kind", "likes", "size"}},
		"logits has missing values":     {tf.Shape{3, 3}, []string{"kind"}, nil},
		"logits must be float32":        {tf.Shape{3, 4}, []string{"kind", "likes", "size", "tags"}, nil},
		"Feature weight is not in feat": {tf.Shape{3, 7}, nil, []string{"kind", "likes", "size", "tags"}},
	} {
		g := tf.NewGraph()
		call := &estimator.Call{Graph: g, Mode: estimator.Eval, Features: map[string]any{}, Labels: map[string]any{}}
		for _, l := range c.labels {
			call.Labels[l] = ops.Const(g, []int64{0, 1, 1}, 3, 1)
		}
		logits := ops.Fill(c.logits, ops.Scalar(g, float32(0)))
		_, err := several(t).Spec(call, logits, nil)
		if c.names != nil {
			parts := map[string]tf.Output{}
			for _, n := range c.names {
				parts[n] = logits
			}
			_, err = several(t).SpecOf(call, parts, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// mistake reports whether err is one of the program, of the given words and line.
func mistake(err error, words, file string) bool {
	return tf.CodeOf(err) == tf.InvalidArgument && strings.Contains(err.Error(), words) && strings.Contains(err.Error(), file)
}
