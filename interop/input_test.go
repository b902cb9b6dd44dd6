package interop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/record"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// A TF1 program with queue runners, readers and shuffle_batch runs unchanged on
// a Gorge server: every example comes as often as there are epochs.
func TestPythonInput(t *testing.T) {
	needTensorFlow(t)
	addr := ports(t, 1)
	serve(t, ofGorge, "worker|"+addr[0], "worker", 0)
	want := []string{
		"shuffle_batch: ended", "shuffle_batch: [15, [2], 60, True]",
		"batch_join: ended", "batch_join: [17, 4]",
		"in order: ended", "in order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]",
		"slices: ended", "slices: [[0, 1], [3, 4]]",
	}
	if d := cmp.Diff(want, script(t, "input.py", "grpc://"+addr[0], t.TempDir())); d != "" {
		t.Errorf("what the program prints (-want +got):\n%s", d)
	}
}

// sharedQueue is one end of the queue that sharedqueue.py has the other one of.
func sharedQueue(g *tf.Graph) (q *queue.Queue) {
	g.Device("/job:ps/task:0", func() {
		q = queue.NewFIFO(g, []tf.DType{tf.Int64, tf.String}, queue.Opts{Capacity: 5, Shapes: []tf.Shape{{}, {2}}, SharedName: "shared"})
	})
	return q
}

// Two processes, of Python and of Go, share a queue by its name on a ps, in both
// directions.
func TestSharedQueue(t *testing.T) {
	needTensorFlow(t)
	const count = 40
	t.Run("python puts, ps of gorge", func(t *testing.T) {
		target := pair(t, ofGorge)
		put := make(chan []string)
		go func() { put <- script(t, "sharedqueue.py", target, "put", fmt.Sprint(count)) }()
		got := takeAll(t, target)
		if <-put; len(got) != count {
			t.Fatalf("%d elements came, want %d", len(got), count)
		}
		for i, s := range got {
			if s != fmt.Sprint(i, " ", i, " python") {
				t.Errorf("element %d is %q", i, s)
			}
		}
	})
	for _, kind := range []string{ofGorge, ofTensorFlow} {
		t.Run("go puts, ps of "+kind, func(t *testing.T) {
			target := pair(t, kind)
			take := make(chan []string)
			go func() { take <- script(t, "sharedqueue.py", target, "take", fmt.Sprint(count)) }()
			putAll(t, target, count)
			if got := <-take; got[0] != "True ['go']" {
				t.Error(got)
			}
		})
	}
}

// takeAll takes elements until the queue is closed and empty.
func takeAll(t *testing.T, target string) (got []string) {
	t.Helper()
	g := tf.NewGraph()
	take := sharedQueue(g).Dequeue()
	s, err := session.New(g, session.Target(target))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		v, err := s.Run(t.Context(), nil, take[0], take[1])
		if train.CleanStop(err) {
			return got
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(tf.Data[int64](v[0])[0], " ", strings.Join(tf.Data[string](v[1]), " ")))
	}
}

func putAll(t *testing.T, target string, count int64) {
	t.Helper()
	g := tf.NewGraph()
	q, n := sharedQueue(g), ops.Placeholder(g, tf.Int64, tf.Shape{})
	put := q.Enqueue([]tf.Output{n, ops.Const(g, []string{"x", "go"})})
	end := q.Close()
	s, err := session.New(g, session.Target(target))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range count {
		if _, err := s.Run(t.Context(), session.Feeds{n: tf.Scalar(i)}, put); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Run(t.Context(), nil, end); err != nil {
		t.Fatal(err)
	}
}

// TestDatasetsAreTensorFlows compares the orders of shuffles, and reads and
// writes TFRecords, tf.Examples, saved datasets and snapshots both ways.
func TestDatasetsAreTensorFlows(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	compressions := []record.Compression{record.None, record.GZIP, record.ZLIB}
	for _, c := range compressions {
		writeExamples(t, filepath.Join(dir, "ours"+string(c)), c)
	}
	if err := data.Range(0, 12).Batch(5, false).Save(t.Context(), filepath.Join(dir, "oursaved"), ""); err != nil {
		t.Fatal(err)
	}
	const hundred = "100 101 102 103 104 105 106 107 108 109 110 111"
	if got := numbersOf(t, data.Range(100, 112).Snapshot(filepath.Join(dir, "oursnapshot"), data.SnapshotOptions{Compression: "GZIP"})); got != hundred {
		t.Fatal(got)
	}
	for _, line := range script(t, "datasets.py", dir) {
		what, got, _ := strings.Cut(line, ": ")
		var n, size, seed, seed2 int64
		want := "True"
		if _, err := fmt.Sscanf(what, "shuffle %d %d %d %d", &n, &size, &seed, &seed2); err == nil {
			want = numbersOf(t, data.Range(0, n).Shuffle(size, seed, seed2).Repeat(2))
		}
		switch what {
		case "saved by us":
			want = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"
		case "snapshot of ours":
			want = "[" + strings.ReplaceAll(hundred, " ", ", ") + "]"
		}
		if got != want {
			t.Errorf("%s: TensorFlow has %.200s, Gorge %.200s", what, got, want)
		}
	}
	for _, c := range compressions {
		compareExamples(t, filepath.Join(dir, "theirs"+string(c)), c)
	}
	if got := numbersOf(t, data.Load(filepath.Join(dir, "saved"), "GZIP", []tf.DType{tf.Int64}, nil).Unbatch()); got != "0 1 2 3 4 5 6 7 8 9 10 11" {
		t.Error(got)
	}
	never := data.Range(200, 212).Snapshot(filepath.Join(dir, "theirsnapshot"), data.SnapshotOptions{Compression: "GZIP"})
	if got := numbersOf(t, never); got != "0 1 2 3 4 5 6 7 8 9 10 11" {
		t.Errorf("TensorFlow's snapshot has %s", got)
	}
}

func writeExamples(t *testing.T, name string, c record.Compression) {
	t.Helper()
	w, err := record.Create(name, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(50) {
		e := example.Example{"i": example.Ints(i, -i), "s": example.Strings(fmt.Sprint("s", i))}
		if err := w.Write(e.Marshal()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// compareExamples reads what TensorFlow wrote, by several goroutines.
func compareExamples(t *testing.T, name string, c record.Compression) {
	t.Helper()
	i := int64(0)
	for b, err := range record.Parallel(context.Background(), []string{name}, record.ParallelOptions{Compression: c, InOrder: true}) {
		if err != nil {
			t.Fatal(err)
		}
		e, err := example.Unmarshal(b)
		if err != nil || fmt.Sprint(e["i"].Ints) != fmt.Sprint([]int64{i, -i}) {
			t.Errorf("%s: record %d has %v, %v", name, i, e, err)
		}
		i++
	}
	if i != 50 {
		t.Errorf("%s has %d records", name, i)
	}
}

// numbersOf returns the elements of d, scalars, as one text.
func numbersOf(t *testing.T, d *data.Dataset) string {
	t.Helper()
	var out []string
	for e, err := range d.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprint(tf.Data[int64](e[0])[0]))
	}
	return strings.Join(out, " ")
}
