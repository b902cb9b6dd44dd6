package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// largeSizes are the numbers of nodes of workload 19, about.
var largeSizes = []int{1_000, 10_000, 100_000, 1_000_000}

// largeShapes are the graphs of workload 19. Each gets a fed scalar and returns
// what is fetched and the value that it has for 1.
var largeShapes = []struct {
	name  string
	build func(g *tf.Graph, x tf.Output, n int) tf.Output
}{
	{"chain", chainGraph}, {"fan", fanGraph}, {"layers", layeredGraph}, {"constants", constantsGraph},
}

// largeGraphs is workload 19: what the first step costs, by size.
func largeGraphs(b *bench) {
	target := loopback()
	for _, shape := range largeShapes {
		for _, n := range largeSizes {
			n = b.steps(n)
			name := fmt.Sprintf("%s_%d", shape.name, n)
			g := tf.NewGraph()
			x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
			start := time.Now()
			y := shape.build(g, x, n)
			b.print(name+".build_s", round(time.Since(start).Seconds(), 4), "s", nil)
			for _, to := range []struct{ name, target string }{{"in_process", ""}, {"cluster", target}} {
				b.firstSteps(g, x, y, name+"."+to.name, to.target)
			}
		}
	}
}

// firstSteps opens a session and runs a step, and another one.
func (b *bench) firstSteps(g *tf.Graph, x, y tf.Output, name, target string) {
	feeds := session.Feeds{x: tf.Scalar(float32(1))}
	start := time.Now()
	s := must(session.New(g, session.Target(target), session.With(session.Config{Threads: b.threads})))
	got := must(session.Fetch[float32](context.Background(), s, feeds, y))
	first := time.Since(start)
	start = time.Now()
	must(session.Fetch[float32](context.Background(), s, feeds, y))
	second := time.Since(start)
	start = time.Now()
	if err := s.Close(); err != nil {
		fatal(err)
	}
	b.print(name+".first_step_s", round(first.Seconds(), 4), "s", nil)
	b.print(name+".next_step_s", round(second.Seconds(), 4), "s", nil)
	b.print(name+".close_s", round(time.Since(start).Seconds(), 4), "s", nil)
	b.check(name, float64(got[0]), nil)
}

// loopback starts a server that is a cluster by itself, reached by TCP.
func loopback() string {
	lis := must(net.Listen("tcp", "127.0.0.1:0"))
	c := cluster.Local(lis.Addr().String())
	c.Listener = lis
	s := must(cluster.NewServer(c))
	if err := s.Start(); err != nil {
		fatal(err)
	}
	return s.Target()
}

// chainGraph is n nodes one after the other.
func chainGraph(g *tf.Graph, x tf.Output, n int) tf.Output {
	for range n {
		x = ops.Sin(x)
	}
	return x
}

// fanGraph is n/2 nodes that read x, with a constant each, and one that waits for
// all of them.
func fanGraph(g *tf.Graph, x tf.Output, n int) tf.Output {
	all := make([]*tf.Operation, n/2)
	for i := range all {
		all[i] = ops.Mul(x, ops.Scalar(g, float32(i+2))).Operation()
	}
	return ops.Identity(x, tf.After(all...))
}

// layeredGraph is layers of 100 nodes, each the maximum of two of the layer before.
func layeredGraph(g *tf.Graph, x tf.Output, n int) tf.Output {
	const width = 100
	layer := make([]tf.Output, width)
	for i := range layer {
		layer[i] = ops.Mul(x, ops.Scalar(g, float32(i)))
	}
	h := uint32(1)
	pick := func(from []tf.Output) tf.Output {
		h = h*1664525 + 1013904223
		return from[h>>16%width]
	}
	for made := 2 * width; made < n; made += width {
		next := make([]tf.Output, width)
		for i := range next {
			next[i] = ops.Maximum(pick(layer), pick(layer))
		}
		layer = next
	}
	return ops.AddN(layer)
}

// constantsGraph is n nodes one after the other, all of which can be computed in
// advance.
func constantsGraph(g *tf.Graph, x tf.Output, n int) tf.Output {
	y := ops.Scalar(g, float32(1))
	for range n {
		y = ops.Neg(y)
	}
	return ops.Mul(x, y)
}
