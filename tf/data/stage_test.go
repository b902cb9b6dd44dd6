package data_test

import (
	"context"
	"errors"
	"regexp"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

var errBadRow = errors.New("bad row")

// TestErrorsNameTheStage: errors of building and of reading name the stage, of several,
// that they are of and the program's line that made it, and say what came.
func TestErrorsNameTheStage(t *testing.T) {
	d := data.Range(0, 4)
	same := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }
	bad := func(context.Context, []*tf.Tensor) ([]*tf.Tensor, error) { return nil, errBadRow }
	float := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		return []*tf.Tensor{tf.Scalar(float32(1))}, nil
	}
	for _, c := range []struct {
		of   *data.Dataset
		want string
	}{
		{d.Batch(0, false), `Batch: Batch size must be greater than zero. Got 0.`},
		{data.TextLine(nil, "BZIP"), `TextLine: Unsupported compression_type. Got "BZIP"; it is "", "GZIP" or "ZLIB".`},
		{d.Batch(3, false).PaddedBatch(2, []tf.Shape{{2}}, nil, false).Prefetch(1), `PaddedBatch: Attempted to pad to a smaller size than the input element. Component 0 has shape [3], the padded shape is [2].`},
		{d.Map(same, ints, nil).Map(float, ints, nil).Map(same, ints, nil), `Map: Data type mismatch at component 0: expected int64 but got float.`},
		{d.Map(bad, ints, nil).Batch(2, false).Repeat(2), `Map: bad row`},
		{d.Map(nil, ints, nil).Batch(2, false), `Map: a function is needed, got nil`},
		{data.Zip(), `Zip: Zip needs a dataset, got none`},
	} {
		err := firstError(c.of)
		want := regexp.MustCompile(`^stage_test\.go:\d+: ` + regexp.QuoteMeta(c.want) + `$`)
		if err == nil || !want.MatchString(err.Error()) {
			t.Errorf("got %v, want a line and %s", err, c.want)
		}
	}
	if err := firstError(d.Map(bad, ints, nil)); !errors.Is(err, errBadRow) {
		t.Errorf("got %v, whose cause is not the program's error", err)
	}
}

// TestErrorsNameTheLine: so do errors of what a program does with iterators and functions.
func TestErrorsNameTheLine(t *testing.T) {
	ctx, it := context.Background(), data.NewIterator(ints, nil)
	defer it.Close()
	feed := data.NewFeed([]tf.DType{tf.String}, nil)
	_, nothing := data.NewGraphFunc(nil, nil)
	for want, err := range map[string]error{
		`Start: Data type mismatch at component 0: expected int64 but got string.`:      it.Start(ctx, data.FromTensors(tf.Scalar("x"))),
		`Start: an input must be a dataset, got nil`:                                    it.Start(ctx, nil),
		`Point: Data type mismatch at component 0: expected string but got int64.`:      feed.Point(it),
		`Point: a feed must be pointed at an iterator, got nil`:                         feed.Point(nil),
		`NewGraphFunc: a function of a graph needs a session and the function, got nil`: nothing,
	} {
		at := regexp.MustCompile(`^stage_test\.go:\d+: ` + regexp.QuoteMeta(want))
		if tf.CodeOf(err) != tf.InvalidArgument || !at.MatchString(err.Error()) {
			t.Errorf("got %v, want a line and %s", err, want)
		}
	}
}

func firstError(d *data.Dataset) error {
	for _, err := range d.All(context.Background()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestStagesAreStillKnown: what depends on the kind of a dataset sees it behind its stage.
func TestStagesAreStillKnown(t *testing.T) {
	d := data.Range(0, 6).Batch(2, true)
	if e, err := d.At(context.Background(), 2); err != nil || text(e) != "4 5" {
		t.Errorf("element 2 is %v, %v", e, err)
	}
	if n := len(read(t, d.GlobalShuffle(1, 2))); n != 3 {
		t.Errorf("there are %d elements in all", n)
	}
}
