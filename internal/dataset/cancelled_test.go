package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// untilAsked is a context that ends when it has been asked so many times.
type untilAsked struct {
	context.Context
	left int
}

func (c *untilAsked) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestReadingGoesOnAfterACancelledCall: a call that is cancelled while it reads a file
// takes away no record, nor the rest of the file.
func TestReadingGoesOnAfterACancelledCall(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lines")
	line := strings.Repeat("x", 99) + "\n"
	const n = 10000 // more than is read at a time
	if err := os.WriteFile(name, []byte(strings.Repeat(line, n)), 0o600); err != nil {
		t.Fatal(err)
	}
	d := must2(t)(Lines([]string{name}, ""))
	it := mustIterate(t, d)
	defer it.Close()
	got, failed := 0, 0
	for i := 0; ; i++ {
		ctx := context.Context(t.Context())
		if i%1000 < 999 { // such a call may read from its buffer alone
			ctx = &untilAsked{t.Context(), 1}
		}
		_, err := it.Next(ctx)
		if err == End {
			break
		}
		if err != nil {
			failed++
			continue
		}
		got++
	}
	if got != n || failed == 0 {
		t.Errorf("%d of %d lines came, %d calls were cancelled", got, n, failed)
	}
}

// despite returns what comes of d although many calls are cancelled, some in the midst of
// what they do. After one of those another iterator goes on, from a state.
func despite(t *testing.T, d Dataset, seed uint64) (out []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	it := mustIterate(t, d)
	defer func() { it.Close() }()
	for saved := false; ; {
		ctx := context.Context(t.Context())
		if r.IntN(3) > 0 {
			ctx = &untilAsked{ctx, r.IntN(4)}
		}
		e, err := it.Next(ctx)
		switch {
		case errors.Is(err, End):
			return out
		case err == nil:
			out = append(out, show(t, e))
		case ctx.Err() == nil:
			out = append(out, "!"+core.CodeOf(err).String())
		case !saved && r.IntN(3) == 0:
			s := NewState()
			it.Save(s)
			it.Close()
			it, s, saved = mustIterate(t, d), sent(t, s), true
			if it.Restore(t.Context(), s); s.Err() != nil {
				t.Fatal(s.Err())
			}
		}
	}
}

// TestCancelledCallsTakeNothing: what a cancelled call has taken from its inputs comes with
// the next one.
func TestCancelledCallsTakeNothing(t *testing.T) {
	r, spec := numbers(t, 0, 20, 1), &Spec{[]core.DType{core.Int64}, []core.Shape{{-1}}}
	selector := Map(numbers(t, 0, 30, 1), onNumber(func(v int64) int64 { return v * v % 3 }), scalars, true)
	for name, d := range map[string]Dataset{
		"batch": must2(t)(Batch(r, 4, false)), "padded": must2(t)(PaddedBatch(r, 3, []core.Shape{{}}, []*core.Tensor{core.Scalar(int64(0))}, true)),
		"rebatch": must2(t)(Rebatch(must2(t)(Batch(r, 3, false)), []int64{2, 7, 0, 1}, false, spec)),
		"zip":     Zip([]Dataset{r, numbers(t, 100, 130, 1), r}), "choose": must2(t)(Choose(selector, []Dataset{r, numbers(t, 100, 107, 1), r}, false)),
		"windows": must2(t)(Window(r, 3, 2, 1, false)), "map": ParallelMap(r, firstOf, scalars, true, 3, true), "map in any order": ParallelMap(r, firstOf, scalars, true, 1, false),
	} {
		want := fmt.Sprint(all(t, d))
		for seed := range uint64(20) {
			if got := fmt.Sprint(despite(t, d, seed)); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
				break
			}
		}
	}
}

// asked is f where a call can end while the function is at work, as those of graphs can.
func asked(f Func) Func {
	return func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return f(ctx, in)
	}
}

// TestCancelledFunctionsTakeNothing: an element whose function was cancelled is not lost.
func TestCancelledFunctionsTakeNothing(t *testing.T) {
	r := numbers(t, 0, 20, 1)
	key := asked(onNumber(func(v int64) int64 { return v % 3 }))
	size := asked(func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(int64(4))}, nil
	})
	odd := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](in[0])[0]%2 == 1)}, nil
	})
	low := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](in[0])[0] < 15)}, nil
	})
	sum := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](in[0])[0] + core.Data[int64](in[1])[0]
		return []*core.Tensor{core.Scalar(v), core.Scalar(v)}, nil
	})
	three := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](in[0])[0] * 10
		return []*core.Tensor{Value(numbers(t, v, v+3, 1))}, nil
	})
	window := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) { return in[1:2], nil })
	zero := asked(func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(int64(0))}, nil
	})
	add := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		return []*core.Tensor{core.Scalar(core.Data[int64](in[0])[0] + core.Data[int64](in[1])[0])}, nil
	})
	zeroth := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) { return in[:1], nil })
	pair := asked(func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		v := core.Data[int64](in[0])[0]
		return []*core.Tensor{vector([]int64{v, -v})}, nil
	})
	half := func(_ context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		i := core.Data[int64](in[0])[0]
		return []*core.Tensor{core.Scalar(i / 2), core.Scalar(i % 2)}, nil
	}
	mapped := Map(r, asked(onNumber(func(v int64) int64 { return v * 2 })), scalars, true)
	for name, d := range map[string]Dataset{
		"map": mapped, "zip": Zip([]Dataset{r, mapped, Filter(numbers(t, 0, 40, 1), odd)}), "batch": must2(t)(Batch(mapped, 4, false)),
		"filter": Filter(r, odd), "take while": TakeWhile(r, low), "scan": Scan(r, Element{core.Scalar(int64(0))}, sum, scalars, true),
		"interleave": must2(t)(Interleave(r, three, scalars, 3, 2, 0)), "groups": GroupByWindow(r, key, window, size, scalars),
		"reduced": GroupByReducer(r, Reducer{Key: key, First: zero, Next: add, Last: zeroth}, scalars), "rows by number": IndexFlatMap(r, pair, half, 40, scalars),
	} {
		want := fmt.Sprint(all(t, d))
		for seed := range uint64(40) {
			if got := fmt.Sprint(despite(t, d, seed)); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
				break
			}
		}
	}
}

// TestPipelinesDespiteCancelledCalls is the same for pipelines drawn at random.
func TestPipelinesDespiteCancelledCalls(t *testing.T) {
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
		if got := despite(t, m.d, seed); !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %v\nwant %v", m.how, got, want)
		}
	}
}

// TestCancelledShardsTakeNothing: an element is given and written although the call that
// asked for its shard was cancelled.
func TestCancelledShardsTakeNothing(t *testing.T) {
	r := numbers(t, 0, 9, 1)
	shard := asked(onNumber(func(v int64) int64 { return v % 2 }))
	want := fmt.Sprint(all(t, r))
	for seed := range uint64(20) {
		saves, keeps := t.TempDir(), t.TempDir()
		for name, d := range map[string]Dataset{
			"saved": must2(t)(Save(r, saves, "", shard)),
			"kept":  must2(t)(Keep(r, Snapshot{Read: keeps, Write: keeps, Mode: SnapshotWrite, Shard: shard, Reader: first})),
		} {
			if got := fmt.Sprint(despite(t, d, seed)); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", name, got, want)
			}
		}
		if n := count(t, must2(t)(Load(saves, "", r.Spec(), first))); n != 9 {
			t.Errorf("%d elements were written, want 9", n)
		}
	}
}

// TestHeadersDespiteCancelledCalls: a call that is cancelled in the header of a file says
// so, and the next one reads the file.
func TestHeadersDespiteCancelledCalls(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records")
	const header = 1 << 20 // more than is read at a time
	if err := os.WriteFile(name, append(make([]byte, header), "abcd"...), 0o600); err != nil {
		t.Fatal(err)
	}
	it := mustIterate(t, must2(t)(FixedLength([]string{name}, "", header, 4, 0)))
	defer it.Close()
	if _, err := it.Next(&untilAsked{t.Context(), 2}); core.CodeOf(err) != core.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if e, err := it.Next(t.Context()); err != nil || core.Data[string](e[0])[0] != "abcd" {
		t.Errorf("then: %v (%v), want abcd", e, err)
	}
}

// drying has elements in its first round and in those behind a great number of others.
type drying struct {
	Dataset
	rounds int
}

func (d *drying) Iterate() (Iterator, error) {
	if d.rounds++; d.rounds > 1 && d.rounds < 1<<12 {
		return Take(d.Dataset, 0).Iterate()
	}
	return d.Dataset.Iterate()
}

// TestWhatGoesOnWithoutElementsEndsWithItsContext: a call that goes through inputs for long
// before it has an element sees that it is cancelled, whatever they are.
func TestWhatGoesOnWithoutElementsEndsWithItsContext(t *testing.T) {
	r := numbers(t, 0, 3, 1)
	number := func(context.Context, []*core.Tensor) ([]*core.Tensor, error) {
		return Element{core.Scalar(int64(1))}, nil
	}
	shuffled := must2(t)(Shuffle(&drying{Dataset: r}, 4, -1, NewSeeds(1, 2, true)))
	for name, d := range map[string]Dataset{
		"a full cache":     Skip(Repeat(Cache(r), -1), 1<<12),
		"a generator":      Skip(Generate(r.Spec(), func() (Func, func()) { return number, nil }), 1<<12),
		"a shuffled input": Skip(shuffled, 3),
		"nothing":          Repeat(Take(r, 0), 1<<12),
	} {
		it := mustIterate(t, d)
		_, err := it.Next(&untilAsked{t.Context(), 100})
		if core.CodeOf(err) != core.Canceled {
			t.Errorf("%s: a cancelled call returned %v", name, err)
		}
		it.Close()
	}
}
