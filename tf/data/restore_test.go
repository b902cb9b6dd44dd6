package data_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

func iterator(t *testing.T, d *data.Dataset) *data.Iterator {
	t.Helper()
	it, err := d.Iterator()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(it.Close)
	return it
}

// revived returns an iterator of one dataset, and what became of restoring it from a state of
// another one, of which an element has been taken.
func revived(t *testing.T, to, from *data.Dataset) (*data.Iterator, error) {
	t.Helper()
	a, b := iterator(t, from), iterator(t, to)
	if _, err := a.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	state, err := a.Save(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b, b.Restore(t.Context(), state)
}

// TestRestoreOfAnotherPipeline: the state of another pipeline is refused, also if it has the
// same keys.
func TestRestoreOfAnotherPipeline(t *testing.T) {
	same := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }
	d := data.Range(0, 12)
	to := d.Batch(2, false)
	for name, from := range map[string]*data.Dataset{
		"Map":       d.Map(same, ints, nil),
		"Prefetch":  d.Prefetch(2),
		"Map+Batch": d.Map(same, ints, nil).Batch(2, false),
		"Take":      d.Take(5),
	} {
		if _, err := revived(t, to, from); tf.CodeOf(err) != tf.NotFound {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if it, err := revived(t, to, to); err != nil {
		t.Error(err)
	} else if e, err := it.Next(t.Context()); err != nil || text(e) != "2 3" {
		t.Error(e, err)
	}
	err := iterator(t, to).Restore(t.Context(), nil)
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "must be what Save returned, got nothing") {
		t.Errorf("of nothing: %v", err)
	}
}

// TestRestoredErrorsNameTheStage: an error that a state has is still one of the stage where it was.
func TestRestoredErrorsNameTheStage(t *testing.T) {
	bad := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		if in[0].At(0) == int64(1) {
			return nil, errBadRow
		}
		return in, nil
	}
	it, err := revived(t, data.Range(0, 2).Map(bad, ints, nil).Prefetch(4), data.Range(0, 2).Map(bad, ints, nil).Prefetch(4))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := it.Next(t.Context()); err == nil || !strings.Contains(err.Error(), ": Map: bad row") {
		t.Errorf("got %v", err)
	}
}

// TestRestoredWithin: stages that the library makes while a dataset is iterated over have the same
// states whichever function the program has called then.
func TestRestoredWithin(t *testing.T) {
	length := func(in []*tf.Tensor) (int, error) { return int(tf.Data[int64](in[0])[0] % 7), nil }
	kept := data.Range(0, 9).Snapshot(t.TempDir(), data.SnapshotOptions{})
	if err := kept.Err(); err != nil {
		t.Fatal(err)
	}
	_ = read(t, kept) // which makes it complete
	for name, d := range map[string]*data.Dataset{
		"buckets":          data.Range(0, 30).BucketByLength(length, []int{3, 5}, []int{2, 3, 4}, data.BucketOptions{}),
		"buckets, unequal": data.Range(0, 30).BucketByLength(length, []int{3, 5}, []int{2, 3, 4}, data.BucketOptions{NoPadding: true}).Unbatch(),
		"snapshot":         kept,
	} {
		all := read(t, d)
		it := iterator(t, d)
		for i := range all {
			state, err := it.Save(t.Context())
			if err != nil {
				t.Fatal(name, err)
			}
			if again, err := restored(t, d, state); err != nil || text(again) != all[i] {
				t.Errorf("%s: after %d elements %v, %v, want %s", name, i, again, err, all[i])
			}
			if _, err := it.Next(t.Context()); err != nil {
				t.Fatal(name, err)
			}
		}
	}
}

// TestNoDataset: a method of a dataset that is nil is an error with the program's line.
func TestNoDataset(t *testing.T) {
	var none *data.Dataset
	for name, err := range map[string]error{
		"Batch":       none.Batch(2, false).Err(),
		"chain":       none.Repeat(-1).Prefetch(1).Err(),
		"Zip":         data.Zip(data.Range(0, 1), none).Err(),
		"Concatenate": data.Range(0, 1).Concatenate(none).Err(),
		"Snapshot":    none.Snapshot(t.TempDir(), data.SnapshotOptions{}).Err(),
		"Save":        none.Save(t.Context(), t.TempDir(), ""),
		"Iterator":    func() error { _, err := none.Iterator(); return err }(),
		"At":          func() error { _, err := none.At(t.Context(), 0); return err }(),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "restore_test.go:") || !strings.Contains(err.Error(), "must be a dataset, got nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if none.Types() != nil || none.Shapes() != nil || none.Cardinality() != data.Unknown {
		t.Error("something is known of no dataset")
	}
}
