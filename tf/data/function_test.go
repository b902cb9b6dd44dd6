package data_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// graphFunc makes a function of int64 scalars that may use what is around it.
func graphFunc(t *testing.T, g *tf.Graph, s *session.Session, body func(x []tf.Output) []tf.Output) *data.GraphFunc {
	t.Helper()
	f, err := data.NewGraphFunc(s, tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{}}}, body))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestGraphFunctions maps by functions that read a variable of the session.
func TestGraphFunctions(t *testing.T) {
	g := tf.NewGraph()
	v := tf.NewVariable(ops.Scalar(g, int64(10)), tf.VariableOptions{})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	times := graphFunc(t, g, s, func(x []tf.Output) []tf.Output { return []tf.Output{x[0].Mul(v.Value())} })
	small := graphFunc(t, g, s, func(x []tf.Output) []tf.Output { return []tf.Output{x[0].Less(ops.Scalar(x[0].Graph(), int64(25)))} })
	for _, calls := range []int{1, 3, -1} {
		d := data.Range(0, 5).MapGraph(times, calls)
		if got := strings.Join(read(t, d), "|"); got != "0|10|20|30|40" || d.Types()[0] != tf.Int64 || len(d.Shapes()[0]) != 0 {
			t.Errorf("%d calls: %s of %v %v", calls, got, d.Types(), d.Shapes())
		}
		if got := strings.Join(read(t, d.FilterGraph(small)), "|"); got != "0|10|20" {
			t.Error(got)
		}
	}
	if err := data.Range(0, 5).FilterGraph(times).Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	bad := tf.NewFunction(g, "bad", []tf.ArgSpec{{DType: tf.Int64, Shape: tf.Shape{}}}, func(x []tf.Output) []tf.Output {
		return []tf.Output{x[0].Add(ops.Scalar(x[0].Graph(), float32(1)))}
	})
	if _, err := data.NewGraphFunc(s, bad); err == nil {
		t.Error("a function with an error serves")
	}
}

// TestGraphFunctionsFail: the error of one element is no other's.
func TestGraphFunctionsFail(t *testing.T) {
	g := tf.NewGraph()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f := graphFunc(t, g, s, func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.Gather(ops.Const(x[0].Graph(), []int64{7, 8}), x[0].Mod(ops.Scalar(x[0].Graph(), int64(3))), 0)}
	})
	var got []string
	for e, err := range data.Range(0, 4).MapGraph(f, 2).All(t.Context()) {
		if err != nil {
			got = append(got, tf.CodeOf(err).String())
			continue
		}
		got = append(got, text(e))
	}
	if fmt.Sprint(got) != "[7 8 INVALID_ARGUMENT 7]" {
		t.Error(got)
	}
}

func TestReinitializableIterator(t *testing.T) {
	ctx := t.Context()
	it := data.NewIterator(ints, nil)
	defer it.Close()
	if _, err := it.Next(ctx); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
	for _, start := range []int64{3, 7} {
		if err := it.Start(ctx, data.Range(start, 9)); err != nil {
			t.Fatal(err)
		}
		if e, err := it.Next(ctx); err != nil || text(e) != fmt.Sprint(start) {
			t.Error(e, err)
		}
	}
	if err := it.Start(ctx, data.FromTensors(tf.Scalar("x"))); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if err := it.Start(ctx, data.Range(0, 3).Batch(0, true)); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if e, err := it.Next(ctx); err != nil || text(e) != "8" {
		t.Error("a dataset that is refused changes the iterator:", e, err)
	}
}

func TestFeed(t *testing.T) {
	ctx := t.Context()
	f := data.NewFeed(ints, nil)
	if _, err := f.Next(ctx); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Error(err)
	}
	var its []*data.Iterator
	for _, d := range []*data.Dataset{data.Range(0, 9), data.Range(100, 102), data.FromTensors(tf.Scalar("x"))} {
		it, err := d.Iterator()
		if err != nil {
			t.Fatal(err)
		}
		defer it.Close()
		its = append(its, it)
	}
	var got []string
	for _, i := range []int{0, 1, 0, 1, 1} {
		if err := f.Point(its[i]); err != nil {
			t.Fatal(err)
		}
		e, err := f.Next(ctx)
		if errors.Is(err, data.End) {
			got = append(got, "end")
			continue
		}
		got = append(got, text(e))
	}
	if fmt.Sprint(got) != "[0 100 1 101 end]" {
		t.Error(got)
	}
	if err := f.Point(its[2]); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
}

func TestParseExample(t *testing.T) {
	var records []string
	for i := range 5 {
		e := example.Example{"x": example.Floats(float32(i), 1), "label": example.Ints(int64(i))}
		if i == 3 {
			delete(e, "label")
		}
		records = append(records, string(e.Marshal()))
	}
	x, err := tf.FromSlice(records)
	if err != nil {
		t.Fatal(err)
	}
	p, err := data.NewExampleParser(data.Feature{Key: "label", Type: tf.Int64, Shape: tf.Shape{}, Default: tf.Scalar(int64(-1))}, data.Feature{Key: "x", Type: tf.Float32, Shape: tf.Shape{2}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var labels []int64
	var floats []float32
	for e, err := range data.FromTensorSlices(x).Batch(2, false).ParseExample(p, 2).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		labels, floats = append(labels, tf.Data[int64](e[0])...), append(floats, tf.Data[float32](e[1])...)
	}
	if fmt.Sprint(labels, floats) != "[0 1 2 -1 4] [0 1 1 1 2 1 3 1 4 1]" {
		t.Error(labels, floats)
	}
	if _, err := p.Parse(t.Context(), tf.Scalar("x")); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if _, err := data.NewExampleParser(data.Feature{Key: "x", Type: tf.Bool, Shape: tf.Shape{}}); err == nil {
		t.Error("a feature of truth values serves")
	}
}

func TestCSVFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(name, []byte("a;b\n1;2\nx;3\n4;5\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	none := (*tf.Tensor)(core.NewTensor(tf.Int64, tf.Shape{0}))
	d := data.CSV([]string{name}, []*tf.Tensor{none, none}, data.CSVOptions{Header: true, Delim: ';'})
	if got := strings.Join(read(t, d.IgnoreErrors()), "|"); got != "1;2|4;5" {
		t.Error(got)
	}
	var err error
	for _, e := range d.All(t.Context()) {
		err = cmp.Or(err, e)
	}
	if err == nil || !strings.Contains(err.Error(), name+": line 3, column 1: ") {
		t.Errorf("an error in a file must name file, line and column, got %v", err)
	}
	if got := readStrings(t, data.MatchingFiles(filepath.Dir(name)+"/*.csv")); len(got) != 1 || got[0] != name {
		t.Error(got)
	}
}

// TestCacheFile: the second reader finds the first one's files, and asks the source
// for nothing.
func TestCacheFile(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "cache")
	asked := 0
	counted := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { asked++; return in, nil }
	for range 2 {
		d := data.Range(0, 3).Map(counted, ints, nil).CacheFile(prefix)
		if got := strings.Join(read(t, d), "|"); got != "0|1|2" {
			t.Error(got)
		}
	}
	if asked != 3 {
		t.Errorf("the source was asked %d times, want 3", asked)
	}
}

func TestSavedDataset(t *testing.T) {
	dir := t.TempDir()
	if err := data.Range(0, 4).Batch(3, false).Save(t.Context(), dir, "GZIP"); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(read(t, data.Load(dir, "GZIP", ints, nil)), "|"); got != "0 1 2|3" {
		t.Error(got)
	}
	if err := data.Load(t.TempDir(), "", ints, nil).Err(); tf.CodeOf(err) != tf.NotFound {
		t.Error(err)
	}
	for _, types := range [][]tf.DType{nil, {tf.Int64, tf.Int64}} {
		if err := data.Load(dir, "GZIP", types, nil).Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("with %d types: %v", len(types), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := data.Range(0, 4).Save(ctx, dir, ""); err == nil {
		t.Error("it is saved although nobody wants it any more")
	}
}

// TestDeclaredShapes: elements of other shapes than a program has declared are errors,
// and so is another number of shapes than of types: what is made of the dataset relies
// on them.
func TestDeclaredShapes(t *testing.T) {
	same := func(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) { return in, nil }
	scan := func(_ context.Context, state, in []*tf.Tensor) (next, out []*tf.Tensor, err error) {
		return state, in, nil
	}
	generate := func() iter.Seq2[[]*tf.Tensor, error] {
		return func(yield func([]*tf.Tensor, error) bool) { yield([]*tf.Tensor{tf.Scalar[int64](1)}, nil) }
	}
	d, zero := data.Range(0, 3), []*tf.Tensor{tf.Scalar[int64](0)}
	for name, of := range map[string]func(shapes []tf.Shape) *data.Dataset{
		"Map":           func(s []tf.Shape) *data.Dataset { return d.Map(same, ints, s) },
		"ParallelMap":   func(s []tf.Shape) *data.Dataset { return d.ParallelMap(same, ints, s, 2, true) },
		"Scan":          func(s []tf.Shape) *data.Dataset { return d.Scan(zero, scan, ints, s) },
		"FromGenerator": func(s []tf.Shape) *data.Dataset { return data.FromGenerator(ints, s, generate) },
	} {
		if err := of([]tf.Shape{}).Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s of no shapes: %v", name, err)
		}
		for _, s := range []tf.Shape{nil, {}} {
			for _, err := range of([]tf.Shape{s}).All(t.Context()) {
				if err != nil {
					t.Errorf("%s of shape %v: %v", name, s, err)
				}
			}
		}
		for e, err := range of([]tf.Shape{{2}}).All(t.Context()) {
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "declared is [2]") {
				t.Errorf("%s of another shape: %v, %v", name, e, err)
			}
			break
		}
	}
}
