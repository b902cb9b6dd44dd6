package data_test

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Numbers of the optimizations that programs ask for.
const (
	filterFusion       = 6
	mapAndBatchFusion  = 9
	mapAndFilterFusion = 10
	mapFusion          = 11
	mapsInParallel     = 12
	nothingsTaken      = 14
	shuffleAndRepeat   = 17
	filtersInParallel  = 18
)

// optimized asks for one optimization and no other, untuned if so.
func (p pipe) optimized(option protowire.Number, untuned bool) pipe {
	flag := func(b []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	message := func(b []byte, n protowire.Number, inner []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), inner)
	}
	b := message(nil, 3, flag(flag(nil, 1, 0), option, 1))
	if untuned {
		b = message(b, 7, flag(nil, 1, 0))
	}
	return p.then("OptionsDataset", nil, tf.Attr("serialized_options", string(b)))
}

func (p pipe) asserting(names string) pipe {
	return p.then("AssertNextDataset", []tf.Output{ops.Const(p.d.Graph(), strings.Fields(names))})
}

// mapped calls a function, several times at once if a number is given.
func (p pipe) mapped(name string, calls []int64, body func(x []tf.Output) []tf.Output) pipe {
	f := p.function(name, body)
	if calls == nil {
		return p.calling("MapDataset", function1("f", f), nil, nil)
	}
	return p.calling("ParallelMapDatasetV2", function1("f", f), nil, ints(p.d.Graph(), calls...))
}

func (p pipe) filtered(name string, body func(x tf.Output) tf.Output) pipe {
	return p.calling("FilterDataset", function1("predicate", p.function(name, func(x []tf.Output) []tf.Output { return []tf.Output{body(x[0])} })), nil, nil)
}

func more(x []tf.Output) []tf.Output {
	return []tf.Output{ops.Add(x[0], ops.Scalar(x[0].Graph(), int64(1)))}
}

func square(x []tf.Output) []tf.Output { return []tf.Output{ops.Mul(x[0], x[0])} }

// above is a condition that asks of a number whether it is greater.
func above(n int64) func(tf.Output) tf.Output {
	return func(x tf.Output) tf.Output { return ops.Greater(x, ops.Scalar(x.Graph(), n)) }
}

func even(x tf.Output) tf.Output {
	return ops.Equal(ops.Mod(x, ops.Scalar(x.Graph(), int64(2))), ops.Scalar(x.Graph(), int64(0)))
}

// gone goes through a dataset and returns its elements, or what is wrong.
func gone(t *testing.T, make func(p pipe) pipe) string {
	t.Helper()
	g := tf.NewGraph()
	start, next := make(numbers(g, 6)).iterator()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		return tf.AsError(err).Message()
	}
	var all []string
	for {
		v, err := s.Run(t.Context(), nil, next)
		switch {
		case tf.CodeOf(err) == tf.OutOfRange:
			return strings.Join(all, " ")
		case err != nil:
			return tf.AsError(err).Message()
		}
		all = append(all, strings.Trim(fmt.Sprint(tf.Data[int64](v[0])), "[]"))
	}
}

// TestOptimizations: what a program asks for is done, where it can be, and the
// elements stay what they are.
func TestOptimizations(t *testing.T) {
	for name, c := range map[string]struct {
		option   protowire.Number
		untuned  bool
		names    string // of what there is then
		make     func(p pipe) pipe
		elements string
	}{
		"maps": {mapFusion, false, "Map Root", func(p pipe) pipe {
			return p.mapped("more", nil, more).mapped("squared", nil, square).mapped("moreagain", nil, more)
		}, "2 5 10 17 26 37"},
		"maps in parallel": {mapFusion, false, "ParallelMap Root", func(p pipe) pipe {
			return p.mapped("more", []int64{-1}, more).mapped("squared", []int64{-1}, square)
		}, "1 4 9 16 25 36"},
		"maps with a number of calls": {mapFusion, false, "ParallelMap ParallelMap Root", func(p pipe) pipe {
			return p.mapped("more", []int64{2}, more).mapped("squared", []int64{2}, square)
		}, "1 4 9 16 25 36"},
		"maps of different kinds": {mapFusion, false, "Map ParallelMap Root", func(p pipe) pipe {
			return p.mapped("more", nil, more).mapped("squared", []int64{-1}, square)
		}, "1 4 9 16 25 36"},
		"maps with more from outside": {mapFusion, false, "Map Map Root", func(p pipe) pipe {
			ten := ops.Scalar(p.d.Graph(), int64(10))
			return p.mapped("more", nil, more).mapped("times", nil, func(x []tf.Output) []tf.Output { return []tf.Output{ops.Mul(x[0], ten)} })
		}, "10 20 30 40 50 60"},
		"maps that nobody tunes": {mapFusion, true, "Map Map Root", func(p pipe) pipe {
			return p.mapped("more", nil, more).mapped("squared", nil, square)
		}, "1 4 9 16 25 36"},
		"filters": {filterFusion, false, "Filter Root", func(p pipe) pipe {
			return p.filtered("above", above(1)).filtered("even", even).filtered("above3", above(2))
		}, "4"},
		"map and filter": {mapAndFilterFusion, false, "Map Filter Map Root", func(p pipe) pipe {
			return p.mapped("squared", nil, square).filtered("even", even)
		}, "0 4 16"},
		"map and batch": {mapAndBatchFusion, false, "MapAndBatch Root", func(p pipe) pipe {
			return p.mapped("more", nil, more).of(tf.Shape{-1}).then("BatchDatasetV2", append(ints(p.d.Graph(), 4), ops.Scalar(p.d.Graph(), false)))
		}, "1 2 3 4 5 6"},
		"parallel map and batch": {mapAndBatchFusion, false, "MapAndBatch Root", func(p pipe) pipe {
			return p.mapped("more", []int64{2}, more).of(tf.Shape{-1}).then("BatchDatasetV2", append(ints(p.d.Graph(), 4), ops.Scalar(p.d.Graph(), true)))
		}, "1 2 3 4"},
		"map":                   {mapsInParallel, false, "ParallelMap Root", func(p pipe) pipe { return p.mapped("more", nil, more) }, "1 2 3 4 5 6"},
		"map that nobody tunes": {mapsInParallel, true, "Map Root", func(p pipe) pipe { return p.mapped("more", nil, more) }, "1 2 3 4 5 6"},
		"map one at a time": {mapsInParallel, false, "Map Root", func(p pipe) pipe {
			return p.calling("MapDataset", function1("f", p.function("more", more)), nil, nil, tf.Attr("force_synchronous", true))
		}, "1 2 3 4 5 6"},
		"filter": {filtersInParallel, false, "ParallelFilter Root", func(p pipe) pipe { return p.filtered("even", even) }, "0 2 4"},
		"shuffle and repeat": {shuffleAndRepeat, false, "ShuffleAndRepeat Root", func(p pipe) pipe {
			return p.then("ShuffleDataset", ints(p.d.Graph(), 1, 3, 4)).then("RepeatDataset", ints(p.d.Graph(), 2))
		}, "0 1 2 3 4 5 0 1 2 3 4 5"},
		"nothings": {nothingsTaken, false, "FiniteRepeat[0] Prefetch Root", func(p pipe) pipe {
			g := p.d.Graph()
			return p.then("SkipDataset", ints(g, 0)).then("RepeatDataset", ints(g, 2)).then("PrefetchDataset", ints(g, 0)).then("TakeDataset", ints(g, -1))
		}, "0 1 2 3 4 5 0 1 2 3 4 5"},
		"what does something": {nothingsTaken, false, "Map Root", func(p pipe) pipe {
			return p.mapped("printed", nil, func(x []tf.Output) []tf.Output {
				done := ops.PrintV2(ops.Scalar(x[0].Graph(), "an element"))
				return []tf.Output{tf.Apply(nil, "Identity", x, tf.After(done)).Output(0)}
			})
		}, "0 1 2 3 4 5"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := func(p pipe) pipe { return c.make(p.asserting(c.names)).optimized(c.option, c.untuned) }
			if got := words(gone(t, asked)); got != c.elements {
				t.Errorf("optimized: %s, want %s", got, c.elements)
			}
			if got := words(gone(t, c.make)); got != c.elements {
				t.Errorf("as it is: %s, want %s", got, c.elements)
			}
		})
	}
}

// words leaves of batches what is in them.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestShuffledTwice: a shuffled dataset in two places has the same orders in both,
// others from one round to the next, unless a program wants nothing optimized.
func TestShuffledTwice(t *testing.T) {
	twice := func(p pipe) pipe {
		p = p.then("ShuffleDataset", ints(p.d.Graph(), 10, 1, 2)).then("RepeatDataset", ints(p.d.Graph(), 2))
		both := p.as([]tf.DType{tf.Int64, tf.Int64}, tf.Shape{}, tf.Shape{})
		both.d = tf.Apply(nil, "ZipDataset", []tf.Output{p.d, p.d}, append(both.about(), tf.Attr("N", 2))...).Output(0)
		f := both.function("differs", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Sub(x[0], x[1])} })
		one := both.as(p.types, p.shapes...)
		return one.calling("MapDataset", function1("f", f), nil, nil)
	}
	const same = "0 0 0 0 0 0 0 0 0 0 0 0"
	if got := gone(t, twice); got != same {
		t.Errorf("differences: %s", got)
	}
	if got := gone(t, func(p pipe) pipe {
		return twice(p).then("OptionsDataset", nil, tf.Attr("serialized_options", "\x1a\x02\x08\x00"))
	}); got == same {
		t.Error("nothing is to be optimized, but the orders are the same")
	}
	rounds := strings.Fields(gone(t, func(p pipe) pipe {
		return p.then("ShuffleDataset", ints(p.d.Graph(), 10, 1, 2)).then("RepeatDataset", ints(p.d.Graph(), 2))
	}))
	if len(rounds) != 12 || strings.Join(rounds[:6], " ") == strings.Join(rounds[6:], " ") {
		t.Errorf("two rounds: %v", rounds)
	}
}

// reshuffled makes two iterators, one after the other, on one dataset that shuffles
// numbers by a generator of seeds of its own and repeats them, and goes through both.
func reshuffled(t *testing.T, names string, options ...byte) (orders []string) {
	t.Helper()
	g := tf.NewGraph()
	seeds := tf.Apply(g, "DummySeedGenerator", nil).Output(0)
	p := numbers(g, 6).asserting(names).then("ShuffleDatasetV3", append(ints(g, 4, 1, 2), seeds)).then("RepeatDataset", ints(g, 2))
	p = p.then("OptionsDataset", nil, tf.Attr("serialized_options", string(options)))
	first, second := p.named("IteratorV2"), p.named("IteratorV2")
	start := p.started(first)
	again := tf.Apply(nil, "MakeIterator", []tf.Output{p.d, second}, tf.After(start))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, again); err != nil {
		t.Fatal(err)
	}
	for _, it := range []tf.Output{first, second} {
		next := p.next(it).Output(0)
		var all []string
		for range 12 {
			v, err := s.Run(t.Context(), nil, next)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(tf.Data[int64](v[0])[0]))
		}
		orders = append(orders, strings.Join(all, " "))
	}
	return orders
}

// TestShuffleAndRepeatByDefault: the two are fused unless options say no, and give the
// same orders: the second iterator goes on with the seeds of the first.
func TestShuffleAndRepeatByDefault(t *testing.T) {
	no := protowire.AppendVarint(protowire.AppendTag(nil, shuffleAndRepeat, protowire.VarintType), 0)
	off := protowire.AppendBytes(protowire.AppendTag(nil, 3, protowire.BytesType), no)
	fused, apart := reshuffled(t, "ShuffleAndRepeat Root"), reshuffled(t, "Shuffle FiniteRepeat[0] Root", off...)
	if fmt.Sprint(fused) != fmt.Sprint(apart) || fused[0] == fused[1] {
		t.Errorf("fused %q, apart %q", fused, apart)
	}
}
