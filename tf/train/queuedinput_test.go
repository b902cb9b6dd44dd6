package train_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// batches runs the model's input to its end and returns what it gave, batch by batch.
func batches(t *testing.T, g *tf.Graph, y tf.Output) (all [][]int32) {
	t.Helper()
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for {
		out, err := m.RunStep(t.Context(), nil, y)
		if tf.CodeOf(err) == tf.OutOfRange {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tf.Data[int32](out[0]))
	}
}

// evens returns the numbers 0 to 11 one after the other, and whether each is even.
func evens(g *tf.Graph) (n, even tf.Output) {
	n = train.RangeInputProducer(ops.Scalar(g, int32(12)), train.ProducerOptions{Epochs: 1, InOrder: true}).Dequeue()[0]
	return n, ops.Equal(ops.FloorMod(n, ops.Scalar(g, int32(2))), ops.Scalar(g, int32(0)))
}

// TestMaybeBatch: what keep refuses is in no batch.
func TestMaybeBatch(t *testing.T) {
	g := tf.NewGraph()
	n, even := evens(g)
	y := train.MaybeBatch([]tf.Output{n}, even, 4, train.BatchOptions{AllowSmallerFinalBatch: true})[0]
	got := batches(t, g, y)
	if len(got) != 2 || !slices.Equal(slices.Concat(got...), []int32{0, 2, 4, 6, 8, 10}) || len(got[0]) != 4 {
		t.Error(got)
	}
}

// TestMaybeShuffleBatch: the same examples, in another order.
func TestMaybeShuffleBatch(t *testing.T) {
	g := tf.NewGraph()
	n, even := evens(g)
	y := train.MaybeShuffleBatch([]tf.Output{n}, even, 2, train.BatchOptions{MinAfterDequeue: 3})[0]
	got := slices.Concat(batches(t, g, y)...)
	slices.Sort(got)
	if !slices.Equal(got, []int32{0, 2, 4, 6, 8, 10}) {
		t.Error(got)
	}
}

// TestMatchFiles: a file that appears later is not among them.
func TestMatchFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("b.tfrecord")
	write("a.tfrecord")
	write("a.txt")
	g := tf.NewGraph()
	files := train.MatchFiles(ops.Scalar(g, filepath.Join(dir, "*.tfrecord")))
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	write("c.tfrecord")
	out, err := m.Run(t.Context(), nil, files.Value())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "a.tfrecord"), filepath.Join(dir, "b.tfrecord")}
	if got := tf.Data[string](out[0]); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCreateGlobalStep: there is one.
func TestCreateGlobalStep(t *testing.T) {
	g := tf.NewGraph()
	v, err := train.CreateGlobalStep(g)
	if err != nil || v.Name() != "global_step" || train.GetGlobalStep(g) != v {
		t.Error(v, err)
	}
	if _, err := train.CreateGlobalStep(g); !says(err, tf.AlreadyExists, `"global_step" already exists.`) {
		t.Error(err)
	}
}

// TestNoNames: without names of files the input has failed. It has not ended.
func TestNoNames(t *testing.T) {
	g := tf.NewGraph()
	names := ops.PlaceholderWithDefault(ops.Const(g, []string{}), tf.Shape{-1})
	name := train.StringInputProducer(names, train.ProducerOptions{Epochs: 1}).Dequeue()[0]
	m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), name); !says(err, tf.InvalidArgument, "string_input_producer requires a non-null input tensor") {
		t.Errorf("got %v", err)
	}
}

// TestMaybeBatchOfAll: a scalar keeps all rows or none, also if only the step knows that it
// is one.
func TestMaybeBatchOfAll(t *testing.T) {
	for _, known := range []bool{true, false} {
		for _, use := range []bool{true, false} {
			g := tf.NewGraph()
			keep := ops.Scalar(g, use)
			if !known {
				keep = ops.PlaceholderWithDefault(keep, nil)
			}
			rows := train.LimitEpochs(ops.Const(g, []int32{1, 2, 3, 4}), 1)
			y := train.MaybeBatch([]tf.Output{rows}, keep, 2, train.BatchOptions{EnqueueMany: true})[0]
			want := 0
			if use {
				want = 2
			}
			if got := batches(t, g, y); len(got) != want {
				t.Errorf("known %v: keep is %v, got %v", known, use, got)
			}
		}
	}
}

// TestMaybeBatchOfAVector: an element for each row, also if only the step knows the rank.
func TestMaybeBatchOfAVector(t *testing.T) {
	g := tf.NewGraph()
	keep := ops.PlaceholderWithDefault(ops.Const(g, []bool{true, false, true, false}), nil)
	rows := train.LimitEpochs(ops.Const(g, []int32{1, 2, 3, 4}), 1)
	y := train.MaybeBatch([]tf.Output{rows}, keep, 2, train.BatchOptions{EnqueueMany: true})[0]
	if got := batches(t, g, y); len(got) != 1 || !slices.Equal(got[0], []int32{1, 3}) {
		t.Error(got)
	}
}

// TestBatchRefuses has what no queue can be made of.
func TestBatchRefuses(t *testing.T) {
	for want, batch := range map[string]func(x tf.Output) []tf.Output{
		"must not be fewer than none, got -1": func(x tf.Output) []tf.Output {
			return train.Batch([]tf.Output{x}, 2, train.BatchOptions{Threads: -1})
		},
		"fewer than none, got -2": func(x tf.Output) []tf.Output {
			return train.ShuffleBatch([]tf.Output{x}, 2, train.BatchOptions{Threads: -2})
		},
		"must be of one length, got 2 and 1": func(x tf.Output) []tf.Output {
			return train.BatchJoin([][]tf.Output{{x, x}, {x}}, 2, train.BatchOptions{})
		},
		"must be of one length, got 1 and 2": func(x tf.Output) []tf.Output {
			return train.ShuffleBatchJoin([][]tf.Output{{x}, {x, x}}, 2, train.BatchOptions{})
		},
	} {
		g := tf.NewGraph()
		if out := batch(ops.Scalar(g, float32(1))); len(out) == 0 || !says(g.Err(), tf.InvalidArgument, want) {
			t.Errorf("got %v, %v, want %q", out, g.Err(), want)
		}
	}
}

// TestNoRows: what has no rows and no end fails. With an end it has come to that.
func TestNoRows(t *testing.T) {
	for name, dequeue := range map[string]func(g *tf.Graph, o train.ProducerOptions) tf.Output{
		"rows": func(g *tf.Graph, o train.ProducerOptions) tf.Output {
			return train.InputProducer(ops.Const(g, []float32{}, 0, 2), o).Dequeue()[0]
		},
		"rows of the step": func(g *tf.Graph, o train.ProducerOptions) tf.Output {
			none := ops.PlaceholderWithDefault(ops.Const(g, []float32{}), tf.Shape{-1})
			return train.InputProducer(none, o).Dequeue()[0]
		},
		"a range": func(g *tf.Graph, o train.ProducerOptions) tf.Output {
			return train.RangeInputProducer(ops.Scalar(g, int32(0)), o).Dequeue()[0]
		},
		"slices": func(g *tf.Graph, o train.ProducerOptions) tf.Output {
			return train.SliceInputProducer([]tf.Output{ops.Const(g, []float32{}, 0, 2)}, o)[0]
		},
	} {
		for epochs, want := range map[int]tf.Code{0: tf.InvalidArgument, 2: tf.OK} {
			g := tf.NewGraph()
			x := dequeue(g, train.ProducerOptions{Epochs: epochs})
			m, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Train(t.Context(), x); tf.CodeOf(err) != want || err != nil && !says(err, want, "input_producer requires rows") {
				t.Errorf("%s, %d epochs: %v", name, epochs, err)
			}
		}
	}
}

// TestNoTensors: what is missing is a mistake, as in TensorFlow.
func TestNoTensors(t *testing.T) {
	none := train.BatchOptions{}
	for want, all := range map[string][][]tf.Output{
		"Expected at least one tensor in slice_input_producer()": {train.SliceInputProducer(nil, train.ProducerOptions{})},
		"Expected at least one input in batch_join()":            {train.BatchJoin(nil, 2, none), train.ShuffleBatchJoin(nil, 2, none)},
		"Expected at least one tensor in batch()": {
			train.Batch(nil, 2, none), train.ShuffleBatch(nil, 2, none), train.BatchJoin([][]tf.Output{{}}, 2, none), train.MaybeBatch(nil, tf.Output{}, 2, none),
		},
	} {
		for i, out := range all {
			if len(out) != 1 || !says(out[0].Err(), tf.InvalidArgument, want) {
				t.Errorf("%d: got %v, want %q", i, out, want)
			}
		}
	}
}

// TestOtherShapes: shapes that are not one for each tensor are refused before there is a queue.
func TestOtherShapes(t *testing.T) {
	g := tf.NewGraph()
	xs, yes := []tf.Output{ops.Const(g, []float32{1, 2, 3})}, ops.Scalar(g, true)
	o := train.BatchOptions{Shapes: []tf.Shape{{3}, {3}}}
	for i, out := range [][]tf.Output{
		train.Batch(xs, 2, o), train.MaybeBatch(xs, yes, 2, o), train.ShuffleBatch(xs, 2, o), train.MaybeShuffleBatch(xs, yes, 2, o),
		train.BatchJoin([][]tf.Output{xs, xs}, 2, o), train.ShuffleBatchJoin([][]tf.Output{xs, xs}, 2, o),
	} {
		if len(out) != 1 || !says(out[0].Err(), tf.InvalidArgument, "there must be as many shapes as tensors, got 2 for 1") {
			t.Errorf("%d: %v", i, out)
		}
	}
}

// TestLoopOfNothing: a function that is missing is a mistake; the session is closed.
func TestLoopOfNothing(t *testing.T) {
	g, _, _ := counting()
	if err := monitored(t, g).Loop(t.Context(), nil); !says(err, tf.InvalidArgument, "must have a function to call, got nil") {
		t.Error(err)
	}
}
