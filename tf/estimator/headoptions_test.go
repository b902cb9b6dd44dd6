package estimator_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// optionInput is the batch of testdata/options.py; labels adds the label "y" to its
// features.
func optionInput(labels func(f feature.Features)) estimator.InputFn {
	var x [12][]float32
	w := make([]float32, len(x))
	for i := range x {
		x[i], w[i] = []float32{float32(math.Sin(float64(i))), float32(math.Cos(float64(i) * 1.3))}, float32(1+i%3)
	}
	return func(ctx context.Context) (*estimator.Input, error) {
		in, err := table(map[string]any{"x": x[:], "weight": w})(ctx)
		if err == nil {
			in.Map = func(f feature.Features) feature.Features {
				labels(f)
				return f
			}
			in.Labels = []string{"y"}
		}
		return in, err
	}
}

var someTags = [][]int{{}, {0}, {1, 2}, {2, 2}, {0, 1}, {2}, {1}, {0, 2}, {}, {1}, {2, 0}, {0}}

// sparseTags returns the labels that options.py makes of names of three classes.
func sparseTags[T tf.Elem](names [3]T) func(f feature.Features) {
	return func(f feature.Features) {
		g := f["x"].(tf.Output).Graph()
		var at []int64
		var values []T
		for r, row := range someTags {
			for c, id := range row {
				at, values = append(at, int64(r), int64(c)), append(values, names[id])
			}
		}
		f["y"] = sparse.Tensor{Indices: ops.Const(g, at, len(values), 2), Values: ops.Const(g, values), DenseShape: ops.Const(g, []int64{12, 2})}
	}
}

// numbered returns a label of n numbers for each example i.
func numbered[T tf.Elem](n int, f func(i, j int) T) func(feature.Features) {
	return func(fs feature.Features) {
		var all []T
		for i := range 12 {
			for j := range n {
				all = append(all, f(i, j))
			}
		}
		shape := []int{12, n}
		if n == 1 {
			shape = shape[:1]
		}
		fs["y"] = ops.Const(fs["x"].(tf.Output).Graph(), all, shape...)
	}
}

func hinge(labels, logits tf.Output) tf.Output {
	return ops.Relu(ops.Scalar(logits.Graph(), float32(1)).Sub(labels.Cast(tf.Float32).Mul(2).Sub(1).Mul(logits)))
}

type headOptionCase struct {
	make   func(o estimator.HeadOptions) (*estimator.Head, error)
	o      estimator.HeadOptions
	labels func(f feature.Features)
}

func headOptionCases() map[string]headOptionCase {
	labels3 := func(o estimator.HeadOptions) (*estimator.Head, error) { return estimator.MultiLabelHead(3, o) }
	poisson := func(n int) func(o estimator.HeadOptions) (*estimator.Head, error) {
		return func(o estimator.HeadOptions) (*estimator.Head, error) { return estimator.PoissonHead(n, o) }
	}
	regression2 := func(o estimator.HeadOptions) (*estimator.Head, error) { return estimator.RegressionHead(2, o) }
	three := func(o estimator.HeadOptions) (*estimator.Head, error) { return estimator.MultiClassHead(3, o) }
	dense := numbered(3, func(i, j int) (y int64) {
		for _, id := range someTags[i] {
			if id == j {
				y = 1
			}
		}
		return y
	})
	pair := numbered(2, func(i, j int) float32 { return float32(j*3) + float32(1-2*j)*float32(i%4) })
	words := []string{"red", "green", "blue"}
	return map[string]headOptionCase{
		"dense": {labels3, estimator.HeadOptions{WeightColumn: "weight", ClassMetrics: []int{0, 2}}, dense},
		"ids":   {labels3, estimator.HeadOptions{Thresholds: []float32{0.25, 0.5}, ClassMetrics: []int{1}}, sparseTags([3]int64{0, 1, 2})},
		"ids32": {labels3, estimator.HeadOptions{}, sparseTags([3]int32{0, 1, 2})},
		"words": {labels3, estimator.HeadOptions{Vocabulary: words, WeightColumn: "weight", ClassMetrics: []int{2, 0}, Name: "tags"}, sparseTags([3]string(words))},
		"own loss of labels": {labels3, estimator.HeadOptions{Loss: func(labels, logits tf.Output, f feature.Features) tf.Output {
			return f["weight"].(tf.Output).Reshape(-1, 1).Mul(hinge(labels, logits).Sum(1).Reshape(-1, 1))
		}}, dense},
		"poisson":        {poisson(1), estimator.HeadOptions{}, numbered(1, func(i, _ int) float32 { return float32(i % 4) })},
		"poisson of two": {poisson(2), estimator.HeadOptions{WeightColumn: "weight"}, pair},
		"logistic":       {estimator.LogisticHead, estimator.HeadOptions{WeightColumn: "weight"}, numbered(1, func(i, _ int) float32 { return float32(i%4) / 4 })},
		"absolute": {regression2, estimator.HeadOptions{
			Loss:        func(labels, logits tf.Output, _ feature.Features) tf.Output { return labels.Sub(logits).Abs() },
			InverseLink: func(x tf.Output) tf.Output { return ops.Softplus(x) },
		}, pair},
		"hinge": {estimator.BinaryHead, estimator.HeadOptions{
			Loss: func(labels, logits tf.Output, _ feature.Features) tf.Output { return hinge(labels, logits) },
		}, numbered(1, func(i, _ int) (y int64) {
			if i%5 < 2 {
				y = 1
			}
			return y
		})},
		"margin": {three, estimator.HeadOptions{WeightColumn: "weight", Loss: func(labels, logits tf.Output, _ feature.Features) tf.Output {
			g := logits.Graph()
			own := ops.OneHot(labels.Reshape(-1), ops.Scalar(g, int32(3)), ops.Scalar(g, float32(1)), ops.Scalar(g, float32(0)))
			return hinge(own, logits).Sum(1).Reshape(-1, 1)
		}}, numbered(1, func(i, _ int) int64 { return int64(i * i % 3) })},
	}
}

// oneLayer is the model of options.py.
func oneLayer(h *estimator.Head) estimator.ModelFn {
	wave := func(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
		x := make([]float32, s.NumElements())
		for i := range x {
			x[i] = float32(math.Sin(float64(i)) * 0.3)
		}
		return ops.Const(g, x, s...)
	}
	return func(c *estimator.Call) (*estimator.Spec, error) {
		w := vars.Get(c.Graph, "w", tf.Shape{2, h.LogitsSize()}, vars.Options{Initializer: wave})
		return h.Spec(c, ops.MatMul(c.Features["x"].(tf.Output), w.Value()), estimator.Minimizer(train.GradientDescent{LearningRate: 0.1}))
	}
}

// TestHeadOptionsAsTensorFlow trains heads with sparse labels, losses and links of a
// program, and metrics of single classes, beside TensorFlow 1.15.
func TestHeadOptionsAsTensorFlow(t *testing.T) {
	var want map[string]struct {
		Metrics    estimator.Metrics
		W          []float32
		Prediction map[string][]float32
	}
	text, err := os.ReadFile("testdata/options.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range headOptionCases() {
		t.Run(name, func(t *testing.T) {
			c.o.MeanLoss = true
			h, err := c.make(c.o)
			if err != nil {
				t.Fatal(err)
			}
			e, err := estimator.New(oneLayer(h), estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
			if err != nil {
				t.Fatal(err)
			}
			in := optionInput(c.labels)
			if err := e.Train(t.Context(), again(in), estimator.TrainOptions{Steps: 20}); err != nil {
				t.Fatal(err)
			}
			m, err := e.Evaluate(t.Context(), in, estimator.EvalOptions{Steps: 1})
			if err != nil {
				t.Fatal(err)
			}
			sameMetrics(t, m, want[name].Metrics)
			w, err := e.VariableValue("w")
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, "w", tf.Data[float32](w), want[name].W)
			for p, err := range e.Predict(t.Context(), in, estimator.PredictOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				for key, x := range want[name].Prediction {
					closeTo(t, key, tf.Data[float32](p[key]), x)
				}
				break
			}
		})
	}
}

// sameMetrics compares metrics, and their names.
func sameMetrics(t *testing.T, got, want estimator.Metrics) {
	t.Helper()
	for key, v := range want {
		if x, ok := got[key]; !ok || math.Abs(x-v) > 2e-5*max(1, math.Abs(v)) {
			t.Errorf("%s: got %v, TensorFlow has %v", key, x, v)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("TensorFlow has no metric %s", key)
		}
	}
}

func closeTo(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %v, TensorFlow has %v", what, got, want)
	}
	for i := range got {
		if math.Abs(float64(got[i]-want[i])) > 2e-5*max(1, math.Abs(float64(want[i]))) {
			t.Errorf("%s: got %v, TensorFlow has %v", what, got, want)
			return
		}
	}
}

// TestHeadOptionMistakes: what fits no head is refused, with the rule.
func TestHeadOptionMistakes(t *testing.T) {
	link := func(x tf.Output) tf.Output { return x }
	loss := func(_, logits tf.Output, _ feature.Features) tf.Output { return logits }
	for want, make := range map[string]func() (*estimator.Head, error){
		"only a regression head": func() (*estimator.Head, error) { return estimator.BinaryHead(estimator.HeadOptions{InverseLink: link}) },
		"only a multi-label head": func() (*estimator.Head, error) {
			return estimator.MultiClassHead(3, estimator.HeadOptions{ClassMetrics: []int{0}})
		},
		"must be in range [0, 2]. Given: 3": func() (*estimator.Head, error) {
			return estimator.MultiLabelHead(3, estimator.HeadOptions{ClassMetrics: []int{0, 3}})
		},
		"a loss and an inverse link of its own": func() (*estimator.Head, error) { return estimator.PoissonHead(1, estimator.HeadOptions{Loss: loss}) },
		"Invalid label_dimension 0":             func() (*estimator.Head, error) { return estimator.PoissonHead(0, estimator.HeadOptions{}) },
	} {
		if _, err := make(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestLabelMistakes: labels and losses that do not fit fail, when the graph is built or
// in the step, and say why.
func TestLabelMistakes(t *testing.T) {
	words := []string{"red", "green", "blue"}
	lossOf := func(f func(labels, logits tf.Output) tf.Output) estimator.HeadOptions {
		return estimator.HeadOptions{Loss: func(labels, logits tf.Output, _ feature.Features) tf.Output { return f(labels, logits) }}
	}
	for want, c := range map[string]struct {
		o      estimator.HeadOptions
		labels func(f feature.Features)
	}{
		"label_vocabulary must be provided when labels are strings": {estimator.HeadOptions{}, sparseTags([3]string(words))},
		"Labels dtype should be integer":                            {estimator.HeadOptions{}, sparseTags([3]float32{0, 1, 2})},
		"Labels must be <= 3 - 1":                                   {estimator.HeadOptions{}, sparseTags([3]int64{0, 1, 3})},
		"Labels must be >= 0":                                       {estimator.HeadOptions{Vocabulary: words}, sparseTags([3]string{"red", "green", "black"})},
		"names of classes must be sparse":                           {estimator.HeadOptions{Vocabulary: words}, numbered(3, func(int, int) string { return "red" })},
		"Labels must be <= 2 - 1":                                   {estimator.HeadOptions{}, numbered(3, func(i, _ int) int64 { return int64(i) })},
		"got no tensor":                                             {lossOf(func(_, _ tf.Output) (none tf.Output) { return none }), sparseTags([3]int64{0, 1, 2})},
		"must return numbers [12,1]":                                {lossOf(func(labels, logits tf.Output) tf.Output { return hinge(labels, logits) }), sparseTags([3]int64{0, 1, 2})},
	} {
		h, err := estimator.MultiLabelHead(3, c.o)
		if err != nil {
			t.Fatal(err)
		}
		e, err := estimator.New(oneLayer(h), estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Train(t.Context(), optionInput(c.labels), estimator.TrainOptions{Steps: 1})
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestSparseLabelOfOthers: other heads take no sparse labels.
func TestSparseLabelOfOthers(t *testing.T) {
	h, err := estimator.MultiClassHead(3, estimator.HeadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimator.New(oneLayer(h), estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Train(t.Context(), optionInput(sparseTags([3]int64{0, 1, 2})), estimator.TrainOptions{Steps: 1})
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "must be dense") {
		t.Errorf("got %v", err)
	}
}

// TestSparseLabelsOfSeveral: a head among several takes sparse labels as the same head
// does alone, and a baseline takes any head.
func TestSparseLabelsOfSeveral(t *testing.T) {
	o := estimator.HeadOptions{Name: "y", MeanLoss: true, ClassMetrics: []int{1}}
	h, err := estimator.MultiLabelHead(3, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := estimator.NewMultiHead([]*estimator.Head{h})
	if err != nil {
		t.Fatal(err)
	}
	var all []estimator.Metrics
	for _, head := range []estimator.AnyHead{h, m} {
		e, err := estimator.NewBaseline(head, estimator.Baseline{}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		in := optionInput(sparseTags([3]int64{0, 1, 2}))
		if err := e.Train(t.Context(), again(in), estimator.TrainOptions{Steps: 5}); err != nil {
			t.Fatal(err)
		}
		got, err := e.Evaluate(t.Context(), in, estimator.EvalOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got)
	}
	delete(all[1], "loss/y")
	sameMetrics(t, all[1], all[0])
	if p := all[0]["probability_mean/class1/y"]; p <= 0.2 || p >= 0.5 {
		t.Errorf("a baseline of 1/3 of all examples: got %v", all[0])
	}
}
