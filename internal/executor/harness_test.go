package executor_test

import (
	"context"
	gosync "sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// host is the device of all tests.
type host struct{}

func (host) Spec() core.DeviceSpec {
	return core.DeviceSpec{Job: "test", Replica: 0, Task: 0, Type: "CPU", ID: 0}
}
func (host) Name() string                                  { return host{}.Spec().String() }
func (host) Incarnation() uint64                           { return 1 }
func (host) MemoryLimit() int64                            { return 0 }
func (host) Resources() *resource.Manager                  { return nil }
func (host) FromHost(t *core.Tensor) (*core.Tensor, error) { return t, nil }
func (host) ToHost(t *core.Tensor) (*core.Tensor, error)   { return t, nil }
func kernelOf(n *core.Node) (core.Kernel, error) {
	make, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	return make(n)
}

// results collects what Fetch nodes get, by index.
type results struct {
	mu  gosync.Mutex
	got map[int]any
}

func (r *results) Arg(int) (*core.Tensor, error) { return nil, nil }

func (r *results) SetRetval(i int, t *core.Tensor) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got[i] = t.At(0)
	return nil
}

// machine is an executor and what its runs use.
type machine struct {
	*executor.Executor
	pool *memory.Pool
	step core.Step
}

func prepare(t testing.TB, text string) *machine {
	t.Helper()
	m, err := try(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func try(t testing.TB, text string) (*machine, error) { return tryWorkers(t, text, 1) }

func tryWorkers(t testing.TB, text string, workers int) (*machine, error) {
	t.Helper()
	return tryParams(t, text, executor.Params{Workers: workers, Short: 1})
}

func tryParams(t testing.TB, text string, p executor.Params) (*machine, error) {
	t.Helper()
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{pool: p.Pool}
	if m.pool == nil {
		m.pool = memory.NewPool(1 << 24) // which keeps all that runs at once may hold
	}
	p.Device, p.Kernel, p.Pool = host{}, kernelOf, m.pool
	m.Executor, err = executor.New(g, p)
	return m, err
}

// run runs one step and waits for its end.
func (m *machine) run(ctx context.Context) (map[int]any, error) {
	step, res := m.step, &results{got: map[int]any{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	step.Context, step.Frame = ctx, res
	errs := make(chan error, 1)
	m.Start(&step, executor.Hooks{Fail: func(error) { cancel() }, Done: func(err error) { errs <- err }})
	err := <-errs
	return res.got, err
}

// balanced reports whether all buffers are back in the pool.
func (m *machine) balanced(t *testing.T) {
	t.Helper()
	if invariants.Race {
		return // pools keep nothing under the race detector
	}
	if s := m.pool.Stats(); uint64(s.Idle) != s.Misses {
		t.Errorf("%d buffers were made, %d are back", s.Misses, s.Idle)
	}
}

// expect runs a graph several times and compares the results.
func expect(t *testing.T, text string, want map[int]any) {
	t.Helper()
	m := prepare(t, text)
	for range 3 {
		got, err := m.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("result %d is %v, want %v", k, got[k], v)
			}
		}
	}
	m.balanced(t)
}
