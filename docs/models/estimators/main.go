package main

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
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// input has 100 people, again and again. People over 40 and smiths earn much.
func input(context.Context) (*estimator.Input, error) {
	var age []float32
	var job []string
	var much []int64
	for i := range 100 {
		age, job, much = append(age, float32(20+i*7%50)), append(job, []string{"cook", "clerk", "smith"}[i%3]), append(much, 0)
		if age[i] > 40 || job[i] == "smith" {
			much[i] = 1
		}
	}
	var all []*tf.Tensor
	for _, x := range []any{age, job, much} {
		t, err := tf.TensorOf(x)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return &estimator.Input{Data: data.FromTensors(all...).Repeat(data.Infinite), Keys: []string{"age", "job", "much"}, Labels: []string{"much"}}, nil
}

func main() {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ages, job := feature.Bucketized(feature.Numeric("age"), 30, 40, 50), feature.Vocabulary("job", "cook", "clerk", "smith")
	e, err := estimator.DNNLinearCombinedClassifier(estimator.Combined{
		Linear: estimator.Linear{Columns: []feature.Column{ages, job, feature.Crossed(100, ages, "job")}},
		DNN:    estimator.DNN{Columns: []feature.Dense{ages, feature.Embedding(job, 2)}, Hidden: []int{8}},
	}, estimator.Task{Config: estimator.RunConfig{ModelDir: dir}})
	if err != nil {
		return err
	}
	receive := estimator.RawReceiver(map[string]tf.ArgSpec{"age": {DType: tf.Float32, Shape: tf.Shape{-1}}, "job": {DType: tf.String, Shape: tf.Shape{-1}}})
	m, err := estimator.TrainAndEvaluate(ctx, e,
		estimator.TrainSpec{Input: input, MaxSteps: 1000},
		estimator.EvalSpec{Input: input, Steps: 1, Exporters: []estimator.Exporter{&estimator.FinalExporter{Label: "final", Receive: receive}}})
	if err != nil {
		return err
	}
	fmt.Println("accuracy above 0.9:", m["accuracy"] > 0.9, "at step", m["global_step"])

	exported, err := os.ReadDir(dir + "/export/final")
	if err != nil {
		return err
	}
	served, err := savedmodel.Load(ctx, dir+"/export/final/"+exported[0].Name(), savedmodel.Options{})
	if err != nil {
		return err
	}
	defer served.Close()
	out, err := served.Signature("predict").Run(ctx, map[string]any{"age": []float32{25, 66}, "job": []string{"cook", "cook"}})
	if err != nil {
		return err
	}
	ids, err := savedmodel.Values[int64](out, "class_ids")
	fmt.Println("a cook of 25 and one of 66:", ids)
	return err
}
