package feature_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// A deep network over numbers and words. The variables are named as TensorFlow
// names them.
func ExampleInputLayer() {
	g := tf.NewGraph()
	job := feature.Hashed("job", 100)
	x := feature.InputLayer(feature.Features{
		"age": ops.Placeholder(g, tf.Float32, tf.Shape{-1}),
		"job": ops.Placeholder(g, tf.String, tf.Shape{-1}),
	}, feature.Numeric("age"), feature.Embedding(job, 8))
	y := layers.Dense(x, 1)
	fmt.Println(x.Shape(), y.Shape(), g.Err())
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
	// Output:
	// [?,9] [?,1] <nil>
	// input_layer/job_embedding/embedding_weights [100,8]
	// dense/kernel [9,1]
	// dense/bias [1]
}

// A wide model has a weight for each bucket, each word and each pair of them.
func ExampleLinearModel() {
	g := tf.NewGraph()
	ages := feature.Bucketized(feature.Numeric("age"), 18, 30, 65)
	columns := []feature.Column{ages, feature.Vocabulary("job", "cook", "clerk"), feature.Crossed(50, ages, "job")}
	y := feature.LinearModel(feature.Features{
		"age": ops.Placeholder(g, tf.Float32, tf.Shape{-1}),
		"job": ops.Placeholder(g, tf.String, tf.Shape{-1}),
	}, columns)
	fmt.Println(y.Shape(), g.Err())
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
	// Output:
	// [?,1] <nil>
	// linear_model/age_bucketized/weights [4,1]
	// linear_model/age_bucketized_X_job/weights [50,1]
	// linear_model/job/weights [2,1]
	// linear_model/bias_weights [1]
}

// Columns say how records are parsed.
func ExampleMakeParseSpec() {
	spec, err := feature.MakeParseSpec(feature.Numeric("age"), feature.Embedding(feature.Hashed("job", 100), 8))
	if err != nil {
		fmt.Println(err)
		return
	}
	g := tf.NewGraph()
	f := spec.Parse(ops.Placeholder(g, tf.String, tf.Shape{-1})) // tf.Example records
	fmt.Println(f["age"].(tf.Output).Shape(), len(f), g.Err())
	// Output: [?,1] 2 <nil>
}

// The steps of sequences, for a recurrent network.
func ExampleSequenceInputLayer() {
	g := tf.NewGraph()
	words := sparse.Placeholder(g, tf.String, tf.Shape{-1, -1})
	x, lengths := feature.SequenceInputLayer(feature.Features{"words": words},
		feature.Embedding(feature.Sequence(feature.Hashed("words", 1000)), 16))
	y, _ := rnn.DynamicRNN(rnn.NewGRU(32), x, rnn.Opts{Lengths: lengths})
	fmt.Println(x.Shape(), lengths.Shape(), y.Shape(), g.Err())
	// Output: [?,?,16] [?] [?,?,32] <nil>
}
