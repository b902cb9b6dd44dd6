package endurance

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// kind is what happens to a task.
type kind int

const (
	kill kind = iota // SIGKILL, and another life
	term             // SIGTERM, the wait for its end, and another life
	hold             // SIGSTOP, and SIGCONT
	cut              // its network goes down, and up
)

func (k kind) String() string { return [...]string{"kill", "term", "hold", "cut"}[k] }

// A fault is one event of a plan.
type fault struct {
	after time.Duration // since the end of the fault before
	kind  kind
	task  int
	lasts time.Duration
	heals bool // the next one waits until every client goes on
}

func (f fault) String() string {
	return fmt.Sprintf("after %v %v of task %d for %v", f.after, f.kind, f.task, f.lasts)
}

// plan returns the n faults of a seed. Some are shorter than the time after which
// tasks take each other for gone, some longer.
func plan(seed uint64, n, tasks int, kinds ...kind) []fault {
	r := rand.New(rand.NewPCG(seed, 0x656e64757265))
	out := make([]fault, n)
	for i := range out {
		f := &out[i]
		f.after = time.Duration(r.Int64N(int64(300 * time.Millisecond)))
		f.kind, f.task = kinds[r.IntN(len(kinds))], r.IntN(tasks)
		f.lasts = time.Duration(r.Int64N(int64(500 * time.Millisecond)))
		f.heals = r.IntN(2) == 0
		if r.IntN(5) == 0 && f.kind >= hold {
			f.lasts = silence + patience + f.lasts
		}
	}
	return out
}

func TestPlansFollowFromSeeds(t *testing.T) {
	seen := map[kind]int{}
	for seed := range uint64(50) {
		a, b := plan(seed, 20, 3, kill, term, hold, cut), plan(seed, 20, 3, kill, term, hold, cut)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d gives two plans", seed)
		}
		for _, f := range a {
			seen[f.kind]++
		}
	}
	if len(seen) != 4 {
		t.Errorf("kinds of faults: %v, want 4", seen)
	}
}
