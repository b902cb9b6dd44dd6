package feature_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestIntegersOfRecords: numbers that are integers in records are columns, and a spec
// reads labels besides.
func TestIntegersOfRecords(t *testing.T) {
	age := &feature.NumericColumn{Key: "age", DType: tf.Int64}
	size := &feature.NumericColumn{Key: "size", DType: tf.Int32, Shape: []int{2}, Default: []float32{7}}
	columns := []feature.Dense{feature.Bucketized(age, 30, 40), age, size, &feature.NumericColumn{Key: "far", DType: tf.Float64}}
	spec, err := feature.MakeParseSpec(columns[0], columns[1], columns[2], columns[3])
	if err != nil {
		t.Fatal(err)
	}
	spec, err = spec.With(feature.DenseFeature{Key: "label", Type: tf.Int64}, feature.DenseFeature{Key: "name", Type: tf.String, Shape: tf.Shape{}},
		feature.DenseFeature{Key: "weight", Default: []float32{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	records := []string{
		string(example.Example{"age": example.Ints(25), "size": example.Ints(1, 2), "far": example.Floats(2.5), "label": example.Ints(3), "name": example.Strings("ann")}.Marshal()),
		string(example.Example{"age": example.Ints(45), "far": example.Floats(1), "label": example.Ints(1 << 40), "name": example.Strings("bob"), "weight": example.Floats(2)}.Marshal()),
	}
	f := spec.Parse(ops.Const(g, records))
	x := feature.InputLayer(f, columns...)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(t.Context(), nil, x, f["label"].(tf.Output), f["name"].(tf.Output), f["weight"].(tf.Output))
	if err != nil {
		t.Fatal(err)
	}
	// In the order of names: age, age_bucketized, far, size.
	if want := []float32{25, 1, 0, 0, 2.5, 1, 2, 45, 0, 0, 1, 1, 7, 7}; !slices.Equal(tf.Data[float32](got[0]), want) {
		t.Errorf("got %v, want %v", tf.Data[float32](got[0]), want)
	}
	if y := tf.Data[int64](got[1]); !slices.Equal(y, []int64{3, 1 << 40}) || !slices.Equal(tf.Data[string](got[2]), []string{"ann", "bob"}) || !slices.Equal(tf.Data[float32](got[3]), []float32{0.5, 2}) {
		t.Errorf("got labels %v %q %v", y, tf.Data[string](got[2]), tf.Data[float32](got[3]))
	}
}

func TestMistakesOfSpecs(t *testing.T) {
	spec, err := feature.MakeParseSpec(feature.Numeric("age"), feature.Vocabulary("job", "cook"))
	if err != nil {
		t.Fatal(err)
	}
	for want, d := range map[string]feature.DenseFeature{
		"label_key: age":              {Key: "age"},
		"label_key: job":              {Key: "job", Type: tf.String},
		"needs a key":                 {},
		"float32, int64 and strings":  {Key: "y", Type: tf.Int32},
		"no Default":                  {Key: "y", Type: tf.String, Default: []float32{1}},
		"must be equal to given":      {Key: "y", Shape: tf.Shape{3}, Default: []float32{1, 2}},
		"dimensions must be greater ": {Key: "y", Shape: tf.Shape{0}},
		"default_value: [],":          {Key: "y", Default: []float32{}},
		"default_value: [1.5],":       {Key: "y", Default: []float32{1.5}, Type: tf.Int64},
		"default_value: [NaN],":       {Key: "y", Default: []float32{float32(math.NaN())}, Type: tf.Int64},
	} {
		if _, err := spec.With(d); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for want, c := range map[string][]feature.Column{
		"dtype must be convertible to float": {&feature.NumericColumn{Key: "x", DType: tf.String}},
		"default_value: [],":                 {&feature.NumericColumn{Key: "x", Default: []float32{}}},
		"default_value: [1 2.5],":            {&feature.NumericColumn{Key: "x", Shape: []int{2}, Default: []float32{1, 2.5}, DType: tf.Int64}},
		"different parse_spec for key x":     {feature.Numeric("x"), &feature.NumericColumn{Key: "x", DType: tf.Int64}},
	} {
		if _, err := feature.MakeParseSpec(c...); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	zero := &feature.NumericColumn{Key: "x", Shape: []int{2}, Default: []float32{0}}
	zeros := &feature.NumericColumn{Key: "x", Shape: []int{2}, Default: []float32{0, 0}}
	if _, err := feature.MakeParseSpec(zero, feature.Bucketized(zeros, 1)); err != nil {
		t.Errorf("the same default in two forms: %v", err)
	}
}

// TestParseOfMistake: features of records that cannot be computed say why.
func TestParseOfMistake(t *testing.T) {
	spec, err := feature.MakeParseSpec(age, feature.Embedding(word, 2))
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	records := ops.Reshape(ops.Const(g, []string{"a", "b"}), []int{3})
	for name, c := range map[string]feature.Dense{"dense": age, "sparse": feature.Embedding(word, 2)} {
		if err := feature.InputLayer(spec.Parse(records), c).Err(); err == nil || !strings.Contains(err.Error(), "the requested shape has 3") {
			t.Errorf("%s: %v does not tell the mistake", name, err)
		}
	}
}
