package estimator_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// quiet turns off what training logs, and returns a directory for a model and
// what removes it.
func quiet() (dir string, remove func()) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	dir, err := os.MkdirTemp("", "estimator")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

// doubled is one batch of numbers and their doubles.
func doubled(context.Context) (*estimator.Input, error) {
	x, err := tf.FromSlice([]float32{1, 2, 3, 4})
	if err != nil {
		return nil, err
	}
	y, err := tf.FromSlice([]float32{2, 4, 6, 8})
	if err != nil {
		return nil, err
	}
	return &estimator.Input{Data: data.FromTensors(x, y).Repeat(1000), Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
}

// A model by a function of one's own.
func ExampleNew() {
	dir, remove := quiet()
	defer remove()
	model := func(c *estimator.Call) (*estimator.Spec, error) {
		x := c.Feature("x").Reshape(-1, 1)
		y := layers.Dense(x, 1, layers.DenseOpts{NoBias: true})
		s := &estimator.Spec{Mode: c.Mode, Predictions: map[string]tf.Output{"y": y}}
		if c.Mode == estimator.Predict {
			return s, nil
		}
		s.Loss = losses.MeanSquaredError(c.Label().Reshape(-1, 1), y)
		if c.Mode == estimator.Train {
			s.TrainOp = estimator.Minimizer(train.GradientDescent{LearningRate: 0.01})(s.Loss)
		}
		return s, nil
	}
	e, err := estimator.New(model, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := e.Train(ctx, doubled, estimator.TrainOptions{Steps: 200}); err != nil {
		log.Fatal(err)
	}
	for p, err := range e.Predict(ctx, doubled, estimator.PredictOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%.2f\n", tf.Data[float32](p["y"])[0])
		break
	}
	// Output: 2.00
}

// A feature that the input does not have is an error that says what it has.
func ExampleCall_Feature() {
	c := &estimator.Call{Graph: tf.NewGraph(), Features: feature.Features{}}
	c.Features["x"] = ops.Const(c.Graph, []float32{1, 2})
	fmt.Println(c.Feature("x").Shape())
	err := c.Feature("y").Err()
	fmt.Println(tf.AsError(err).Message())
	// Output:
	// [2]
	// a feature that a model asks for must be one of its input's: there is no "y", there are ["x"]
}

// A ready-made model of feature columns.
func ExampleLinearRegressor() {
	dir, remove := quiet()
	defer remove()
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: []feature.Column{feature.Numeric("x")}}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	if err := e.Train(ctx, doubled, estimator.TrainOptions{}); err != nil {
		log.Fatal(err)
	}
	m, err := e.Evaluate(ctx, doubled, estimator.EvalOptions{Steps: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("step %.0f, labels %.1f, predictions %.1f\n", m["global_step"], m["label/mean"], m["prediction/mean"])
	fmt.Println(e.VariableNames())
	// Output:
	// step 1000, labels 5.0, predictions 5.0
	// [global_step linear/linear_model/bias_weights linear/linear_model/bias_weights/part_0/Ftrl linear/linear_model/bias_weights/part_0/Ftrl_1 linear/linear_model/x/weights linear/linear_model/x/weights/part_0/Ftrl linear/linear_model/x/weights/part_0/Ftrl_1] <nil>
}

// Training and evaluation in turn, with an export at the end.
func ExampleTrainAndEvaluate() {
	dir, remove := quiet()
	defer remove()
	columns := []feature.Column{feature.Numeric("x")}
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: columns}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir, SaveCheckpointsSteps: 100}})
	if err != nil {
		log.Fatal(err)
	}
	spec, err := feature.MakeParseSpec(columns...)
	if err != nil {
		log.Fatal(err)
	}
	m, err := estimator.TrainAndEvaluate(context.Background(), e,
		estimator.TrainSpec{Input: doubled, MaxSteps: 300},
		estimator.EvalSpec{Input: doubled, Steps: 1, Exporters: []estimator.Exporter{
			&estimator.FinalExporter{Label: "census", Receive: estimator.ParsingReceiver(spec)},
		}})
	if err != nil {
		log.Fatal(err)
	}
	exports, err := os.ReadDir(dir + "/export/census")
	fmt.Println(m["global_step"], len(exports), err)
	// Output: 300 1 <nil>
}
