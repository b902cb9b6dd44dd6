package estimator_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/train"
)

// signs is a batch of four numbers and whether they are positive.
func signs(context.Context) (*estimator.Input, error) {
	x, err := tf.FromSlice([]float32{-2, -1, 1, 2})
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice([]string{"no", "no", "yes", "yes"})
	if err != nil {
		return nil, err
	}
	return &estimator.Input{Data: data.FromTensors(x, y).Repeat(200), Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
}

// learn trains and evaluates a model.
func learn(e *estimator.Estimator, in estimator.InputFn) estimator.Metrics {
	if err := e.Train(context.Background(), in, estimator.TrainOptions{}); err != nil {
		log.Fatal(err)
	}
	m, err := e.Evaluate(context.Background(), in, estimator.EvalOptions{Steps: 1})
	if err != nil {
		log.Fatal(err)
	}
	return m
}

// What a model that ignores the features achieves is the least that others must.
func ExampleBaseline() {
	dir, remove := quiet()
	defer remove()
	e, err := estimator.BaselineRegressor(estimator.Baseline{}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	m := learn(e, doubled)
	fmt.Printf("%.2f for all, mean squared error %.2f\n", m["prediction/mean"], m["average_loss"])
	// Output: 5.00 for all, mean squared error 5.00
}

// A deep network with one layer.
func ExampleDNN() {
	dir, remove := quiet()
	defer remove()
	e, err := estimator.DNNClassifier(
		estimator.DNN{Columns: []feature.Dense{feature.Numeric("x")}, Hidden: []int{8}, Optimizer: train.Adam{LearningRate: 0.05}},
		estimator.Task{
			Config: estimator.RunConfig{ModelDir: dir},
			Head:   estimator.HeadOptions{Vocabulary: []string{"no", "yes"}},
		})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(learn(e, signs)["accuracy"])
	// Output: 1
}

// A linear and a deep model whose logits are added up.
func ExampleCombined() {
	dir, remove := quiet()
	defer remove()
	x := feature.Numeric("x")
	sgd := train.GradientDescent{LearningRate: 0.01}
	e, err := estimator.DNNLinearCombinedRegressor(estimator.Combined{
		Linear: estimator.Linear{Columns: []feature.Column{x}, Optimizer: sgd},
		DNN:    estimator.DNN{Columns: []feature.Dense{x}, Hidden: []int{2}, Optimizer: sgd},
	}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Train(context.Background(), doubled, estimator.TrainOptions{Steps: 1}); err != nil {
		log.Fatal(err)
	}
	names, err := e.VariableNames()
	for _, name := range names {
		fmt.Println(name)
	}
	fmt.Println(err)
	// Output:
	// dnn/hiddenlayer_0/bias
	// dnn/hiddenlayer_0/kernel
	// dnn/logits/bias
	// dnn/logits/kernel
	// global_step
	// linear/linear_model/bias_weights
	// linear/linear_model/x/weights
	// <nil>
}

// A head has the loss, the metrics and the predictions of a model of one's own, which
// computes logits.
func ExampleHead() {
	dir, remove := quiet()
	defer remove()
	var head *estimator.Head
	head, err := estimator.BinaryHead(estimator.HeadOptions{Vocabulary: []string{"no", "yes"}, Thresholds: []float32{0.9}})
	if err != nil {
		log.Fatal(err)
	}
	model := func(c *estimator.Call) (*estimator.Spec, error) {
		logits := c.Features["x"].(tf.Output).Reshape(-1, 1).Mul(weight(c.Graph))
		return head.Spec(c, logits, estimator.Minimizer(train.GradientDescent{LearningRate: 0.5}))
	}
	e, err := estimator.New(model, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	m := learn(e, signs)
	fmt.Println(m["accuracy"], m["precision/positive_threshold_0.9"], m["recall/positive_threshold_0.9"])
	// Output: 1 1 1
}

// An input may turn what its dataset has into features and labels in the graph.
func ExampleInputFn() {
	dir, remove := quiet()
	defer remove()
	var in estimator.InputFn = func(context.Context) (*estimator.Input, error) {
		return &estimator.Input{
			Data: data.Range(1, 5).Batch(4, true).Repeat(1000),
			Keys: []string{"n"},
			Map: func(f feature.Features) feature.Features {
				x := f["n"].(tf.Output).Cast(tf.Float32)
				return feature.Features{"x": x, "y": x.Mul(2)}
			},
			Labels: []string{"y"},
		}, nil
	}
	m := learn(newDoubler(dir), in)
	fmt.Printf("%.4f\n", m["mae"])
	// Output: 0.0000
}

// A task of a cluster finds in the environment variable TF_CONFIG which one it is.
func ExampleCluster() {
	c, err := estimator.ParseTFConfig(`{
		"cluster": {"chief": ["a:2222"], "worker": ["b:2222"], "ps": ["c:2222"]},
		"task": {"type": "worker", "index": 0}
	}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Type, c.Index, c.IsChief())
	fmt.Println(c.Jobs["chief"], c.Jobs["worker"], c.Jobs["ps"])
	// Output:
	// worker 0 false
	// [a:2222] [b:2222] [c:2222]
}

// server is a server of a task that only says what it does.
type server struct{ *estimator.Cluster }

func (s server) Stop() error {
	fmt.Println("the server of", s.Type, s.Index, "stops")
	return nil
}

// RunConfig.Serve starts the server of a task; package clustered has the one that
// trains over gRPC. A parameter server serves until the context ends.
func ExampleServer() {
	dir, remove := quiet()
	defer remove()
	ctx, cancel := context.WithCancel(context.Background())
	e, err := estimator.New(double, estimator.Options{Config: estimator.RunConfig{
		ModelDir: dir,
		Cluster:  &estimator.Cluster{Jobs: map[string][]string{"chief": {"a:2222"}, "ps": {"b:2222"}}, Type: estimator.PS},
		Serve: func(c *estimator.Cluster) (estimator.Server, error) {
			cancel() // a program is told to end
			return server{c}, nil
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = estimator.TrainAndEvaluate(ctx, e, estimator.TrainSpec{Input: doubled}, estimator.EvalSpec{Input: doubled})
	fmt.Println(err)
	// Output:
	// the server of ps 0 stops
	// <nil>
}

// A model with two answers: a class and a number, each with a label of its name.
func ExampleMultiHead() {
	kind, err := estimator.MultiClassHead(3, estimator.HeadOptions{Name: "kind"})
	if err != nil {
		log.Fatal(err)
	}
	price, err := estimator.RegressionHead(1, estimator.HeadOptions{Name: "price"})
	if err != nil {
		log.Fatal(err)
	}
	var both *estimator.MultiHead
	both, err = estimator.NewMultiHead([]*estimator.Head{kind, price}, 1, 0.5)
	for _, h := range []estimator.AnyHead{kind, price, both} {
		fmt.Print(h.LogitsSize(), " ")
	}
	fmt.Println(err)
	// Output: 3 1 4 <nil>
}
