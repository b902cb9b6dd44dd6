package feature_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// The tests of this file have cases of TensorFlow's tests of feature columns:
// testdata/ports.md says which.

// fetched initializes a graph's variables and returns the value of an output.
func fetched(t *testing.T, g *tf.Graph, x tf.Output, feeds session.Feeds) (*tf.Tensor, error) {
	t.Helper()
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), feeds, x)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// TestNames compares names, widths and numbers of ids.
func TestNames(t *testing.T) {
	type sized interface{ Buckets() int }
	type wide interface{ Width() int }
	a, b := feature.Numeric("a"), feature.Bucketized(&feature.NumericColumn{Key: "b", Shape: []int{2}}, 0, 1)
	for want, c := range map[string]feature.Column{
		"a 1": a, "b_bucketized 6": b, "h 10": feature.Hashed("h", 10), "v 3": feature.Vocabulary("v", "x", "y", "z"),
		"v 5": &feature.VocabularyColumn{Key: "v", List: []int64{1, 2, 3}, OOV: 2}, "f 3": feature.VocabularyFile("f", "testdata/words.txt", 0),
		"i 3": feature.Identity("i", 3), "h_weighted_by_w 10": feature.Weighted(feature.Hashed("h", 10), "w"),
		"b_bucketized_X_c_X_d 15": feature.Crossed(15, "d", feature.Crossed(4, b, "c")), "d1_X_d2 10": feature.Crossed(10, "d2", "d1"),
		"h_embedding 2": feature.Embedding(feature.Hashed("h", 10), 2), "h_indicator 10": feature.Indicator(feature.Hashed("h", 10)),
		"h_shared_embedding 2": feature.SharedEmbedding([]feature.Categorical{feature.Hashed("h", 3), feature.Hashed("k", 3)}, 2)[0],
		"s 1":                  feature.SequenceNumeric("s"), "h_weighted_by_w_embedding 4": feature.Embedding(feature.Weighted(feature.Hashed("h", 10), "w"), 4),
	} {
		n := 0
		if w, ok := c.(wide); ok {
			n = w.Width()
		} else {
			n = c.(sized).Buckets()
		}
		if got := fmt.Sprint(c.Name(), " ", n); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestDescriptions: columns that make no sense are refused when they are used, here
// by the description of how records are parsed.
func TestDescriptions(t *testing.T) {
	word, size := "testdata/words.txt", func(n int) *int { return &n }
	for _, c := range []struct {
		want   string
		column feature.Column
	}{
		{"The shape of default_value must be equal to given shape", &feature.NumericColumn{Key: "a", Shape: []int{2}, Default: []float32{1, 2, 3}}},
		{"shape dimensions must be greater than 0", &feature.NumericColumn{Key: "a", Shape: []int{1, -1}}},
		{"shape dimensions must be greater than 0", &feature.SequenceNumericColumn{Key: "a", Size: -1}},
		{"dtype must be string or integer", &feature.HashedColumn{Key: "a", Size: 2, Type: tf.Float32}},
		{"hash_bucket_size must be at least 1", feature.Hashed("a", -1)},
		{"Invalid vocabulary_size", feature.VocabularyFile("a", word, -1)},
		{"there cannot be -1 buckets", &feature.VocabularyColumn{Key: "a", File: word, OOV: -1}},
		{"Can't specify both", &feature.VocabularyColumn{Key: "a", List: []string{"x"}, OOV: 1, Default: size(0)}},
		{"a vocabulary must be []string or []int64", &feature.VocabularyColumn{Key: "a", List: []float64{1}}},
		{"positive number of ids", feature.Identity("a", 0)},
		{"positive number of ids", feature.Identity("a", -2)},
		{"a default among them", &feature.IdentityColumn{Key: "a", Size: 3, Default: size(-1)}},
		{"a default among them", &feature.IdentityColumn{Key: "a", Size: 3, Default: size(3)}},
		{"hash_bucket_size must be > 1", feature.Crossed(0, "a", "b")},
		{"hash_bucket_size must be > 1", feature.Crossed(-1, "a", "b")},
		{"a column must not be nil", nil},
	} {
		if _, err := feature.MakeParseSpec(c.column); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if s, err := feature.MakeParseSpec(); err != nil || len(s.Dense)+len(s.Sparse) != 0 {
		t.Errorf("no columns: %v, %v", s, err)
	}
	if _, err := feature.MakeParseSpec(columns(feature.SharedEmbedding([]feature.Categorical{weighted, other}, 2))...); err != nil {
		t.Errorf("a weighted column that shares: %v", err)
	}
	g := tf.NewGraph()
	f := features(g)
	for want, y := range map[string]tf.Output{
		"Feature none is not in features dictionary": feature.LinearModel(f, []feature.Column{feature.Weighted(word2(), "none")}),
		"must be compatible":                         feature.InputLayer(f, feature.Indicator(feature.Vocabulary("id", "x"))),
		"key: pair, column dtype":                    feature.InputLayer(f, feature.Indicator(feature.Identity("pair", 3))),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func word2() feature.Categorical { return feature.Hashed("word", 3) }

// TestColumnsOnce: a feature that several columns need is made ready once, and the
// program's features are left as they are.
func TestColumnsOnce(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2})
	f := feature.Features{"x": x}
	calls := 0
	c := &feature.NumericColumn{Key: "x", Normalize: func(x tf.Output) tf.Output { calls++; return x.Add(1) }}
	y := feature.InputLayer(f, c, feature.Bucketized(feature.Numeric("x"), 1.5))
	if v, err := fetched(t, g, y, nil); err != nil || !slices.Equal(tf.Data[float32](v), []float32{2, 1, 0, 3, 0, 1}) {
		t.Errorf("%v, %v", v, err)
	}
	expanded := 0
	for _, op := range g.Operations() {
		if op.OpName() == "ExpandDims" {
			expanded++
		}
	}
	feature.InputLayer(f, c, &feature.BucketizedColumn{Source: c, Boundaries: []float32{2.5}})
	if calls != 2 {
		t.Errorf("numbers that two columns need were normalized %d times", calls-1)
	}
	calls = 1
	word := feature.Vocabulary("w", "a", "b")
	f2 := feature.Features{"w": ops.Const(g, []string{"a", "b"}), "v": ops.Const(g, []string{"c", "d"})}
	feature.LinearModel(f2, []feature.Column{word, feature.Crossed(5, word, "v"), feature.Indicator(word)})
	if n := len(g.Collection(train.TableInitializersCollection)); n != 1 {
		t.Errorf("a vocabulary that three columns need is in %d tables", n)
	}
	if f["x"] != any(x) || len(f) != 1 || calls != 1 || expanded != 1 {
		t.Errorf("the features are %v, %d calls, %d times made a matrix", f, calls, expanded)
	}
}

// TestFlatFeatures: sparse features of rank 1, known when the graph is built or not,
// and empty batches.
func TestFlatFeatures(t *testing.T) {
	for _, rank := range []int{1, 2, -1} {
		g := tf.NewGraph()
		x := sparse.Tensor{Indices: ops.Placeholder(g, tf.Int64, tf.Shape{-1, rank}), Values: ops.Placeholder(g, tf.String, tf.Shape{-1}), DenseShape: ops.Placeholder(g, tf.Int64, tf.Shape{rank})}
		f := feature.Features{"flat": x}
		column := feature.Vocabulary("flat", "a", "b")
		y := feature.InputLayer(f, feature.Indicator(column), feature.Embedding(column, 2, feature.EmbeddingOpts{Initializer: fives}))
		for _, c := range []struct {
			indices []int64
			values  []string
			shape   []int64
			want    []float32
		}{
			{[]int64{0, 2}, []string{"b", "a"}, []int64{3}, []float32{5, 5, 0, 1, 0, 0, 0, 0, 5, 5, 1, 0}},
			{nil, nil, []int64{0}, nil},
			{[]int64{0, 1, 1, 0}, []string{"b", "c"}, []int64{2, 2}, []float32{5, 5, 0, 1, 0, 0, 0, 0}},
		} {
			if rank > 0 && rank != len(c.shape) {
				continue
			}
			feed := session.Feeds{x.Indices: tensorOf(t, c.indices, len(c.values), len(c.shape)), x.Values: tensorOf(t, c.values, len(c.values)), x.DenseShape: tensorOf(t, c.shape, len(c.shape))}
			v, err := fetched(t, g, y, feed)
			if err != nil || !slices.Equal(tf.Data[float32](v), c.want) {
				t.Errorf("rank %d, %v: %v, %v", rank, c.indices, v, err)
			}
		}
	}
}

func fives(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
	return ops.Fill(s, ops.Scalar(g, float32(5)))
}

func tensorOf[T tf.Elem](t *testing.T, x []T, s ...int) *tf.Tensor {
	t.Helper()
	v, err := tf.FromSlice(x, s...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMismatches: features of different batches are refused when the graph is built or
// by the step, and so are weights that do not belong to the ids.
func TestMismatches(t *testing.T) {
	g := tf.NewGraph()
	two, three := ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{1, 2, 3})
	some := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	a, b := feature.Numeric("a"), feature.Numeric("b")
	for name, f := range map[string]feature.Features{"all": {"a": two, "b": three}, "some": {"a": two, "b": three, "c": some}} {
		if err := feature.InputLayer(f, a, b).Err(); err == nil {
			t.Errorf("%s: an input layer was built", name)
		}
		if err := feature.LinearModel(f, []feature.Column{a, b}).Err(); err == nil {
			t.Errorf("%s: a linear model was built", name)
		}
	}
	g = tf.NewGraph()
	some = ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	f := feature.Features{"a": ops.Const(g, []float32{1, 2}), "b": some}
	for name, y := range map[string]tf.Output{"input layer": feature.InputLayer(f, a, b), "linear model": feature.LinearModel(f, []feature.Column{a, b})} {
		if v, err := fetched(t, g, y, session.Feeds{some: tensorOf(t, []float32{3, 4}, 2)}); err != nil || v.Dim(0) != 2 {
			t.Errorf("%s of equal batches: %v, %v", name, v, err)
		}
		for _, other := range [][]float32{{3}, {3, 4, 5}} {
			if v, err := fetched(t, g, y, session.Feeds{some: tensorOf(t, other, len(other))}); err == nil {
				t.Errorf("%s of batches 2 and %d: %v", name, len(other), v)
			}
		}
	}
	for _, weights := range []any{ops.Const(g, []float32{1, 2, 3}, 1, 3), ops.Const(g, []float32{1, 2}, 2, 1)} {
		f := feature.Features{"ids": ops.Const(g, []int64{0, 1, 1, 0}, 2, 2), "w": weights}
		y := feature.LinearModel(f, []feature.Column{feature.Weighted(feature.Identity("ids", 2), "w")})
		if v, err := fetched(t, g, y, nil); err == nil {
			t.Errorf("weights %v: %v", weights, v)
		}
	}
}

// TestFromCheckpoint begins an embedding with a table of a checkpoint.
func TestFromCheckpoint(t *testing.T) {
	build := func() (*tf.Graph, tf.Output) {
		g := tf.NewGraph()
		return g, feature.InputLayer(feature.Features{"w": ops.Const(g, []string{"a", "c"})}, feature.Embedding(feature.Vocabulary("w", "a", "b", "c"), 2))
	}
	g, y := build()
	g.SetSeed(1)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := session.Fetch[float32](t.Context(), s, nil, y)
	if err != nil {
		t.Fatal(err)
	}
	g, y = build()
	name := "input_layer/w_embedding/embedding_weights"
	if err := train.InitFromCheckpoint(g, path, map[string]string{name: name}); err != nil {
		t.Fatal(err)
	}
	if v, err := fetched(t, g, y, nil); err != nil || !slices.Equal(tf.Data[float32](v), want) {
		t.Errorf("%v, %v; want %v", v, err, want)
	}
}

// TestTwice: layers and models of the same columns have variables of their own, but
// for tables that columns share.
func TestTwice(t *testing.T) {
	g := tf.NewGraph()
	f := features(g)
	shared := dense(feature.SharedEmbedding([]feature.Categorical{word, other}, 2))
	for range 2 {
		feature.InputLayer(f, feature.Embedding(color, 2))
		feature.LinearModel(f, []feature.Column{color})
		feature.InputLayer(f, shared...)
	}
	var names []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, v.Name())
	}
	if want := []string{
		"input_layer/color_embedding/embedding_weights", "linear_model/color/weights", "linear_model/bias_weights",
		"input_layer_1/other_word_shared_embedding/embedding_weights",
		"input_layer_2/color_embedding/embedding_weights", "linear_model_1/color/weights", "linear_model_1/bias_weights",
	}; !slices.Equal(names, want) {
		t.Errorf("variables are %q, want %q", names, want)
	}
	if err := feature.InputLayer(f, dense(feature.SharedEmbedding([]feature.Categorical{word, other}, 3))...).Err(); err == nil || !strings.Contains(err.Error(), "of unexpected shape") {
		t.Errorf("a shared table of another size: %v", err)
	}
}

// TestTrainable: what is not to be trained is not among the variables that are.
func TestTrainable(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		g := tf.NewGraph()
		f := features(g)
		feature.LinearModel(f, []feature.Column{age, color}, feature.LinearOpts{NotTrainable: fixed})
		feature.InputLayer(f, feature.Embedding(color, 2, feature.EmbeddingOpts{NotTrainable: fixed}))
		all, trained := len(tf.Variables(g, tf.GlobalVariables)), len(tf.Variables(g, tf.TrainableVariables))
		if all != 4 || (trained == 0) != fixed || !fixed && trained != all {
			t.Errorf("not to be trained %v: %d of %d are", fixed, trained, all)
		}
	}
}

// TestSharedSequences: sequences of words look up one table.
func TestSharedSequences(t *testing.T) {
	g := tf.NewGraph()
	f := features(g)
	vocabulary := func(key string) feature.Categorical {
		return feature.Sequence(feature.Vocabulary(key, "a", "b", "c", "z"))
	}
	f["next"] = f["step"]
	all := feature.SharedEmbedding([]feature.Categorical{vocabulary("step"), vocabulary("next")}, 2)
	y, n := feature.SequenceInputLayer(f, all[0], all[1])
	if got := len(tf.Variables(g, tf.GlobalVariables)); y.Err() != nil || got != 1 {
		t.Fatalf("%v, %d tables", y.Err(), got)
	}
	v, err := fetched(t, g, y, nil)
	if err != nil || !v.Shape().Equal(tf.Shape{4, 3, 4}) {
		t.Fatalf("%v, %v", v, err)
	}
	x := tf.Data[float32](v)
	for i := 0; i < len(x); i += 4 {
		if x[i] != x[i+2] || x[i+1] != x[i+3] {
			t.Errorf("step %d: %v", i/4, x[i:i+4])
		}
	}
	if lengths, err := fetched(t, g, n, nil); err != nil || !slices.Equal(tf.Data[int64](lengths), []int64{2, 1, 0, 2}) {
		t.Errorf("lengths are %v, %v", lengths, err)
	}
}

// TestContext puts what holds for an example behind the numbers of its steps.
func TestContext(t *testing.T) {
	g := tf.NewGraph()
	sequence, context := ops.Const(g, []float32{1, 2, 3, 4}, 2, 2, 1), ops.Const(g, []float32{7, 8}, 2, 1)
	v, err := fetched(t, g, feature.ConcatenateContext(context, sequence), nil)
	if err != nil || !slices.Equal(tf.Data[float32](v), []float32{1, 7, 2, 7, 3, 8, 4, 8}) || !v.Shape().Equal(tf.Shape{2, 2, 2}) {
		t.Errorf("%v, %v", v, err)
	}
	for want, y := range map[string]tf.Output{
		"sequence_input must have rank 3": feature.ConcatenateContext(context, context), "context_input must have rank 2": feature.ConcatenateContext(sequence, sequence),
		"must have dtype float32": feature.ConcatenateContext(context.Cast(tf.Int32), sequence), "dtype float32, got": feature.ConcatenateContext(context, sequence.Cast(tf.Int64)),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "portcases_test.go:") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
