package estimator_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// weight returns the variable w, which begins with 0.
func weight(g *tf.Graph) tf.Output {
	return tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "w"}).Value()
}

// double is the model y = w·x, whose w should become 2.
func double(c *estimator.Call) (*estimator.Spec, error) {
	y := c.Features["x"].(tf.Output).Mul(weight(c.Graph))
	s := &estimator.Spec{Mode: c.Mode, Predictions: map[string]tf.Output{"y": y}}
	switch c.Mode {
	case estimator.Train:
		s.Loss = losses.MeanSquaredError(c.Label(), y)
		s.TrainOp = estimator.Minimizer(train.GradientDescent{LearningRate: 0.01})(s.Loss)
	case estimator.Eval:
		s.Loss = losses.MeanSquaredError(c.Label(), y)
		s.EvalMetrics = map[string]estimator.Metric{"mae": estimator.MetricOf(metrics.MeanAbsoluteError(c.Label(), y))}
	}
	return s, nil
}

// newDoubler returns an estimator of double.
func newDoubler(dir string) *estimator.Estimator {
	e, err := estimator.New(double, estimator.Options{Config: estimator.RunConfig{ModelDir: dir, SaveCheckpointsSteps: 20}})
	if err != nil {
		log.Fatal(err)
	}
	return e
}

// trained returns an estimator of double that has trained.
func trained(dir string, steps int64) *estimator.Estimator {
	e := newDoubler(dir)
	if err := e.Train(context.Background(), doubled, estimator.TrainOptions{Steps: steps}); err != nil {
		log.Fatal(err)
	}
	return e
}

// An estimator with the same directory goes on where another one has stopped.
func ExampleEstimator() {
	dir, remove := quiet()
	defer remove()
	trained(dir, 100)
	var e *estimator.Estimator = trained(dir, 50)
	step, err := e.GlobalStep()
	fmt.Println(step, err)
	w, err := e.VariableValue("w")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f\n", tf.Data[float32](w)[0])
	// Output:
	// 150 <nil>
	// 2.000
}

// A model function is called once for each graph, which is for training, for
// evaluation or for prediction.
func ExampleModelFn() {
	dir, remove := quiet()
	defer remove()
	var modes []estimator.Mode
	var model estimator.ModelFn = func(c *estimator.Call) (*estimator.Spec, error) {
		modes = append(modes, c.Mode)
		return double(c)
	}
	e, err := estimator.New(model, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	learn(e, doubled)
	for _, err := range e.Predict(context.Background(), doubled, estimator.PredictOptions{}) {
		fmt.Println(modes, err)
		break
	}
	// Output: [train eval infer] <nil>
}

// The results of evaluations are kept beside the model.
func ExampleMetrics() {
	dir, remove := quiet()
	defer remove()
	for range 2 {
		e := trained(dir, 5)
		if _, err := e.Evaluate(context.Background(), doubled, estimator.EvalOptions{Steps: 1}); err != nil {
			log.Fatal(err)
		}
	}
	var all []estimator.Metrics
	all, err := estimator.ReadEvalMetrics(newDoubler(dir).EvalDir(""))
	for _, m := range all {
		fmt.Printf("step %.0f: mean error %.3f\n", m[estimator.GlobalStepKey], m["mae"])
	}
	fmt.Println(err)
	// Output:
	// step 5: mean error 2.219
	// step 10: mean error 0.984
	// <nil>
}

// Training ends before its time when an evaluation was good enough.
func ExampleStopOptions() {
	dir, remove := quiet()
	defer remove()
	ctx, e := context.Background(), trained(dir, 100)
	if _, err := e.Evaluate(ctx, doubled, estimator.EvalOptions{Steps: 1}); err != nil {
		log.Fatal(err)
	}
	stop := estimator.StopIfLower(e, "mae", 0.01, estimator.StopOptions{EverySteps: 5, MinSteps: 50})
	if err := e.Train(ctx, doubled, estimator.TrainOptions{Steps: 500, Hooks: []train.Hook{stop}}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.GlobalStep())
	// Output: 101 <nil>
}

// A new model begins with a variable of another one, under another name.
func ExampleWarmStart() {
	dir, remove := quiet()
	defer remove()
	trained(dir+"/old", 100)
	model := func(c *estimator.Call) (s *estimator.Spec, err error) {
		vars.Scope(c.Graph, "new", vars.ScopeOptions{}, func() { s, err = double(c) })
		return s, err
	}
	e, err := estimator.New(model, estimator.Options{
		Config:    estimator.RunConfig{ModelDir: dir + "/new"},
		WarmStart: &estimator.WarmStart{From: dir + "/old", Names: map[string]string{"new/w": "w"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Train(context.Background(), doubled, estimator.TrainOptions{Steps: 1}); err != nil {
		log.Fatal(err)
	}
	w, err := e.VariableValue("new/w")
	fmt.Printf("%.3f %v\n", w.At(0), err)
	// Output: 2.000 <nil>
}

// Exporters choose among the checkpoints that are evaluated: the last two, and each
// that is better than all before it.
func ExampleBestExporter() {
	dir, remove := quiet()
	defer remove()
	raw := estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1}}})
	_, err := estimator.TrainAndEvaluate(context.Background(), newDoubler(dir),
		estimator.TrainSpec{Input: doubled, MaxSteps: 60},
		estimator.EvalSpec{Input: doubled, Steps: 1, Throttle: -1, Exporters: []estimator.Exporter{
			&estimator.LatestExporter{Label: "latest", Receive: raw, Keep: 2},
			&estimator.BestExporter{Label: "best", Receive: raw},
		}})
	if err != nil {
		log.Fatal(err)
	}
	latest, _ := os.ReadDir(dir + "/export/latest")
	best, _ := os.ReadDir(dir + "/export/best")
	fmt.Println(len(latest), len(best))
	// Output: 2 3
}

// A receiver makes features of what clients send: here numbers in text.
func ExampleReceiver() {
	dir, remove := quiet()
	defer remove()
	var receive estimator.ReceiverFn = func(g *tf.Graph) (*estimator.Receiver, error) {
		text := ops.Placeholder(g, tf.String, tf.Shape{-1})
		x := parsing.StringToNumber(text)
		return &estimator.Receiver{Features: feature.Features{"x": x}, Inputs: map[string]tf.Output{"text": text}}, nil
	}
	path, err := trained(dir, 100).ExportSavedModel(context.Background(), dir, receive, estimator.ExportOptions{})
	if err != nil {
		log.Fatal(err)
	}
	m, err := savedmodel.Load(context.Background(), path, savedmodel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	y, err := m.Signature("serving_default").Run(context.Background(), map[string]any{"text": []string{"1", "2.5"}})
	fmt.Printf("%.3f %v\n", tf.Data[float32](y["y"]), err)
	// Output: [2.000 5.000] <nil>
}

// Files of one's own travel with an export.
func ExampleExportOptions() {
	dir, remove := quiet()
	defer remove()
	notes := dir + "/notes.txt"
	if err := os.WriteFile(notes, []byte("x and its double"), 0o644); err != nil {
		log.Fatal(err)
	}
	raw := estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1}}})
	path, err := trained(dir, 1).ExportSavedModel(context.Background(), dir, raw, estimator.ExportOptions{
		AsText:      true,
		AssetsExtra: map[string]string{"about/notes.txt": notes},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"saved_model.pbtxt", "assets.extra/about/notes.txt"} {
		_, err := os.Stat(filepath.Join(path, name))
		fmt.Println(name, err)
	}
	// Output:
	// saved_model.pbtxt <nil>
	// assets.extra/about/notes.txt <nil>
}

// served is double with signatures for all methods of model servers.
func served(c *estimator.Call) (*estimator.Spec, error) {
	s, err := double(c)
	if c.Mode == estimator.Predict {
		y := s.Predictions["y"]
		s.ExportOutputs = map[string]estimator.ExportOutput{
			savedmodel.DefaultSignature: estimator.PredictOutput{Outputs: s.Predictions},
			"double":                    estimator.RegressionOutput{Value: y},
			"large":                     estimator.ClassificationOutput{Scores: y.Sigmoid()},
		}
	}
	return s, err
}

// A model function says which signatures an export has.
func ExampleExportOutput() {
	dir, remove := quiet()
	defer remove()
	e, err := estimator.New(served, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		log.Fatal(err)
	}
	learn(e, doubled)
	path := export(e, dir)
	m, err := savedmodel.Load(context.Background(), path, savedmodel.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for _, name := range m.Signatures() {
		fmt.Println(name, m.Signature(name).Method())
	}
	record := string(example.Example{"x": example.Floats(4)}.Marshal())
	y, err := m.Signature("double").Run(context.Background(), map[string]any{"inputs": []string{record}})
	fmt.Printf("%.3f %v\n", tf.Data[float32](y["outputs"]), err)
	// Output:
	// double tensorflow/serving/regress
	// large tensorflow/serving/classify
	// serving_default tensorflow/serving/predict
	// [8.000] <nil>
}

// export exports a model that is asked with records.
func export(e *estimator.Estimator, dir string) string {
	spec, err := feature.MakeParseSpec(feature.Numeric("x"))
	if err != nil {
		log.Fatal(err)
	}
	path, err := e.ExportSavedModel(context.Background(), dir, estimator.ParsingReceiver(spec), estimator.ExportOptions{})
	if err != nil {
		log.Fatal(err)
	}
	return path
}
