package data_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

// counted returns the numbers from 0 to below n with their texts, and counts those that
// are computed.
func counted(n int64, calls *atomic.Int64) *data.Dataset {
	return data.Range(0, n).Map(func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
		calls.Add(1)
		return []*tf.Tensor{in[0], tf.Scalar(strconv.FormatInt(tf.Data[int64](in[0])[0], 10))}, nil
	}, []tf.DType{tf.Int64, tf.String}, []tf.Shape{{}, {}})
}

// numbered returns the numbers of d, whose texts must agree.
func numbered(t *testing.T, d *data.Dataset) (out []string) {
	t.Helper()
	for e, err := range d.All(context.Background()) {
		if err != nil {
			t.Error(err)
			return out
		}
		text := tf.Data[string](e[1])[0]
		if text != strconv.FormatInt(tf.Data[int64](e[0])[0], 10) {
			t.Errorf("the number %v has the text %q", e[0], text)
		}
		out = append(out, text)
	}
	return out
}

func counting(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = strconv.Itoa(i)
	}
	return strings.Join(texts, " ")
}

// TestSnapshot: the first iterator computes and writes, others read, in order.
func TestSnapshot(t *testing.T) {
	byThree := func(in []*tf.Tensor) (int64, error) { return tf.Data[int64](in[0])[0] % 3, nil }
	backwards := func(shards []*data.Dataset) *data.Dataset {
		all := shards[len(shards)-1]
		for i := len(shards) - 2; i >= 0; i-- {
			all = all.Concatenate(shards[i])
		}
		return all
	}
	for name, c := range map[string]struct {
		o    data.SnapshotOptions
		want string // of later iterators
	}{
		"default": {data.SnapshotOptions{}, counting(8)},
		"auto":    {data.SnapshotOptions{Compression: "AUTO"}, counting(8)},
		"gzip":    {data.SnapshotOptions{Compression: "GZIP"}, counting(8)},
		"none":    {data.SnapshotOptions{Compression: "NONE"}, counting(8)},
		"shards":  {data.SnapshotOptions{Compression: "SNAPPY", Shard: byThree}, counting(8)},
		"reader":  {data.SnapshotOptions{Shard: byThree, Reader: backwards}, "2 5 1 4 7 0 3 6"},
	} {
		var calls atomic.Int64
		d := counted(8, &calls).Snapshot(filepath.Join(t.TempDir(), "a", name), c.o)
		if got := strings.Join(numbered(t, d), " "); got != counting(8) || calls.Load() != 8 {
			t.Errorf("%s: the first iterator gave %s after %d calls", name, got, calls.Load())
		}
		for range 2 {
			if got := strings.Join(numbered(t, d), " "); got != c.want || calls.Load() != 8 {
				t.Errorf("%s: a later iterator gave %s after %d calls, want %s after 8", name, got, calls.Load(), c.want)
			}
		}
	}
}

// TestEmptySnapshot keeps that there is nothing.
func TestEmptySnapshot(t *testing.T) {
	d := data.Range(0, 0).Snapshot(t.TempDir(), data.SnapshotOptions{})
	for range 2 {
		if got := read(t, d); len(got) != 0 {
			t.Error(got)
		}
	}
}

// TestHalfASnapshot: what was written in part is not read.
func TestHalfASnapshot(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	d := counted(8, &calls).Snapshot(dir, data.SnapshotOptions{})
	for range 2 {
		if got := strings.Join(numbered(t, d.Take(5)), " "); got != counting(5) {
			t.Error(got)
		}
	}
	if got := strings.Join(numbered(t, d), " "); got != counting(8) || calls.Load() != 18 {
		t.Errorf("got %s after %d calls, want all after 18", got, calls.Load())
	}
	if got := strings.Join(numbered(t, d), " "); got != counting(8) || calls.Load() != 18 {
		t.Errorf("got %s after %d calls, want all after 18", got, calls.Load())
	}
	if err := os.WriteFile(filepath.Join(dir, "snapshot.metadata"), []byte{0xff}, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range d.All(context.Background()) {
		if tf.CodeOf(err) != tf.DataLoss {
			t.Errorf("with damaged metadata: %v", err)
		}
		break
	}
}

// TestSnapshotsAtOnce has iterators write and read one directory at the same time:
// each gives all elements, in order, and so does what they leave.
func TestSnapshotsAtOnce(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			d := counted(50, &calls).Snapshot(dir, data.SnapshotOptions{})
			for range 4 {
				if i%2 == 1 {
					numbered(t, d.Take(20))
				}
				if got := strings.Join(numbered(t, d), " "); got != counting(50) {
					t.Error(got)
				}
			}
		})
	}
	all.Wait()
	if got := strings.Join(numbered(t, counted(50, &calls).Snapshot(dir, data.SnapshotOptions{})), " "); got != counting(50) {
		t.Error(got)
	}
}

// TestSnapshotOfTensorFlow reads what tf.data.Dataset.snapshot of TensorFlow 2.21 has
// written, on another number of cores.
func TestSnapshotOfTensorFlow(t *testing.T) {
	var calls atomic.Int64
	for name, o := range map[string]data.SnapshotOptions{
		"auto":  {},
		"shard": {Compression: "GZIP", Shard: func([]*tf.Tensor) (int64, error) { return 0, nil }},
	} {
		dirs, err := filepath.Glob(filepath.Join("testdata", "snapshot", name, "*"))
		if err != nil || len(dirs) != 1 {
			t.Fatal(dirs, err)
		}
		if got := strings.Join(numbered(t, counted(7, &calls).Snapshot(dirs[0], o)), " "); got != counting(7) || calls.Load() != 0 {
			t.Errorf("%s: got %s after %d calls", name, got, calls.Load())
		}
	}
}

// TestWhatCannotBeKept: options that are wrong, and snapshots of other datasets.
func TestWhatCannotBeKept(t *testing.T) {
	for name, d := range map[string]*data.Dataset{
		"compression":      data.Range(0, 1).Snapshot(t.TempDir(), data.SnapshotOptions{Compression: "ZIP"}),
		"no directory":     data.Range(0, 1).Snapshot("", data.SnapshotOptions{}),
		"a failed dataset": data.Range(0, 1).Batch(0, false).Snapshot(t.TempDir(), data.SnapshotOptions{}),
	} {
		if err := d.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir := t.TempDir()
	read(t, data.Range(0, 9).Snapshot(dir, data.SnapshotOptions{}))
	none := func([]*data.Dataset) *data.Dataset { return nil }
	other := func([]*data.Dataset) *data.Dataset { return data.Range(0, 3) }
	for name, d := range map[string]*data.Dataset{
		"other types":   data.FromTensors(tf.Scalar("x")).Snapshot(dir, data.SnapshotOptions{}),
		"no result":     data.Range(0, 9).Snapshot(dir, data.SnapshotOptions{Reader: none}),
		"other result":  data.Range(0, 9).Snapshot(dir, data.SnapshotOptions{Reader: other}),
		"a file before": data.Range(0, 9).Snapshot(filepath.Join(dir, "snapshot.metadata"), data.SnapshotOptions{}),
	} {
		if e, err := next(t, d); err == nil {
			t.Errorf("%s: no error, but %v", name, e)
		}
	}
}

func next(t *testing.T, d *data.Dataset) ([]*tf.Tensor, error) {
	t.Helper()
	it, err := d.Iterator()
	if err != nil {
		return nil, err
	}
	defer it.Close()
	return it.Next(context.Background())
}
