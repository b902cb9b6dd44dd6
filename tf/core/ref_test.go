package core_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestRefHoldsATensor(t *testing.T) {
	var r core.Ref
	if r.Load() != nil || r.Initialized() {
		t.Error("a new variable has a value")
	}
	r.Store(core.Scalar(int32(1)))
	old := r.Load()
	r.Store(core.Scalar(int32(2)))
	if core.Data[int32](old)[0] != 1 || core.Data[int32](r.Load())[0] != 2 || !r.Initialized() {
		t.Errorf("read %v, then %v", old, r.Load())
	}
}

func TestRefUpdatesInPlaceUnlessRead(t *testing.T) {
	var r core.Ref
	r.Store(core.NewTensor(core.Int32, core.Shape{1}))
	var first *int32
	add := func(x *core.Tensor) error {
		if first == nil {
			first = &core.Data[int32](x)[0]
		}
		core.Data[int32](x)[0]++
		return nil
	}
	for range 2 {
		if err := r.Update(add); err != nil {
			t.Fatal(err)
		}
	}
	if *first != 2 {
		t.Errorf("memory that nobody reads was copied: %d", *first)
	}
	reader := r.Load()
	if err := r.Update(add); err != nil {
		t.Fatal(err)
	}
	if core.Data[int32](reader)[0] != 2 || core.Data[int32](r.Load())[0] != 3 {
		t.Errorf("a reader sees %v, the variable is %v", reader, r.Load())
	}
}

func TestRefUpdateCopiesWhatTheProgramHolds(t *testing.T) {
	data := []int32{5}
	var r core.Ref
	r.Store(fromSlice(t, data))
	if err := r.Update(func(x *core.Tensor) error { core.Data[int32](x)[0] = 6; return nil }); err != nil {
		t.Fatal(err)
	}
	if data[0] != 5 || core.Data[int32](r.Load())[0] != 6 {
		t.Errorf("the program's slice is %v, the variable %v", data, r.Load())
	}
}

func TestRefErrorsChangeNothing(t *testing.T) {
	var r core.Ref
	r.Store(core.Scalar(int32(1)))
	bad := errors.New("bad")
	err := r.Swap(func(*core.Tensor) (*core.Tensor, error) { return core.Scalar(int32(2)), bad })
	if err != bad || core.Data[int32](r.Load())[0] != 1 {
		t.Errorf("got %v, %v", err, r.Load())
	}
	if err := new(core.Ref).Update(func(x *core.Tensor) error {
		if x != nil {
			t.Errorf("an uninitialized variable has %v", x)
		}
		return bad
	}); err != bad {
		t.Errorf("got %v", err)
	}
}

func TestRefIsSafeForManyGoroutines(t *testing.T) {
	var r core.Ref
	r.Store(core.NewTensor(core.Int64, core.Shape{4}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if err := r.Update(func(x *core.Tensor) error {
					for i := range core.Data[int64](x) {
						core.Data[int64](x)[i]++
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
				v := r.Load()
				if d := core.Data[int64](v); d[0] != d[3] {
					t.Errorf("read half an update: %v", d)
				}
				v.Release()
			}
		})
	}
	wg.Wait()
	if got := core.Data[int64](r.Load())[0]; got != 400 {
		t.Errorf("%d updates arrived of 400", got)
	}
}

// TestRefRecyclesSnapshots: updates beside snapshots, one after the other, take turns with
// the same memory, also if the pool would not keep that much.
func TestRefRecyclesSnapshots(t *testing.T) {
	if invariants.Race {
		t.Skip("a pool recycles nothing under the race detector, whose job is races")
	}
	pool := memory.NewPool(1000)
	c := &core.OpContext{Step: &core.Step{}, Pool: pool}
	first, err := c.Temp(core.Int64, core.Shape{9000})
	if err != nil {
		t.Fatal(err)
	}
	clear(core.Data[int64](first))
	var r core.Ref
	r.Store(first)
	var misses uint64
	for i := range int64(5) {
		snapshot := r.Load()
		if err := r.Change(c, func(v *core.Change) error {
			for k := range core.Data[int64](v.T) {
				core.Data[int64](v.T)[k] = core.Data[int64](v.From())[k] + 1
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if d := core.Data[int64](snapshot); d[0] != i || d[8999] != i {
			t.Errorf("snapshot %d has %d and %d", i, d[0], d[8999])
		}
		snapshot.Release()
		if i == 0 {
			misses = pool.Stats().Misses
		}
	}
	if now := pool.Stats(); now.Misses != misses || now.IdleBytes > 2*9000*8 {
		t.Errorf("the pool allocated %d more and has %d bytes idle", now.Misses-misses, now.IdleBytes)
	}
}
