//go:build !noasm

package conv

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// TestSharedPool: no two goroutines have one value, whatever processors they are on and when idle
// values are collected.
func TestSharedPool(t *testing.T) {
	var p sharedPool
	var users sync.Map // *winogradShared → *atomic.Int32
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 2000 {
				m := p.get()
				n, _ := users.LoadOrStore(m, new(atomic.Int32))
				if n.(*atomic.Int32).Add(1) != 1 {
					t.Error("two goroutines have the same memory")
				}
				if i%7 == g%7 {
					runtime.Gosched()
				}
				if g == 0 && i%200 == 0 {
					runtime.GC()
				}
				n.(*atomic.Int32).Add(-1)
				p.put(m)
			}
		})
	}
	all.Wait()
}

// TestSharedPoolFindsLast: what was given back last is found, and one value is enough for one user.
func TestSharedPoolFindsLast(t *testing.T) {
	var p sharedPool
	m := p.get()
	for range 100 {
		p.put(m)
		other := make(chan *winogradShared)
		go func() { runtime.LockOSThread(); other <- p.get() }() // perhaps on another processor
		if got := <-other; got != m {
			t.Fatal("a goroutine must get what was given back last")
		}
	}
}
