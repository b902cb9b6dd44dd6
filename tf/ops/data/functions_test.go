package data_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// function is a function of the graph of p's elements.
func (p pipe) function(name string, body func(x []tf.Output) []tf.Output) *tf.Function {
	args := make([]tf.ArgSpec, len(p.types))
	for i, d := range p.types {
		args[i] = tf.ArgSpec{DType: d, Shape: p.shapes[i]}
	}
	return tf.NewFunction(p.d.Graph(), name, args, body)
}

func init() {
	one := func(attr string, f *tf.Function) []author.Callee { return []author.Callee{{Attr: attr, F: f}} }
	// times multiplies by something from around it.
	times := func(p pipe) []author.Callee {
		ten := ops.Scalar(p.d.Graph(), int64(10))
		return one("f", p.function("times", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Mul(x[0], ten)} }))
	}
	// again makes a dataset of an element, some times over.
	again := func(p pipe) []author.Callee {
		two := ops.Scalar(p.d.Graph(), int64(2))
		return one("f", p.function("again", func(x []tf.Output) []tf.Output {
			q := slices(ops.ExpandDims(x[0], ops.Scalar(x[0].Graph(), int32(0))))
			return []tf.Output{q.then("RepeatDataset", []tf.Output{two}).d}
		}))
	}
	small := func(p pipe) []author.Callee {
		return one("predicate", p.function("small", func(x []tf.Output) []tf.Output {
			return []tf.Output{ops.Less(x[0], ops.Scalar(x[0].Graph(), int64(5)))}
		}))
	}
	sample := func(op string, fs func(p pipe) []author.Callee, last ...int64) optest.Sample {
		s := made(op, "", func(g *tf.Graph, x tf.Output) pipe {
			p := numbers(g, 8)
			return p.calling(op, fs(p), nil, ints(g, last...))
		})
		return s
	}
	optest.Add(
		sample("MapDataset", times), unlike(sample("ExperimentalMapDataset", times)),
		sample("ParallelFilterDataset", small, 2), sample("ExperimentalTakeWhileDataset", small), sample("LegacyParallelInterleaveDatasetV2", again, 3, 1, 2, 2),
		sample("ParallelMapDatasetV2", times, 3), sample("FilterDataset", small), sample("TakeWhileDataset", small),
		sample("FlatMapDataset", again), sample("InterleaveDataset", again, 3, 1), sample("ParallelInterleaveDatasetV2", again, 3, 1, 2),
		sample("ParallelInterleaveDatasetV3", again, 3, 2, 2), sample("ParallelInterleaveDatasetV4", again, 2, 1, 2, 2, 2),
		// It holds one more value than its function takes.
		made("MapDataset", "holding", func(g *tf.Graph, x tf.Output) pipe {
			return numbers(g, 8).calling("MapDataset", times(numbers(g, 8)), nil, ints(g, 7))
		}),
		made("ParallelMapDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			p := numbers(g, 8)
			return p.calling("ParallelMapDataset", times(p), nil, []tf.Output{ops.Scalar(g, int32(2))})
		}),
		scanned("ScanDataset"), scanned("ExperimentalScanDataset"), grouped("GroupByWindowDataset"), grouped("ExperimentalGroupByWindowDataset"),
		reduced("GroupByReducerDataset"), reduced("ExperimentalGroupByReducerDataset"), mapped("MapAndBatchDataset", times), mapped("ExperimentalMapAndBatchDataset", times),
		interleaved("ParallelInterleaveDataset", again), interleaved("ExperimentalParallelInterleaveDataset", again),
		optest.Sample{Op: "ReduceDataset", In: []*core.Tensor{optest.Vec[int64](5, 3)}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			p := slices(in[0])
			f := p.as([]tf.DType{tf.Int64, tf.Int64}, tf.Shape{}, tf.Shape{}).function("sum", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[1])} })
			return []tf.Output{author.CallLater("ReduceDataset", append([]tf.Output{p.d}, ints(g, 100)...), one("f", f), nil, append(p.about(), tf.Attr("Tstate", p.types))...).Output(0)}
		}},
		made("WindowDataset", "", func(g *tf.Graph, x tf.Output) pipe {
			p := numbers(g, 8)
			windows := p.as([]tf.DType{tf.Variant}, tf.Shape{}).then("WindowDataset", append(ints(g, 3, 2, 2), ops.Scalar(g, true)))
			f := windows.function("whole", func(x []tf.Output) []tf.Output { return []tf.Output{x[0]} })
			return windows.as(p.types, p.shapes...).calling("FlatMapDataset", one("f", f), nil, nil)
		}),
	)
}

// function1 is the one function of an op.
func function1(attr string, f *tf.Function) []author.Callee {
	return []author.Callee{{Attr: attr, F: f}}
}

// scanned is a sample of an op that has a state.
func scanned(op string) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 8)
		f := p.as([]tf.DType{tf.Int64, tf.Int64}, tf.Shape{}, tf.Shape{}).function("scan", func(x []tf.Output) []tf.Output {
			return []tf.Output{ops.Add(x[0], x[1]), ops.Mul(x[0], x[1])}
		})
		return p.calling(op, function1("f", f), ints(g, 1), nil, tf.Attr("Tstate", []tf.DType{tf.Int64}))
	})
}

// third is the key by which samples group.
func third(p pipe) *tf.Function {
	return p.function("key", func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.FloorMod(x[0], ops.Scalar(x[0].Graph(), int64(3)))}
	})
}

func grouped(op string) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 8)
		size := p.function("size", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Scalar(x[0].Graph(), int64(2))} })
		reduce := p.as([]tf.DType{tf.Int64, tf.Variant}, tf.Shape{}, tf.Shape{}).function("reduce", func(x []tf.Output) []tf.Output { return x[1:] })
		return p.calling(op, []author.Callee{{Attr: "key_func", F: third(p)}, {Attr: "reduce_func", F: reduce}, {Attr: "window_size_func", F: size}}, nil, nil)
	})
}

func reduced(op string) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 8)
		begin := p.function("init", func(x []tf.Output) []tf.Output {
			return []tf.Output{ops.Mul(x[0], ops.Scalar(x[0].Graph(), int64(100)))}
		})
		add := p.as([]tf.DType{tf.Int64, tf.Int64}, tf.Shape{}, tf.Shape{}).function("reduce", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[1])} })
		end := p.function("finalize", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Neg(x[0])} })
		return p.calling(op, []author.Callee{{Attr: "key_func", F: third(p)}, {Attr: "init_func", F: begin}, {Attr: "reduce_func", F: add}, {Attr: "finalize_func", F: end}}, nil, nil)
	})
}

func mapped(op string, f func(p pipe) []author.Callee) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 8)
		return p.of(tf.Shape{3}).calling(op, f(p), nil, append(ints(g, 3, 2), ops.Scalar(g, true)))
	})
}

func interleaved(op string, f func(p pipe) []author.Callee) optest.Sample {
	return made(op, "", func(g *tf.Graph, x tf.Output) pipe {
		p := numbers(g, 8)
		last := append(append(ints(g, 3, 1), ops.Scalar(g, false)), ints(g, 2, 2)...)
		return p.calling(op, f(p), nil, last)
	})
}

// TestDevicesInFunctions: an operation of a dataset's function that asks for a device
// that is not there runs elsewhere only with soft placement.
func TestDevicesInFunctions(t *testing.T) {
	for _, soft := range []bool{false, true} {
		g := tf.NewGraph()
		p := numbers(g, 6).mapped("elsewhere", nil, func(x []tf.Output) (y []tf.Output) {
			x[0].Graph().Device("/device:GPU:0", func() { y = more(x) })
			return y
		})
		start, next := p.iterator()
		s, err := session.New(g, session.With(session.Config{SoftPlacement: soft}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Run(t.Context(), nil, start); err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(t.Context(), nil, next)
		if refused := tf.CodeOf(err) == tf.InvalidArgument && strings.Contains(err.Error(), "Cannot assign a device"); soft != (err == nil) || soft == refused {
			t.Errorf("soft %v: %v", soft, err)
		}
	}
}
