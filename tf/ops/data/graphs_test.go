package data_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// written is the graph of a dataset.
func (p pipe) written(op string, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, op, []tf.Output{p.d}, opts...).Output(0)
}

// read is a dataset with p's elements of a graph.
func (p pipe) read(text tf.Output) pipe {
	p.d = tf.Apply(nil, "DatasetFromGraph", []tf.Output{text}).Output(0)
	return p
}

// squared is a dataset that calls a function.
func squared(x tf.Output) pipe {
	p := slices(x)
	f := p.function("square", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Mul(x[0], x[0])} })
	return p.calling("MapDataset", function1("f", f), nil, nil)
}

// random is a dataset that calls a function with state of its own.
func random(x tf.Output) pipe {
	p := slices(x)
	f := p.function("random", func(x []tf.Output) []tf.Output {
		g := x[0].Graph()
		shape := ops.Const(g, []int32{})
		return []tf.Output{tf.Apply(nil, "RandomUniformInt", []tf.Output{shape, ops.Scalar(g, int64(0)), ops.Scalar(g, int64(9))}, tf.Attr("T", tf.Int32)).Output(0)}
	})
	return p.calling("MapDataset", function1("f", f), nil, nil)
}

func init() {
	for _, op := range []string{"DatasetToGraph", "DatasetToGraphV2"} {
		optest.Add(made(op, "", func(_ *tf.Graph, x tf.Output) pipe {
			p := squared(x)
			return p.read(p.written(op, tf.Attr("strip_device_assignment", true)))
		}))
	}
	optest.Add(
		made("DatasetFromGraph", "", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x).then("ShuffleDataset", ints(g, 4, 1, 2)).then("RepeatDataset", ints(g, 2))
			return p.read(p.written("DatasetToGraphV2"))
		}),
		made("DatasetFromGraph", "two", func(g *tf.Graph, x tf.Output) pipe {
			p := slices(x)
			p = p.then("ConcatenateDataset", []tf.Output{p.d})
			return p.read(p.written("DatasetToGraphV2"))
		}),
		broken("DatasetFromGraph", "text", func(g *tf.Graph, x tf.Output) pipe { return slices(x).read(ops.Scalar(g, "no graph")) }),
		optest.Failing("DatasetToGraphV2", "state", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{random(in[0]).written("DatasetToGraphV2", tf.Attr("external_state_policy", 2))}
		}, optest.Vec[int64](5, 3)),
		optest.Failing("DatasetToGraph", "state", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{random(in[0]).written("DatasetToGraph")}
		}, optest.Vec[int64](5, 3)),
		optest.Failing("DatasetToGraphV2", "nothing", func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{pipe{d: ops.EmptyTensorList(ops.Const(g, []int32{}), ops.Scalar(g, int32(1)), tf.Int64)}.written("DatasetToGraphV2")}
		}, optest.Vec[int64](5, 3)),
		optest.Sample{Op: "DatasetFingerprint", In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			print := func(p pipe) tf.Output { return p.written("DatasetFingerprint") }
			a, b, c := print(squared(in[0])), print(squared(in[0])), print(squared(ops.Add(in[0], in[0])))
			as := func(x tf.Output) tf.Output {
				return tf.Apply(nil, "Bitcast", []tf.Output{x}, tf.Attr("type", tf.Int64)).Output(0)
			}
			return []tf.Output{ops.Equal(as(a), as(b)), ops.Equal(as(a), as(c))}
		}},
		optest.Sample{Op: "GetOptions", In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0]).then("OptionsDataset", nil, tf.Attr("serialized_options", "\x08\x01")).then("RepeatDataset", ints(g, 2))
			return []tf.Output{p.written("GetOptions"), slices(in[0]).written("GetOptions")}
		}},
		optest.Sample{Op: "ComputeBatchSize", In: []*core.Tensor{optest.Vec[int64](5, 3, 2)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{pairs(g, in[0]).then("PrefetchDataset", ints(g, 2)).written("ComputeBatchSize"), slices(in[0]).written("ComputeBatchSize")}
		}},
		made("WrapDatasetVariant", "", wrapped), made("UnwrapDatasetVariant", "", wrapped),
		broken("UnwrapDatasetVariant", "plain", func(_ *tf.Graph, x tf.Output) pipe {
			p := slices(x)
			p.d = p.written("UnwrapDatasetVariant")
			return p
		}),
	)
}

func wrapped(_ *tf.Graph, x tf.Output) pipe {
	p := slices(x)
	p.d = p.written("WrapDatasetVariant")
	p.d = p.written("UnwrapDatasetVariant")
	return p
}

// TestExternalState: whether an iterator can be saved whose dataset calls what
// has a state of its own is for the node to say.
func TestExternalState(t *testing.T) {
	g := tf.NewGraph()
	p := random(ops.Const(g, []int64{1, 2}))
	it := p.named("IteratorV2")
	start := p.started(it)
	saved := map[int]*tf.Operation{}
	for policy := range 4 {
		saved[policy] = tf.Apply(nil, "SerializeIterator", []tf.Output{it}, tf.Attr("external_state_policy", policy))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	for policy, want := range []tf.Code{tf.OK, tf.OK, tf.FailedPrecondition, tf.InvalidArgument} {
		if _, err := s.Run(t.Context(), nil, saved[policy]); tf.CodeOf(err) != want {
			t.Errorf("policy %d: %v, want %v", policy, err, want)
		}
	}
}

// TestBatchSizes: of several datasets the batches must be alike.
func TestBatchSizes(t *testing.T) {
	g := tf.NewGraph()
	p := pairs(g, ops.Const(g, []int64{5, 3, 2}))
	other := slices(ops.Const(g, []int64{5, 3, 2})).of(tf.Shape{-1}).then("BatchDatasetV2", append(ints(g, 3), ops.Scalar(g, false)))
	alike := p.then("ConcatenateDataset", []tf.Output{p.d}).written("ComputeBatchSize")
	unlike := p.then("ConcatenateDataset", []tf.Output{other.d}).written("ComputeBatchSize")
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v, err := s.Run(t.Context(), nil, alike, unlike)
	if err != nil || tf.Data[int64](v[0])[0] != 2 || tf.Data[int64](v[1])[0] != -1 {
		t.Error(v, err)
	}
}

// TestBrokenGraphs: what no graph of a dataset is gives errors.
func TestBrokenGraphs(t *testing.T) {
	constant := func(name string, in ...string) []byte { return node(name, "Identity", in...) }
	for name, text := range map[string][]byte{
		"empty":   nil,
		"cycle":   join(constant("a", "b"), constant("b", "a"), node("dataset", "_Retval", "a")),
		"missing": join(node("dataset", "_Retval", "a")),
		"output":  join(constant("a", "a:x"), node("dataset", "_Retval", "a:-1")),
		"op":      join(node("a", "NoSuchOp"), node("dataset", "_Retval", "a")),
		"inputs":  join(node("a", "RangeDataset"), node("dataset", "_Retval", "a")),
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph()
			d := tf.Apply(g, "DatasetFromGraph", []tf.Output{ops.Scalar(g, string(text))})
			s, err := session.New(g)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Run(t.Context(), nil, d); err == nil {
				t.Error("it is read")
			}
		})
	}
}
