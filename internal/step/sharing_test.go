package step

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("TestLoop", "x: int32", "y: int32", func(*core.Node) (core.Kernel, error) { return core.Compute(addBySixteen), nil })
}

// addBySixteen adds 16 in a loop.
func addBySixteen(c *core.OpContext) error {
	y := core.Data[int32](c.In[0].T)[0]
	c.ParallelFor(16, 1, func(lo, hi int) { y += int32(hi - lo) })
	c.Set(0, core.Scalar(y))
	return nil
}

// weather says how long a step takes, shared or alone.
type weather func(alone bool, r *rand.Rand) time.Duration

// quiet is a machine in which sharing makes steps so many times as fast. Each 0.2 s one is
// interrupted for 4 ms.
func quiet(step time.Duration, by float64) weather {
	return func(alone bool, r *rand.Rand) time.Duration {
		d := float64(step) * (0.95 + 0.1*r.Float64())
		if !alone {
			d /= by
		}
		return time.Duration(d + interruptions(d, 200e6, 4e6, r))
	}
}

// crowded is a machine in which another program takes a processor: each 12 ms shared steps
// wait for it for 3 ms, and they are not faster otherwise.
func crowded(step time.Duration) weather {
	return func(alone bool, r *rand.Rand) time.Duration {
		d := float64(step) * (0.95 + 0.1*r.Float64())
		if !alone {
			d += interruptions(d, 12e6, 3e6, r)
		}
		return time.Duration(d)
	}
}

// interruptions is how long those in a time are together, one each so often on average.
func interruptions(d, each, long float64, r *rand.Rand) (sum float64) {
	for d -= each * r.ExpFloat64(); d > 0; d -= each * r.ExpFloat64() {
		sum += long
	}
	return sum
}

// live runs steps for a time and returns how long they would have taken, each as the
// better kind does on average, over how long they took.
func live(s *sharing, w weather, r *rand.Rand, best, during time.Duration) float64 {
	var took, would time.Duration
	for took < during {
		alone, timed := s.begin()
		d := w(alone, r)
		if timed {
			s.end(d, true)
		}
		took += d
		would += best
	}
	return float64(would) / float64(took)
}

func mean(w weather, alone bool, r *rand.Rand) time.Duration {
	var sum time.Duration
	for range 4000 {
		sum += w(alone, r)
	}
	return sum / 4000
}

// TestSharingFollows takes steps from one weather to the next. In each they must come close
// to the better kind after a while.
func TestSharingFollows(t *testing.T) {
	for _, step := range []time.Duration{300 * time.Microsecond, 2 * time.Millisecond, 50 * time.Millisecond} {
		weathers := []weather{quiet(step, 1.4), crowded(step), quiet(step, 3), quiet(step, 1)}
		for first := range weathers {
			for second := range weathers {
				for seed := range uint64(2) {
					follow(t, step, weathers, []int{first, second}, rand.New(rand.NewPCG(seed, 7)))
				}
			}
		}
	}
}

func follow(t *testing.T, step time.Duration, weathers []weather, order []int, r *rand.Rand) {
	t.Helper()
	s := &sharing{}
	s.left.Store(firstTrial)
	for i, at := range order {
		w := weathers[at]
		best := min(mean(w, true, r), mean(w, false, r))
		while := max(16*time.Second, 400*step)
		start := live(s, w, r, best, while)
		if later := live(s, w, r, best, while); later < 0.9 {
			t.Errorf("steps of %v, weathers %v, part %d: %.3f of the better kind at first, then %.3f", step, order, i, start, later)
		}
	}
}

// TestTrialsAreCheap: where sharing pays, what trials cost is within a hundredth.
func TestTrialsAreCheap(t *testing.T) {
	for _, by := range []float64{1, 1.1, 1.8, 15} {
		r := rand.New(rand.NewPCG(1, 2))
		even := func(alone bool, _ *rand.Rand) time.Duration {
			if alone {
				return 10 * time.Millisecond
			}
			return time.Duration(10e6 / by)
		}
		s := &sharing{}
		s.left.Store(firstTrial)
		if got := live(s, even, r, even(false, r), 20*time.Second); got < 0.99 {
			t.Errorf("%g times as fast: %.4f of the time without trials", by, got)
		}
	}
}

// TestStillClock: with a clock that does not move, trials end and sharing goes on.
func TestStillClock(t *testing.T) {
	s := &sharing{}
	for range 20 * mostSteps {
		if _, timed := s.begin(); timed {
			s.end(0, true)
		}
	}
	if s.alone.Load() || s.left.Load() < 0 {
		t.Errorf("alone %v, %d steps left: want sharing between two trials", s.alone.Load(), s.left.Load())
	}
}

// TestAtOnceAfterAlone: what one step at a time has found does not bind steps at once, and
// a step that fails changes nothing.
func TestAtOnceAfterAlone(t *testing.T) {
	for _, c := range []struct{ atOnce, succeeded, alone bool }{{true, true, false}, {true, false, false}, {false, false, true}, {false, true, true}} {
		s := &sharing{}
		s.alone.Store(true)
		if _, timed := s.begin(); !timed {
			t.Fatal("the first step is not timed")
		}
		if c.atOnce {
			s.begin()
		}
		if s.end(time.Millisecond, c.succeeded); s.alone.Load() != c.alone {
			t.Errorf("at once %v, succeeded %v: alone %v, want %v", c.atOnce, c.succeeded, s.alone.Load(), c.alone)
		}
	}
}

// TestStepsAtOnce: steps that run at once, or fail, decide nothing.
func TestStepsAtOnce(t *testing.T) {
	s := &sharing{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 5000 {
				if alone, timed := s.begin(); timed {
					d := 20 * time.Millisecond
					if alone {
						d = time.Millisecond
					}
					s.begin()
					s.end(d, i%2 == 0)
				}
			}
		})
	}
	all.Wait()
	if s.alone.Load() {
		t.Error("steps at once do not share their loops: none was timed alone")
	}
	if _, timed := s.begin(); timed {
		s.end(time.Second, false)
		if s.left.Load() != spoiledRest {
			t.Errorf("%d steps after one that failed, want %d", s.left.Load(), spoiledRest)
		}
	}
}

// TestAlone: the loops of a step that is to share none, and those of the functions that it
// calls, run on the caller; those of others are shared out. A trial takes its times, and
// not those of steps in pieces.
func TestAlone(t *testing.T) {
	rt := newRuntime(t)
	var shared, alone int
	counting := func(n *int) func(int, int, func(lo, hi int)) {
		return func(size, _ int, f func(lo, hi int)) { *n++; f(0, size) }
	}
	rt.Parallel, rt.Alone = counting(&shared), counting(&alone)
	g, err := buildFunctions(t, rt, `node { name: "l" op: "TestLoop" input: "n" }
		node { name: "y" op: "PartitionedCall" input: "l" attr { key: "Tin" value { list { type: DT_INT32 } } } attr { key: "Tout" value { list { type: DT_INT32 } } }
			attr { key: "f" value { func { name: "looped" } } } attr { key: "_noinline" value { b: true } } }`)
	if err != nil {
		t.Fatal(err)
	}
	for _, now := range []bool{false, true} {
		shared, alone = 0, 0
		g.sharing.alone.Store(now)
		if y, err := runBuilt(t, g); err != nil || core.Data[int32](y)[0] != 5+2*16 {
			t.Errorf("got %v, %v", y, err)
		}
		if want := map[bool][2]int{false: {2, 0}, true: {0, 2}}[now]; [2]int{shared, alone} != want {
			t.Errorf("alone %v: loops shared and alone: %d, %d, want %v", now, shared, alone, want)
		}
	}
	g.sharing.left.Store(0)
	if _, err := runBuilt(t, g); err != nil || g.sharing.trial.at != 1 {
		t.Errorf("the trial has %d steps, want 1", g.sharing.trial.at)
	}
}
