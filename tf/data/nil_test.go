package data_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// TestNothingToReadFrom: a function that returns no dataset, and a generator that is
// none, are mistakes of the program and reported as such, without a stack.
func TestNothingToReadFrom(t *testing.T) {
	types := []tf.DType{tf.Int64}
	none := func([]*tf.Tensor) *data.Dataset { return nil }
	d := data.Range(0, 3)
	key := func([]*tf.Tensor) (int64, error) { return 0, nil }
	for name, d := range map[string]*data.Dataset{
		"FlatMap":            d.FlatMap(none, types),
		"Interleave":         d.Interleave(none, types, 2, 1),
		"ParallelInterleave": d.ParallelInterleave(none, types, 2, 1, 2),
		"GroupByWindow":      d.GroupByWindow(key, 2, func(int64, *data.Dataset) *data.Dataset { return nil }, types),
		"Window":             d.Window(2, 2, 1, false, func([]*data.Dataset) *data.Dataset { return nil }, types),
		"FromGenerator":      data.FromGenerator(types, []tf.Shape{{}}, nil),
		"no sequence":        data.FromGenerator(types, []tf.Shape{{}}, func() iter.Seq2[[]*tf.Tensor, error] { return nil }),
	} {
		var err error
		for _, err = range d.All(context.Background()) {
			break
		}
		if tf.CodeOf(err) != tf.InvalidArgument || strings.Contains(err.Error(), "panicked") {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}

// TestNothingGiven: functions of graphs, inputs and iterators that are nil are mistakes
// of the program, too.
func TestNothingGiven(t *testing.T) {
	d := data.Range(0, 3)
	for name, err := range map[string]error{
		"MapGraph":                    d.MapGraph(nil, 1).Err(),
		"FilterGraph":                 d.FilterGraph(nil).Err(),
		"SampleFrom of one":           data.SampleFrom(data.MixOptions{}, nil).Err(),
		"SampleFrom without weight":   data.SampleFrom(data.MixOptions{Weights: []float64{0, 0}}, nil, d).Err(),
		"SampleFrom of one with none": data.SampleFrom(data.MixOptions{Weights: []float64{1, 0}}, d, nil).Err(),
		"NewGraphFunc":                ofNothing(),
		"Feed.Point":                  data.NewFeed([]tf.DType{tf.Int64}, nil).Point(nil),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "got nil") {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}

func ofNothing() error {
	_, err := data.NewGraphFunc(nil, nil)
	return err
}

// TestElementsOfNothing: what is given no tensor at all makes no dataset of no elements.
func TestElementsOfNothing(t *testing.T) {
	for name, d := range map[string]*data.Dataset{"FromTensors": data.FromTensors(), "FromTensorSlices": data.FromTensorSlices()} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}
