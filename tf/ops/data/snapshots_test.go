package data_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

func init() {
	optest.Add(
		made("IndexFlatMapDataset", "", indexed(3)), made("IndexFlatMapDataset", "one", indexed(1)),
		made("WeightedFlatMapDataset", "", func(g *tf.Graph, x tf.Output) pipe { return weighted(slices(x), 1, 0.5) }),
		broken("WeightedFlatMapDataset", "weight", func(g *tf.Graph, x tf.Output) pipe { return weighted(slices(x), 1, 0) }),
		broken("WeightedFlatMapDataset", "endless", func(g *tf.Graph, x tf.Output) pipe {
			return weighted(slices(x).then("RepeatDataset", ints(g, -1)), 1, 1)
		}),
		crashing(made("SnapshotNestedDatasetReader", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x)
			sets := p.as([]tf.DType{tf.Variant}, tf.Shape{})
			sets.d = tf.Apply(nil, "SnapshotNestedDatasetReader", []tf.Output{p.d, p.d}, append(sets.about(), tf.Attr("N", 2))...).Output(0)
			f := sets.function("whole", func(x []tf.Output) []tf.Output { return []tf.Output{x[0]} })
			return sets.as(p.types, p.shapes...).calling("FlatMapDataset", function1("f", f), nil, nil)
		})),
	)
}

func crashing(s optest.Sample) optest.Sample {
	s.NoGolden = "TensorFlow ends the process"
	return s
}

// indexed makes datasets of rows of each matrices of n.
func indexed(n int64) func(g *tf.Graph, x tf.Output) pipe {
	return func(g *tf.Graph, _ tf.Output) pipe {
		p := numbers(g, 3)
		f := p.function("rows", func(x []tf.Output) []tf.Output {
			return []tf.Output{ops.Add(ops.Const(x[0].Graph(), []int64{0, 10, 20}[:n]), x[0])}
		})
		index := p.function("index", func(x []tf.Output) []tf.Output {
			each := ops.Scalar(x[0].Graph(), n)
			return []tf.Output{ops.FloorDiv(x[0], each), ops.FloorMod(x[0], each)}
		})
		return p.calling("IndexFlatMapDataset", []author.Callee{{Attr: "map_func", F: f}, {Attr: "index_map_func", F: index}}, nil, ints(g, 3*n),
			tf.Attr("Tmap_func_args", []tf.DType{}), tf.Attr("Tindex_map_func_args", []tf.DType{}))
	}
}

func weighted(p pipe, a, b float64) pipe {
	g := p.d.Graph()
	p.d = tf.Apply(nil, "WeightedFlatMapDataset", []tf.Output{p.d, numbers(g, 6).d, ops.Scalar(g, a), ops.Scalar(g, b)}, append(p.about(), tf.Attr("N", 2), tf.Attr("M", 2))...).Output(0)
	return p
}

// kept is a dataset of numbers, each squared, that is kept in shards of even and
// odd ones.
func kept(g *tf.Graph, dir string, n int64, compression string) pipe {
	p := numbers(g, n)
	parity := p.function("parity", func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.FloorMod(x[0], ops.Scalar(x[0].Graph(), int64(2)))}
	})
	sets := p.as([]tf.DType{tf.Variant}, tf.Shape{})
	reader := sets.function("reader", func(x []tf.Output) []tf.Output {
		whole := sets.function("whole", func(x []tf.Output) []tf.Output { return []tf.Output{x[0]} })
		q := p
		q.d = x[0]
		return []tf.Output{q.calling("FlatMapDataset", function1("f", whole), nil, nil).d}
	})
	return p.calling("SnapshotDatasetV2", []author.Callee{{Attr: "reader_func", F: reader}, {Attr: "shard_func", F: parity}}, []tf.Output{ops.Scalar(g, dir)}, nil,
		tf.Attr("compression", compression), tf.Attr("Treader_func_args", []tf.DType{}), tf.Attr("Tshard_func_args", []tf.DType{}))
}

// TestSnapshots: what is kept is written once, and read then; another dataset is
// kept elsewhere.
func TestSnapshots(t *testing.T) {
	for _, compression := range []string{"", "GZIP", "AUTO"} {
		t.Run(compression, func(t *testing.T) {
			dir := t.TempDir()
			for _, c := range []struct {
				n    int64
				want string
				runs int
			}{{5, "[0 1 2 3 4]", 1}, {5, "[0 2 4 1 3]", 1}, {4, "[0 1 2 3]", 2}, {4, "[0 2 1 3]", 2}} {
				g := tf.NewGraph()
				all := kept(g, dir, c.n, compression).all()[0]
				s, err := session.New(g)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				v, err := s.Run(t.Context(), nil, all)
				if err != nil || fmt.Sprint(tf.Data[int64](v[0])) != c.want {
					t.Fatalf("%v (%v), want %s", v, err, c.want)
				}
				if runs, _ := filepath.Glob(filepath.Join(dir, "*", "*[0-9]")); len(runs) != c.runs {
					t.Errorf("there are %v, want %d", runs, c.runs)
				}
			}
			shards, _ := filepath.Glob(filepath.Join(dir, "*", "*", "00000001.shard"))
			readShards(t, shards[0], map[string]string{"AUTO": "SNAPPY"}[compression]+map[bool]string{true: compression}[compression != "AUTO"])
		})
	}
}

// readShards reads a shard of odd numbers in two ways.
func readShards(t *testing.T, dir, compression string) {
	g := tf.NewGraph()
	p := numbers(g, 0)
	whole, part := p, p
	pack := tf.Attr("compression", compression)
	whole.d = tf.Apply(g, "SnapshotChunkDataset", []tf.Output{ops.Scalar(g, filepath.Join(dir, "00000000.snapshot"))}, append(p.about(), pack)...).Output(0)
	part.d = tf.Apply(g, "SnapshotDatasetReader", []tf.Output{ops.Scalar(g, dir), ops.Scalar(g, int64(1))}, append(p.about(), pack, tf.Attr("version", 2))...).Output(0)
	names := pipe{types: []tf.DType{tf.String}, shapes: []tf.Shape{{}}}
	names.d = tf.Apply(g, "ListSnapshotChunksDataset", []tf.Output{ops.Scalar(g, filepath.Dir(dir))}, names.about()...).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Run(t.Context(), nil, whole.all()[0], part.all()[0])
	if err != nil {
		t.Fatal(err)
	}
	if all := tf.Data[int64](v[0]); all[0] != 1 || len(all) != len(tf.Data[int64](v[1]))+1 {
		t.Errorf("%v, from the second on %v", all, v[1])
	}
	chunks := filepath.Join(filepath.Dir(dir), "chunks")
	if err := os.Mkdir(chunks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(chunks, "chunk_0"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Run(t.Context(), nil, names.all()[0]); err != nil || tf.Data[string](v[0])[0] != filepath.Join(chunks, "chunk_0") {
		t.Error(v, err)
	}
}

// TestFirstSnapshots are of files of some size. An iterator that comes while another
// writes passes elements on.
func TestFirstSnapshots(t *testing.T) {
	dir := t.TempDir()
	g := tf.NewGraph()
	first := func(attrs ...tf.Option) pipe {
		return numbers(g, 100).then("SnapshotDataset", []tf.Output{ops.Scalar(g, dir)}, append(attrs, tf.Attr("shard_size_bytes", 200))...)
	}
	p := first()
	it, other := p.named("AnonymousIteratorV3"), first(tf.Attr("mode", "read"), tf.Attr("snapshot_name", "none")).all()[0]
	pass := p.next(it, p.started(it)).Output(0)
	all, again, mixed := first().all()[0], first(tf.Attr("mode", "read")).all()[0], first(tf.Attr("shuffle_on_read", true), tf.Attr("seed", 3)).all()[0]
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, other); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("what is not there is read: %v", err)
	}
	if _, err := s.Run(t.Context(), nil, pass); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Run(t.Context(), nil, all); err != nil || v[0].Len() != 100 {
		t.Fatal(v, err)
	}
	os.RemoveAll(dir)
	wants := []string{"in order", "in order", "mixed"}
	for i, x := range []tf.Output{all, again, mixed} {
		v, err := s.Run(t.Context(), nil, x)
		if err != nil || v[0].Len() != 100 {
			t.Fatal(v, err)
		}
		if inOrder := tf.Data[int64](v[0])[99] == 99; inOrder != (wants[i] == "in order") {
			t.Errorf("%d: %v, want it %s", i, v[0], wants[i])
		}
	}
}
