package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// A modelled dataset and the numbers that have to come of it.
type modelled struct {
	d    Dataset
	want []int64
	how  string
}

// The functions that pipelines call, for numbers and for datasets.
func onNumber(f func(int64) int64) Func {
	return func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(f(core.Data[int64](e[0])[0]))}, nil
	}
}

func ofNumber(f func(int64) bool) Func {
	return func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(f(core.Data[int64](e[0])[0]))}, nil
	}
}

// upTo makes the dataset of v, v+1, … with v modulo 4 elements.
func upTo(t *testing.T) Func {
	return func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](e[0])[0]
		return []*core.Tensor{Value(numbers(t, v, v+v%4, 1))}, nil
	}
}

func expanded(v int64) (out []int64) {
	for i := range v % 4 {
		out = append(out, v+i)
	}
	return out
}

func firstOf(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error)  { return e[:1], nil }
func secondOf(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e[1:2], nil }

var scalars = &Spec{[]core.DType{core.Int64}, []core.Shape{{}}}

// A step makes another dataset of one.
type step func(t *testing.T, r *rand.Rand, m modelled) modelled

var steps = []step{
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		n := r.Int64N(9) - 1
		k := n
		if n < 0 {
			k = int64(len(m.want))
		}
		return modelled{Take(m.d, n), m.want[:min(k, int64(len(m.want)))], fmt.Sprintf("%s take %d", m.how, n)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		n := r.Int64N(5) - 1
		k := n
		if n < 0 { // a negative number skips all
			k = int64(len(m.want))
		}
		return modelled{Skip(m.d, n), m.want[min(k, int64(len(m.want))):], fmt.Sprintf("%s skip %d", m.how, n)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		of := 1 + r.Int64N(3)
		index := r.Int64N(of)
		var want []int64
		for i, v := range m.want {
			if int64(i)%of == index {
				want = append(want, v)
			}
		}
		return modelled{must2(t)(Shard(m.d, of, index)), want, fmt.Sprintf("%s shard %d of %d", m.how, index, of)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		n := r.IntN(4)
		return modelled{Repeat(m.d, int64(n)), slices.Repeat(m.want, n), fmt.Sprintf("%s repeat %d", m.how, n)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		return modelled{must2(t)(Concatenate(m.d, numbers(t, 50, 53, 1))), append(slices.Clone(m.want), 50, 51, 52), m.how + " concatenate"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		f := func(v int64) int64 { return 2*v + 1 }
		d := Map(m.d, onNumber(f), scalars, true)
		if r.IntN(2) == 0 {
			d = ParallelMap(m.d, onNumber(f), scalars, true, 1+r.Int64N(3), true)
		}
		return modelled{d, each(m.want, f), m.how + " map"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		yes := func(v int64) bool { return v%3 != 1 }
		d := Filter(m.d, ofNumber(yes))
		if r.IntN(2) == 0 {
			d = must2(t)(ParallelFilter(m.d, ofNumber(yes), 2, true))
		}
		return modelled{d, slices.DeleteFunc(slices.Clone(m.want), func(v int64) bool { return !yes(v) }), m.how + " filter"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		n := slices.IndexFunc(m.want, func(v int64) bool { return v > 8 })
		if n < 0 {
			n = len(m.want)
		}
		return modelled{TakeWhile(m.d, ofNumber(func(v int64) bool { return v <= 8 })), m.want[:n], m.how + " while"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		sum, want := int64(7), []int64(nil)
		for _, v := range m.want {
			want = append(want, sum-v)
			sum += v
		}
		f := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
			s, v := core.Data[int64](in[0])[0], core.Data[int64](in[1])[0]
			return []*core.Tensor{core.Scalar(s + v), core.Scalar(s - v)}, nil
		}
		return modelled{Scan(m.d, Element{core.Scalar(int64(7))}, f, scalars, true), want, m.how + " scan"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		var want []int64
		for _, v := range m.want {
			if !slices.Contains(want, v) {
				want = append(want, v)
			}
		}
		return modelled{must2(t)(Unique(m.d)), want, m.how + " unique"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		switch r.IntN(4) {
		case 0:
			return modelled{CacheFile(m.d, filepath.Join(t.TempDir(), "cache")), m.want, m.how + " cache file"}
		case 1:
			return modelled{Prefetch(m.d, 1+r.Int64N(3)), m.want, m.how + " prefetch"}
		case 2:
			return modelled{must2(t)(Keep(m.d, Snapshot{Read: t.TempDir(), Write: t.TempDir(), FileBytes: int64(r.IntN(60))})), m.want, m.how + " snapshot"}
		}
		return modelled{Cache(m.d), m.want, m.how + " cache"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		n, drop := 1+r.IntN(4), r.IntN(2) == 0
		want := m.want
		if drop {
			want = want[:len(want)/n*n]
		}
		return modelled{Unbatch(must2(t)(Batch(m.d, int64(n), drop))), want, fmt.Sprintf("%s batch %d drop %v", m.how, n, drop)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		sizes, drop := []int64{1 + r.Int64N(4), 1 + r.Int64N(4)}, r.IntN(2) == 0
		batches := must2(t)(Batch(m.d, 1+r.Int64N(4), false))
		rebatched := must2(t)(Rebatch(batches, sizes, drop, &Spec{[]core.DType{core.Int64}, []core.Shape{{-1}}}))
		k := len(m.want)
		if drop {
			k = 0
			for i := 0; k+int(sizes[i%2]) <= len(m.want); i++ {
				k += int(sizes[i%2])
			}
		}
		return modelled{Unbatch(rebatched), m.want[:k], fmt.Sprintf("%s rebatch %v drop %v", m.how, sizes, drop)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		size, shift, stride, drop := 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2), r.IntN(2) == 0
		var want []int64
		for at := 0; at < len(m.want); at += shift {
			var w []int64
			for i := at; i < len(m.want) && len(w) < size; i += stride {
				w = append(w, m.want[i])
			}
			if len(w) == size || !drop {
				want = append(want, w...)
			}
		}
		windows := must2(t)(Window(m.d, int64(size), int64(shift), int64(stride), drop))
		d := FlatMap(windows, firstOf, scalars)
		if r.IntN(2) == 0 {
			d = Unbatch(must2(t)(Slide(m.d, int64(size), int64(shift), int64(stride), drop)))
		}
		return modelled{d, want, fmt.Sprintf("%s window %d %d %d %v", m.how, size, shift, stride, drop)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		cycle, block := 1+r.IntN(3), 1+r.IntN(3)
		d := must2(t)(Interleave(m.d, upTo(t), scalars, int64(cycle), int64(block), r.Int64N(2)))
		return modelled{d, interleavedModel(m.want, cycle, block), fmt.Sprintf("%s interleave %d %d", m.how, cycle, block)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		a, b := []int64{100, 101, 102}, m.want
		var want []int64
		selectors := []Element{}
		for range 12 {
			k := r.Int64N(2)
			selectors = append(selectors, Element{core.Scalar(k)})
			from := []*[]int64{&a, &b}[k]
			if len(*from) > 0 {
				want, *from = append(want, (*from)[0]), (*from)[1:]
			}
		}
		return modelled{must2(t)(Choose(List(scalars, selectors), []Dataset{numbers(t, 100, 103, 1), m.d}, false)), want, m.how + " choose"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		var want []int64
		for i, v := range m.want {
			want = append(want, v+int64(i))
		}
		sum := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			return []*core.Tensor{core.Scalar(core.Data[int64](e[0])[0] + core.Data[int64](e[1])[0])}, nil
		}
		return modelled{Map(Zip([]Dataset{m.d, numbers(t, 0, 1000, 1)}), sum, scalars, true), want, m.how + " zip"}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		size := 1 + r.IntN(3)
		groups, want := map[int64][]int64{}, []int64(nil)
		for _, v := range m.want {
			key := v % 3
			if groups[key] = append(groups[key], v); len(groups[key]) == size {
				want = append(want, groups[key]...)
				delete(groups, key)
			}
		}
		for key := int64(-2); key <= 2; key++ {
			want = append(want, groups[key]...)
		}
		d := GroupByWindow(m.d, onNumber(func(v int64) int64 { return v % 3 }), secondOf, onNumber(func(int64) int64 { return int64(size) }), scalars)
		return modelled{d, want, fmt.Sprintf("%s groups of %d", m.how, size)}
	},
	func(t *testing.T, r *rand.Rand, m modelled) modelled {
		third := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
			if core.Data[int64](e[0])[0]%3 == 0 {
				return nil, core.Errorf(core.InvalidArgument, "third")
			}
			return e, nil
		}
		want := slices.DeleteFunc(slices.Clone(m.want), func(v int64) bool { return v%3 == 0 })
		return modelled{IgnoreErrors(Map(m.d, third, scalars, true)), want, m.how + " ignore"}
	},
}

func each(xs []int64, f func(int64) int64) []int64 {
	out := make([]int64, len(xs))
	for i, x := range xs {
		out[i] = f(x)
	}
	return out
}

// interleavedModel goes around among cycle lists, block elements of each. A list that
// has ended makes room for the next one, in its place and in its turn.
func interleavedModel(xs []int64, cycle, block int) (out []int64) {
	lanes, taken := make([]*[]int64, cycle), 0
	open := func() *[]int64 {
		if len(xs) == 0 {
			return nil
		}
		list := expanded(xs[0])
		xs = xs[1:]
		return &list
	}
	for at, idle := 0, 0; idle < cycle; {
		if lanes[at] == nil {
			lanes[at] = open()
		}
		switch list := lanes[at]; {
		case list == nil:
			idle++
			at, taken = (at+1)%cycle, 0
		case len(*list) == 0:
			idle = 0
			lanes[at], at, taken = nil, (at+1)%cycle, 0
		default:
			idle = 0
			out, *list = append(out, (*list)[0]), (*list)[1:]
			if taken++; taken == block {
				at, taken = (at+1)%cycle, 0
			}
		}
	}
	return out
}

// pipeline draws a dataset of up to four steps.
func pipeline(t *testing.T, seed uint64) modelled {
	r := rand.New(rand.NewPCG(seed, 3))
	n := r.Int64N(11)
	m := modelled{d: numbers(t, 0, n, 1), how: fmt.Sprintf("%d: range %d", seed, n)}
	for v := range n {
		m.want = append(m.want, v)
	}
	for range 1 + r.IntN(4) {
		if m = steps[r.IntN(len(steps))](t, r, m); len(m.want) > 60 {
			break
		}
	}
	return m
}

// TestPipelinesAgreeWithModels compares pipelines drawn at random with models of their
// steps over slices: elements, cardinality, elements by number, and what follows when an
// iterator is saved and restored, twice over, since caches and snapshots change.
func TestPipelinesAgreeWithModels(t *testing.T) {
	n := 1500
	if testing.Short() {
		n = 300
	}
	for seed := range uint64(n) {
		m := pipeline(t, seed)
		want := make([]string, len(m.want))
		for i, v := range m.want {
			want[i] = fmt.Sprintf("[%d]", v)
		}
		for range 2 {
			if got := all(t, m.d); !slices.Equal(got, want) {
				t.Fatalf("%s\ngot  %v\nwant %v", m.how, got, want)
			}
		}
		if c := m.d.Cardinality(); c != Unknown && c != int64(len(want)) {
			t.Errorf("%s: cardinality %d, want %d", m.how, c, len(want))
		}
		if c, err := Count(t.Context(), m.d); err != nil || c != Unknown && c != int64(len(want)) {
			t.Errorf("%s: count %d and %v, want %d", m.how, c, err, len(want))
		}
		at := int(seed) % (len(want) + 1)
		if got := restoredRest(t, pipeline(t, seed).d, at); !slices.Equal(got, want[at:]) {
			t.Errorf("%s: after %d elements\ngot  %v\nwant %v", m.how, at, got, want[at:])
		}
		atRandom(t, m, want, at)
	}
}

// atRandom asks for one element by its number, where that is possible.
func atRandom(t *testing.T, m modelled, want []string, i int) {
	e, err := At(t.Context(), m.d, int64(i))
	switch code := core.CodeOf(err); {
	case code == core.FailedPrecondition || code == core.Unimplemented:
	case i == len(want):
		if code != core.OutOfRange {
			t.Errorf("%s: element %d of as many: %v", m.how, i, err)
		}
	case err != nil:
		t.Errorf("%s: element %d: %v", m.how, i, err)
	default:
		if got := show(t, e); got != want[i] {
			t.Errorf("%s: element %d is %s, want %s", m.how, i, got, want[i])
		}
	}
}

// TestFolds: what comes of a whole dataset.
func TestFolds(t *testing.T) {
	for seed := range uint64(200) {
		m := pipeline(t, seed)
		sum := int64(0)
		for i, v := range m.want {
			sum = 3*sum + v + int64(i)
		}
		f := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
			s, i, v := core.Data[int64](in[0])[0], core.Data[int64](in[1])[0], core.Data[int64](in[2])[0]
			return []*core.Tensor{core.Scalar(3*s + v + i), core.Scalar(i + 1)}, nil
		}
		out, err := Reduce(t.Context(), m.d, Element{core.Scalar(int64(0)), core.Scalar(int64(0))}, f)
		if err != nil || core.Data[int64](out[0])[0] != sum || core.Data[int64](out[1])[0] != int64(len(m.want)) {
			t.Errorf("%s: reduced to %v, %v", m.how, out, err)
		}
		e, err := Single(t.Context(), m.d)
		if one := err == nil && core.Data[int64](e[0])[0] == m.want[0]; one != (len(m.want) == 1) {
			t.Errorf("%s: single %v, %v", m.how, e, err)
		}
	}
}

// TestShufflesMix: a shuffle has all elements, each no earlier than the buffer allows,
// in an order that the seeds decide.
func TestShufflesMix(t *testing.T) {
	order := func(buffer, seed int64) []string {
		return all(t, must2(t)(Shuffle(numbers(t, 0, 30, 1), buffer, 1, NewSeeds(seed, 5, false))))
	}
	want := all(t, numbers(t, 0, 30, 1))
	for _, buffer := range []int64{1, 2, 7, 30, 100} {
		got := order(buffer, 9)
		if !slices.Equal(got, order(buffer, 9)) {
			t.Errorf("buffer %d: equal seeds give different orders", buffer)
		}
		if same := slices.Equal(got, order(buffer, 10)); same != (buffer == 1) {
			t.Errorf("buffer %d: other seeds give the same order: %v", buffer, same)
		}
		for i, e := range got {
			if from := slices.Index(want, e); from < 0 || int64(from) >= int64(i)+buffer {
				t.Errorf("buffer %d: element %s comes at %d", buffer, e, i)
			}
		}
		slices.Sort(got)
		sorted := slices.Sorted(slices.Values(want))
		if !slices.Equal(got, sorted) {
			t.Errorf("buffer %d: got %v", buffer, got)
		}
	}
	global := func(seed int64) []string {
		return all(t, must2(t)(GlobalShuffle(numbers(t, 0, 30, 1), NewSeeds(seed, 5, false))))
	}
	if got := global(1); slices.Equal(got, global(2)) || slices.Equal(got, want) || len(got) != 30 {
		t.Errorf("a global shuffle gives %v", got)
	}
	for range 3 { // without seeds each dataset has an order of its own
		if !slices.Equal(all(t, must2(t)(Shuffle(numbers(t, 0, 30, 1), 30, 1, NewSeeds(0, 0, false)))), all(t, must2(t)(Shuffle(numbers(t, 0, 30, 1), 30, 1, NewSeeds(0, 0, false))))) {
			return
		}
	}
	t.Error("without seeds all orders are the same")
}

// TestGenerated: functions give elements until they end, are stopped, and go on where
// they were.
func TestGenerated(t *testing.T) {
	stopped := 0
	d := Generate(scalars, func() (Func, func()) {
		n := int64(0)
		return func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
			if n == 5 {
				return nil, End
			}
			n++
			return []*core.Tensor{core.Scalar(n * n)}, nil
		}, func() { stopped++ }
	})
	if got := fmt.Sprint(all(t, d)); got != "[[1] [4] [9] [16] [25]]" || stopped != 1 {
		t.Errorf("got %s, stopped %d times", got, stopped)
	}
	for n := range 6 {
		if got := restoredRest(t, d, n); !slices.Equal(got, []string{"[1]", "[4]", "[9]", "[16]", "[25]"}[n:]) {
			t.Errorf("after %d: %v", n, got)
		}
	}
	it := mustIterate(t, Generate(scalars, func() (Func, func()) {
		return func(context.Context, []*core.Tensor) ([]*core.Tensor, error) { panic("no") }, nil
	}))
	defer it.Close()
	if _, err := it.Next(t.Context()); core.CodeOf(err) != core.Internal {
		t.Errorf("a panic is %v", err)
	}
	if _, err := it.Next(t.Context()); !errors.Is(err, End) {
		t.Errorf("after a panic: %v", err)
	}
}
