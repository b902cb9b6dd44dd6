package rowblocks_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/rowblocks"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// seeds is how many networks are drawn; fewer under the race detector, which takes ten times as long.
var seeds = map[bool]int{false: 150, true: 20}[invariants.Enabled]

func TestMain(m *testing.M) { leaktest.Main(m) }

// A network is one drawn at random, most of which computes row by row.
type network struct {
	*rand.Rand
	*testing.T
	g      *tf.Graph
	d      tf.DType
	rows   int
	none   int // 1: some values have rows of no elements
	flag   tf.Output
	in     tf.Output // [rows, width]
	labels tf.Output // [rows], below 4
	past   []tf.Output
	width  []int // of each of past
	vars   []*tf.Variable
}

func newNetwork(t *testing.T, seed uint64) *network {
	p := &network{T: t, Rand: rand.New(rand.NewPCG(seed, 5)), g: tf.NewGraph(), d: tf.Float64}
	if seed%3 == 0 {
		p.d = tf.Float32
	}
	p.rows = 2 + p.IntN(40)
	if seed%10 == 9 {
		p.none = 1
	}
	known := p.rows
	if seed%4 == 1 {
		known = -1
	}
	width := 1 + p.IntN(9)
	p.flag = ops.Placeholder(p.g, tf.Bool, tf.Shape{}, tf.Name("flag"))
	p.in = ops.Placeholder(p.g, p.d, tf.Shape{known, width}, tf.Name("in"))
	p.labels = ops.Placeholder(p.g, tf.Int32, tf.Shape{known}, tf.Name("labels"))
	x := p.in
	if known > 0 { // what is fed has no shape once the graph is cut at the feeds
		x = ops.EnsureShape(x, tf.Shape{known, width})
	}
	p.add(x, width)
	for range 3 + p.IntN(12) {
		p.layer()
	}
	return p
}

func (p *network) add(x tf.Output, width int) {
	p.past, p.width = append(p.past, x), append(p.width, width)
}

func (p *network) variable(s ...int) tf.Output {
	v := tf.NewVariable(ops.RandomNormal(p.g, s, 0, 0.7, p.d, ops.Seed(int64(len(p.vars)))), tf.VariableOptions{})
	p.vars = append(p.vars, v)
	return v.Value()
}

// any returns a value, the last ones more often.
func (p *network) any() (tf.Output, int) {
	i := len(p.past) - 1 - min(p.IntN(len(p.past)), p.IntN(len(p.past)))
	return p.past[i], p.width[i]
}

func (p *network) scalar(v float64) tf.Output { return ops.Cast(ops.Scalar(p.g, v), p.d) }

// layer adds a value with as many rows.
func (p *network) layer() {
	x, w := p.any()
	switch p.IntN(23) {
	case 0, 1, 2:
		n := 1 + p.IntN(12)
		p.add(ops.BiasAdd(ops.MatMul(x, p.variable(w, n)), p.variable(n)), n)
	case 3:
		n := 1 + p.IntN(6)
		p.add(ops.MatMul(x, p.variable(n, w), ops.MatMulOpts{TransposeB: true}), n)
	case 4:
		p.add(ops.Tanh(x), w)
	case 5:
		p.add(ops.Relu(ops.AddV2(x, p.variable(w))), w)
	case 6:
		y, n := p.any()
		p.add(ops.Concat(1, []tf.Output{x, y}), w+n)
	case 7:
		at := p.IntN(w + p.none)
		n := 1 - p.none + p.IntN(w-at+p.none)
		p.add(ops.Slice(x, []int{0, at}, []int{-1, n}), n)
	case 8:
		p.add(ops.Reshape(ops.Sigmoid(ops.Reshape(x, []int{-1, w, 1})), []int{-1, w}), w)
	case 9:
		p.add(ops.Softmax(x), w)
	case 10:
		p.add(ops.Sub(x, ops.Mean(x, []int{1}, ops.ReduceOpts{KeepDims: true})), w)
	case 11:
		y, _ := p.any()
		p.add(ops.Mul(x, ops.Sum(y, []int{1}, ops.ReduceOpts{KeepDims: true})), w)
	case 12: // over the rows: what follows is no region's any more
		p.add(ops.Sub(x, ops.Mean(x, []int{0}, ops.ReduceOpts{KeepDims: true})), w)
	case 13:
		v := p.variable(w, w)
		p.add(tf.Cond(p.flag, func() []tf.Output { return []tf.Output{ops.Sigmoid(ops.MatMul(x, v))} },
			func() []tf.Output { return []tf.Output{ops.Sin(ops.Neg(x))} })[0], w)
	case 14:
		y := ops.Tile(x, []int{1, 2})
		p.g.ControlDependencies([]*tf.Operation{y.Operation()}, func() { p.add(ops.Exp(ops.Mul(ops.Tanh(y), p.scalar(0.5))), 2*w) })
	case 15:
		p.add(ops.Transpose(ops.Cos(ops.Transpose(x, []int{1, 0})), []int{1, 0}), w)
	default:
		p.otherLayer(x, w)
	}
}

// otherLayer adds a value that takes more of others.
func (p *network) otherLayer(x tf.Output, w int) {
	y, n := p.any()
	switch p.IntN(7) {
	case 0: // each row attends to all rows
		p.add(ops.MatMul(ops.Softmax(ops.MatMul(ops.MatMul(x, p.variable(w, n)), y, ops.MatMulOpts{TransposeB: true})), y), n)
	case 1: // a vector chooses rows
		p.add(ops.Select(ops.Greater(ops.Sum(y, []int{-1}), p.scalar(0.1)), ops.Sin(x), ops.Neg(x)), w)
	case 2:
		both := ops.Tuple([]tf.Output{ops.Tanh(x), ops.Exp(ops.Tanh(y))})
		p.add(both[0], w)
		p.add(both[1], n)
	case 3:
		p.add(ops.AddN([]tf.Output{ops.OnesLike(x), ops.Sigmoid(x), x}), w)
	case 4:
		p.add(ops.Sum(ops.Mul(ops.ExpandDims(x, -1), ops.ExpandDims(ops.Sigmoid(y), 1)), []int{-1}), w)
	case 5:
		for _, z := range ops.Split(ops.Concat(-1, []tf.Output{x, ops.Neg(x)}), 2, -1) {
			p.add(z, w)
		}
	case 6:
		rows := ops.StridedSlice(ops.Shape(y), []int{0}, []int{1}, []int{1})
		p.add(ops.Abs(ops.Reshape(x, ops.Concat(0, []tf.Output{rows, ops.Const(p.g, []int32{int32(w)})}))), w)
	}
}

// fetches returns losses, gradients, and some values from within.
func (p *network) fetches() (out []tf.Fetchable) {
	x, w := p.past[len(p.past)-1], p.width[len(p.width)-1]
	logits := ops.MatMul(x, p.variable(w, 4))
	losses := ops.SparseSoftmaxCrossEntropyWithLogits(p.labels, logits)
	loss := losses.Mean()
	var values []tf.Output
	for _, v := range p.vars {
		values = append(values, v.Value())
	}
	gradients, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{loss}, Xs: append(values, p.in)})
	if err != nil {
		p.Fatal(err)
	}
	out = append(out, loss)
	for i, d := range gradients {
		if d.IsZero() { // the loss does not depend on it
			continue
		}
		dv := d.Output()
		out = append(out, dv)
		if i < len(p.vars) && p.IntN(3) > 0 {
			out = append(out, p.vars[i].AssignSub(ops.Mul(dv, p.scalar(0.01))))
		}
	}
	for range p.IntN(3) {
		y, _ := p.any()
		out = append(out, y)
	}
	if err := p.g.Err(); err != nil {
		p.Fatal(err)
	}
	return out
}

// feeds returns the same ones for the same network.
func (p *network) feeds(flag bool) session.Feeds {
	r := rand.New(rand.NewPCG(uint64(p.rows), 7))
	x, labels := make([]float64, p.rows*p.width[0]), make([]int32, p.rows)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	for i := range labels {
		labels[i] = r.Int32N(4)
	}
	in, err := tf.FromSlice(x, p.rows, p.width[0])
	if err != nil {
		p.Fatal(err)
	}
	l, err := tf.FromSlice(labels)
	if err != nil {
		p.Fatal(err)
	}
	f := session.Feeds{p.flag: tf.Scalar(flag), p.in: in, p.labels: l}
	if p.d == tf.Float32 {
		y := make([]float32, len(x))
		for i, v := range x {
			y[i] = float32(v)
		}
		if f[p.in], err = tf.FromSlice(y, p.rows, p.width[0]); err != nil {
			p.Fatal(err)
		}
	}
	return f
}

// train runs some steps, and returns what they give and how many regions there were.
func (p *network) train(cfg session.Config, fetches []tf.Fetchable) (values []*tf.Tensor, regions int) {
	s := opened(p.T, p.g, cfg)
	if _, err := s.Run(p.Context(), nil, tf.InitializeAll(p.g)); err != nil {
		p.Fatal(err)
	}
	for i := range 3 {
		out, m, err := s.RunWithOptions(p.Context(), session.RunOptions{PartitionGraphs: i == 0}, p.feeds(i != 1), fetches...)
		if err != nil {
			p.Fatal(err)
		}
		for _, g := range m.GetPartitionGraphs() {
			for _, n := range g.GetNode() {
				if n.GetOp() == "_RowBlocks" {
					regions++
				}
			}
		}
		values = append(values, out...)
	}
	return values, regions
}

// TestRandomNetworks: networks give the same in blocks of rows as by nodes on all rows, but
// for the rounding of sums over rows.
func TestRandomNetworks(t *testing.T) {
	total, again := 0, rowblocks.Again()
	for seed := range seeds {
		p := newNetwork(t, uint64(seed))
		restore := rowblocks.SmallBlocks(1 + seed%7)
		fetches := p.fetches()
		want, none := p.train(session.Config{DisabledPasses: []string{"recomputation"}}, fetches)
		got, regions := p.train(session.Config{SaveMemory: true}, fetches)
		restore()
		if n := rowblocks.Again(); n > again && p.none == 0 {
			t.Errorf("seed %d: %d runs failed in blocks", seed, n-again)
		}
		again = rowblocks.Again()
		if none > 0 {
			t.Fatal("there are regions where the pass is disabled")
		}
		total += regions
		for i := range want {
			if err := near(got[i], want[i]); err != nil {
				t.Errorf("seed %d, %d rows, value %d of %d: %v", seed, p.rows, i, len(want), err)
				break
			}
		}
	}
	if total < seeds/2 {
		t.Errorf("%d networks have %d regions, want at least one in two", seeds, total)
	}
}

// near compares two tensors by the largest of their elements.
func near(got, want *tf.Tensor) error {
	if got == nil && want == nil { // of an operation
		return nil
	}
	if !got.Shape().Equal(want.Shape()) || got.DType() != want.DType() {
		return fmt.Errorf("%v%v, want %v%v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	most, x, y := 1.0, numbers(got), numbers(want)
	for _, v := range y {
		most = max(most, v, -v)
	}
	within := most * 1e-7 // of updates that make differences larger, too
	if got.DType() == tf.Float32 {
		within = most * 1e-3
	}
	for i := range x {
		if !(x[i]-y[i] <= within && y[i]-x[i] <= within) && x[i] != y[i] && (x[i] == x[i] || y[i] == y[i]) {
			return fmt.Errorf("element %d is %v, want %v", i, x[i], y[i])
		}
	}
	return nil
}

func numbers(t *tf.Tensor) []float64 {
	if t.DType() == tf.Float64 {
		return tf.Data[float64](t)
	}
	var out []float64
	for _, v := range tf.Data[float32](t) {
		out = append(out, float64(v))
	}
	return out
}

// opened returns a session, which ends with the test.
func opened(t *testing.T, g *tf.Graph, cfg session.Config) *session.Session {
	t.Helper()
	s, err := session.New(g, session.With(cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
