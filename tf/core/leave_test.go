package core

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
)

// TestLeaveCopiesOfLargerBlocks: what a program fetches keeps no block of more than twice its size, which goes back to
// the pool.
func TestLeaveCopiesOfLargerBlocks(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools allocate afresh")
	}
	p := memory.NewPool(8 << 20)
	p.Get(1 << 20).Unref()
	p.Save()
	const n = 420 << 10 // less than half of the block
	x := TensorOf(Uint8, Shape{n}, p.Get(n))
	Data[uint8](x)[n-1] = 7
	left := x.Leave()
	if s := p.Stats(); s.IdleBytes != 1<<20 || s.Misses != 1 {
		t.Errorf("after a fetch %+v, want the block of 1 MiB idle", s)
	}
	if got := Data[uint8](left); len(got) != n || got[n-1] != 7 {
		t.Errorf("fetched %d elements, the last %d", len(got), got[n-1])
	}
}
