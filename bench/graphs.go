package main

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

var ctx = context.Background()

// open returns a session with the given number of threads; asWritten switches
// all optimization off, so that each node runs.
func (b *bench) open(g *tf.Graph, asWritten bool) *session.Session {
	cfg := session.Config{Threads: b.threads, SaveMemory: b.saveMemory}
	if asWritten {
		cfg.DisabledPasses = []string{"all"}
	}
	return must(session.New(g, session.With(cfg)))
}

// nullOp is workload 1: what a node costs that does next to nothing.
func nullOp(b *bench) {
	graphs := []struct {
		name  string
		build func(g *tf.Graph, x, y tf.Output) tf.Output
	}{
		{"noop_fanout_1000", noopFanout}, {"identity_chain_1000", identityChain}, {"add_chain_1000", addChain},
		{"add_fanout_1000", addFanout}, {"add_8_chains_125", addLanes},
	}
	for _, gr := range graphs {
		for _, mode := range []string{"as_written_inline", "default"} {
			g := tf.NewGraph()
			x, y := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
			out := gr.build(g, x, y)
			s := b.open(g, mode != "default")
			c := must(s.MakeCallable([]tf.Output{x, y}, out))
			one, half := tf.Scalar(float32(1)), tf.Scalar(float32(0.5))
			run := func() *tf.Tensor { return must(c.Run(ctx, one, half))[0] }
			if mode != "default" {
				b.check(gr.name+".result", float64(tf.Data[float32](run())[0]), nil)
			}
			for range 50 {
				run()
			}
			t := b.best(b.steps(300), b.repeat, func() { run() })
			b.emit(fmt.Sprintf("%s.%s.ns_per_op", gr.name, mode), t*1e9/1000, "ns")
			s.Close()
		}
	}
}

func noopFanout(g *tf.Graph, x, y tf.Output) (out tf.Output) {
	var all []*tf.Operation
	for range 1000 {
		all = append(all, tf.Group(g, "NoOp", x.Operation()))
	}
	g.ControlDependencies(all, func() { out = ops.Identity(y) })
	return out
}

func identityChain(_ *tf.Graph, x, _ tf.Output) tf.Output {
	for range 1000 {
		x = ops.Identity(x)
	}
	return x
}

func addChain(_ *tf.Graph, x, y tf.Output) tf.Output {
	for range 1000 {
		x = ops.AddV2(x, y)
	}
	return x
}

func addFanout(_ *tf.Graph, x, y tf.Output) tf.Output {
	var all []tf.Output
	for range 1000 {
		all = append(all, ops.AddV2(x, y))
	}
	return ops.AddN(all)
}

func addLanes(_ *tf.Graph, x, y tf.Output) tf.Output {
	lanes := []tf.Output{x, x, x, x, x, x, x, x}
	for range 125 {
		for i := range lanes {
			lanes[i] = ops.AddV2(lanes[i], y)
		}
	}
	return ops.AddN(lanes)
}

// latency is workload 2: one call, slice in, slice out.
func latency(b *bench) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	s := b.open(g, false)
	out := ops.Identity(x)
	b.check("identity.result", float64(must(session.Fetch[float32](ctx, s, session.Feeds{x: tf.Scalar(float32(3))}, out))[0]), nil)
	b.ways("identity", 500, s, x, tf.Scalar(float32(3)), out)
	s.Close()

	g = tf.NewGraph()
	x = ops.Placeholder(g, tf.Float32, tf.Shape{1, 784})
	m := &mlp{g: g}
	p := ops.Softmax(m.dense(ops.Relu(m.dense(x, 784, 128)), 128, 10))
	s = b.open(g, false)
	defer s.Close()
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	v := tensor(positive(1001, 784), 1, 784)
	b.check("mlp_b1.p0", float64(must(session.Fetch[float32](ctx, s, session.Feeds{x: v}, p))[0]), nil)
	b.ways("mlp_b1", 500, s, x, v, p)
}

// ways measures one call by each way that the API has.
func (b *bench) ways(name string, calls int, s *session.Session, x tf.Output, v *tf.Tensor, out tf.Output) {
	n := b.steps(calls)
	measure := func(way string, f func()) {
		for range max(20, n/5) {
			f()
		}
		b.emit(fmt.Sprintf("%s.%s.us", name, way), b.best(n, b.repeat, f)*1e6, "us")
	}
	measure("run", func() { must(session.Fetch[float32](ctx, s, session.Feeds{x: v}, out)) })
	c := must(s.MakeCallable([]tf.Output{x}, out))
	call := func() { must(c.Run(ctx, v)) }
	measure("make_callable", call)
	measure("run_callable", call)
	measure("run_callable_inline", call) // the executor always works in the calling goroutine
}
