package executor_test

import (
	"fmt"
	"runtime"
	"strings"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	heavy := func(name string, f core.Compute) {
		core.Register(core.OpDef{Name: name, In: "x: float", Out: "y: float", Expensive: true,
			Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sync(f))})
	}
	op("Large", "", "y: float", "", sync(func(c *core.OpContext) error { _, err := c.Alloc(0, core.Float32, core.Shape{32, 1024}); return err }))
	heavy("Heavy", identity)
	heavy("HeavyPanic", func(*core.OpContext) error { panic("boom") })
	heavy("Meet", func(c *core.OpContext) error {
		meeting.Done()
		meeting.Wait()
		return identity(c)
	})
	heavy("Crowd", func(c *core.OpContext) error {
		n := crowd.Add(1)
		defer crowd.Add(-1)
		for most := crowded.Load(); n > most && !crowded.CompareAndSwap(most, n); most = crowded.Load() {
		}
		runtime.Gosched()
		return identity(c)
	})
}

// crowd is how many Crowd kernels are being computed, crowded the most there
// have been.
var crowd, crowded atomic.Int64

// meeting lets Meet kernels go on when all are there.
var meeting gosync.WaitGroup

func prepareHeavy(t *testing.T, text string) *machine {
	t.Helper()
	m, err := tryWorkers(t, text, 3)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHeavyNodesRunAtOnce: it hangs if one waits for another.
func TestHeavyNodesRunAtOnce(t *testing.T) {
	m := prepareHeavy(t, "x = Large\na = Meet(x)\nb = Meet(x)\nc = Meet(x)\nv = Value[v=2](^a, ^b, ^c)\nf = Fetch(v)")
	for range 20 {
		meeting.Add(3)
		if got, err := m.run(t.Context()); err != nil || got[0] != float32(2) {
			t.Errorf("got %v, %v", got, err)
		}
	}
	m.balanced(t)
}

// TestHeavyChainRunsInOrder: where each depends on the one before there is
// nothing to be won.
func TestHeavyChainRunsInOrder(t *testing.T) {
	if m := prepareHeavy(t, "x = Large\na = Heavy(x)\nb = Identity(a)\nc = Heavy(b)"); !m.Inline() {
		t.Error("a chain is not run in order")
	}
	if m := prepareHeavy(t, "x = Large\na = Heavy(x)\nb = Heavy(x)"); m.Inline() {
		t.Error("independent nodes are run in order")
	}
}

// TestShortNodesRunInTurn: kernels that are known to be short are not handed
// to other goroutines.
func TestShortNodesRunInTurn(t *testing.T) {
	m, err := tryParams(t, "x = Large\na = Crowd(x)\nb = Crowd(x)\nc = Crowd(x)\nv = Value[v=2](^a, ^b, ^c)\nf = Fetch(v)",
		executor.Params{Workers: 3, Short: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		crowded.Store(0)
		if got, err := m.run(t.Context()); err != nil || got[0] != float32(2) {
			t.Fatalf("got %v, %v", got, err)
		}
		if n := crowded.Load(); i > 0 && n != 1 {
			t.Fatalf("%d short kernels at once", n)
		}
	}
	m.balanced(t)
}

// TestHeavyMesh mixes heavy nodes with others, waiting ones too.
func TestHeavyMesh(t *testing.T) {
	ops := []string{"Heavy", "Identity", "Heavy", "Later", "Soon"}
	var b strings.Builder
	b.WriteString("x0 = Large\ny0 = Large\n")
	const depth = 40
	for i := range depth {
		fmt.Fprintf(&b, "x%d = %s(x%d)\ny%d = %s(y%d, ^x%d)\n", i+1, ops[i%5], i, i+1, ops[(i/2)%5], i, i)
	}
	fmt.Fprintf(&b, "v = Value[v=3](^x%d, ^y%d)\nf = Fetch(v)", depth, depth)
	m := prepareHeavy(t, b.String())
	var group gosync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				if got, err := m.run(t.Context()); err != nil || got[0] != float32(3) {
					t.Errorf("got %v, %v", got, err)
				}
			}
		})
	}
	group.Wait()
	m.balanced(t)
}

func TestHeavyPanics(t *testing.T) {
	for _, text := range []string{
		"x = Large\na = HeavyPanic(x)\nb = Heavy(x)\nc = Heavy(b)",
		"x = Large\na = Heavy(x)\nb = Heavy(x)\nc = HeavyPanic(a, ^b)\nd = Heavy(c)",
	} {
		m := prepareHeavy(t, text)
		for range 10 {
			if _, err := m.run(t.Context()); core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "the kernel of HeavyPanic panicked: boom") {
				t.Errorf("got %v", err)
			}
		}
		m.balanced(t)
	}
}

// TestLoopsOfHeavyNodes: a loop with kernels that may take long runs by its plan
// once all of them have been short, and not while one is not. The values are the
// same.
func TestLoopsOfHeavyNodes(t *testing.T) {
	text := counted + "l/h = Heavy(l/s:1)\nl/k = Heavy(l/s:1)\n" + loopVariable("a", "five", "l/h") + "g = Fetch[index=1](l/a/exit)"
	for short, light := range map[time.Duration]int{time.Hour: 1, time.Nanosecond: 0} {
		m, err := tryParams(t, text, executor.Params{Workers: 3, Short: short})
		if err != nil {
			t.Fatal(err)
		}
		if n := m.Light(); n != 0 {
			t.Errorf("a loop runs by its plan before its kernels have run")
		}
		for range 5 {
			if got, err := m.run(t.Context()); err != nil || got[0] != float32(10) || got[1] != float32(9) {
				t.Fatalf("got %v, %v", got, err)
			}
			if n := m.Light(); m.Planned() != 1 || n != light {
				t.Errorf("kernels shorter than %v are wanted: %d of %d loops run by their plan", short, n, m.Planned())
			}
		}
		m.balanced(t)
	}
}
