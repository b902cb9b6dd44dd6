package train_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestSaverMemory counts all that is allocated, which is more than is in use at a time: a
// save takes at most 64 MB beside the variables, an asynchronous one with the steps that
// run meanwhile at most the variables once more. The next one finds the memory of the
// one before.
func TestSaverMemory(t *testing.T) {
	if invariants.Race {
		t.Skip("a pool recycles nothing under the race detector, whose job is races")
	}
	const count, size, beside = 8, 5 << 20, 64 << 20 // 160 MB of float32
	g := tf.NewGraph()
	one := ops.Fill(ops.Const(g, []int32{size}), ops.Scalar(g, float32(1)))
	var updates []*tf.Operation
	for i := range count {
		v := tf.NewVariable(one, tf.VariableOptions{Name: fmt.Sprint("v", i), Reference: i%2 == 0})
		updates = append(updates, v.AssignAdd(one))
	}
	step := tf.Group(g, "step", updates...)
	saver := newSaver(t, g, train.SaverOptions{})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(f tf.Fetchable) {
		if _, err := s.Run(t.Context(), nil, f); err != nil {
			t.Fatal(err)
		}
	}
	run(tf.InitializeAll(g))
	run(step)
	path := filepath.Join(t.TempDir(), "m")
	aside := func() {
		p, err := saver.SaveAsync(t.Context(), s, path)
		if err != nil {
			t.Fatal(err)
		}
		run(step)
		run(step)
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		most uint64
		f    func()
	}{
		{"a save", beside, func() {
			if _, err := saver.Save(t.Context(), s, path); err != nil {
				t.Fatal(err)
			}
		}},
		{"an asynchronous save", 4*count*size*5/4 + beside, aside},
	} {
		if got := allocated(c.f); got > c.most {
			t.Errorf("%s allocates %d MB beside variables of %d, at most %d are allowed", c.name, got>>20, 4*count*size>>20, c.most>>20)
		}
	}
	// What is written before a step changes it takes no memory, which the next save may
	// then be the first to need.
	least := allocated(aside)
	for range 4 {
		least = min(least, allocated(aside))
	}
	if least > beside {
		t.Errorf("each of the next ones allocates %d MB or more, at most %d are allowed", least>>20, beside>>20)
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
