package data_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// stretches is a dataset of numbers, ten times larger, one after the other, that
// are read from the files of a directory.
func stretches(g *tf.Graph, dir string, files int, shuffled bool) pipe {
	names := make([]string, files)
	for i := range names {
		names[i] = filepath.Join(dir, fmt.Sprint("part", i))
	}
	p := slices(ops.Const(g, names))
	if shuffled {
		p = p.then("ShuffleDataset", ints(g, 10, 1, 2))
	}
	f := p.function("read", func(x []tf.Output) []tf.Output {
		g := x[0].Graph()
		return []tf.Output{tf.Apply(nil, "TFRecordDataset", []tf.Output{x[0], ops.Scalar(g, ""), ops.Scalar(g, int64(0))}).Output(0)}
	})
	return p.calling("FlatMapDataset", function1("f", f), nil, nil).then("PrefetchDataset", ints(g, 2))
}

// options are those of a policy of sharding.
func (p pipe) options(policy byte) pipe {
	return p.then("OptionsDataset", nil, tf.Attr("serialized_options", "\x12\x02\x08"+string([]byte{policy})))
}

// elements returns the elements as text, or what is wrong with them.
func elements(t *testing.T, g *tf.Graph, p pipe) string {
	t.Helper()
	all := p.all()[0]
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Run(t.Context(), nil, all)
	switch {
	case err != nil:
		return tf.AsError(err).Message()
	case v[0].DType() == tf.String:
		return strings.Join(tf.Data[string](v[0]), " ")
	}
	return strings.Trim(fmt.Sprint(tf.Data[int64](v[0])), "[]")
}

// TestAutoShard: workers get whole files where it can be seen that there are
// some, else some of the elements.
func TestAutoShard(t *testing.T) {
	dir, _ := parts(t, 4, 2)
	shard := func(g *tf.Graph, p pipe, policy, worker int) pipe {
		return p.then("AutoShardDataset", ints(g, 2, int64(worker)), tf.Attr("auto_shard_policy", policy), tf.Attr("num_replicas", 2))
	}
	for name, c := range map[string]struct {
		make   func(g *tf.Graph) pipe
		policy int
		want   string // of worker 1
	}{
		"files":      {func(g *tf.Graph) pipe { return stretches(g, dir, 4, false) }, 0, "2 3 6 7"},
		"elements":   {func(g *tf.Graph) pipe { return stretches(g, dir, 4, false) }, 2, "1 3 5 7"},
		"off":        {func(g *tf.Graph) pipe { return stretches(g, dir, 4, false) }, -1, "0 1 2 3 4 5 6 7"},
		"option":     {func(g *tf.Graph) pipe { return stretches(g, dir, 4, false).options(2) }, 0, "1 3 5 7"},
		"no files":   {func(g *tf.Graph) pipe { return numbers(g, 5) }, 0, "1 3"},
		"files only": {func(g *tf.Graph) pipe { return numbers(g, 5) }, 1, "Found an unshardable source dataset: RangeDataset"},
		"unknown op": {func(g *tf.Graph) pipe { return stretches(g, dir, 4, false).then("UniqueDataset", nil) }, 0, "1 3 5 7"},
		"few files":  {func(g *tf.Graph) pipe { return stretches(g, dir, 1, false) }, 0, "Dataset was empty."},
		"hint":       {func(g *tf.Graph) pipe { return numbers(g, 5).then("ShardDataset", ints(g, -1, 0)) }, 3, "1 3"},
		"no hint":    {func(g *tf.Graph) pipe { return numbers(g, 5).then("ShardDataset", ints(g, 1, 0)) }, 3, "0 1 2 3 4"},
		"two of them": {func(g *tf.Graph) pipe {
			p := stretches(g, dir, 4, false)
			return p.then("ConcatenateDataset", []tf.Output{p.d})
		}, 1, "2 3 6 7 2 3 6 7"},
		"rebatch": {func(g *tf.Graph) pipe {
			p := numbers(g, 8).of(tf.Shape{-1}).then("BatchDatasetV2", append(ints(g, 4), ops.Scalar(g, false)))
			return p.then("RebatchDatasetV2", []tf.Output{ops.Const(g, []int64{1, 3}), ops.Scalar(g, false)})
		}, 2, "2 3 6 7"},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			if got := elements(t, g, shard(g, c.make(g), c.policy, 1)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// TestAutoShardShuffled: workers that mix names of files read each file once.
func TestAutoShardShuffled(t *testing.T) {
	dir, want := parts(t, 6, 1)
	seen := map[string]int{}
	for worker := range 3 {
		g := tf.NewGraph()
		p := stretches(g, dir, 6, true).then("AutoShardDataset", ints(g, 3, int64(worker)))
		for _, e := range strings.Fields(elements(t, g, p)) {
			seen[e]++
		}
	}
	if len(seen) != len(want) {
		t.Errorf("read were %v, want %v", seen, want)
	}
	for e, n := range seen {
		if n != 1 {
			t.Errorf("%s is read %d times", e, n)
		}
	}
}

// TestAssertions: what is said of neighbours is checked when an iterator begins.
func TestAssertions(t *testing.T) {
	next := func(g *tf.Graph, p pipe, names ...string) pipe {
		return p.then("AssertNextDataset", []tf.Output{ops.Const(g, names)})
	}
	prev := func(g *tf.Graph, p pipe, texts ...string) pipe {
		return p.then("AssertPrevDataset", []tf.Output{ops.Const(g, texts)})
	}
	for name, c := range map[string]struct {
		make func(g *tf.Graph) pipe
		want string // words of the error
	}{
		"next": {func(g *tf.Graph) pipe {
			return next(g, numbers(g, 3), "Prefetch", "FiniteTake", "Root").then("PrefetchDataset", ints(g, 2)).then("TakeDataset", ints(g, 2))
		}, ""},
		"idle": {func(g *tf.Graph) pipe {
			return next(g, numbers(g, 3), "Prefetch").then("SkipDataset", ints(g, 0)).then("PrefetchDataset", ints(g, 2))
		}, ""},
		"other next": {func(g *tf.Graph) pipe { return next(g, numbers(g, 3), "Map").then("PrefetchDataset", ints(g, 2)) }, "Asserted transformation matching Map at offset 0 but encountered Prefetch transformation instead."},
		"none next":  {func(g *tf.Graph) pipe { return next(g, numbers(g, 3), "Root", "Map") }, "Asserted next 2 transformations but encountered only 1."},
		"prev": {func(g *tf.Graph) pipe {
			return prev(g, numbers(g, 3), `name: "RangeDataset" attr { key: "metadata" value { s: "" } }`)
		}, ""},
		"other prev": {func(g *tf.Graph) pipe { return prev(g, numbers(g, 3), `name: "MapDataset"`) }, "Asserted transformation matching 'MapDataset', but found 'RangeDataset'"},
		"none prev":  {func(g *tf.Graph) pipe { return prev(g, numbers(g, 3), `name: "RangeDataset"`, `name: "MapDataset"`) }, "encountered only 1"},
		"attribute": {func(g *tf.Graph) pipe {
			return prev(g, numbers(g, 3), `name: "RangeDataset" attr { key: "f" value { i: 1 } }`)
		}, "found no such attribute"},
		"value": {func(g *tf.Graph) pipe {
			return prev(g, numbers(g, 3), `name: "RangeDataset" attr { key: "metadata" value { s: "x" } }`)
		}, "but found value of"},
		"no text": {func(g *tf.Graph) pipe { return prev(g, numbers(g, 3), "{") }, "Couldn't parse transformation"},
		"parallel": {func(g *tf.Graph) pipe {
			p := next(g, numbers(g, 3), "ParallelMap")
			f := p.function("twice", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[0])} })
			return p.calling("MapDataset", function1("f", f), nil, nil).then("OptionsDataset", nil, tf.Attr("serialized_options", "\x1a\x02\x60\x01"))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			p := c.make(g)
			it := p.named("IteratorV2")
			start := p.started(it)
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(t.Context(), nil, start); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
