package rowblocks_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/rowblocks"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// A head is the last layer of a language model: rows, words, and the loss of each row.
type head struct {
	g            *tf.Graph
	h, y         tf.Output // rows and the numbers of their words, both fed
	w, b         *tf.Variable
	logits, loss tf.Output
	fetches      []tf.Fetchable
}

func newHead(t *testing.T, rows, width, words int) *head {
	m := &head{g: tf.NewGraph()}
	m.h = ops.Placeholder(m.g, tf.Float32, tf.Shape{-1, width})
	m.y = ops.Placeholder(m.g, tf.Int32, tf.Shape{-1})
	h := ops.Reshape(ops.Tanh(m.h), []int{rows, width})
	m.w = tf.NewVariable(ops.RandomNormal(m.g, tf.Shape{width, words}, 0, 1, tf.Float32, ops.Seed(3)), tf.VariableOptions{})
	m.b = tf.NewVariable(ops.Const(m.g, make([]float32, words)), tf.VariableOptions{})
	m.logits = ops.BiasAdd(ops.MatMul(h, m.w.Value()), m.b.Value())
	m.loss = ops.SparseSoftmaxCrossEntropyWithLogits(m.y, m.logits).Mean()
	dx, err := tf.Gradients(m.loss, m.w.Value(), m.b.Value(), m.h)
	if err != nil {
		t.Fatal(err)
	}
	m.fetches = []tf.Fetchable{m.loss, dx[0], dx[1], dx[2]}
	return m
}

// feeds returns rows, and the numbers of words.
func (m *head) feeds(t *testing.T, rows, width int, y func(i int) int32) session.Feeds {
	x, words := make([]float32, rows*width), make([]int32, rows)
	for i := range x {
		x[i] = float32(i%17)/8 - 1
	}
	for i := range words {
		words[i] = y(i)
	}
	h, err := tf.FromSlice(x, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := tf.FromSlice(words)
	if err != nil {
		t.Fatal(err)
	}
	return session.Feeds{m.h: h, m.y: labels}
}

// run runs a step, and returns its results and what the session said of joined nodes.
func (m *head) run(t *testing.T, cfg session.Config, feeds session.Feeds) ([]*tf.Tensor, string, error) {
	t.Helper()
	var log strings.Builder
	cfg.LogFusion, cfg.Log = true, slog.NewTextHandler(&log, nil)
	s := opened(t, m.g, cfg)
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(m.g)); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	out, err := s.Run(t.Context(), feeds, m.fetches...)
	return out, log.String(), err
}

// TestLogits: a head's logits and their gradient are within one region, which gives the loss
// of each row and the gradients; without SaveMemory there is none.
func TestLogits(t *testing.T) {
	const rows, width, words = 200, 24, 3000
	m := newHead(t, rows, width, words)
	feeds := m.feeds(t, rows, width, func(i int) int32 { return int32(i * 7 % words) })
	want, log, err := m.run(t, session.Config{}, feeds)
	if err != nil || strings.Contains(log, "in blocks of rows") {
		t.Fatalf("%v, %s", err, log)
	}
	got, log, err := m.run(t, session.Config{SaveMemory: true}, feeds)
	if err != nil {
		t.Fatal(err)
	}
	_, region, found := strings.Cut(log, "in blocks of rows")
	region, _, _ = strings.Cut(region, "CPU")
	for _, op := range []string{"MatMul = MatMul", "BiasAdd = BiasAdd", "= SparseSoftmaxCrossEntropyWithLogits", "= BiasAddGrad", "MatMul_grad/MatMul = MatMul", "MatMul_grad/MatMul_1 = MatMul"} {
		if !found || !strings.Contains(region, op) {
			t.Errorf("no %q in blocks of rows:\n%s", op, log)
		}
	}
	for i := range want {
		if err := near(got[i], want[i]); err != nil {
			t.Errorf("value %d: %v", i, err)
		}
	}
}

// TestErrorsOfRows: an error of the first rows, and of inputs that do not fit, is that of a step
// without blocks. One of later rows, which are in the memory of an input, says which they are.
func TestErrorsOfRows(t *testing.T) {
	defer rowblocks.SmallBlocks(3)()
	const rows, width, words = 20, 4, 10
	m := newHead(t, rows, width, words)
	bad := func(at int) session.Feeds {
		return m.feeds(t, rows, width, func(i int) int32 { return map[bool]int32{true: 99, false: 1}[i == at] })
	}
	failed := func(cfg session.Config, feeds session.Feeds) string {
		cfg.DisabledPasses = append(cfg.DisabledPasses, "fusion")
		_, _, err := m.run(t, cfg, feeds)
		if err == nil {
			t.Fatal("a step ends without error")
		}
		return err.Error()
	}
	fewer := m.feeds(t, rows-1, width, func(int) int32 { return 2 })
	fewer[m.h] = bad(0)[m.h]
	for name, feeds := range map[string]session.Feeds{"first": bad(0), "fewer labels": fewer} {
		want := failed(session.Config{DisabledPasses: []string{"recomputation"}}, feeds)
		if got := failed(session.Config{SaveMemory: true}, feeds); got != want {
			t.Errorf("%s: %s\nwant %s", name, got, want)
		}
	}
	for at, which := range map[int]string{10: "rows 9:12 of 20", rows - 1: "rows 18:20 of 20"} {
		got := failed(session.Config{SaveMemory: true}, bad(at))
		if !strings.Contains(got, which) || !strings.Contains(got, "Received a label value of 99") {
			t.Errorf("label %d: %s, want %s", at, got, which)
		}
	}
}

// TestOtherRows: where a region turns out to have values of other sizes, its nodes run on all rows:
// a single row that is broadcast, and no rows.
func TestOtherRows(t *testing.T) {
	defer rowblocks.SmallBlocks(2)()
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float64, tf.Shape{-1, 3}), ops.Placeholder(g, tf.Float64, nil)
	w := ops.Reshape(ops.Const(g, []float64{1, 2, 3, 4, 5, 6}), []int{3, 2})
	z := ops.Sum(ops.Mul(ops.Tanh(ops.MatMul(x, w)), ops.Reshape(y, []int{-1, 1})), []int{1})
	for _, rows := range [][2]int{{7, 7}, {7, 1}, {1, 7}, {0, 0}, {0, 1}, {1, 1}} {
		feeds := session.Feeds{x: filled(t, rows[0], 3), y: filled(t, rows[1], 1)}
		var out []*tf.Tensor
		for _, cfg := range []session.Config{{DisabledPasses: []string{"recomputation"}}, {SaveMemory: true}} {
			got, err := opened(t, g, cfg).Run(t.Context(), feeds, z)
			if err != nil {
				t.Fatalf("%v: %v", rows, err)
			}
			out = append(out, got[0])
		}
		if a, b := tf.Data[float64](out[0]), tf.Data[float64](out[1]); !slices.Equal(a, b) {
			t.Errorf("rows %v: %v in blocks, want %v", rows, b, a)
		}
	}
}

func filled(t *testing.T, rows, width int) *tf.Tensor {
	v := make([]float64, rows*width)
	for i := range v {
		v[i] = float64(i%5) / 4
	}
	x, err := tf.FromSlice(v, rows, width)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestComputedAgain: what a gradient has computed again is computed within the region that the
// gradient is in.
func TestComputedAgain(t *testing.T) {
	defer rowblocks.SmallBlocks(4)()
	g := tf.NewGraph()
	x := ops.RandomUniform(g, []int{400, 30}, tf.Float32, ops.Seed(1))
	w, v := ops.RandomNormal(g, tf.Shape{30, 50}, 0, 1, tf.Float32, ops.Seed(2)), ops.RandomNormal(g, tf.Shape{50, 30}, 0, 1, tf.Float32, ops.Seed(2))
	h := ops.Tanh(ops.Sigmoid(ops.MatMul(x, w)))
	// Other rows keep the gradients out of the region of the forward pass.
	y := ops.Square(ops.Reshape(ops.MatMul(h, v), []int{30, 400}))
	dw, err := tf.Gradients(y.Sum(), w)
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, g, session.Config{SaveMemory: true, DisabledPasses: []string{"fusion"}})
	_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, dw[0])
	if err != nil {
		t.Fatal(err)
	}
	again, regions := 0, 0
	for name, n := range nodesOf(m) {
		if strings.HasPrefix(name, "Recomputed/") {
			again++
		}
		if n.GetOp() == "_RowBlocks" {
			regions++
		}
	}
	if regions == 0 || again > 0 {
		t.Errorf("%d regions, and %d nodes computed again outside of them", regions, again)
	}
}

// TestTriggers: what a gradient computes again of what comes before a region is computed after
// the region, not beside what it computes.
func TestTriggers(t *testing.T) {
	defer rowblocks.SmallBlocks(4)()
	g := tf.NewGraph()
	x := ops.RandomUniform(g, []int{400, 20}, tf.Float32, ops.Seed(1))
	a, v := ops.RandomNormal(g, tf.Shape{400, 400}, 0, 1, tf.Float32, ops.Seed(2)), ops.RandomNormal(g, tf.Shape{20, 200}, 0, 1, tf.Float32, ops.Seed(2))
	var h tf.Output
	g.Recompute(func() { h = ops.Square(ops.Tanh(ops.Sigmoid(x))) })
	h = ops.MatMul(a, h) // the gradient is a sum over rows, whose readers are outside
	y := ops.SparseSoftmaxCrossEntropyWithLogits(ops.ZerosLike(ops.Cast(ops.Sum(h, []int{1}), tf.Int32)), ops.MatMul(h, v))
	dw, err := tf.Gradients(y.Mean(), x, v)
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, g, session.Config{SaveMemory: true, DisabledPasses: []string{"fusion"}})
	_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, dw[0], dw[1])
	if err != nil {
		t.Fatal(err)
	}
	again := 0
	for name, n := range nodesOf(m) {
		if !strings.HasPrefix(name, "Recomputed/") {
			continue
		}
		again++
		if in := strings.Join(n.GetInput(), " "); !strings.Contains(in, "Recomputed/") && !strings.Contains(in, "/rows") {
			t.Errorf("%s reads %q, and waits for no region", name, in)
		}
	}
	if again == 0 {
		t.Error("nothing is computed again")
	}
}

// TestLate: what is only needed after a region, as the distinct numbers of words whose rows are
// updated, is computed after it.
func TestLate(t *testing.T) {
	const rows, width, words = 2000, 16, 2000
	m := newHead(t, rows, width, words)
	numbers, places := ops.Unique(m.y)
	sums := ops.UnsortedSegmentSum(m.fetches[3].(tf.Output), places, ops.Size(numbers))
	s := opened(t, m.g, session.Config{SaveMemory: true, DisabledPasses: []string{"fusion"}})
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(m.g)); err != nil {
		t.Fatal(err)
	}
	_, md, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, m.feeds(t, rows, width, func(i int) int32 { return int32(i % 9) }), m.loss, sums)
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range nodesOf(md) {
		if n.GetOp() == "Unique" && !slices.Contains(n.GetInput(), "^MatMul/rows") {
			t.Errorf("%s reads %q, and waits for no region", name, n.GetInput())
		}
	}
}

// nodesOf returns the nodes that have run in a step, by name.
func nodesOf(m *pb.RunMetadata) map[string]*pb.NodeDef {
	nodes := map[string]*pb.NodeDef{}
	for _, p := range m.GetPartitionGraphs() {
		for _, n := range p.GetNode() {
			nodes[n.GetName()] = n
		}
	}
	return nodes
}

// TestFedLater: in a step that a client feeds in parts a region does not wait for what is fed
// after something was fetched; where all that is fetched waits for all that is fed, it does.
func TestFedLater(t *testing.T) {
	defer rowblocks.SmallBlocks(4)()
	const rows, width, words = 30, 8, 50
	m := newHead(t, rows, width, words)
	best := ops.ArgMax(m.logits, 1)
	feeds := m.feeds(t, rows, width, func(i int) int32 { return int32(i) })
	for _, early := range []bool{false, true} {
		var log strings.Builder
		s := opened(t, m.g, session.Config{SaveMemory: true, LogFusion: true, Log: slog.NewTextHandler(&log, nil)})
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(m.g)); err != nil {
			t.Fatal(err)
		}
		want, err := s.Run(t.Context(), feeds, m.loss, m.fetches[1])
		if err != nil {
			t.Fatal(err)
		}
		dw := m.fetches[1].(tf.Output)
		fetches := []tf.Fetchable{m.loss, dw}
		if early {
			fetches = append(fetches, best)
		}
		log.Reset()
		p, err := s.PartialRun(t.Context(), []tf.Output{m.h, m.y}, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if whole := strings.Contains(log.String(), `\tSparseSoftmaxCrossEntropyWithLogits = `); whole == early {
			t.Errorf("early %v, and losses in blocks of rows %v", early, whole)
		}
		if early {
			if _, err := p.Run(t.Context(), session.Feeds{m.h: feeds[m.h]}, best); err != nil {
				t.Fatal(err)
			}
			delete(feeds, m.h)
		}
		got, err := p.Run(t.Context(), feeds, m.loss, dw)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if err := near(got[i], want[i]); err != nil {
				t.Errorf("early %v, value %d: %v", early, i, err)
			}
		}
	}
}
