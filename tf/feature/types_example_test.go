package feature_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// A number becomes the bucket between two boundaries that it is in.
func ExampleBucketizedColumn() {
	g := eager.New()
	var ages *feature.BucketizedColumn = feature.Bucketized(feature.Numeric("age"), 18, 65)
	f := feature.Features{"age": ops.Const(g, []float32{17, 18, 70})}
	v, err := feature.InputLayer(f, ages).Value()
	fmt.Println(ages.Name(), ages.Buckets(), v, err)
	// Output: age_bucketized 3 float32[3,3]{1, 0, 0, 0, 1, 0, 0, 0, 1} <nil>
}

// Words of a list become ones at their places.
func ExampleIndicatorColumn() {
	g := eager.New()
	var jobs feature.Categorical = feature.Vocabulary("job", "cook", "clerk")
	var column *feature.IndicatorColumn = feature.Indicator(jobs)
	f := feature.Features{"job": ops.Const(g, []string{"clerk", "cook", "king"})}
	fmt.Println(feature.InputLayer(f, feature.Dense(column)).Value())
	// Output: float32[3,2]{0, 1, 1, 0, 0, 0} <nil>
}

// Two columns share a table of rows, whose lengths are bounded.
func ExampleEmbeddingColumn() {
	g := tf.NewGraph()
	sources := []feature.Categorical{feature.Identity("from", 100), feature.Identity("to", 100)}
	o := feature.EmbeddingOpts{MaxNorm: 1, Combiner: sparse.CombineSum}
	var columns []*feature.EmbeddingColumn = feature.SharedEmbedding(sources, 8, o)
	var dense []feature.Dense
	for _, c := range columns {
		dense = append(dense, c)
	}
	y := feature.InputLayer(feature.Features{
		"from": ops.Placeholder(g, tf.Int64, tf.Shape{-1}), "to": ops.Placeholder(g, tf.Int64, tf.Shape{-1}),
	}, dense...)
	fmt.Println(y.Shape(), len(tf.Variables(g, tf.TrainableVariables)), "table", g.Err())
	// Output: [?,16] 1 table <nil>
}

// A linear model of two outputs adds the weights of words, each as often as a
// number says.
func ExampleLinearOpts() {
	g := tf.NewGraph()
	var words *feature.WeightedColumn = feature.Weighted(feature.Identity("word", 10), "count")
	y := feature.LinearModel(feature.Features{
		"word": ops.Placeholder(g, tf.Int64, tf.Shape{-1, 3}), "count": ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3}),
	}, []feature.Column{words}, feature.LinearOpts{Units: 2})
	fmt.Println(y.Shape(), g.Err())
	// Output: [?,2] <nil>
}

// A spec says which features records have; it may be read, and changed, before
// records are parsed.
func ExampleParseSpec() {
	var spec *feature.ParseSpec
	spec, err := feature.MakeParseSpec(feature.Numeric("age"), feature.Indicator(feature.Hashed("job", 10)))
	if err != nil {
		fmt.Println(err)
		return
	}
	number := func(d feature.DenseFeature) string { return d.Key }
	words := func(s feature.SparseFeature) string { return fmt.Sprint(s.Key, " ", s.Type) }
	fmt.Println(number(spec.Dense[0]), words(spec.Sparse[0]))
	// Output: age job string
}

// Sequences become the inputs of a recurrent network: rows, step by step, and how
// many steps each sequence has.
func ExampleSequenceColumn() {
	g := eager.New()
	var words *feature.SequenceColumn = feature.Sequence(feature.Identity("word", 3))
	var times *feature.SequenceNumericColumn = feature.SequenceNumeric("time")
	columns := []feature.SequenceDense{feature.Indicator(words), times}
	y, lengths := feature.SequenceInputLayer(feature.Features{
		"word": ops.Const(g, []int64{2, 0}, 1, 2), "time": sparse.Tensor{
			Indices: ops.Const(g, []int64{0, 0, 0, 1}, 2, 2), Values: ops.Const(g, []float32{0.5, 1.5}), DenseShape: ops.Const(g, []int64{1, 2}),
		},
	}, columns...)
	fmt.Println(y.Value())
	fmt.Println(lengths.Value())
	// Output:
	// float32[1,2,4]{0.5, 0, 0, 1, 1.5, 1, 0, 0} <nil>
	// int64[1]{2} <nil>
}

// The columns that others are made of: each has a name, by which its variables are
// found, and those of categories have a number of them.
func ExampleColumn() {
	var (
		age  *feature.NumericColumn    = feature.Numeric("age")
		job  *feature.HashedColumn     = feature.Hashed("job", 100)
		city *feature.IdentityColumn   = feature.Identity("city", 50)
		kind *feature.VocabularyColumn = feature.Vocabulary("kind", "new", "old")
		pair *feature.CrossedColumn    = feature.Crossed(1000, city, "kind")
	)
	for _, c := range []feature.Column{age, job, city, kind, pair} {
		if categories, ok := c.(feature.Categorical); ok {
			fmt.Println(c.Name(), categories.Buckets())
		} else {
			fmt.Println(c.Name())
		}
	}
	// Output:
	// age
	// job 100
	// city 50
	// kind 2
	// city_X_kind 1000
}

// Keras' names of variables, for checkpoints of its models.
func ExampleSequenceFeatures() {
	g := tf.NewGraph()
	word := feature.Embedding(feature.Sequence(feature.Identity("word", 10)), 4)
	f := feature.Features{"word": ops.Placeholder(g, tf.Int64, tf.Shape{-1, -1}), "job": ops.Placeholder(g, tf.Int64, tf.Shape{-1})}
	y, lengths := feature.SequenceFeatures(f, word)
	context := feature.DenseFeatures(f, feature.Embedding(feature.Identity("job", 3), 2))
	fmt.Println(feature.ConcatenateContext(context, y).Shape(), lengths.Shape())
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		fmt.Println(v.Name())
	}
	// Output:
	// [?,?,6] [?]
	// sequence_features/word_embedding/embedding_weights
	// dense_features/job_embedding/embedding_weights
}
