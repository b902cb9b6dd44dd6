package ops_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// placing is an array whose elements are large enough for a block, and what was written.
type placing struct {
	*rand.Rand
	g      *tf.Graph
	n, row int
	values []tf.Output // what is written to each element; zero for none
	want   [][]float32
	a      ops.TensorArray
}

func newPlacing(seed uint64, x tf.Output, in []float32) *placing {
	p := &placing{Rand: rand.New(rand.NewPCG(seed, 3)), g: x.Graph(), n: 2 + int(seed%5)}
	p.row = len(in)
	keep := p.IntN(3) == 0
	p.a = ops.NewTensorArray(ops.Scalar(p.g, int32(p.n)), tf.Float32, ops.TensorArrayOpts{ElementShape: tf.Shape{p.row}, KeepAfterRead: keep})
	p.values, p.want = make([]tf.Output, p.n), make([][]float32, p.n)
	for _, i := range p.Perm(p.n) {
		p.want[i] = make([]float32, p.row)
		if p.IntN(8) == 0 {
			continue // it is read as zeros
		}
		k := float32(i + 2)
		for j, v := range in {
			p.want[i][j] = k * v
		}
		p.values[i] = ops.Mul(x, ops.Scalar(p.g, k))
		p.a = p.a.Write(ops.Scalar(p.g, int32(i)), p.values[i])
	}
	return p
}

// indices are those of all elements in order, or not in order, or not of all.
func (p *placing) indices() []int32 {
	all := make([]int32, p.n)
	for i := range all {
		all[i] = int32(i)
	}
	switch p.IntN(4) {
	case 0:
		p.Shuffle(p.n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	case 1:
		return all[:1+p.IntN(p.n)]
	}
	return all
}

// TestPlacedElements: a stack of what was written is the same whether the elements have
// been placed in its memory or are copied there, and what is done to it in place reaches
// neither them nor what was written.
func TestPlacedElements(t *testing.T) {
	for seed := range uint64(60) {
		g := tf.NewGraph()
		in := make([]float32, 1024+512*int(seed%3))
		for j := range in {
			in[j] = float32(j%89)/16 + float32(seed)
		}
		x := ops.Placeholder(g, tf.Float32, tf.Shape{len(in)})
		p := newPlacing(seed, x, in)
		indices := p.indices()
		stack := p.a.Gather(ops.Const(g, indices, len(indices)))
		fetches := []tf.Output{stack, ops.Neg(ops.Exp(ops.Neg(stack)))}
		for _, v := range p.values {
			if !v.IsZero() {
				fetches = append(fetches, ops.Neg(v), v)
			}
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		feed, err := tf.FromSlice(in, len(in))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			out, err := s.Run(t.Context(), session.Feeds{x: feed}, fetchables(fetches)...)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			p.check(t, seed, indices, out)
		}
		s.Close()
	}
}

func (p *placing) check(t *testing.T, seed uint64, indices []int32, out []*tf.Tensor) {
	t.Helper()
	got := tf.Data[float32](out[0])
	for k, i := range indices {
		equalRow(t, seed, got[k*p.row:(k+1)*p.row], p.want[i])
	}
	at := 3
	for i, v := range p.values {
		if !v.IsZero() {
			equalRow(t, seed, tf.Data[float32](out[at]), p.want[i])
			at += 2
		}
	}
}

func equalRow(t *testing.T, seed uint64, got, want []float32) {
	t.Helper()
	for j := range want {
		if got[j] != want[j] {
			t.Fatalf("seed %d: element %d is %v, want %v", seed, j, got[j], want[j])
		}
	}
}

// TestPlacedElementsAreReadOnce: a stack of placed elements reads them, as any other does.
func TestPlacedElementsAreReadOnce(t *testing.T) {
	const n, row = 3, 2048
	g := tf.NewGraph()
	a := ops.NewTensorArray(ops.Scalar(g, int32(n)), tf.Float32, ops.TensorArrayOpts{ElementShape: tf.Shape{row}})
	for i := range n {
		a = a.Write(ops.Scalar(g, int32(i)), ops.Fill([]int{row}, ops.Scalar(g, float32(i))))
	}
	stack := a.Stack()
	var again tf.Output
	g.ControlDependencies([]*tf.Operation{stack.Operation()}, func() { again = a.Read(ops.Scalar(g, int32(1))) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, again); err == nil || !strings.Contains(err.Error(), "Could not read index 1 twice") {
		t.Errorf("got %v, want that element 1 was read before", err)
	}
}

// TestGradientsArePlaced: gradients of elements that are read twice are added up where
// they are placed.
func TestGradientsArePlaced(t *testing.T) {
	const n, row = 3, 1024
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{n, row})
	a := ops.NewTensorArray(ops.Scalar(g, int32(n)), tf.Float32, ops.TensorArrayOpts{ElementShape: tf.Shape{row}, KeepAfterRead: true}).Unstack(x)
	loss := ops.Scalar(g, float32(0))
	for i := range n {
		at := ops.Scalar(g, int32(i))
		loss = loss.Add(ops.Mul(a.Read(at), a.Read(at)).Sum())
	}
	d, err := tf.Gradients(loss, x)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	in, want := make([]float32, n*row), make([]float32, n*row)
	for i := range in {
		in[i] = float32(i % 31)
		want[i] = 2 * in[i]
	}
	feed, err := tf.FromSlice(in, n, row)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := s.Run(t.Context(), session.Feeds{x: feed}, d[0])
		if err != nil {
			t.Fatal(err)
		}
		equalRow(t, 0, tf.Data[float32](out[0]), want)
	}
}

// TestGradientBeyondItsBlock: a gradient that has been read beyond its size, and so has
// grown, takes what is written there.
func TestGradientBeyondItsBlock(t *testing.T) {
	const row = 1024
	g := tf.NewGraph()
	at := func(i int32) tf.Output { return ops.Scalar(g, i) }
	filled := func(v float32) tf.Output { return ops.Fill([]int{row}, ops.Scalar(g, v)) }
	a := ops.NewTensorArray(at(2), tf.Float32, ops.TensorArrayOpts{ElementShape: tf.Shape{row}})
	d := a.Grad("source", a.Flow()).Write(at(0), filled(1))
	zeros := d.Read(at(5))
	g.ControlDependencies([]*tf.Operation{zeros.Operation()}, func() { d = d.Write(at(3), filled(7)) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, d.Read(at(3)), zeros)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []float32{7, 0} {
		for _, v := range tf.Data[float32](out[k]) {
			if v != want {
				t.Fatalf("result %d has %v, want %v", k, v, want)
			}
		}
	}
}
