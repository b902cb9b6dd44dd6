package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
)

// machine is a simulated model on a machine with little memory: a row of a run takes so
// many bytes while it runs. A run that finds too little fails.
type machine struct {
	mu                 sync.Mutex
	limit, used, row   int64
	failed, runs, rows int
	order              []float32 // the first elements of rows, as they ran
}

func (m *machine) free() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.used
}

func (m *machine) run(ctx context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
	x := in["x"]
	bytes, err := m.begin(x)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Millisecond)
	memory.Metered(ctx, bytes)
	m.mu.Lock()
	m.used -= bytes
	m.mu.Unlock()
	return map[string]*tf.Tensor{"y": x}, nil
}

func (m *machine) begin(x *tf.Tensor) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes := m.row * int64(x.Dim(0))
	if m.used+bytes > m.limit {
		m.failed++
		cause := &memory.Exhausted{Asked: bytes, InUse: m.used, Limit: m.limit}
		return 0, &tf.Error{Code: tf.ResourceExhausted, Msg: cause.Error(), Err: cause}
	}
	m.used += bytes
	m.runs++
	m.rows += x.Dim(0)
	data := tf.Data[float32](x)
	for i := 0; i < len(data); i += x.Dim(1) {
		m.order = append(m.order, data[i])
	}
	return bytes, nil
}

// queueOn returns a queue that runs on m.
func queueOn(m *machine, p Params) *Queue {
	q := NewQueue(nil, p, m.run, nil)
	q.pending.free = m.free
	return q
}

// TestBatchesFit: by seeds, on machines with memory for few rows, every request is
// answered that fits alone, in order; few batches fail, and those while the queue learns.
func TestBatchesFit(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fit(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func fit(t *testing.T, r *rand.Rand) {
	threads := 1 + r.IntN(3)
	m := &machine{row: int64(1000 + r.IntN(1000))}
	m.limit = m.row * int64(threads*(1+r.IntN(10))) // one row on each thread always fits
	q := queueOn(m, Params{Threads: threads, MaxBatches: 100})
	var all sync.WaitGroup
	full := m.row
	m.row /= 8 // rows of some take more than those before
	const requests = 400
	for i := range requests {
		if i == 100 {
			m.mu.Lock()
			m.row = full
			m.mu.Unlock()
		}
		all.Go(func() {
			if _, err := q.Run(t.Context(), matrix(t, 1, 2, float32(10*i)), nil); err != nil {
				t.Errorf("request %d: %v", i, err)
			}
		})
		synctest.Wait() // they come one after the other
		if r.IntN(50) == 0 {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
	}
	all.Wait()
	q.Close()
	if m.rows != requests {
		t.Errorf("%d rows have run", m.rows)
	}
	if m.failed > m.runs/4+10 {
		t.Errorf("%d batches failed, %d ran, threads %d, memory for %d rows", m.failed, m.runs, threads, m.limit/m.row)
	}
	if threads == 1 && !slices.IsSorted(m.order) {
		t.Errorf("requests did not run in order: %v", m.order)
	}
}

// TestOneTooLarge: a request that has no memory for itself gets the error, and those that
// it was joined with do not.
func TestOneTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{row: 100, limit: 450}
		q := queueOn(m, Params{Threads: 1})
		defer q.Close()
		q.pending.free = nil // it does not know better
		var all sync.WaitGroup
		for i, rows := range []int{1, 2, 9, 3, 1} { // the first one runs at once, the others together
			all.Go(func() {
				_, err := q.Run(t.Context(), matrix(t, rows, 1, float32(100*i)), nil)
				if exhausted := tf.CodeOf(err) == tf.ResourceExhausted; exhausted != (rows == 9) {
					t.Errorf("request of %d rows: %v", rows, err)
				}
			})
			synctest.Wait()
		}
		all.Wait()
		if m.failed < 2 {
			t.Errorf("%d batches failed, none that was joined", m.failed)
		}
	})
}

// TestIdleRunsAtOnce: what the queue has learned never makes a request wait that is the
// only one, even if it does not seem to fit.
func TestIdleRunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &machine{row: 100, limit: 1000}
		q := queueOn(m, Params{Threads: 1})
		defer q.Close()
		q.pending.appetite = appetite{row: 1 << 40, ceiling: 1}
		start := time.Now()
		if _, err := q.Run(t.Context(), matrix(t, 5, 1, 0), nil); err != nil || time.Since(start) != time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

// TestAppetite: the estimate follows what batches take, quickly up and slowly down, and a
// failure halves what is joined until batches run again.
func TestAppetite(t *testing.T) {
	var a appetite
	free := func() int64 { return 8000 }
	if got := a.most(free); got < 1<<30 {
		t.Errorf("nothing is known, most %d", got)
	}
	a.ran(4, 4000)
	if got := a.most(free); got != 8 {
		t.Errorf("most %d of 1000 bytes, want 8", got)
	}
	a.runs(3)
	if got := a.most(free); got != 5 {
		t.Errorf("most %d beside 3 rows, want 5", got)
	}
	a.ends(3)
	a.failed(8)
	if got := a.most(free); got != 4 {
		t.Errorf("most %d after a failure of 8, want 4", got)
	}
	for range 200 {
		a.ran(a.most(free), 0)
	}
	if got := a.most(free); got < 1000 {
		t.Errorf("most %d after batches that took nothing", got)
	}
}
