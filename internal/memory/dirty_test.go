package memory

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// TestDirtyBlocksKeepApart: blocks that are not cleared are aligned, have the length that was
// asked for, and share no memory while the collector takes back others.
func TestDirtyBlocksKeepApart(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	type kept struct {
		b    []byte
		fill byte
	}
	live := make([]kept, 40)
	for i := range 3000 {
		n := 1 + r.IntN(1<<r.IntN(18))
		p := allocateDirty(n)
		if uintptr(p)%Alignment != 0 {
			t.Fatalf("a block of %d bytes is at %p", n, p)
		}
		k := kept{unsafe.Slice((*byte)(p), roundUp(n)), byte(i)}
		for j := range k.b {
			k.b[j] = k.fill
		}
		old := &live[r.IntN(len(live))]
		for j, v := range old.b {
			if v != old.fill {
				t.Fatalf("byte %d of %d of another block has become %d", j, len(old.b), v)
			}
		}
		*old = k
		if i%100 == 0 {
			runtime.GC()
		}
	}
}

// TestNewIsZero: memory that somebody has written to and dropped is zero again in a buffer
// of New, though blocks of pools need not be.
func TestNewIsZero(t *testing.T) {
	const n = 300 << 10
	for range 50 {
		b := unsafe.Slice((*byte)(allocateDirty(n)), n)
		for i := range b {
			b[i] = 1
		}
		runtime.GC()
		for i, v := range New(n).Bytes() {
			if v != 0 {
				t.Fatalf("byte %d is %d", i, v)
			}
		}
	}
}
