package feature_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

var (
	color      = feature.Vocabulary("color", "red", "green", "blue")
	colorOOV   = &feature.VocabularyColumn{Key: "color", List: []string{"red", "green"}, OOV: 3}
	year       = &feature.VocabularyColumn{Key: "year", List: []int64{1990, 2000}, Default: new(1)}
	word       = &feature.VocabularyColumn{Key: "word", File: "testdata/words.txt", Size: 3, OOV: 2}
	other      = &feature.VocabularyColumn{Key: "other", File: "testdata/words.txt", Size: 3, OOV: 2}
	plain      = feature.VocabularyFile("other", "testdata/words.txt", 3)
	hashed     = feature.Hashed("word", 7)
	hashedYear = &feature.HashedColumn{Key: "year", Size: 5, Type: tf.Int64}
	identity   = &feature.IdentityColumn{Key: "id", Size: 4, Default: new(0)}
	age        = feature.Numeric("age")
	pair       = &feature.NumericColumn{Key: "pair", Shape: []int{2}, Normalize: func(x tf.Output) tf.Output { return x.Sub(1).Div(2) }}
	ages       = feature.Bucketized(age, 18, 30, 50)
	pairs      = feature.Bucketized(&feature.NumericColumn{Key: "pair", Shape: []int{2}}, 0, 1)
	weighted   = feature.Weighted(word, "weight")
	crossed    = feature.Crossed(11, ages, "color")
	signs      = feature.Weighted(word, "signs")
	levels     = feature.Identity("levels", 4)
	tags       = feature.Hashed("tags", 5)
	flat       = feature.Hashed("flat", 5)
	grid       = &feature.NumericColumn{Key: "grid", Shape: []int{2, 2}}
	crossedKey = &feature.CrossedColumn{Parts: []any{"word", identity, ages}, Size: 13, HashKey: 5}
)

// inputs and linear have the models of testdata/walk.py.
var (
	inputs = map[string][]feature.Dense{
		"numeric":             {age, pair},
		"bucketized":          {ages, pairs},
		"list":                {feature.Indicator(color)},
		"list_oov":            {feature.Indicator(colorOOV)},
		"integers":            {feature.Indicator(year)},
		"file":                {feature.Indicator(word)},
		"file_plain":          {feature.Indicator(plain)},
		"hashed":              {feature.Indicator(hashed), feature.Indicator(hashedYear)},
		"identity":            {feature.Indicator(identity)},
		"weighted":            {feature.Indicator(weighted)},
		"crossed":             {feature.Indicator(crossed), feature.Indicator(crossedKey)},
		"embedding":           {feature.Embedding(word, 3), feature.Embedding(color, 2, feature.EmbeddingOpts{Combiner: sparse.CombineSqrtN, MaxNorm: 0.5})},
		"embedding_weighted":  {feature.Embedding(weighted, 3, feature.EmbeddingOpts{Combiner: sparse.CombineSum}), age},
		"shared":              dense(feature.SharedEmbedding([]feature.Categorical{word, other}, 2)),
		"numeric_grid":        {grid},
		"file_all":            {feature.Indicator(&feature.VocabularyColumn{Key: "word", File: "testdata/words.txt", OOV: 1})},
		"file_default":        {feature.Indicator(&feature.VocabularyColumn{Key: "tags", File: "testdata/words.txt", Size: 3, Default: new(2)})},
		"file_small":          {feature.Indicator(feature.VocabularyFile("tags", "testdata/words.txt", 2))},
		"integers_oov":        {feature.Indicator(&feature.VocabularyColumn{Key: "levels", List: []int64{2, 0}, OOV: 2})},
		"hashed_tags":         {feature.Indicator(tags), feature.Indicator(&feature.HashedColumn{Key: "levels", Size: 4, Type: tf.Int64})},
		"identity_levels":     {feature.Indicator(levels)},
		"weighted_signs":      {feature.Indicator(signs)},
		"weighted_dense":      {feature.Indicator(feature.Weighted(levels, "grades"))},
		"embedding_signs":     {feature.Embedding(signs, 2)},
		"embedding_flat":      {feature.Embedding(flat, 2), feature.Indicator(flat)},
		"embedding_signs_sum": {feature.Embedding(signs, 2, feature.EmbeddingOpts{Combiner: sparse.CombineSum})},
		"embedding_crossed":   {feature.Embedding(crossed, 3, feature.EmbeddingOpts{Combiner: sparse.CombineSqrtN})},
		"crossed_nested":      {feature.Indicator(feature.Crossed(11, crossed, "tags"))},
		"crossed_levels":      {feature.Indicator(feature.Crossed(17, levels, "tags", "word"))},
	}
	linear = map[string][]feature.Column{
		"linear_embedding":  {feature.Embedding(word, 2), age},
		"linear_indicator":  {feature.Indicator(color), identity},
		"linear_shared":     append(columns(feature.SharedEmbedding([]feature.Categorical{word, other}, 2)), age),
		"linear_signs":      {signs},
		"linear_signs_mean": {signs},
		"linear_sqrtn":      {weighted, tags},
		"linear_flat":       {flat, pair},
		"linear_grid":       {grid, pairs, tags},
		"linear":            {age, pair, ages, color, identity, crossed},
		"linear_weighted":   {weighted, hashedYear},
	}
	sequences = map[string][]feature.SequenceDense{
		"sequence": {
			feature.Embedding(feature.Sequence(feature.Vocabulary("step", "a", "b", "c")), 2), feature.Indicator(feature.Sequence(feature.Hashed("step", 3))),
			&feature.SequenceNumericColumn{Key: "heat", Default: -1},
			&feature.SequenceNumericColumn{Key: "wind", Size: 2, Normalize: func(x tf.Output) tf.Output { return x.Mul(2) }},
		},
		"sequence_ids": {
			feature.Indicator(feature.Sequence(&feature.IdentityColumn{Key: "number", Size: 4, Default: new(3)})),
			feature.Embedding(feature.Sequence(&feature.VocabularyColumn{Key: "step", File: "testdata/words.txt", Size: 3, OOV: 2}), 3),
		},
	}
	options = map[string]feature.LinearOpts{
		"linear": {Units: 2}, "linear_weighted": {Combiner: sparse.CombineMean}, "linear_signs": {Units: 2}, "linear_signs_mean": {Combiner: sparse.CombineMean},
		"linear_sqrtn": {Combiner: sparse.CombineSqrtN}, "linear_grid": {Units: 3},
	}
)

func columns(all []*feature.EmbeddingColumn) (out []feature.Column) {
	for _, c := range all {
		out = append(out, c)
	}
	return out
}

func dense(columns []*feature.EmbeddingColumn) (out []feature.Dense) {
	for _, c := range columns {
		out = append(out, c)
	}
	return out
}

// features are those of four examples.
func features(g *tf.Graph) feature.Features {
	at := func(values tf.Output, indices ...int64) sparse.Tensor {
		return sparse.Tensor{Indices: ops.Const(g, indices, len(indices)/2, 2), Values: values, DenseShape: ops.Const(g, []int64{4, 3})}
	}
	return feature.Features{
		"age":    ops.Const(g, []float32{17, 18, 42, 80}),
		"pair":   ops.Const(g, []float32{0.5, -1, 2, 0, 1, 1, -3, 0.25}, 4, 2),
		"color":  ops.Const(g, []string{"red", "blue", "", "pink"}),
		"year":   ops.Const(g, []int64{1990, 2000, 1985, -1}, 4, 1),
		"id":     ops.Const(g, []int64{0, 3, 9, 2}, 4, 1),
		"word":   at(ops.Const(g, []string{"b", "a", "z", "c", "b"}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 2),
		"weight": at(ops.Const(g, []float32{0.5, 2, 1, 3, 0.25}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 2),
		"step":   at(ops.Const(g, []string{"b", "a", "z", "c", "b"}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 1),
		"heat":   at(ops.Const(g, []float32{0.5, 2, 1, 3, 0.25}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 1),
		"wind": sparse.Tensor{
			Indices: ops.Const(g, []int64{0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1, 3, 0, 3, 1, 3, 2, 3, 3}, 10, 2),
			Values:  ops.Const(g, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), DenseShape: ops.Const(g, []int64{4, 6}),
		},
		"flat":   sparse.Tensor{Indices: ops.Const(g, []int64{0, 3}, 2, 1), Values: ops.Const(g, []string{"b", "a"}), DenseShape: ops.Const(g, []int64{4})},
		"signs":  at(ops.Const(g, []float32{0.5, -2, 1, -3, 0.25}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 2),
		"tags":   ops.Const(g, []string{"a", "b", "z", "", "c", "c", "", ""}, 4, 2),
		"levels": ops.Const(g, []int32{0, 2, 3, 1, 1, 1, 2, 0}, 4, 2),
		"grades": ops.Const(g, []float32{1, 0.5, -2, 3, 0.25, 1.5, 4, -1}, 4, 2),
		"grid":   cosine(g, 4, 2, 2),
		"number": at(ops.Const(g, []int64{2, 0, 9, 1, 3}), 0, 0, 0, 1, 1, 0, 3, 0, 3, 1),
		"other":  at(ops.Const(g, []string{"c", "q"}), 1, 0, 2, 0),
	}
}

// cosine returns cos(i) in a shape.
func cosine(g *tf.Graph, s ...int) tf.Output {
	x := make([]float32, tf.Shape(s).NumElements())
	for i := range x {
		x[i] = float32(math.Cos(float64(i)))
	}
	return ops.Const(g, x, s...)
}

// A walked is what TensorFlow made of one model.
type walked struct {
	Variables []string
	Result    tf.Shape
	Out       []float64
	Lengths   []int64
}

// TestWalk restores TensorFlow's checkpoint of every column by the names of the
// variables and compares results, then it saves the models and compares the
// checkpoints.
func TestWalk(t *testing.T) {
	cases := map[string]*walked{}
	data, err := os.ReadFile("testdata/walk.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkSpec(t, cases["spec"].Variables)
	delete(cases, "spec")
	if len(cases) != len(inputs)+len(linear)+len(sequences) {
		t.Errorf("there are %d models for %d results of TensorFlow", len(inputs)+len(linear)+len(sequences), len(cases))
	}
	g := tf.NewGraph()
	f, outputs, lengths := features(g), map[string]tf.Output{}, map[string]tf.Output{}
	names := slices.Sorted(maps.Keys(cases))
	slices.Reverse(names) // the table of linear_shared is that of shared
	for _, name := range names {
		vars.Scope(g, name, vars.ScopeOptions{}, func() {
			switch {
			case linear[name] != nil:
				outputs[name] = feature.LinearModel(f, linear[name], options[name])
			case sequences[name] != nil:
				outputs[name], lengths[name] = feature.SequenceInputLayer(f, sequences[name]...)
			default:
				outputs[name] = feature.InputLayer(f, inputs[name]...)
			}
		})
		if err := outputs[name].Err(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	s := restored(t, g)
	for name, want := range cases {
		out, err := s.Run(t.Context(), nil, outputs[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !out[0].Shape().Equal(want.Result) || !outputs[name].Shape().Compatible(want.Result) {
			t.Errorf("%s: the shape is %v, want %v", name, out[0].Shape(), want.Result)
		}
		near(t, name, out[0], want.Out)
		if n, ok := lengths[name]; ok {
			got, err := session.Fetch[int64](t.Context(), s, nil, n)
			if err != nil || !slices.Equal(got, want.Lengths) {
				t.Errorf("%s: lengths are %v, %v; want %v", name, got, err, want.Lengths)
			}
		}
	}
}

// restored returns a session with the variables of the checkpoint, once what it
// saves has been compared with it.
func restored(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	if err := saver.Restore(t.Context(), s, "testdata/walk.ckpt"); err != nil {
		t.Fatal(err)
	}
	saved, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "walk"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := train.ListVariables("testdata/walk.ckpt")
	if err != nil {
		t.Fatal(err)
	}
	got, err := train.ListVariables(saved)
	if err != nil || len(got) != len(want) {
		t.Fatalf("the checkpoint has %v, %v; want %v", got, err, want)
	}
	for _, v := range want {
		x, errX := train.LoadVariable("testdata/walk.ckpt", v.Name)
		y, errY := train.LoadVariable(saved, v.Name)
		if errX != nil || errY != nil || !tftest.Equal(t, y, x) {
			t.Errorf("%s: %v, %v", v.Name, errX, errY)
		}
	}
	return s
}

// open returns a session whose tables are filled.
func open(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for _, op := range g.Collection(train.TableInitializersCollection) {
		if _, err := s.Run(t.Context(), nil, op.(*tf.Operation)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func near(t *testing.T, what string, got *tf.Tensor, want []float64) {
	t.Helper()
	data := tf.Data[float32](got)
	if len(data) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(data), len(want))
		return
	}
	for i, x := range data {
		if d := math.Abs(float64(x) - want[i]); !(d <= 2e-5*max(1, math.Abs(want[i]))) {
			t.Errorf("%s: element %d is %v, want %v", what, i, x, want[i])
			return
		}
	}
}

// checkSpec compares how records are parsed with TensorFlow's description.
func checkSpec(t *testing.T, want []string) {
	t.Helper()
	var all []feature.Column
	for _, columns := range inputs {
		for _, c := range columns {
			all = append(all, c)
		}
	}
	for _, columns := range linear {
		all = append(all, columns...)
	}
	spec, err := feature.MakeParseSpec(all...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range spec.Dense {
		sizes := strings.ReplaceAll(strings.Trim(d.Shape.String(), "[]"), ",", ", ")
		if len(d.Shape) == 1 {
			sizes += ","
		}
		got = append(got, fmt.Sprintf("%s FixedLenFeature float32 (%s)", d.Key, sizes))
	}
	for _, x := range spec.Sparse {
		got = append(got, fmt.Sprintf("%s VarLenFeature %v ", x.Key, x.Type))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("features are parsed as %q, want %q", got, want)
	}
}
