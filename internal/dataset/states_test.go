package dataset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func must(t testing.TB, d Dataset, err error) Dataset {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// show makes text of an element, also of one that holds datasets.
func show(t *testing.T, e Element) string {
	t.Helper()
	parts := make([]string, len(e))
	for i, x := range e {
		switch x.DType() {
		case core.Variant:
			if d, err := Of(x); err == nil {
				parts[i] = "(" + strings.Join(all(t, d), " ") + ")"
			}
		case core.String:
			parts[i] = fmt.Sprint(core.Data[string](x))
		case core.Bool:
			parts[i] = fmt.Sprint(core.Data[bool](x))
		default:
			v, err := x.Ints()
			if err != nil {
				t.Fatal(err)
			}
			parts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(parts, ";")
}

// all returns the elements of d as texts; errors take the place of elements.
func all(t *testing.T, d Dataset) (out []string) {
	t.Helper()
	it, err := d.Iterate()
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for {
		e, err := it.Next(t.Context())
		if errors.Is(err, End) {
			return out
		}
		if err != nil {
			out = append(out, "!"+core.CodeOf(err).String())
			continue
		}
		out = append(out, show(t, e))
	}
}

// sent sends a state to another process and back.
func sent(t *testing.T, s *State) *State {
	t.Helper()
	p, err := core.EncodeTensor(s.Tensor())
	if err != nil {
		t.Fatal(err)
	}
	b, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	again := &pb.TensorProto{}
	if err := proto.Unmarshal(b, again); err != nil {
		t.Fatal(err)
	}
	x, err := core.TensorFromProto(again)
	if err != nil {
		t.Fatal(err)
	}
	out, err := StateOf(x)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restoredRest saves d after n elements and returns what an iterator gives that
// is brought there.
func restoredRest(t *testing.T, d Dataset, n int) []string {
	t.Helper()
	it := mustIterate(t, d)
	for range n {
		if _, err := it.Next(t.Context()); errors.Is(err, End) {
			t.Fatal("it ended early")
		}
	}
	s := NewState()
	it.Save(s)
	it.Close()
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	again := mustIterate(t, d)
	defer again.Close()
	state := sent(t, s)
	again.Restore(t.Context(), state)
	if state.Err() != nil {
		t.Fatal(state.Err())
	}
	return rest(t, again)
}

func mustIterate(t *testing.T, d Dataset) Iterator {
	t.Helper()
	it, err := d.Iterate()
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// rest returns what comes of it.
func rest(t *testing.T, it Iterator) (out []string) {
	t.Helper()
	for {
		e, err := it.Next(t.Context())
		if errors.Is(err, End) {
			return out
		}
		if err != nil {
			out = append(out, "!"+core.CodeOf(err).String())
			continue
		}
		out = append(out, show(t, e))
	}
}

// fresh returns datasets by name, each with what it gives. A dataset that
// depends on iterators before is a new one each time.
func fresh(t *testing.T) map[string]Dataset {
	r := func(n int64) Dataset { return numbers(t, 0, n, 1) }
	seeds := func() *Seeds { return NewSeeds(3, 4, false) }
	third := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](e[0])[0]
		if v%3 == 2 {
			return nil, core.Errorf(core.InvalidArgument, "third")
		}
		return []*core.Tensor{core.Scalar(v % 3)}, nil
	}
	whole := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e[:1], nil }
	sum := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] + core.Data[int64](e[1])[0])}, nil
	}
	small := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] < 5)}, nil
	}
	key := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] % 3)}, nil
	}
	triple := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		v := 10 * core.Data[int64](e[0])[0]
		return []*core.Tensor{vector([]int64{v, v + 1, v + 2})}, nil
	}
	inTriples := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](e[0])[0]
		return []*core.Tensor{core.Scalar(v / 3), core.Scalar(v % 3)}, nil
	}
	made := must2(t)
	batches := made(Batch(r(10), 4, false))
	spec := &Spec{[]core.DType{core.Int64}, []core.Shape{{-1}}}
	one := &Spec{[]core.DType{core.Int64}, []core.Shape{{}}}
	selector := List(one, []Element{{core.Scalar(int64(1))}, {core.Scalar(int64(0))}, {core.Scalar(int64(1))}, {core.Scalar(int64(1))}, {core.Scalar(int64(0))}})
	windows := made(Window(r(9), 3, 2, 1, false))
	nested := Map(r(4), func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{Value(numbers(t, 0, core.Data[int64](e[0])[0], 1))}, nil
	}, &Spec{[]core.DType{core.Variant}, []core.Shape{{}}}, true)
	return map[string]Dataset{
		"nested": FlatMap(nested, whole, one), "nested in turn": made(Interleave(nested, whole, one, 2, 1, 0)),
		"unique": made(Unique(Map(r(12), key, one, true))), "ignored": IgnoreErrors(Map(r(9), third, one, true)), "sample": Sample(r(30), 0.5, seeds()),
		"choose": made(Choose(selector, []Dataset{r(3), numbers(t, 100, 109, 1)}, false)), "rebatch": made(Rebatch(batches, []int64{1, 0, 3}, false, spec)),
		"split": made(Split(batches, 2, spec)), "slide": made(Slide(r(9), 3, 2, 1, true)), "global": made(GlobalShuffle(r(9), seeds())),
		"filter": made(ParallelFilter(r(9), small, 2, true)), "reducer": GroupByReducer(r(9), Reducer{key, whole, sum, whole}, one),
		"windows": windows, "flat windows": FlatMap(windows, whole, one), "window in advance": Prefetch(windows, 2), "random": Take(Random(seeds()), 5),
		"loop": made(Interleave(windows, whole, one, 2, 1, 0)), "sparse": made(SparseSlices(vectors(t, 2, 0, 1, 0, 3, 2, 0), vector([]int64{5, 6, 7}), vector([]int64{3, 4}))),
		"index flat": Take(IndexFlatMap(r(3), triple, inTriples, 9, one), 9), "weighted": made(WeightedFlatMap([]Dataset{r(6), r(4)}, []float64{1, 0.5}, one)),
		"windows of errors": FlatMap(made(Window(Map(r(9), third, one, true), 2, 3, 2, false)), whole, one), "any": made(InterleaveAny(windows, whole, one, 1, 1, 1)),
		"shard of files": made(ShardFiles(r(8), 3, 1)), "kept": made(Keep(r(6), Snapshot{Read: t.TempDir(), Write: t.TempDir(), FileBytes: 20})),
		"kept in shards": made(Keep(r(6), Snapshot{Read: t.TempDir(), Write: t.TempDir(), Shard: key, Reader: whole, Compression: "SNAPPY"})),
		"cache file":     CacheFile(r(6), filepath.Join(t.TempDir(), "cache")),
	}
}

// vectors is a matrix with rows of n numbers.
func vectors(t *testing.T, n int, v ...int64) *core.Tensor {
	t.Helper()
	x, err := vector(v).Reshape(core.Shape{len(v) / n, n})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestSavedIteratorsGoOn saves each dataset after each element, sends the state
// through its wire form and compares what follows.
func TestSavedIteratorsGoOn(t *testing.T) {
	for name := range fresh(t) {
		t.Run(name, func(t *testing.T) {
			want := all(t, fresh(t)[name])
			for n := range len(want) + 1 {
				if got := restoredRest(t, fresh(t)[name], n); fmt.Sprint(got) != fmt.Sprint(want[n:]) {
					t.Errorf("after %d elements: %v, want %v", n, got, want[n:])
				}
			}
		})
	}
}

// TestDamagedStates gives iterators states that lack something: they say so.
func TestDamagedStates(t *testing.T) {
	for name, d := range fresh(t) {
		it := mustIterate(t, d)
		_, _ = it.Next(t.Context())
		whole := NewState()
		it.Save(whole)
		it.Close()
		for _, lost := range whole.Keys() {
			s := NewState()
			for _, key := range whole.Keys() {
				if key != lost {
					s.Put(key, whole.Get(key))
				}
			}
			again := mustIterate(t, d)
			again.Restore(t.Context(), s)
			if s.Err() == nil {
				t.Errorf("%s: nobody misses %q", name, lost)
			}
			again.Close()
		}
	}
}

// TestStatesOfOtherDatasets: what restores a state of another dataset says what
// TensorFlow's programs look for.
func TestStatesOfOtherDatasets(t *testing.T) {
	it := mustIterate(t, numbers(t, 0, 10, 1))
	for range 5 {
		_, _ = it.Next(t.Context())
	}
	s := NewState()
	it.Save(s)
	it.Close()
	for name, other := range map[string]Dataset{"shorter": numbers(t, 0, 3, 1), "batches": must2(t)(Batch(numbers(t, 0, 10, 1), 2, true))} {
		again := mustIterate(t, other)
		again.Restore(t.Context(), s)
		again.Close()
		if err := s.Err(); core.CodeOf(err) != core.NotFound || !strings.Contains(err.Error(), "Make sure the dataset definition has not changed") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGlobalShuffleOfBatches: batches whose last one may be smaller cannot be
// shuffled, even if it is not.
func TestGlobalShuffleOfBatches(t *testing.T) {
	for _, drop := range []bool{false, true} {
		_, err := GlobalShuffle(must2(t)(Batch(numbers(t, 0, 100, 1), 2, drop)), NewSeeds(3, 4, false))
		if refused := err != nil && strings.Contains(err.Error(), "does not support global shuffling with `drop_remainder=False`."); refused == drop {
			t.Errorf("drop_remainder %v: %v", drop, err)
		}
	}
}

// TestFunctionsOutOfRange: a function that is out of range ends a dataset, unless
// it must keep the number of elements.
func TestFunctionsOutOfRange(t *testing.T) {
	f := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return nil, core.Errorf(core.OutOfRange, "no more")
	}
	r := numbers(t, 0, 3, 1)
	for _, keep := range []bool{false, true} {
		for name, d := range map[string]Dataset{"map": Map(r, f, r.Spec(), keep), "scan": Scan(r, Element{core.Scalar(int64(0))}, f, r.Spec(), keep)} {
			it := mustIterate(t, d)
			_, err := it.Next(t.Context())
			it.Close()
			if refused := core.CodeOf(err) == core.InvalidArgument; refused != keep || err == nil {
				t.Errorf("%s, keep %v: %v", name, keep, err)
			}
		}
	}
}

// TestAnyElement compares elements that are asked for by number with those that
// come in turn.
func TestAnyElement(t *testing.T) {
	r := numbers(t, 0, 7, 1)
	for name, d := range map[string]Dataset{
		"range": r, "take": Take(r, 3), "skip": Skip(r, 3), "shard": must2(t)(Shard(r, 3, 1)), "repeat": Repeat(r, 2), "zip": Zip([]Dataset{r, r}),
		"concatenate": must2(t)(Concatenate(r, r)), "batch": must2(t)(Batch(r, 3, false)), "prefetch": Prefetch(r, 2), "cache": Cache(Filter(r, func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0]%2 == 0)}, nil
		})), "sized": Sized(r, 7), "unbatch": Unbatch(must2(t)(Batch(r, 3, true))), "index flat": IndexFlatMap(r, func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{e[0], e[0]}, nil
		}, func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] / 2), core.Scalar(int32(core.Data[int64](e[0])[0] % 2))}, nil
		}, 14, r.Spec()),
	} {
		want := all(t, d)
		for i, w := range want {
			e, err := At(t.Context(), d, int64(i))
			if err != nil || show(t, e) != w {
				t.Errorf("%s: element %d is %v and %v, want %s", name, i, e, err, w)
			}
		}
		for _, i := range []int64{-1, int64(len(want))} {
			if _, err := At(t.Context(), d, i); core.CodeOf(err) != core.OutOfRange {
				t.Errorf("%s: element %d: %v", name, i, err)
			}
		}
	}
	for code, d := range map[core.Code]Dataset{core.FailedPrecondition: Repeat(r, -1), core.Unimplemented: Sleep(r, 0)} {
		if _, err := At(t.Context(), d, 0); core.CodeOf(err) != code {
			t.Errorf("%v: %v", code, err)
		}
	}
}

func must2(t *testing.T) func(Dataset, error) Dataset {
	return func(d Dataset, err error) Dataset {
		t.Helper()
		return must(t, d, err)
	}
}
