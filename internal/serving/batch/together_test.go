package batch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// TestModelsShareMemory: by seeds, queues of several models, whose rows take very different
// memory, on one machine: every request that fits alone is answered, with its own rows,
// whatever else runs, but for those that give up.
func TestModelsShareMemory(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { share(t, rand.New(rand.NewPCG(seed, 9))) })
		})
	}
}

func share(t *testing.T, r *rand.Rand) {
	const most = 4 // rows of a request
	all := &machine{limit: 250_000}
	threads := NewThreads(1 + r.IntN(5))
	var queues []*Queue
	for range 1 + r.IntN(4) {
		row := int64(1 + r.IntN(int(all.limit)/most))
		q := NewQueue(threads, Params{Threads: 1 + r.IntN(4), MaxBatches: 1000, Timeout: time.Duration(r.IntN(3)) * time.Millisecond}, all.runner(row), nil)
		q.pending.free = all.free
		queues = append(queues, q)
	}
	var asked sync.WaitGroup
	for i := range 80 {
		q, rows, gives, at := queues[r.IntN(len(queues))], 1+r.IntN(most), r.IntN(4) == 0, time.Duration(r.IntN(20))*time.Millisecond
		asked.Go(func() {
			time.Sleep(at / 2)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if gives {
				time.AfterFunc(at, cancel)
			}
			out, err := q.Run(ctx, matrix(t, rows, 1, float32(100*i)), nil)
			switch {
			case gives && tf.CodeOf(err) == tf.Canceled:
			case err != nil:
				t.Errorf("request %d of %d rows: %v", i, rows, err)
			case out["y"].Dim(0) != rows || tf.Data[float32](out["y"])[0] != float32(100*i):
				t.Errorf("request %d got rows %v", i, tf.Data[float32](out["y"]))
			}
		})
	}
	asked.Wait()
	for _, q := range queues {
		q.Close()
		if q.pending.appetite.running != 0 || q.pending.rows != 0 || q.running != 0 {
			t.Errorf("a queue that is closed has rows: %+v", q.pending)
		}
	}
	if all.used != 0 {
		t.Errorf("%d bytes are left", all.used)
	}
}

// runner runs batches of a model whose rows take so much of the machine's memory.
func (m *machine) runner(row int64) Runner {
	return func(ctx context.Context, in map[string]*tf.Tensor, _ []string) (map[string]*tf.Tensor, error) {
		bytes, err := m.take(in["x"], row)
		if err != nil {
			return nil, err
		}
		defer func() {
			m.mu.Lock()
			m.used -= bytes
			m.mu.Unlock()
		}()
		select {
		case <-time.After(time.Millisecond):
			return map[string]*tf.Tensor{"y": in["x"]}, nil
		case <-ctx.Done():
			return nil, tf.AsError(ctx.Err())
		}
	}
}

// take is begin for rows of another size.
func (m *machine) take(x *tf.Tensor, row int64) (int64, error) {
	m.mu.Lock()
	one := &machine{limit: m.limit, used: m.used, row: row}
	defer m.mu.Unlock()
	bytes, err := one.begin(x)
	if err == nil {
		m.used += bytes
	}
	return bytes, err
}
