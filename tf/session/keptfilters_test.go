package session_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// filterModel convolves images by filters that are variables, and trains these. Its images are small and
// its channels many, so that it pays to compute something of the filters in advance.
type filterModel struct {
	g       *tf.Graph
	x, y    tf.Output
	filters []*tf.Variable
	copies  []tf.Output // two of each filter: who fetches these does not hold the variables' memory
	values  []tf.Output // what restore is fed
	restore *tf.Operation
	train   *tf.Operation
}

func newFilterModel() *filterModel {
	g := tf.NewGraph()
	m := &filterModel{g: g, x: ops.Placeholder(g, tf.Float32, tf.Shape{1, 16, 16, 32})}
	var all []*tf.Operation
	for i := range 3 {
		v := tf.NewVariable(ops.Fill([]int{3, 3, 32, 32}, ops.Scalar[float32](g, 0)), tf.VariableOptions{Reference: i == 2})
		value := ops.Placeholder(g, tf.Float32, v.Shape())
		m.filters, m.values, all = append(m.filters, v), append(m.values, value), append(all, v.Assign(value))
		m.copies = append(m.copies, ops.Stack([]tf.Output{v.Value(), v.Value()}, 0))
	}
	m.restore = tf.Group(g, "restore", all...)
	h := m.x
	for _, v := range m.filters {
		h = ops.Relu(ops.Conv2D(h, v.Value(), []int{1, 1, 1, 1}, "SAME"))
	}
	m.y = h
	m.train = train.GradientDescent{LearningRate: 1e-3}.Minimize(ops.Mean(m.y, ops.Const(g, []int32{0, 1, 2, 3})))
	return m
}

// session opens a session of the model.
func (m *filterModel) session(t *testing.T) *session.Session {
	t.Helper()
	s, err := session.New(m.g, session.With(session.Config{Threads: 2}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	m.assign(t, s, rand.New(rand.NewPCG(1, 1)))
	return s
}

// assign gives the filters other values.
func (m *filterModel) assign(t *testing.T, s *session.Session, rng *rand.Rand) {
	t.Helper()
	feeds := session.Feeds{}
	for i, v := range m.values {
		feeds[v] = normal(rng, m.filters[i].Shape())
	}
	if _, err := s.Run(t.Context(), feeds, m.restore); err != nil {
		t.Fatal(err)
	}
}

// expect returns what a session answers that has kept nothing: it is new.
func (m *filterModel) expect(t *testing.T, s *session.Session, image *tf.Tensor) []float32 {
	t.Helper()
	var fetches []tf.Fetchable
	for _, v := range m.copies {
		fetches = append(fetches, v)
	}
	values, err := s.Run(t.Context(), nil, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := session.New(m.g, session.With(session.Config{Threads: 1}))
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	feeds := session.Feeds{}
	for i, v := range m.values {
		shape := m.filters[i].Shape()
		feeds[v] = must(tf.FromSlice(tf.Data[float32](values[i])[:shape.NumElements()], shape...))
	}
	if _, err := fresh.Run(t.Context(), feeds, m.restore); err != nil {
		t.Fatal(err)
	}
	return m.answer(t, fresh, image)
}

func (m *filterModel) answer(t *testing.T, s *session.Session, image *tf.Tensor) []float32 {
	t.Helper()
	y, err := session.Fetch[float32](t.Context(), s, session.Feeds{m.x: image}, m.y)
	if err != nil {
		t.Error(err)
	}
	return y
}

// TestFiltersAreKept: what a session keeps of filters is that of the variables' values, which steps in any
// order assign, train and read. Answers have the bits that a new session gives.
func TestFiltersAreKept(t *testing.T) {
	m := newFilterModel()
	s := m.session(t)
	rng := rand.New(rand.NewPCG(41, 42))
	for range 40 {
		switch rng.IntN(4) {
		case 0:
			m.assign(t, s, rng)
		case 1:
			if _, err := s.Run(t.Context(), session.Feeds{m.x: normal(rng, m.x.Shape())}, m.train); err != nil {
				t.Fatal(err)
			}
		}
		image := normal(rng, m.x.Shape())
		want := m.expect(t, s, image)
		for range rng.IntN(40) {
			if !slices.Equal(m.answer(t, s, image), want) {
				t.Fatal("an answer has not the filters that there are")
			}
		}
	}
}

// TestFiltersAreKeptByMany: goroutines read while another one trains. Once nothing is written any more, answers are
// those of the filters that there are.
func TestFiltersAreKeptByMany(t *testing.T) {
	m := newFilterModel()
	s := m.session(t)
	image := normal(rand.New(rand.NewPCG(43, 44)), m.x.Shape())
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			for range 60 {
				if i > 0 {
					m.answer(t, s, image)
				} else if _, err := s.Run(t.Context(), session.Feeds{m.x: image}, m.train); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want := m.expect(t, s, image)
	for range 40 {
		if !slices.Equal(m.answer(t, s, image), want) {
			t.Fatal("an answer has not the filters that there are")
		}
	}
}

// normal returns random numbers.
func normal(rng *rand.Rand, s tf.Shape) *tf.Tensor {
	data := make([]float32, s.NumElements())
	for i := range data {
		data[i] = float32(rng.NormFloat64())
	}
	return must(tf.FromSlice(data, s...))
}
