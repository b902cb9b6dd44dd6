package feature_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestScopesOfColumns: tables have the names that TensorFlow's checkpoints have. Layers of
// Keras have _ where a key has a slash, and a table that columns share is in the scope of
// all of them.
func TestScopesOfColumns(t *testing.T) {
	g := tf.NewGraph()
	ids := ops.Placeholder(g, tf.Int64, tf.Shape{-1, -1})
	f := feature.Features{"user/age": ids, "a": ids, "b": ids}
	age, a, b := feature.Identity("user/age", 3), feature.Identity("a", 3), feature.Identity("b", 3)
	feature.DenseFeatures(f, feature.Embedding(age, 2))
	feature.InputLayer(f, feature.Embedding(age, 2))
	feature.SequenceFeatures(f, feature.Embedding(feature.Sequence(age), 2))
	shared := feature.SharedEmbedding([]feature.Categorical{feature.Sequence(b), feature.Sequence(a)}, 2)
	feature.SequenceInputLayer(f, shared[0], shared[1])
	var got []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		got = append(got, v.Name())
	}
	want := []string{
		"dense_features/user_age_embedding/embedding_weights", "input_layer/user/age_embedding/embedding_weights",
		"sequence_features/user_age_embedding/embedding_weights", "sequence_input_layer/a_b_shared_embedding/embedding_weights",
	}
	if !slices.Equal(got, want) || g.Err() != nil {
		t.Errorf("variables are %q (%v), want %q", got, g.Err(), want)
	}
}
