package stage_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/stage"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func TestMain(m *testing.M) { leaktest.Main(m) }

// after makes ys wait for op.
func after(op *tf.Operation, ys ...tf.Output) []tf.Output {
	out := make([]tf.Output, len(ys))
	for i, y := range ys {
		out[i] = ops.Identity(y, tf.After(op))
	}
	return out
}

type function = func(g *tf.Graph, in []tf.Output) []tf.Output

var two = []*core.Tensor{optest.Vec[float32](1, 2), optest.Vec("a", "b")}

var twoTypes = []tf.DType{tf.Float32, tf.String}

func add(op, name string, f function, in ...*core.Tensor) {
	optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn})
}

// Every sample has an area of its own name: those of one session share them.
func init() {
	staged := func(name string, f func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output) function {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			o := stage.Opts{SharedName: name}
			return f(g, o, stage.Stage(in, o))
		}
	}
	add("Stage", "", staged("s", func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output {
		return stage.Unstage(g, twoTypes, o, tf.After(put))
	}), two...)
	add("Unstage", "", staged("u", func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output {
		return stage.Unstage(g, twoTypes, o, tf.After(put))
	}), two...)
	add("StagePeek", "", staged("p", func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output {
		seen := stage.StagePeek(ops.Scalar(g, int32(0)), twoTypes, o, tf.After(put))
		return append(seen, after(seen[0].Operation(), stage.StageSize(g, twoTypes, o, tf.After(seen[0].Operation())))...)
	}), two...)
	add("StageSize", "", staged("z", func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output {
		return []tf.Output{stage.StageSize(g, twoTypes, o, tf.After(put))}
	}), two...)
	add("StageClear", "", staged("c", func(g *tf.Graph, o stage.Opts, put *tf.Operation) []tf.Output {
		return []tf.Output{stage.StageSize(g, twoTypes, o, tf.After(stage.StageClear(g, twoTypes, o, tf.After(put))))}
	}), two...)
	optest.Add(
		optest.Failing("Stage", "memory", func(g *tf.Graph, in []tf.Output) []tf.Output {
			return after(stage.Stage(in, stage.Opts{SharedName: "m", MemoryLimit: 8}), in...)
		}, optest.Vec[float64](1, 2)),
		optest.Failing("StagePeek", "index", func(g *tf.Graph, in []tf.Output) []tf.Output {
			return stage.StagePeek(in[0], twoTypes)
		}, optest.Vec[int32](1, 2)),
		optest.Failing("Unstage", "count", func(g *tf.Graph, in []tf.Output) []tf.Output {
			o := stage.Opts{SharedName: "n"}
			return stage.Unstage(g, twoTypes, o, tf.After(stage.Stage(in, o)))
		}, two[0]),
	)
}

func init() {
	for _, k := range []stage.Kind{stage.Unordered, stage.Ordered} {
		mapSamples(k)
	}
}

func mapSamples(k stage.Kind) {
	all := func(g *tf.Graph) tf.Output { return ops.Const(g, []int32{0, 1}) }
	key := func(g *tf.Graph, v int64) tf.Output { return ops.Scalar(g, v) }
	// put is a sample in which there are the tuple of key 7 and half that of
	// key 9.
	put := func(op string, f func(g *tf.Graph, o stage.Opts, after tf.Option) []tf.Output) {
		name := string(k) + op
		add(name, "", func(g *tf.Graph, in []tf.Output) []tf.Output {
			o := stage.Opts{SharedName: name}
			whole := stage.MapStage(k, key(g, 7), all(g), in, twoTypes, o)
			half := stage.MapStage(k, key(g, 9), ops.Const(g, []int32{1}), in[1:], twoTypes, o)
			return f(g, o, tf.After(whole, half))
		}, two...)
	}
	put("Stage", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		rest := stage.MapStage(k, key(g, 9), ops.Const(g, []int32{0}), []tf.Output{ops.Const(g, []float32{5})}, twoTypes, o, done)
		return stage.MapUnstage(k, key(g, 9), all(g), twoTypes, o, tf.After(rest))
	})
	put("Unstage", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		return stage.MapUnstage(k, key(g, 7), all(g), twoTypes, o, done)
	})
	put("Peek", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		return stage.MapPeek(k, key(g, 7), all(g), twoTypes, o, done)
	})
	put("UnstageNoKey", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		key, values := stage.MapUnstageNoKey(k, all(g), twoTypes, o, done)
		return append(values, key)
	})
	put("Size", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		return []tf.Output{stage.MapSize(g, k, twoTypes, o, done)}
	})
	put("IncompleteSize", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		return []tf.Output{stage.MapIncompleteSize(g, k, twoTypes, o, done)}
	})
	put("Clear", func(g *tf.Graph, o stage.Opts, done tf.Option) []tf.Output {
		clear := tf.After(stage.MapClear(g, k, twoTypes, o, done))
		return []tf.Output{stage.MapSize(g, k, twoTypes, o, clear), stage.MapIncompleteSize(g, k, twoTypes, o, clear)}
	})
	fails := func(name string, key, indices *core.Tensor) {
		optest.Add(optest.Failing(string(k)+"Peek", name, func(g *tf.Graph, in []tf.Output) []tf.Output {
			o := stage.Opts{SharedName: "bad" + string(k)}
			put := stage.MapStage(k, ops.Scalar(g, int64(7)), ops.Const(g, []int32{0, 1}), []tf.Output{ops.Const(g, []float32{1}), ops.Const(g, []string{"a"})}, twoTypes, o)
			return stage.MapPeek(k, in[0], in[1], twoTypes, o, tf.After(put))
		}, key, indices))
	}
	fails("key", optest.Vec[int64](1, 2), optest.Vec[int32](0))
	fails("order", core.Scalar[int64](7), optest.Vec[int32](1, 0))
	fails("empty", core.Scalar[int64](7), optest.Vec[int32]())
	fails("bounds", core.Scalar[int64](7), optest.Vec[int32](0, 2))
}

func init() {
	const why = "references to strings are made by graphs"
	keys := optest.Vec("k1", "k2", "k3")
	// filled is a sample in which three tuples have their first component, and
	// two their second.
	filled := func(op string, f func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output) {
		optest.Add(optest.Sample{Op: op, In: []*core.Tensor{keys, optest.Seq(3, 2)}, Types: optest.OnlyOwn, GraphOnly: why, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			b := stage.Barrier(g, []tf.DType{tf.Float32, tf.String}, []tf.Shape{{2}, {}})
			first := stage.BarrierInsertMany(b, in[0], in[1], 0)
			second := stage.BarrierInsertMany(b, ops.Const(g, []string{"k3", "k1"}), ops.Const(g, []string{"x", "y"}), 1, tf.After(first))
			return f(g, b, tf.After(second))
		}})
	}
	takes := func(n int32, opts ...tf.Option) func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
		return func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
			indices, keys, values := stage.BarrierTakeMany(b, ops.Scalar(g, n), []tf.DType{tf.Float32, tf.String}, append(opts, done)...)
			return append([]tf.Output{indices, keys}, values...)
		}
	}
	filled("Barrier", takes(1))
	filled("BarrierInsertMany", takes(2))
	filled("BarrierTakeMany", func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
		closed := stage.BarrierClose(b, stage.CancelPendingEnqueues(true), done)
		return takes(5, stage.TakeOpts{AllowSmallBatch: true})(g, b, tf.After(closed))
	})
	filled("BarrierReadySize", func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
		return []tf.Output{stage.BarrierReadySize(b, done), stage.BarrierIncompleteSize(b, done)}
	})
	filled("BarrierIncompleteSize", func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
		return []tf.Output{stage.BarrierIncompleteSize(b, done)}
	})
	filled("BarrierClose", func(g *tf.Graph, b tf.Output, done tf.Option) []tf.Output {
		closed := tf.After(stage.BarrierClose(b, stage.CancelPendingEnqueues(true), done))
		return []tf.Output{stage.BarrierReadySize(b, closed), stage.BarrierIncompleteSize(b, closed)}
	})
	add("MutexV2", "", func(g *tf.Graph, in []tf.Output) []tf.Output { return after(stage.MutexV2(g).Operation(), in...) }, two[0])
	add("MutexLock", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		m := stage.MutexV2(g)
		first := stage.ConsumeMutexLock(stage.MutexLock(m))
		second := stage.MutexLock(m, tf.After(first))
		return after(stage.ConsumeMutexLock(second), in...)
	}, two[0])
	add("ConsumeMutexLock", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return after(stage.ConsumeMutexLock(stage.MutexLock(stage.MutexV2(g))), in...)
	}, two[0])
}
