package data_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

func TestWindow(t *testing.T) {
	batch := func(w []*data.Dataset) *data.Dataset { return w[0].Batch(10, false) }
	for want, d := range map[string]*data.Dataset{
		"0 2 4|2 4 6":       data.Range(0, 8).Window(3, 2, 2, true, batch, ints),
		"0 1|3 4|6":         data.Range(0, 7).Window(2, 3, 1, false, batch, ints),
		"0 1 2|1 2 3|2 3|3": data.Range(0, 4).Window(3, 1, 1, false, batch, ints),
	} {
		if got := strings.Join(read(t, d), "|"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if err := data.Range(0, 3).Window(0, 1, 1, true, batch, ints).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

func TestGroupByWindow(t *testing.T) {
	key := func(in []*tf.Tensor) (int64, error) { return tf.Data[int64](in[0])[0] % 3, nil }
	d := data.Range(0, 8).GroupByWindow(key, 2, func(_ int64, g *data.Dataset) *data.Dataset { return g.Batch(2, false) }, ints)
	if got := strings.Join(read(t, d), "|"); got != "0 3|1 4|2 5|6|7" {
		t.Error(got)
	}
}
