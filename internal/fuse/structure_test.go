package fuse_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

func vector(v ...float32) *tf.Tensor {
	t, err := tf.FromSlice(v)
	if err != nil {
		panic(err)
	}
	return t
}

// explain runs a graph once and returns what a session logs of its fusion.
func explain(t *testing.T, g *tf.Graph, feeds session.Feeds, fetches ...tf.Fetchable) string {
	t.Helper()
	var log bytes.Buffer
	s, err := session.New(g, session.With(session.Config{Threads: 1, LogFusion: true, Log: slog.NewTextHandler(&log, nil), Devices: map[string]int{"CPU": 2}}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(context.Background(), feeds, fetches...); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// TestWhatIsFused: the log names the operations that run as one, and says why others
// do not.
func TestWhatIsFused(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1}, tf.Name("x"))
	y := ops.Relu(ops.AddV2(ops.Neg(x, tf.Name("n")), x, tf.Name("a")), tf.Name("r"))
	sum := ops.Sum(y, []int{0}, tf.Name("s"))
	z := ops.Mul(ops.Square(y, tf.Name("q")), ops.Exp(sum, tf.Name("e")), tf.Name("z"))
	text := explain(t, g, session.Feeds{x: vector(1, -2, 3)}, z)
	for _, want := range []string{"r/fused: 3 nodes", "n = Neg", "a = AddV2", "r = Relu", "z/fused: 2 nodes", "q = Square", "z = Mul", "not fused: e = Exp", "size unknown: that of its rows", "their shapes differ"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log says nothing of %q:\n%s", want, text)
		}
	}
}

// TestErrors: what does not fit at run time is told as without fusion.
func TestErrors(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, nil), ops.Placeholder(g, tf.Float32, nil)
	c := ops.Placeholder(g, tf.Bool, nil)
	sum := ops.Relu(ops.AddV2(ops.Neg(x), y))
	grad := ops.ReluGrad(ops.Neg(x), y).Square()
	chosen := ops.Neg(ops.Select(c, ops.Neg(x), y))
	clipped := ops.ClipByValue(ops.Neg(x), y, y).Square()
	biased := ops.BiasAdd(ops.Neg(x), y).Square()
	feeds := session.Feeds{x: vector(1, 2, 3), y: vector(1, 2), c: must(tf.FromSlice([]bool{true, false, true}))}
	for _, z := range []tf.Output{sum, grad, chosen, clipped, biased} {
		compare(t, g, feeds, []tf.Fetchable{z})
	}
	s := must(session.New(g))
	defer s.Close()
	if _, err := s.Run(context.Background(), feeds, sum); err == nil || !strings.Contains(err.Error(), `AddV2 "AddV2"(float32[3], float32[2]): Incompatible shapes: [3] vs. [2]`) {
		t.Errorf("got %v", err)
	}
}

// TestOrigins: nodes that run as one are from the function that the last of them is from.
func TestOrigins(t *testing.T) {
	g := must(graphtext.Parse(`a = Placeholder[dtype=float32, shape=[2, 2]] @/device:CPU:0
		m = MatMul(a, a) @/device:CPU:0
		s = AddV2(m, a) @/device:CPU:0
		n = Neg(a) @/device:CPU:0
		e = Exp(n) @/device:CPU:0
		x = MatMul(s, e) @/device:CPU:0`))
	for _, n := range g.Nodes {
		n.Shapes = []core.Shape{{2, 2}}
		n.SetOrigin(core.Origin{Function: "f", Node: n.Name})
	}
	if _, err := fuse.Fuse(g, fuse.Options{Kernel: func(n *graph.Node) core.Kernel {
		return must(must(core.FindKernel("CPU", &n.Node))(&n.Node))
	}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s", "e"} {
		if n := g.Node(name + "/fused"); n == nil || n.Origin() != (core.Origin{Function: "f", Node: name}) {
			t.Errorf("%s/fused: got %v", name, n)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// gates is a chain of elementwise operations.
func gates(x, y tf.Output) tf.Output {
	return ops.Tanh(ops.AddV2(ops.Mul(ops.Sigmoid(x), y), ops.Neg(x)))
}

// TestControlFlow: in branches and loops, and between them.
func TestControlFlow(t *testing.T) {
	for _, taken := range []bool{false, true} {
		g := tf.NewGraph()
		x, p := ops.Placeholder(g, tf.Float32, tf.Shape{-1}), ops.Placeholder(g, tf.Bool, tf.Shape{})
		before := gates(x, x)
		c := tf.Cond(p, func() []tf.Output { return []tf.Output{gates(x, before), ops.Neg(ops.Exp(x))} },
			func() []tf.Output { return []tf.Output{gates(before, x), ops.Square(ops.Neg(x))} })
		mixed := gates(ops.AddV2(c[0], c[1]), before)
		w := tf.While([]tf.Output{ops.Scalar[int32](g, 0), mixed, x}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar[int32](g, 4)) },
			func(v []tf.Output) []tf.Output {
				h := gates(v[1], x)
				inner := tf.Cond(p, func() []tf.Output { return []tf.Output{gates(h, v[2])} }, func() []tf.Output { return []tf.Output{ops.Neg(ops.Neg(ops.Exp(h)))} })
				return []tf.Output{ops.AddV2(v[0], ops.Scalar[int32](g, 1)), ops.AddV2(gates(h, inner[0]), h), gates(v[2], h)}
			})
		out := gates(w[1], w[2])
		dx := must(tf.Gradients(out, x))
		compare(t, g, session.Feeds{x: vector(0.5, -2, 3), p: (*tf.Tensor)(core.Scalar(taken))}, []tf.Fetchable{out, mixed, w[1], dx[0]})
	}
}

// TestFunctions: bodies of functions are fused, too.
func TestFunctions(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float32}, {DType: tf.Float32}}, func(in []tf.Output) []tf.Output {
		return []tf.Output{gates(in[0], in[1]), ops.Neg(ops.Neg(ops.Exp(in[0])))}
	})
	y := f.Call([]tf.Output{gates(x, x), x})
	z := f.Call(y)
	dx := must(tf.Gradients(z[0], x))
	compare(t, g, session.Feeds{x: vector(0.5, -2, 3)}, []tf.Fetchable{z[0], z[1], y[1], dx[0]})
}

// TestValuesThatComeBack: a cluster that waited for what another device computes from
// one of its nodes, or for a queue that one of its nodes fills, would wait for ever.
func TestValuesThatComeBack(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	a := ops.Neg(ops.Exp(x))
	there := ops.Square(a, tf.OnDevice("/device:CPU:1"))
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Capacity: 2})
	fill := q.Enqueue([]tf.Output{ops.Tanh(a)})
	back := ops.AddV2(ops.AddV2(ops.Relu(a), there), ops.Sigmoid(a))
	out := ops.Neg(ops.Mul(back, q.Dequeue()[0]))
	text := explain(t, g, session.Feeds{x: vector(1, 2, 3)}, out, fill)
	if n := strings.Count(text, "/fused: "); n < 2 {
		t.Errorf("want at least two clusters, got\n%s", text)
	}
}

// TestPieces: a value that is fed may follow from one that was fetched in the same run.
func TestPieces(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{-1}), ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	a := ops.Neg(ops.Exp(x))
	b := ops.Tanh(ops.Mul(ops.Square(a), y))
	s := must(session.New(g))
	defer s.Close()
	p := must(s.PartialRun(context.Background(), []tf.Output{x, y}, a, b))
	defer p.Close()
	first := must(p.Run(context.Background(), session.Feeds{x: vector(1, 2)}, a))
	if _, err := p.Run(context.Background(), session.Feeds{y: first[0]}, b); err != nil {
		t.Fatal(err)
	}
}

// TestOnWorkers: a worker fuses its part of a graph, with equal bits.
func TestOnWorkers(t *testing.T) {
	server := must(cluster.NewServer(cluster.Local("127.0.0.1:0")))
	defer server.Stop()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		p := newProgram(seed+500, true)
		run := func(c session.Config, o ...session.Option) []*tf.Tensor {
			s := must(session.New(p.g, append(o, session.With(c))...))
			defer s.Close()
			return must(s.Run(context.Background(), p.feeds, p.floats[len(p.floats)-1]))
		}
		want := run(session.Config{Threads: 1, DisabledPasses: []string{"fusion"}})
		if got := run(session.Config{Target: server.Target()}); differ(got[0], want[0]) != "" {
			t.Errorf("seed %d: %s", seed, differ(got[0], want[0]))
		}
	}
}

// TestShapesChange: one session runs a program with ever new shapes, and again with
// old ones.
func TestShapesChange(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, nil), ops.Placeholder(g, tf.Float32, nil)
	z := ops.AddV2(gates(x, y), ops.Square(y))
	plain, fused := open(t, g)
	for i := range 200 {
		m, n := 1+i%7, 1+i*13%90
		shapes := [][2]tf.Shape{{{m, n}, {n}}, {{m, 1}, {n}}, {{m, n}, {}}, {{n}, {m, n}}, {{0, n}, {n}}}[i%5]
		feeds := session.Feeds{x: ramp(shapes[0]), y: ramp(shapes[1])}
		want := must(plain.Run(context.Background(), feeds, z))
		for _, s := range fused {
			if why := differ(must(s.Run(context.Background(), feeds, z))[0], want[0]); why != "" {
				t.Fatalf("%v: %s", shapes, why)
			}
		}
	}
}

func ramp(s tf.Shape) *tf.Tensor {
	t := core.NewTensor(tf.Float32, s)
	for i := range core.Data[float32](t) {
		core.Data[float32](t)[i] = float32(i%17) - 8
	}
	return (*tf.Tensor)(t)
}

// TestSwitches: each of the switches keeps nodes as they are.
func TestSwitches(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1})
	y := ops.Neg(ops.Exp(x))
	for _, disabled := range [][]string{nil, {"fusion"}, {"all"}} {
		s := must(session.New(g, session.With(session.Config{DisabledPasses: disabled})))
		_, m, err := s.RunWithOptions(context.Background(), session.RunOptions{PartitionGraphs: true}, session.Feeds{x: vector(1)}, y)
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range m.GetPartitionGraphs() {
			for _, n := range p.GetNode() {
				names = append(names, n.GetOp())
			}
		}
		if got := slices.Contains(names, "_Fused"); got != (disabled == nil) {
			t.Errorf("without %v: %v", disabled, names)
		}
	}
}
