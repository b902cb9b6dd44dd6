package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// model is a FIFO queue of numbers as one would explain it: lists, and a rule
// that is applied until nothing changes.
type model struct {
	capacity int
	closed   bool
	items    []int64
	puts     []*request
	takes    []*request
}

// request is an attempt of the model. Its state in the end is that of the real
// attempt.
type request struct {
	put    []int64
	want   int
	upTo   bool
	close  bool
	got    []int64
	state  string // "", "ok", "cancelled", "closed", "short"
	cancel context.CancelFunc

	real    []int64
	answer  string
	answers int
	heard   func()
}

func (m *model) settle() {
	for m.settlePuts() || m.settleTakes() {
	}
}

func (m *model) settlePuts() bool {
	if len(m.puts) == 0 {
		return false
	}
	r := m.puts[0]
	switch {
	case r.close && m.closed, !r.close && m.closed:
		r.state = "closed"
	case r.close:
		m.closed, r.state = true, "ok"
	case len(r.put) == 0:
		r.state = "ok"
	case len(m.items) < m.capacity:
		m.items, r.put = append(m.items, r.put[0]), r.put[1:]
		return true
	default:
		return false
	}
	m.puts = m.puts[1:]
	return true
}

func (m *model) settleTakes() bool {
	if len(m.takes) == 0 {
		return false
	}
	r := m.takes[0]
	switch {
	case r.want == len(r.got):
		r.state = "ok"
	case m.closed && len(m.items) < r.want-len(r.got):
		m.items, r.got = append(slices.Clone(r.got), m.items...), nil
		if r.upTo && len(m.items) > 0 {
			r.want = len(m.items)
			return true
		}
		r.state = "short"
	case len(m.items) > 0:
		r.got, m.items = append(r.got, m.items[0]), m.items[1:]
		return true
	default:
		return false
	}
	m.takes = m.takes[1:]
	return true
}

func (m *model) cancel(r *request) {
	if r.state != "" {
		return
	}
	isIt := func(o *request) bool { return o == r }
	m.puts, m.takes = slices.DeleteFunc(m.puts, isIt), slices.DeleteFunc(m.takes, isIt)
	m.items = append(slices.Clone(r.got), m.items...)
	r.got, r.state = nil, "cancelled"
	m.settle()
}

// answered notes what the real queue said.
func (r *request) answered(t Tuple, err error) {
	r.answers++
	if r.heard != nil {
		defer r.heard()
	}
	r.answer = map[tf.Code]string{tf.OK: "ok", tf.OutOfRange: "short"}[tf.CodeOf(err)]
	if tf.CodeOf(err) == tf.Canceled {
		r.answer = "closed"
		if tf.AsError(err).Derived {
			r.answer = "cancelled"
		}
	}
	for _, x := range t {
		r.real = append(r.real, tf.Data[int64](x)...)
	}
}

// TestModel drives a queue and the model with the same random requests and
// cancellations; after each of them, all answers must be the same.
func TestModel(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { driveModel(t, rand.New(rand.NewPCG(seed, 7))) })
	}
}

func driveModel(t *testing.T, rnd *rand.Rand) {
	m := &model{capacity: 1 + rnd.IntN(6)}
	q := mustNew(t, Spec{Kind: FIFO, Name: "q", Capacity: m.capacity, Types: []tf.DType{tf.Int64}, Shapes: []tf.Shape{{}}})
	var all []*request
	next := int64(0)
	for range 80 {
		if len(all) > 0 && rnd.IntN(5) == 0 {
			r := all[rnd.IntN(len(all))]
			m.cancel(r)
			cancelNow(q, r)
		} else {
			r := &request{}
			all = append(all, r)
			issue(rnd, q, m, r, &next)
			m.settle()
		}
		compareAnswers(t, q, m, all)
	}
}

// issue sends a random request to both.
func issue(rnd *rand.Rand, q *Queue, m *model, r *request, next *int64) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	done := func(err error) { r.answered(nil, err) }
	switch n := rnd.IntN(5); rnd.IntN(12) {
	case 0, 1, 2, 3, 4:
		for range n + 1 {
			r.put = append(r.put, *next)
			*next++
		}
		m.puts = append(m.puts, r)
		q.EnqueueMany(ctx, Tuple{vector(r.put...)}, done)
	case 5, 6, 7, 8:
		r.want = n + 1
		m.takes = append(m.takes, r)
		q.DequeueMany(ctx, r.want, false, r.answered)
	case 9, 10:
		r.want, r.upTo = n+1, true
		m.takes = append(m.takes, r)
		q.DequeueMany(ctx, r.want, true, r.answered)
	default:
		if r.close = rnd.IntN(8) == 0; !r.close {
			r.want = 1
			m.takes = append(m.takes, r)
			q.Dequeue(ctx, r.answered)
			return
		}
		m.puts = append(m.puts, r)
		q.CloseQueue(ctx, false, done)
	}
}

// cancelNow cancels r and waits until the queue has heard of it.
func cancelNow(q *Queue, r *request) {
	if r.answers > 0 {
		r.cancel()
		return
	}
	heard := make(chan struct{})
	r.heard = func() { close(heard) }
	r.cancel()
	<-heard
}

func compareAnswers(t *testing.T, q *Queue, m *model, all []*request) {
	t.Helper()
	for i, r := range all {
		if r.answer != r.state || r.answers > 1 || (r.state == "ok" && !slices.Equal(r.real, r.got)) {
			t.Fatalf("request %d is %q with %v (answers %d), want %q with %v", i, r.answer, r.real, r.answers, r.state, r.got)
		}
	}
	if q.Size() != len(m.items) || q.Closed() != m.closed {
		t.Fatalf("size %d, closed %v, want %d, %v", q.Size(), q.Closed(), len(m.items), m.closed)
	}
}
