package data_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

func joined(t *testing.T, d *data.Dataset) string {
	t.Helper()
	return strings.Join(read(t, d), " ")
}

// TestSampleFrom compares with what TensorFlow 2.21 gives after
// tf.random.set_seed(5), for the seed 9.
func TestSampleFrom(t *testing.T) {
	from := func(o data.MixOptions) *data.Dataset {
		o.Seed, o.Seed2 = 5, 9
		return data.SampleFrom(o, data.Range(0, 6), data.Range(100, 103), data.Range(200, 300).Take(4))
	}
	for want, o := range map[string]data.MixOptions{
		"100 200 0 1 2 201 3 101 202 102 203 4 5": {},
		"100 200 0 1 2 201 3 101 202 4 102 203 5": {Weights: []float64{0.5, 0.2, 0.3}},
		"200 201 0 1 2 202 3 203":                 {Weights: []float64{0.5, 0, 0.5}, StopOnEmpty: true},
		"0 1 2 3 4 5":                             {Weights: []float64{2, 0, 0}},
		"":                                        {Weights: []float64{0, 0, 0}},
	} {
		if got := joined(t, from(o).Repeat(2)); got != strings.TrimSpace(want+" "+want) {
			t.Errorf("%+v: got %s, want %s", o, got, want)
		}
	}
	if got := joined(t, data.Random(5, 9).Take(4)); got != "2599285742 1008407233 2970994815 2564890439" {
		t.Error(got)
	}
}

func TestChooseFrom(t *testing.T) {
	numbers, err := tf.FromSlice([]int64{0, 1, 1, 1, 0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	selector := data.FromTensorSlices(numbers)
	for want, o := range map[string]data.MixOptions{"0 10 11 1 2": {}, "0 10 11": {StopOnEmpty: true}} {
		if got := joined(t, data.ChooseFrom(selector, o, data.Range(0, 3), data.Range(10, 12))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestMixturesThatGoOn: a mixture goes on for ever if one input does, unless it stops at the
// end of another.
func TestMixturesThatGoOn(t *testing.T) {
	some, endless := data.Range(0, 2), data.Range(10, 12).Repeat(-1)
	for name, c := range map[string]struct {
		d    *data.Dataset
		want int64
	}{
		"sample":       {data.SampleFrom(data.MixOptions{}, some, endless), data.Infinite},
		"sample stops": {data.SampleFrom(data.MixOptions{StopOnEmpty: true}, some, endless), data.Unknown},
		"choose":       {data.ChooseFrom(data.Range(0, 2), data.MixOptions{}, some, endless), data.Unknown},
		"choose alike": {data.ChooseFrom(data.Range(0, 2), data.MixOptions{}, endless, endless), 2},
	} {
		if n := c.d.Cardinality(); n != c.want {
			t.Errorf("%s: cardinality %d, want %d", name, n, c.want)
		}
	}
}

// TestChoicesOfNoInput: an element of a selector that is no number is an error as one that
// is out of range.
func TestChoicesOfNoInput(t *testing.T) {
	same := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }
	empty, err := tf.NewTensor(tf.Int64, tf.Shape{0})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*data.Dataset{data.FromTensors(empty), data.Range(0, 2).Batch(2, false)} {
		selector := d.Map(same, []tf.DType{tf.Int64}, nil)
		for _, err := range data.ChooseFrom(selector, data.MixOptions{}, data.Range(0, 1), data.Range(0, 1)).All(t.Context()) {
			if tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%v, want INVALID_ARGUMENT", err)
			}
		}
	}
}

func TestEnumerate(t *testing.T) {
	if got := strings.Join(read(t, data.Range(5, 8).Enumerate(10)), "|"); got != "10;5|11;6|12;7" {
		t.Error(got)
	}
	if n := data.Range(5, 8).Repeat(-1).Enumerate(7).Cardinality(); n != data.Infinite {
		t.Errorf("an endless dataset is numbered up to %d", n)
	}
	if e, err := data.Range(5, 8).Enumerate(7).At(t.Context(), 2); err != nil || len(e) != 2 {
		t.Errorf("element 2 is %v (%v)", e, err)
	}
	if n := data.Range(5, 8).Enumerate(0).Cardinality(); n != 3 {
		t.Error(n)
	}
}

// TestMixturesGoOn saves iterators in the middle of mixtures and scans.
func TestMixturesGoOn(t *testing.T) {
	ctx := context.Background()
	for name, d := range map[string]*data.Dataset{
		"SampleFrom": data.SampleFrom(data.MixOptions{Seed: 1, Seed2: 2}, data.Range(0, 20), data.Range(100, 120)),
		"Scan":       sums(data.Range(0, 40)),
		"RejectionResample": data.Range(0, 200).RejectionResample(byRest(3), []float64{0.5, 0.25, 0.25},
			data.ResampleOptions{Seed: 1, Seed2: 2}),
	} {
		all := read(t, d)
		it, err := d.Iterator()
		if err != nil {
			t.Fatal(err)
		}
		for range 17 {
			if _, err := it.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		state, err := it.Save(ctx)
		it.Close()
		if err != nil {
			t.Fatal(err)
		}
		if it, err = d.Iterator(); err != nil {
			t.Fatal(err)
		}
		if err := it.Restore(ctx, state); err != nil {
			t.Fatal(err)
		}
		if e, err := it.Next(ctx); err != nil || text(e) != all[17] {
			t.Errorf("%s: got %v %v, want %s", name, e, err, all[17])
		}
		it.Close()
	}
}

func TestWhatCannotBeMixed(t *testing.T) {
	one, bad := data.Range(0, 1), data.Range(0, 1).Batch(0, false)
	for name, d := range map[string]*data.Dataset{
		"nothing":          data.SampleFrom(data.MixOptions{}),
		"no choice":        data.ChooseFrom(one, data.MixOptions{}),
		"no selector":      data.ChooseFrom(nil, data.MixOptions{}, one),
		"nil":              data.SampleFrom(data.MixOptions{}, one, nil),
		"failed":           data.SampleFrom(data.MixOptions{}, one, bad),
		"failed selector":  data.ChooseFrom(bad, data.MixOptions{}, one),
		"few weights":      data.SampleFrom(data.MixOptions{Weights: []float64{1}}, one, one),
		"negative weights": data.SampleFrom(data.MixOptions{Weights: []float64{1, -1}}, one, one),
		"zip nothing":      data.Zip(),
		"zip nil":          data.Zip(one, nil),
		"concatenate nil":  one.Concatenate(nil),
		"other types":      data.SampleFrom(data.MixOptions{}, one, data.FromTensors(tf.Scalar("x"))),
	} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
}
