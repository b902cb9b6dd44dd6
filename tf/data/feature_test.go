package data_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
)

// records are three examples; the last one lacks both features.
func records(t *testing.T) *tf.Tensor {
	t.Helper()
	var all []string
	for _, e := range []example.Example{
		{"o": example.Floats(1, 2), "x": example.Ints(7)}, {"o": example.Floats(3), "x": example.Ints(8, 9)}, {},
	} {
		all = append(all, string(e.Marshal()))
	}
	x, err := tf.FromSlice(all)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestFeaturesOfAnyLength(t *testing.T) {
	p, err := data.NewExampleParser(
		data.Feature{Key: "x", Type: tf.Int64, VarLen: true},
		data.Feature{Key: "o", Type: tf.Float32, Shape: tf.Shape{-1}},
		data.Feature{Key: "o", Type: tf.Float32, VarLen: true},
		data.Feature{Key: "x", Type: tf.Int64, Shape: tf.Shape{-1}, Default: tf.Scalar[int64](-1)},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	e, err := p.Parse(t.Context(), records(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"int64[3,2]{0, 0, 1, 0, 1, 1}", "int64[3]{7, 8, 9}", "int64[2]{3, 2}",
		"float32[3,2]{1, 2, 3, 0, 0, 0}",
		"int64[3,2]{0, 0, 0, 1, 1, 0}", "float32[3]{1, 2, 3}", "int64[2]{3, 2}",
		"int64[3,2]{7, -1, 8, 9, -1, -1}",
	}
	if len(e) != len(want) {
		t.Fatalf("got %v", e)
	}
	for i, w := range want {
		if e[i].String() != w {
			t.Errorf("component %d: got %v, want %s", i, e[i], w)
		}
	}
}

func TestWhatIsNoFeature(t *testing.T) {
	one := tf.Scalar[float32](1)
	for want, f := range map[string]data.Feature{
		`feature "x": the shape must be set: tf.Shape{} for one value`:                  {Key: "x", Type: tf.Int64},
		`feature "x": the type must be float32, int64 or string, got int32`:             {Key: "x", Type: tf.Int32, Shape: tf.Shape{}},
		`feature "x": only the first size may be open, got the shape [2,?]`:             {Key: "x", Type: tf.Int64, Shape: tf.Shape{2, -1}},
		`feature "x": sizes must not be negative, got the shape [-2]`:                   {Key: "x", Type: tf.Int64, Shape: tf.Shape{-2}},
		`feature "x": sizes must not be negative, got the shape [-1 -3]`:                {Key: "x", Type: tf.Int64, Shape: tf.Shape{-1, -3}},
		`feature "x": no size behind an open one may be 0, got the shape [?,0]`:         {Key: "x", Type: tf.Int64, Shape: tf.Shape{-1, 0}},
		`feature "x": the default must have the type int64, got float32`:                {Key: "x", Type: tf.Int64, Shape: tf.Shape{}, Default: one},
		`feature "x": the default must have the shape [2], got []`:                      {Key: "x", Type: tf.Float32, Shape: tf.Shape{2}, Default: one},
		`feature "x": a feature of variable length has no shape and no default`:         {Key: "x", Type: tf.Float32, Shape: tf.Shape{}, VarLen: true},
		`feature "x": the default, which pads the shape [?], must be a scalar, got [0]`: {Key: "x", Type: tf.Float32, Shape: tf.Shape{-1}, Default: must(tf.FromSlice([]float32{}, 0))},
	} {
		if _, err := data.NewExampleParser(f); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := data.NewExampleParser(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

// TestExamplesAreVectors sees that a forgotten Batch is a mistake of the pipeline,
// not one of every element.
func TestExamplesAreVectors(t *testing.T) {
	p, err := data.NewExampleParser(data.Feature{Key: "x", Type: tf.Int64, VarLen: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	rows := data.FromTensorSlices(records(t))
	for name, d := range map[string]*data.Dataset{
		"scalars": rows.ParseExample(p, 1), "numbers": data.Range(0, 3).Batch(2, false).ParseExample(p, 1),
		"pairs": rows.Enumerate(0).Batch(2, false).ParseExample(p, 1), "no parser": rows.Batch(2, false).ParseExample(nil, 1),
	} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "ParseExample") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := rows.Batch(2, false).ParseExample(p, 1).Err(); err != nil {
		t.Error(err)
	}
}

func must(x *tf.Tensor, err error) *tf.Tensor {
	if err != nil {
		panic(err)
	}
	return x
}
