package data_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var ints = []tf.DType{tf.Int64}

// read returns the elements as texts.
func read(t *testing.T, d *data.Dataset) []string {
	t.Helper()
	var out []string
	for e, err := range d.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text(e))
	}
	return out
}

func text(e []*tf.Tensor) string {
	parts := make([]string, len(e))
	for i, x := range e {
		v, _ := x.Ints()
		parts[i] = strings.Trim(fmt.Sprint(v), "[]")
	}
	return strings.Join(parts, ";")
}

func double(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
	return []*tf.Tensor{tf.Scalar(2 * tf.Data[int64](in[0])[0])}, nil
}

// upTo makes the numbers below an element.
func upTo(in []*tf.Tensor) *data.Dataset { return data.Range(0, tf.Data[int64](in[0])[0]) }

func odd(_ context.Context, in []*tf.Tensor) (bool, error) {
	return tf.Data[int64](in[0])[0]%2 == 1, nil
}

// pipelines are all transformations, with what they give.
var pipelines = map[string]struct {
	d    *data.Dataset
	want string
}{
	"range":       {data.Range(2, 5), "2|3|4"},
	"map":         {data.Range(0, 3).Map(double, ints, nil), "0|2|4"},
	"parallel":    {data.Range(0, 6).ParallelMap(double, ints, nil, 3, true), "0|2|4|6|8|10"},
	"filter":      {data.Range(0, 6).Filter(odd), "1|3|5"},
	"flat":        {data.Range(1, 4).FlatMap(upTo, ints), "0|0|1|0|1|2"},
	"interleave":  {data.Range(1, 4).Interleave(upTo, ints, 2, 1), "0|0|1|0|1|2"},
	"ahead":       {data.Range(1, 4).ParallelInterleave(upTo, ints, 2, 1, 3), "0|0|1|0|1|2"},
	"judges":      {data.Range(0, 6).ParallelFilter(odd, 3), "1|3|5"},
	"ignored":     {data.Range(0, 4).Map(notTwo, ints, nil).IgnoreErrors(), "0|1|3"},
	"unique":      {data.Range(0, 2).Repeat(2).Unique(), "0|1"},
	"rebatch":     {data.Range(0, 7).Batch(3, false).Rebatch(2, false), "0 1|2 3|4 5|6"},
	"window":      {data.Range(0, 5).Window(2, 2, 1, false, batched, ints), "0 1|2 3|4"},
	"groups":      {data.Range(0, 5).GroupByWindow(parity, 2, group, ints), "0 2|1 3|4"},
	"batch":       {data.Range(0, 5).Batch(2, false), "0 1|2 3|4"},
	"drop":        {data.Range(0, 5).Batch(2, true), "0 1|2 3"},
	"unbatch":     {data.Range(0, 5).Batch(2, false).Unbatch(), "0|1|2|3|4"},
	"repeat":      {data.Range(0, 2).Repeat(3), "0|1|0|1|0|1"},
	"take":        {data.Range(0, 5).Take(2), "0|1"},
	"skip":        {data.Range(0, 5).Skip(3), "3|4"},
	"shard":       {data.Range(0, 7).Shard(3, 1), "1|4"},
	"concatenate": {data.Range(0, 2).Concatenate(data.Range(7, 9)), "0|1|7|8"},
	"zip":         {data.Zip(data.Range(0, 3), data.Range(5, 7)), "0;5|1;6"},
	"cache":       {data.Range(0, 2).Cache().Repeat(2), "0|1|0|1"},
	"prefetch":    {data.Range(0, 5).Prefetch(2), "0|1|2|3|4"},
	"generator":   {data.FromGenerator(ints, []tf.Shape{{}}, three), "0|1|2"},
	"once":        {data.Range(0, 6).ShuffleOnce(6, 3, 4).Repeat(2), "3|1|0|5|2|4|3|1|0|5|2|4"}, // raw_ops.ShuffleDataset with reshuffle_each_iteration=False
	"shuffle":     {data.Range(0, 20).Shuffle(8, 1, 3), "5|6|0|4|9|3|11|8|1|13|17|12|10|14|16|18|7|15|2|19"},
	"padded": {data.Range(1, 4).Map(filled, ints, []tf.Shape{{-1}}).PaddedBatch(2, []tf.Shape{{-1}}, []*tf.Tensor{tf.Scalar(int64(9))}, false),
		"1 9 2 2|3 3 3"},
}

func notTwo(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
	if tf.Data[int64](in[0])[0] == 2 {
		return nil, tf.Errorf(tf.InvalidArgument, "two")
	}
	return in, nil
}

func batched(w []*data.Dataset) *data.Dataset { return w[0].Batch(10, false) }

func parity(in []*tf.Tensor) (int64, error) { return tf.Data[int64](in[0])[0] % 2, nil }

func group(_ int64, g *data.Dataset) *data.Dataset { return g.Batch(10, false) }

func three() iter.Seq2[[]*tf.Tensor, error] {
	return func(yield func([]*tf.Tensor, error) bool) {
		for i := range int64(3) {
			if !yield([]*tf.Tensor{tf.Scalar(i)}, nil) {
				return
			}
		}
	}
}

// filled makes n elements of n.
func filled(_ context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
	n := tf.Data[int64](in[0])[0]
	x, err := tf.FromSlice(slices.Repeat([]int64{n}, int(n)))
	return []*tf.Tensor{x}, err
}

func TestPipelines(t *testing.T) {
	for name, p := range pipelines {
		t.Run(name, func(t *testing.T) {
			if name == "shuffle" {
				p.d = data.Range(0, 20).Shuffle(8, 1, 3) // iterators differ
			}
			if got := strings.Join(read(t, p.d), "|"); got != p.want {
				t.Errorf("got %s, want %s", got, p.want)
			}
		})
	}
}

// TestSavedIteratorsGoOn saves and restores each pipeline after each element.
func TestSavedIteratorsGoOn(t *testing.T) {
	ctx := context.Background()
	for name, p := range pipelines {
		t.Run(name, func(t *testing.T) {
			it, err := p.d.Iterator()
			if err != nil {
				t.Fatal(err)
			}
			defer it.Close()
			var all []string
			for {
				state, err := it.Save(ctx)
				if err != nil {
					t.Fatal(err)
				}
				e, err := it.Next(ctx)
				again, errAgain := restored(t, p.d, state)
				if !errors.Is(errAgain, err) && err != nil || text(e) != text(again) {
					t.Fatalf("after %v: got %v %v, restored %v %v", all, e, err, again, errAgain)
				}
				if err != nil {
					return
				}
				all = append(all, text(e))
			}
		})
	}
}

// restored returns what an iterator that is brought to a state gives.
func restored(t *testing.T, d *data.Dataset, state []byte) ([]*tf.Tensor, error) {
	t.Helper()
	it, err := d.Iterator()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if err := it.Restore(context.Background(), state); err != nil {
		t.Fatal(err)
	}
	return it.Next(context.Background())
}

func TestAnyElement(t *testing.T) {
	d := data.Range(0, 9).Filter(odd)
	if e, err := d.At(t.Context(), 3); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("an element of a dataset of unknown size: %v", e)
	}
	if e, err := data.Range(0, 9).Batch(2, false).At(t.Context(), 3); err != nil || text(e) != "6 7" {
		t.Error(e, err)
	}
	if _, err := data.Range(0, 3).Batch(0, false).At(t.Context(), 0); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	all := read(t, data.Range(0, 20).GlobalShuffle(1, 2))
	if slices.Sort(all); !slices.Equal(all, sortedTexts(20)) {
		t.Error(all)
	}
}

// sortedTexts are the numbers below n as texts.
func sortedTexts(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprint(i)
	}
	slices.Sort(out)
	return out
}

func TestPanicsAreErrors(t *testing.T) {
	bad := func() iter.Seq2[[]*tf.Tensor, error] {
		return func(func([]*tf.Tensor, error) bool) { panic("no data") }
	}
	mapped := func(context.Context, []*tf.Tensor) ([]*tf.Tensor, error) { panic("no data") }
	for name, d := range map[string]*data.Dataset{"generator": data.FromGenerator(ints, []tf.Shape{{}}, bad), "map": data.Range(0, 1).Map(mapped, ints, nil)} {
		for _, err := range d.All(context.Background()) {
			if tf.CodeOf(err) != tf.Internal || !strings.Contains(err.Error(), "no data") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestBadDatasetsAreRefused(t *testing.T) {
	for name, d := range map[string]*data.Dataset{
		"batch": data.Range(0, 3).Batch(0, false).Take(1), "shard": data.Range(0, 3).Shard(2, 2), "shuffle": data.Range(0, 3).Shuffle(0, 1, 1),
		"slices": data.FromTensorSlices(tf.Scalar(int64(1))), "types": data.Range(0, 3).Concatenate(data.FromTensors(tf.Scalar("x"))),
		"calls": data.Range(0, 3).ParallelMap(double, ints, nil, 0, true), "cycle": data.Range(0, 3).Interleave(upTo, ints, 0, 1),
		"ahead": data.Range(0, 3).ParallelInterleave(upTo, ints, 2, 1, 0), "judges": data.Range(0, 3).ParallelFilter(odd, 0), "global": data.Range(0, 0).GlobalShuffle(1, 2),
		"unique": data.Zip(data.Range(0, 3), data.Range(0, 3)).Unique(),
	} {
		if tf.CodeOf(d.Err()) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, d.Err())
		}
	}
}

// TestClosingEndsWaits closes an iterator whose function waits for ever.
func TestClosingEndsWaits(t *testing.T) {
	waits := func(ctx context.Context, _ []*tf.Tensor) ([]*tf.Tensor, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, d := range map[string]*data.Dataset{
		"map": data.Range(0, 9).Map(waits, ints, nil), "parallel": data.Range(0, 9).ParallelMap(waits, ints, nil, 2, false),
		"prefetch": data.Range(0, 9).Map(waits, ints, nil).Prefetch(2),
	} {
		it, err := d.Iterator()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() {
			_, err := it.Next(ctx)
			ended <- err
		}()
		cancel()
		if err := <-ended; err == nil || errors.Is(err, data.End) {
			t.Errorf("%s: %v", name, err)
		}
		it.Close()
	}
}
