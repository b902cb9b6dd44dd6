package memory

import (
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// large is the size from which on a block is counted by itself. Smaller ones
// are counted together, by chance: see few.
const large = 64 << 10

const (
	// sample is what one small block in sample/size stands for.
	sample = 1 << 20
	// overhead is what a small block costs beside its bytes: its headers.
	overhead = 192
	// stride is how much may be allocated until use is measured again, so that
	// what is counted nowhere is noticed: strings, lists, messages, other packages.
	stride = 4 << 20
	// spare is the part of the limit, its inverse, that only small blocks may
	// use, so that a full process can still do what makes room.
	spare = 32
)

// A budget bounds the memory of the process. What is in use is measured: it is
// what Go's heap holds, of whomever, and what is mapped. Measuring takes a
// fraction of a microsecond and is done every few megabytes; in between, what
// is allocated is added up.
//
// The sum never falls short of what was allocated by way of the budget: a
// measurement replaces only what had been counted before it began, and blocks
// that are granted and not yet allocated are in pending.
//
// Lock order: mu may be held when the locks of pools are taken, and never when
// a block is allocated.
type budget struct {
	bound   atomic.Int64 // in use, by the last measurement and what came since
	soft    atomic.Int64 // beyond it bound is measured anew; at most the limit
	pending atomic.Int64 // granted and not yet allocated
	mapped  atomic.Int64 // outside of Go's heap
	limit   atomic.Int64 // 0: not known yet

	mu      sync.Mutex // held while it is measured and while room is made, but for waits
	measure func() int64
	collect func()          // frees garbage
	trim    func() int64    // makes idle memory garbage, and says how much
	system  func() int64    // the default limit
	holders func() []Holder // for reports
	shares  [2]atomic.Int64 // parts of the limit, in 1/1000; 0: all of it
}

// process is the budget of this process. All memory of tensors counts in it.
var process = &budget{measure: heap, collect: runtime.GC, trim: trimAll, system: SystemLimit, holders: holders}

// heap returns the bytes that objects take in Go's heap, garbage included that
// has not been swept.
func heap() int64 {
	s := [1]metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s[:])
	return int64(s[0].Value.Uint64())
}

// most returns the limit.
func (b *budget) most() int64 {
	if n := b.limit.Load(); n > 0 {
		return n
	}
	b.limit.CompareAndSwap(0, b.system())
	return b.limit.Load()
}

// addressable is more than Go can have on any system. With limits up to that the sums of a few
// requests do not overflow.
const addressable = 1 << 47

// setLimit sets the limit, 0 for the default one, and returns what it was. More than is addressable
// is no limit.
func (b *budget) setLimit(n int64) (before int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before = b.most()
	b.limit.Store(max(0, min(n, addressable)))
	b.soft.Store(0)
	return before
}

// inUse measures.
func (b *budget) inUse() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count()
}

// take grants n bytes. The caller calls allocated after it has made the block.
func (b *budget) take(n int64) error {
	if m := limit.Load(); m > 0 && n > m {
		return b.exhausted(n, m)
	}
	if most := b.most(); n > most { // not counted, for sums with it would overflow
		return b.exhausted(n, most)
	}
	b.pending.Add(n)
	if b.add(n) {
		return nil
	}
	b.pending.Add(-n)
	return b.grant(n, b.most())
}

// add counts n bytes unless use has to be measured. Only a measurement makes bound less: one that
// ran while n was added and taken away again would subtract it once more.
func (b *budget) add(n int64) bool {
	for {
		bound := b.bound.Load()
		if n > b.soft.Load()-bound {
			return false
		}
		if b.bound.CompareAndSwap(bound, bound+n) {
			return true
		}
	}
}

// allocated says that a block that was taken is in the heap now.
func (b *budget) allocated(n int64) { b.pending.Add(-n) }

// few counts a small block, which has been allocated or will be soon. Small
// blocks cost tens of nanoseconds, so that counters that goroutines share would
// be felt: one block in many counts for all.
func (b *budget) few(n int) error {
	if int(rand.Uint32()>>12) >= n+overhead { // of 1<<20
		return nil
	}
	return b.several(sample)
}

// several counts n bytes in small blocks that have been allocated.
func (b *budget) several(n int64) error {
	if b.add(n) {
		return nil
	}
	most := b.most()
	if err := b.grant(n, most+most/spare); err != nil {
		return err
	}
	b.allocated(n)
	return nil
}

// grant measures, and makes room as long as there is too little: from garbage, from what it may
// have counted twice, and at last from what pools keep. Others go on while it waits for what is
// counted twice, so that there may be new garbage, and new blocks that are counted twice.
func (b *budget) grant(n, most int64) error {
	if n > most {
		return b.exhausted(n, most)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for end := time.Now().Add(settleTime); ; {
		if b.granted(n, most) {
			return nil
		}
		b.collect()
		if b.granted(n, most) {
			return nil
		}
		if !b.settle(most-n, end) {
			break
		}
	}
	if b.empty(); b.granted(n, most) {
		return nil
	}
	return b.exhausted(n, most)
}

// granted counts n bytes if they fit.
func (b *budget) granted(n, most int64) bool {
	if b.count()+n > most {
		return false
	}
	b.pending.Add(n)
	b.bound.Add(n)
	return true
}

// empty frees what pools keep.
func (b *budget) empty() {
	if b.trim() > 0 {
		b.collect()
	}
}

// A large block counts twice while Go clears it, which may take a tenth of a second: the
// heap has it already, and it is still pending. settle polls until that is over.
const (
	settleTime  = time.Second
	settlePause = 500 * time.Microsecond
)

// settle waits while use exceeds room only because of blocks that are pending, and reports whether
// it did, before end. The lock is free meanwhile: requests that fit are granted, and several
// refusals wait concurrently.
func (b *budget) settle(room int64, end time.Time) bool {
	if !b.unsettled(room) || !time.Now().Before(end) {
		return false
	}
	b.mu.Unlock()
	defer b.mu.Lock()
	for b.unsettled(room) && time.Now().Before(end) {
		time.Sleep(settlePause)
	}
	return true
}

// unsettled reports whether use exceeds room, and would not without what is pending.
func (b *budget) unsettled(room int64) bool {
	used, pending := b.measure()+b.mapped.Load(), b.pending.Load()
	return used <= room && used+pending > room
}

// count measures and returns what is in use. The order of the loads matters: a
// block is pending before it is in bound, and in the heap before it is pending
// no more. One may be counted twice, but none is missed. b.mu is held.
func (b *budget) count() int64 {
	old, pending := b.bound.Load(), b.pending.Load()
	used := b.measure() + pending + b.mapped.Load()
	b.bound.Add(used - old)
	b.soft.Store(min(b.most(), used+stride))
	return used
}

func (b *budget) exhausted(n, most int64) error {
	return &Exhausted{Asked: n, InUse: b.measure() + b.mapped.Load(), Limit: most, Holders: b.holders()}
}

// Most returns how much memory the process may use.
func Most() int64 { return process.most() }

// SetLimit sets how much memory the process may use for tensors and everything
// else on Go's heap, and returns what the limit was. 0 stands for the default,
// [SystemLimit].
func SetLimit(bytes int64) (before int64) { return process.setLimit(bytes) }

// Usage returns what the process uses now, garbage included that has not been
// collected, and its limit.
func Usage() (inUse, limit int64) { return process.inUse(), process.most() }
