package estimator_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// What TF_CONFIG says besides the cluster completes a configuration.
func ExampleTFConfig() {
	var c *estimator.TFConfig
	c, err := estimator.ReadTFConfig(`{"model_dir": "/models/iris", "session_master": "grpc://trainer:2222", "service": {"owner": "me"}}`)
	if err != nil {
		log.Fatal(err)
	}
	config, err := c.RunConfig(estimator.RunConfig{SaveSummarySteps: 10})
	fmt.Println(config.ModelDir, config.Master, config.Service["owner"], err)
	_, err = c.RunConfig(estimator.RunConfig{ModelDir: "/elsewhere"})
	fmt.Println(strings.SplitN(err.Error(), " model_dir:", 2)[0])
	// Output:
	// /models/iris grpc://trainer:2222 me <nil>
	// INVALID_ARGUMENT: `model_dir` provided in RunConfig construct, if set, must have the same value as the model_dir in TF_CONFIG.
}

// One SavedModel that is served, evaluated and trained further.
func ExampleEstimator_ExportAllSavedModels() {
	dir, remove := quiet()
	defer remove()
	e, ctx := trained(dir, 5), context.Background()
	supervised, err := estimator.SupervisedReceiver(ctx, doubled)
	if err != nil {
		log.Fatal(err)
	}
	x := map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1}}}
	path, err := e.ExportAllSavedModels(ctx, filepath.Join(dir, "all"), map[estimator.Mode]estimator.ReceiverFn{
		estimator.Train: supervised, estimator.Eval: supervised, estimator.Predict: estimator.RawReceiver(x),
	}, estimator.ExportOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tag := range []string{savedmodel.Train, savedmodel.Eval, savedmodel.Serve} {
		m, err := savedmodel.Load(ctx, path, savedmodel.Options{Tags: []string{tag}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tag, m.Signatures(), m.TrainOp() != nil)
		m.Close()
	}
	// Output:
	// train [train] true
	// eval [eval] false
	// serve [serving_default] false
}

// A model is served in batches of 8 examples, whichever size training has.
func ExampleRawReceiverOf() {
	receive := estimator.RawReceiverOf(8, map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1, 2}}})
	r, err := receive(tf.NewGraph())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Inputs["x"].Shape())
	// Output: [8,2]
}

// The model is evaluated while it trains.
func ExampleInMemoryEvaluator() {
	dir, remove := quiet()
	defer remove()
	e := newDoubler(dir)
	h, err := estimator.InMemoryEvaluator(e, doubled, estimator.InMemoryOptions{Every: 50, Steps: 1, Name: "memory"})
	if err != nil {
		log.Fatal(err)
	}
	if err := e.Train(context.Background(), doubled, estimator.TrainOptions{Steps: 100, Hooks: []train.Hook{h}}); err != nil {
		log.Fatal(err)
	}
	all, err := estimator.ReadEvalMetrics(e.EvalDir("memory"))
	for _, m := range all {
		fmt.Printf("step %.0f: mae %.1f\n", m["global_step"], m["mae"])
	}
	checkpoints, _ := filepath.Glob(filepath.Join(dir, "model.ckpt-50.index"))
	fmt.Println(len(checkpoints), "checkpoints of step 50", err, os.Getenv("TF_CONFIG"))
	// Output:
	// step 0: mae 5.0
	// step 50: mae 0.0
	// step 100: mae 0.0
	// 0 checkpoints of step 50 <nil>
}

// Each step of a sequence has a label. What follows the end of a sequence does not
// count.
func ExampleSequentialHead() {
	one, err := estimator.RegressionHead(1, estimator.HeadOptions{MeanLoss: true})
	if err != nil {
		log.Fatal(err)
	}
	var head *estimator.SequentialHead
	head, err = estimator.NewSequentialHead(one, estimator.SequentialOptions{Mask: "mask"})
	if err != nil {
		log.Fatal(err)
	}
	g := tf.NewGraph()
	lengths := ops.Const(g, []int32{1, 2})
	c := &estimator.Call{
		Graph: g, Mode: estimator.Eval,
		Features: feature.Features{"mask": ops.SequenceMask(lengths, 2, tf.Bool)},
		Labels:   feature.Features{"y": ops.Const(g, []float32{1, 100, 2, 3}, 2, 2)},
	}
	s, err := head.Spec(c, ops.Const(g, []float32{2, 0, 2, 5}, 2, 2, 1), nil)
	if err != nil {
		log.Fatal(err)
	}
	run, err := session.New(g)
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	fmt.Println(session.Fetch[float32](context.Background(), run, nil, s.Loss))
	// Output: [1.6666666] <nil>
}
