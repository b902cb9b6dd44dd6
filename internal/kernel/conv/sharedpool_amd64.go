//go:build !noasm

package conv

import (
	"sync"
	"sync/atomic"
	"weak"
)

// A sharedPool recycles memory of convolutions, some MiB each. A sync.Pool keeps an idle value for
// each processor, and the goroutine of one session comes to all of them: so the value that
// was given back last is found on others, too. As a sync.Pool's, idle values are collected.
type sharedPool struct {
	idle sync.Pool // of *winogradShared
	last atomic.Pointer[weak.Pointer[winogradShared]]
}

// lending says where a value is:
//
//	new ─▶ busy ─put─▶ pooled ─get, on its processor─▶ busy
//	                      └──────get, by last─────▶ busy, pooled ─put─▶ pooled
//
// One that is in use and pooled is skipped by others that find it.
type lending struct {
	busy, pooled atomic.Bool
	self         *weak.Pointer[winogradShared]
}

// get returns a value that nothing else uses.
func (p *sharedPool) get() *winogradShared {
	if w := p.last.Swap(nil); w != nil {
		if m := w.Value(); m != nil && m.busy.CompareAndSwap(false, true) {
			return m
		}
	}
	for {
		m, ok := p.idle.Get().(*winogradShared)
		if !ok {
			break
		}
		m.pooled.Store(false)
		if m.busy.CompareAndSwap(false, true) {
			return m
		}
	}
	m := new(winogradShared)
	w := weak.Make(m)
	m.self = &w
	m.busy.Store(true)
	return m
}

// put gives a value back.
func (p *sharedPool) put(m *winogradShared) {
	m.busy.Store(false)
	p.last.Store(m.self)
	if !m.pooled.Swap(true) {
		p.idle.Put(m)
	}
}
