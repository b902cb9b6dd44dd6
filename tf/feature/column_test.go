package feature_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Each mistake gets an error that names the user's line.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		f    func(f feature.Features) tf.Output
	}{
		"wrong key": {"Feature height is not in features dictionary.", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Numeric("height")) }},
		"wrong key of a linear model": {"Feature height is not in features dictionary.", func(f feature.Features) tf.Output {
			return feature.LinearModel(f, []feature.Column{feature.Hashed("height", 3)})
		}},
		"no columns": {"must not be empty", func(f feature.Features) tf.Output { return feature.InputLayer(f) }},
		"pointer to none": {"must not be nil", func(f feature.Features) tf.Output {
			var c *feature.NumericColumn
			return feature.InputLayer(f, age, c)
		}},
		"the keys that there are": {`It has: [`, func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Numeric("height")) }},
		"unknown rank": {"the rank of feature age must be known", func(f feature.Features) tf.Output {
			f["age"] = ops.Placeholder(f["age"].(tf.Output).Graph(), tf.Float32, nil)
			return feature.InputLayer(f, age)
		}},
		"nil column": {"must not be nil", func(f feature.Features) tf.Output { return feature.InputLayer(f, nil) }},
		"indicator of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(nil), age)
		}},
		"embedding of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Embedding((*feature.HashedColumn)(nil), 2), age)
		}},
		"shared embedding of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.SharedEmbedding([]feature.Categorical{hashed, nil}, 2)[1])
		}},
		"buckets of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Bucketized(nil, 1), age)
		}},
		"weights of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.LinearModel(f, []feature.Column{feature.Weighted(nil, "w"), age})
		}},
		"sequence of none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Sequence(nil)), age)
		}},
		"crossed none": {"must not be nil", func(f feature.Features) tf.Output {
			return feature.LinearModel(f, []feature.Column{feature.Crossed(5, "color", (*feature.IdentityColumn)(nil)), age})
		}},
		"same name":        {"Duplicate feature column name", func(f feature.Features) tf.Output { return feature.InputLayer(f, age, feature.Numeric("age")) }},
		"sparse number":    {"SparseTensor is not supported", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Numeric("word")) }},
		"words as numbers": {"needs numbers", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Numeric("color")) }},
		"other shape":      {"has 1 numbers", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Numeric("pair")) }},
		"boundaries":       {"sorted list", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Bucketized(age, 3, 2)) }},
		"no boundaries":    {"boundaries must not be empty", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Bucketized(age)) }},
		"numbers hashed": {"must be compatible", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Hashed("id", 3)))
		}},
		"no buckets": {"hash_bucket_size must be at least 1", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Hashed("word", 0)))
		}},
		"same word twice": {"Duplicate keys in vocabulary_list: a", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Vocabulary("word", "a", "b", "a")))
		}},
		"no words": {"at least 1", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Vocabulary[string]("word")))
		}},
		"no file": {"Missing vocabulary_file", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.VocabularyFile("word", "", 2)))
		}},
		"default outside": {"default_value must be", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(&feature.VocabularyColumn{Key: "word", List: []string{"a"}, Default: new(1)}))
		}},
		"crossed hash": {"Hashing before crossing", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Crossed(5, "word", hashed)))
		}},
		"crossed alone": {"length > 1", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Crossed(5, "word")))
		}},
		"crossed number": {"Unsupported key type", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Crossed(5, "word", 3)))
		}},
		"crossed weights": {"does not support weight_tensor", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Crossed(5, "color", weighted)))
		}},
		"no size": {"Invalid dimension 0.", func(f feature.Features) tf.Output { return feature.InputLayer(f, feature.Embedding(word, 0)) }},
		"combiner": {"combiner must be one of", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Embedding(word, 2, feature.EmbeddingOpts{Combiner: "max"}))
		}},
		"shared": {"the same number of buckets", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, dense(feature.SharedEmbedding([]feature.Categorical{word, color}, 2))...)
		}},
		"weights that are words": {"expected floating point weights", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.Weighted(word, "other")))
		}},
		"a sequence in a linear model": {"must be either a DenseColumn or CategoricalColumn", func(f feature.Features) tf.Output {
			return feature.LinearModel(f, []feature.Column{feature.SequenceNumeric("heat")})
		}},
		"a vocabulary that is not there": {"vocabulary_file must be readable", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Indicator(feature.VocabularyFile("word", "testdata/missing.txt", 0)))
		}},
		"feature of another kind": {"a feature must be a tf.Output or a sparse.Tensor", func(f feature.Features) tf.Output {
			f["age"] = 3
			return feature.InputLayer(f, age)
		}},
		"feature that is a scalar": {"cannot have rank 0", func(f feature.Features) tf.Output {
			f["age"] = ops.Scalar(f["pair"].(tf.Output).Graph(), float32(1))
			return feature.InputLayer(f, age)
		}},
		"a sequence in an input layer": {"must not be of type SequenceCategoricalColumn", func(f feature.Features) tf.Output {
			return feature.InputLayer(f, feature.Embedding(feature.Sequence(word), 2))
		}},
		"no sequence in a sequence layer": {"must be of type SequenceCategoricalColumn", func(f feature.Features) tf.Output {
			y, _ := feature.SequenceInputLayer(f, feature.Embedding(word, 2))
			return y
		}},
		"a dense sequence": {"must be a sparse.Tensor [batch time]", func(f feature.Features) tf.Output {
			y, _ := feature.SequenceInputLayer(f, feature.SequenceNumeric("age"))
			return y
		}},
		"a sequence of words": {"needs numbers", func(f feature.Features) tf.Output {
			y, _ := feature.SequenceInputLayer(f, feature.SequenceNumeric("step"))
			return y
		}},
		"no features": {"features must not be empty", func(feature.Features) tf.Output { return feature.InputLayer(nil, age) }},
	} {
		err := c.f(features(tf.NewGraph())).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "column_test.go:") {
			t.Errorf("%s: %v; want %q and this file's line", name, err, c.want)
		}
	}
}

// What only the step can know fails the step, and names the user's line.
func TestMistakesOfSteps(t *testing.T) {
	number := func(x int64) func(f feature.Features) tf.Output {
		return func(f feature.Features) tf.Output {
			f["id"] = ops.Const(f["age"].(tf.Output).Graph(), []int64{x}, 1, 1)
			return feature.InputLayer(f, feature.Indicator(feature.Identity("id", 4)))
		}
	}
	file := func(name string, size int) func(f feature.Features) tf.Output {
		return func(f feature.Features) tf.Output {
			feature.InputLayer(f, feature.Indicator(feature.VocabularyFile("word", name, size)))
			return f["age"].(tf.Output).Graph().Collection(train.TableInitializersCollection)[0].(*tf.Operation).Input(0)
		}
	}
	for name, c := range map[string]struct {
		want string
		f    func(f feature.Features) tf.Output
	}{
		"an id that is too great": {"ids of column id must be at least 0 and less than the number of buckets", number(4)},
		"an id that is too small": {"ids of column id must be at least 0 and less than the number of buckets", number(-2)},
		"sequences of lengths":    {"equally long", unequal},
		"no file":                 {"missing.txt", file("testdata/missing.txt", 2)},
		"too few words":           {"Invalid vocab_size", file("testdata/words.txt", 50)},
	} {
		g := tf.NewGraph()
		y := c.f(features(g))
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		var what tf.Fetchable = y
		if fill := g.Collection(train.TableInitializersCollection); len(fill) > 0 {
			what = fill[0].(*tf.Operation)
		}
		if _, err := s.Run(t.Context(), nil, what); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "column_test.go:") {
			t.Errorf("%s: %v; want %q and this file's line", name, err, c.want)
		}
		s.Close()
	}
}

// unequal is a layer of sequences of different lengths.
func unequal(f feature.Features) tf.Output {
	y, _ := feature.SequenceInputLayer(f, feature.SequenceNumeric("heat"), feature.SequenceNumeric("weight"))
	return y
}

// Records become features, and those the numbers of columns.
func TestParse(t *testing.T) {
	columns := []feature.Column{&feature.NumericColumn{Key: "age", Default: []float32{20}}, pair, ages2(), color, feature.Weighted(word, "weight"), year}
	spec, err := feature.MakeParseSpec(columns...)
	if err != nil {
		t.Fatal(err)
	}
	words := func(s ...string) *pb.Feature {
		list := &pb.BytesList{}
		for _, x := range s {
			list.Value = append(list.Value, []byte(x))
		}
		return &pb.Feature{Kind: &pb.Feature_BytesList{BytesList: list}}
	}
	numbers := func(x ...float32) *pb.Feature {
		return &pb.Feature{Kind: &pb.Feature_FloatList{FloatList: &pb.FloatList{Value: x}}}
	}
	var records []string
	for _, f := range []map[string]*pb.Feature{
		{"pair": numbers(1, 2), "color": words("blue"), "word": words("a", "b"), "weight": numbers(0.5, 2)},
		{"age": numbers(50), "pair": numbers(3, 5), "year": {Kind: &pb.Feature_Int64List{Int64List: &pb.Int64List{Value: []int64{2000}}}}},
	} {
		data, err := proto.Marshal(&pb.Example{Features: &pb.Features{Feature: f}})
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, string(data))
	}
	g := tf.NewGraph()
	f := spec.Parse(ops.Const(g, records))
	y := feature.InputLayer(f, columns[0].(feature.Dense), pair, feature.Indicator(color), feature.Indicator(feature.Weighted(word, "weight")), feature.Indicator(year))
	s := open(t, g)
	out, err := s.Run(t.Context(), nil, y)
	if err != nil {
		t.Fatal(err)
	}
	// By name: age, color, pair, word, year.
	near(t, "features", out[0], []float64{
		20, 0, 0, 1, 0, 0.5, 0.5, 2, 0, 0, 0, 0, 0,
		50, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 1,
	})
}

// ages2 is over a column of the same description as that with a default.
func ages2() feature.Column {
	return feature.Bucketized(&feature.NumericColumn{Key: "age", Default: []float32{20}}, 30)
}

func TestConflictsOfSpecs(t *testing.T) {
	for _, columns := range [][]feature.Column{
		{feature.Numeric("x"), feature.Hashed("x", 3)}, {feature.Hashed("x", 3), feature.Identity("x", 3)},
		{feature.Numeric("x"), &feature.NumericColumn{Key: "x", Shape: []int{2}}}, {feature.Hashed("x", 3), feature.Numeric("x")},
	} {
		if _, err := feature.MakeParseSpec(columns...); err == nil || !strings.Contains(err.Error(), "different parse_spec for key x") {
			t.Errorf("%v: %v", columns, err)
		}
	}
}

// A partitioner cuts the tables of embeddings and linear models, on the servers
// that a device function chooses; a model trains on them.
func TestPartitioned(t *testing.T) {
	g := tf.NewGraph()
	f := features(g)
	var deep, wide tf.Output
	vars.Scope(g, "m", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		deep = feature.InputLayer(f, feature.Embedding(word, 3))
		wide = feature.LinearModel(f, []feature.Column{word, color})
	})
	var names []string
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		names = append(names, v.Name())
	}
	want := []string{
		"m/input_layer/word_embedding/embedding_weights/part_0", "m/input_layer/word_embedding/embedding_weights/part_1",
		"m/linear_model/color/weights/part_0", "m/linear_model/color/weights/part_1",
		"m/linear_model/word/weights/part_0", "m/linear_model/word/weights/part_1", "m/linear_model/bias_weights/part_0",
	}
	if !slices.Equal(names, want) {
		t.Fatalf("variables are %q, want %q", names, want)
	}
	loss := ops.Square(wide.Sub(1)).Mean().Add(ops.Square(deep.Sub(0.5)).Mean())
	step := train.Adagrad{LearningRate: 0.3}.Minimize(loss)
	s := open(t, g)
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	var first, last float32
	for i := range 60 {
		v, err := session.Fetch[float32](t.Context(), s, nil, loss, step)
		if err != nil {
			t.Fatal(err)
		}
		if last = v[0]; i == 0 {
			first = last
		}
	}
	if !(last < first/4) {
		t.Errorf("the loss went from %v to %v", first, last)
	}
}

// Files that are no vocabulary, and whatever features a program gives, do not
// panic.
func FuzzFeatures(f *testing.F) {
	f.Add("a\nb\n", "a", 3, 2)
	f.Add("", "\x00", 0, -1)
	f.Fuzz(func(t *testing.T, file, value string, size, oov int) {
		name := t.TempDir() + "/words.txt"
		if err := os.WriteFile(name, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		g := tf.NewGraph()
		c := &feature.VocabularyColumn{Key: "w", File: name, Size: size % 1000, OOV: oov % 1000}
		y := feature.InputLayer(feature.Features{"w": ops.Const(g, []string{value})}, feature.Indicator(c))
		if y.Err() != nil {
			return
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		fill := g.Collection(train.TableInitializersCollection)[0].(*tf.Operation)
		if _, err := s.Run(t.Context(), nil, fill); err != nil {
			return
		}
		if _, err := s.Run(t.Context(), nil, y); err != nil {
			t.Error(err)
		}
	})
}

// TestVocabularyByURI: the lines of a file are counted where its URI says.
func TestVocabularyByURI(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	words := feature.VocabularyFile("word", "file://"+dir+"/testdata/words.txt", 0)
	if n := feature.VocabularyFile("word", "testdata/words.txt", 0).Buckets(); n == 0 || words.Buckets() != n {
		t.Errorf("there are %d words, want %d", words.Buckets(), n)
	}
	if y := feature.InputLayer(features(tf.NewGraph()), feature.Indicator(words)); y.Err() != nil {
		t.Error(y.Err())
	}
}
