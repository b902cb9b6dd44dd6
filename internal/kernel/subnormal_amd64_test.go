//go:build !noasm

package kernel

import (
	"runtime"
	"sync"
	"testing"
)

// least and half are variables, so that the processor multiplies.
var least, half = float32(0x1p-126), float32(0.5)

func subnormalsExist() bool { return least*half != 0 && least*half*2 == least }

// TestFlushSubnormals: numbers are flushed until Restore, the outer one of several, whatever else runs
// meanwhile, and for no other goroutine.
func TestFlushSubnormals(t *testing.T) {
	outer := FlushSubnormals()
	FlushSubnormals().Restore()
	inner := KeepSubnormals()
	if !subnormalsExist() {
		t.Error("no subnormal numbers after KeepSubnormals")
	}
	inner.Restore()
	for range 100 {
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if !subnormalsExist() {
					t.Error("another goroutine has no subnormal numbers")
				}
			})
		}
		runtime.Gosched()
		if subnormalsExist() {
			t.Error("a subnormal number after FlushSubnormals")
		}
		all.Wait()
	}
	outer.Restore()
	if !subnormalsExist() {
		t.Error("no subnormal numbers after Restore")
	}
}

// TestFlushing: ranges are flushed, and what panics leaves nothing behind.
func TestFlushing(t *testing.T) {
	Flushing(Serial)(3, 1, func(lo, hi int) {
		if subnormalsExist() || lo != 0 || hi != 3 {
			t.Errorf("range [%d, %d): subnormal numbers exist: %v", lo, hi, subnormalsExist())
		}
	})
	func() {
		defer func() { _ = recover() }()
		Flushing(Serial)(1, 1, func(int, int) { panic("") })
	}()
	if !subnormalsExist() {
		t.Error("no subnormal numbers after a panic")
	}
}
