package estimator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Programs of TensorFlow 1.x's tutorials of Estimators, as their users would port
// them: see testdata/tutorials.py.

// tensors returns a tensor for each value.
func tensors(values ...any) (all []*tf.Tensor, err error) {
	for _, v := range values {
		t, err := tf.TensorOf(v)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

var irisKeys = []string{"SepalLength", "SepalWidth", "PetalLength", "PetalWidth"}

// iris returns the flowers in batches of 20, once or again and again.
func iris(times int64) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		columns, kinds := make([][]float32, 4), []int64(nil)
		for i := range 90 {
			x, kind := float64(i), float64(i*7%3)
			kinds = append(kinds, int64(kind))
			for n, v := range []float64{5 + kind + math.Sin(x), 3 - kind*0.3 + 0.5*math.Cos(x), 1.5 + 2*kind + 0.3*math.Sin(x*2), 0.2 + kind + 0.1*math.Cos(x*3)} {
				columns[n] = append(columns[n], float32(v))
			}
		}
		all, err := tensors(columns[0], columns[1], columns[2], columns[3], kinds)
		if err != nil {
			return nil, err
		}
		d := data.FromTensorSlices(all...).Repeat(times).Batch(20, false)
		return &estimator.Input{Data: d, Keys: append(slices.Clone(irisKeys), "kind"), Labels: []string{"kind"}}, nil
	}
}

func irisColumns() (all []feature.Dense) {
	for _, key := range irisKeys {
		all = append(all, feature.Numeric(key))
	}
	return all
}

func premade(t estimator.Task) (*estimator.Estimator, error) {
	t.Classes = 3
	return estimator.DNNClassifier(estimator.DNN{Columns: irisColumns(), Hidden: []int{10, 10}}, t)
}

type irisParams struct {
	columns []feature.Dense
	hidden  []int
	classes int
}

func myModel(c *estimator.Call) (*estimator.Spec, error) {
	p := c.Params.(irisParams)
	net := feature.InputLayer(c.Features, p.columns...)
	for _, units := range p.hidden {
		net = layers.Dense(net, units, layers.DenseOpts{Activation: layers.Relu})
	}
	logits := layers.Dense(net, p.classes)
	predicted := ops.ArgMax(logits, 1)
	s := &estimator.Spec{Mode: c.Mode}
	if c.Mode == estimator.Predict {
		s.Predictions = map[string]tf.Output{"class_ids": ops.ExpandDims(predicted, 1), "probabilities": ops.Softmax(logits), "logits": logits}
		return s, nil
	}
	s.Loss = losses.SparseSoftmaxCrossEntropy(c.Label(), logits)
	accuracy := estimator.MetricOf(metrics.Accuracy(c.Label(), predicted, metrics.Options{Name: "acc_op"}))
	summary.Scalar("accuracy", accuracy.Update)
	s.EvalMetrics = map[string]estimator.Metric{"accuracy": accuracy}
	if c.Mode == estimator.Train {
		s.TrainOp = estimator.Minimizer(train.Adagrad{LearningRate: 0.1})(s.Loss)
	}
	return s, nil
}

func custom(t estimator.Task) (*estimator.Estimator, error) {
	return estimator.New(myModel, estimator.Options{Config: t.Config, Params: irisParams{irisColumns(), []int{10, 10}, 3}})
}

// census parses lines of CSV in the graph.
func census(lines []string, batches int64) estimator.InputFn {
	keys := []string{"age", "workclass", "education", "hours_per_week", "occupation"}
	return func(context.Context) (*estimator.Input, error) {
		all, err := tensors(lines)
		if err != nil {
			return nil, err
		}
		parse := func(f feature.Features) feature.Features {
			line := f["line"].(tf.Output)
			g := line.Graph()
			number, text := ops.Const(g, []float32{0}), ops.Const(g, []string{""})
			columns := parsing.DecodeCSV(line, []tf.Output{number, text, text, number, text, text})
			out := feature.Features{"income": ops.Equal(columns[5], ops.Scalar(g, ">50K"))}
			for i, key := range keys {
				out[key] = columns[i]
			}
			return out
		}
		d := data.FromTensorSlices(all...).Repeat(data.Infinite).Batch(15, false).Take(batches)
		return &estimator.Input{Data: d, Keys: []string{"line"}, Labels: []string{"income"}, Map: parse}, nil
	}
}

func wideDeep(t estimator.Task) (*estimator.Estimator, error) {
	age, hours := feature.Numeric("age"), feature.Numeric("hours_per_week")
	education := feature.Vocabulary("education", "Bachelors", "HS-grad", "Masters")
	education.OOV = 1
	work, job := feature.Vocabulary("workclass", "Private", "State-gov"), feature.Hashed("occupation", 50)
	ages := feature.Bucketized(age, 18, 25, 30, 35, 40, 45, 50, 55, 60, 65)
	return estimator.DNNLinearCombinedClassifier(estimator.Combined{
		Linear: estimator.Linear{Columns: []feature.Column{education, work, job, ages, feature.Crossed(100, "education", "occupation"), feature.Crossed(100, ages, "education", "occupation")}},
		DNN:    estimator.DNN{Columns: []feature.Dense{age, hours, feature.Indicator(work), feature.Indicator(education), feature.Embedding(job, 8)}, Hidden: []int{20, 15, 10, 5}},
	}, t)
}

const reviewWords, reviewLength = 30, 8

// reviews returns numbers of words, in batches of 12.
func reviews(times int64) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		x, n, good := make([][]int32, 24), make([]int32, 24), make([]int64, 24)
		for k := range 24 {
			x[k], n[k] = make([]int32, reviewLength), int32(3+k%(reviewLength-2))
			for j := range int(n[k]) {
				x[k][j] = int32(1 + (k*5+j*3)%(reviewWords-1))
				good[k] += int64(x[k][j])
			}
			good[k] %= 2
		}
		all, err := tensors(x, n, good)
		if err != nil {
			return nil, err
		}
		return &estimator.Input{Data: data.FromTensorSlices(all...).Repeat(times).Batch(12, false), Keys: []string{"x", "len", "good"}, Labels: []string{"good"}}, nil
	}
}

func bag(t estimator.Task) (*estimator.Estimator, error) {
	column := feature.Embedding(feature.Identity("x", reviewWords), 5)
	return estimator.DNNClassifier(estimator.DNN{Columns: []feature.Dense{column}, Hidden: []int{10}, Optimizer: train.Adam{LearningRate: 0.05}}, t)
}

func bagOfWords(t estimator.Task) (*estimator.Estimator, error) {
	return estimator.LinearClassifier(estimator.Linear{Columns: []feature.Column{feature.Identity("x", reviewWords)}, Optimizer: train.FTRL{LearningRate: 0.1, L1: 0.01}}, t)
}

func reader(c *estimator.Call) (*estimator.Spec, error) {
	table := vars.Get(c.Graph, "embeddings", tf.Shape{reviewWords, 4})
	inputs := ops.EmbeddingLookup([]tf.Output{table.Value()}, c.Features["x"].(tf.Output))
	var logits tf.Output
	if c.Params == "lstm" {
		_, state := rnn.DynamicRNN(rnn.NewBasicLSTM(6), inputs, rnn.Opts{Lengths: c.Features["len"].(tf.Output)})
		logits = layers.Dense(state[1], 1)
	} else {
		conv := layers.Conv1D(inputs, 6, 3, layers.ConvOpts{Padding: "SAME", Activation: layers.Relu})
		hidden := layers.Dense(conv.Max(1), 5, layers.DenseOpts{Activation: layers.Relu})
		if c.Mode == estimator.Train {
			hidden = layers.Dropout(hidden, 0)
		}
		logits = layers.Dense(hidden, 1)
	}
	h, err := estimator.BinaryHead(estimator.HeadOptions{MeanLoss: true})
	if err != nil {
		return nil, err
	}
	return h.Spec(c, logits, estimator.Minimizer(train.Adam{LearningRate: 0.05}))
}

func reading(how string) func(t estimator.Task) (*estimator.Estimator, error) {
	return func(t estimator.Task) (*estimator.Estimator, error) {
		return estimator.New(reader, estimator.Options{Config: t.Config, Params: how})
	}
}

// tagged returns examples with several tags each. wide: with three labels.
func tagged(wide bool) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		var at []int64
		var tags []string
		var share, x, weight []float32
		var one []int64
		var three [][]int64
		flag := func(b bool) int64 {
			if b {
				return 1
			}
			return 0
		}
		for k := range 10 {
			for j := range k % 3 {
				n := len(tags)
				at, tags, share = append(at, int64(k), int64(j)), append(tags, fmt.Sprint("t", n*5%7)), append(share, float32(1+n%4))
			}
			x, weight = append(x, float32(math.Sin(float64(k)))), append(weight, float32(0.5+float64(k%3)))
			one, three = append(one, int64(k%2)), append(three, []int64{int64(k % 2), flag(k%3 == 0), flag(x[k] > 0)})
		}
		labels := any(one)
		if wide {
			labels = three
		}
		all, err := tensors(x, weight, labels)
		if err != nil {
			return nil, err
		}
		ragged := func(f feature.Features) feature.Features {
			g := f["x"].(tf.Output).Graph()
			indices, shape := ops.Const(g, at, len(tags), 2), ops.Const(g, []int64{10, 3})
			f["tags"] = sparse.Tensor{Indices: indices, Values: ops.Const(g, tags), DenseShape: shape}
			f["share"] = sparse.Tensor{Indices: indices, Values: ops.Const(g, share), DenseShape: shape}
			return f
		}
		return &estimator.Input{Data: data.FromTensors(all...).Repeat(data.Infinite), Keys: []string{"x", "weight", "labels"}, Labels: []string{"labels"}, Map: ragged}, nil
	}
}

func sparseLinear(t estimator.Task) (*estimator.Estimator, error) {
	t.Head.WeightColumn = "weight"
	tags := feature.Weighted(feature.Hashed("tags", 20), "share")
	return estimator.LinearClassifier(estimator.Linear{Columns: []feature.Column{tags, feature.Numeric("x")}, Combiner: sparse.CombineMean}, t)
}

func severalLabels(t estimator.Task) (*estimator.Estimator, error) {
	h, err := estimator.MultiLabelHead(3, estimator.HeadOptions{WeightColumn: "weight", MeanLoss: true})
	if err != nil {
		return nil, err
	}
	tags := feature.Embedding(feature.Hashed("tags", 20), 3, feature.EmbeddingOpts{Combiner: sparse.CombineSqrtN})
	e, err := estimator.NewDNN(h, estimator.DNN{
		Columns: []feature.Dense{tags, feature.Numeric("x")}, Hidden: []int{6}, BatchNorm: true,
		Optimizer: estimator.OptimizerFn(func(g *tf.Graph) (train.Optimizer, error) {
			rate := train.ExponentialDecay{LearningRate: 0.2, Decay: 0.5, Steps: 10}
			return train.GradientDescent{Rate: rate.At(train.GlobalStep(g).Value())}, nil
		}),
	}, t)
	if err != nil {
		return nil, err
	}
	return estimator.AddMetrics(e, func(c *estimator.Call, p map[string]tf.Output) (map[string]estimator.Metric, error) {
		weight := ops.ExpandDims(c.Features["weight"].(tf.Output), 1)
		return map[string]estimator.Metric{
			"mean_x": estimator.MetricOf(metrics.Mean(c.Features["x"].(tf.Output))),
			"off":    estimator.MetricOf(metrics.MeanAbsoluteError(c.Label().Cast(tf.Float32), p["probabilities"], metrics.Options{Weights: weight})),
		}, nil
	})
}

// tutorialWatch gives all variables but those of linear models initial values.
type tutorialWatch struct{ watch }

func (w *tutorialWatch) Begin(g *tf.Graph) error {
	if err := w.watch.Begin(g); err != nil {
		return err
	}
	w.sets = nil
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		name := strings.ReplaceAll(v.Name(), "/part_0", "")
		if !strings.HasPrefix(name, "linear/") {
			if err := w.set(g, v, initial(name, v.Shape().NumElements())); err != nil {
				return err
			}
		}
	}
	return g.Err()
}

// TestTutorialsAsTensorFlow runs the tutorials: losses, metrics, predictions and
// variables are those of TensorFlow 1.15.
func TestTutorialsAsTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/tutorials.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Lines  []string
		Models map[string]golden
	}
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	tutorials := map[string]struct {
		make            func(t estimator.Task) (*estimator.Estimator, error)
		train, evaluate estimator.InputFn
	}{
		"premade":       {premade, iris(data.Infinite), iris(1)},
		"custom":        {custom, iris(data.Infinite), iris(1)},
		"wide_deep":     {wideDeep, census(all.Lines, data.Infinite), census(all.Lines, 4)},
		"bag":           {bag, reviews(data.Infinite), reviews(1)},
		"words":         {bagOfWords, reviews(data.Infinite), reviews(1)},
		"lstm":          {reading("lstm"), reviews(data.Infinite), reviews(1)},
		"cnn":           {reading("cnn"), reviews(data.Infinite), reviews(1)},
		"sparse_linear": {sparseLinear, tagged(false), tagged(false)},
		"several":       {severalLabels, tagged(true), tagged(true)},
	}
	if len(all.Models) != len(tutorials) {
		t.Fatalf("%d models", len(all.Models))
	}
	for name, want := range all.Models {
		t.Run(name, func(t *testing.T) {
			m := tutorials[name]
			e, err := m.make(estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
			if err != nil {
				t.Fatal(err)
			}
			w := &tutorialWatch{}
			if err := e.Train(t.Context(), m.train, estimator.TrainOptions{Steps: 30, Hooks: []train.Hook{w}}); err != nil {
				t.Fatal(err)
			}
			for i, loss := range want.Losses {
				near(t, fmt.Sprint("the loss of step ", i), w.losses[i], loss)
			}
			got, err := e.Evaluate(t.Context(), m.evaluate, estimator.EvalOptions{Steps: 4})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want.Metrics))) {
				t.Errorf("got metrics %v, want %v", got, want.Metrics)
			}
			for key, v := range want.Metrics {
				near(t, key, got[key], v)
			}
			sameVariables(t, e, want.Variables)
			for p, err := range e.Predict(t.Context(), m.evaluate, estimator.PredictOptions{}) {
				if err != nil {
					t.Fatal(err)
				}
				samePredictions(t, p, want.Predictions)
				break
			}
		})
	}
}
