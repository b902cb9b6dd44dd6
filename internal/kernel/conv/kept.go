package conv

import (
	"sync/atomic"
	"unsafe"
)

// KeptFilters keeps what is computed of filters that rarely change, for the next convolution
// with them. It may be shared. A nil one keeps nothing, as does one whose Use is not called. Nothing
// is kept of filters with which convolutions are plain.
//
// Memory at one address may have other contents the next time. So nothing is kept but of filters that
// are held: as long as that is so, their memory neither changes nor goes.
type KeptFilters struct {
	uses   atomic.Int64 // since filters were held
	lost   atomic.Int64 // how often other filters came than those held
	held   atomic.Pointer[heldFilters]
	points atomic.Pointer[keptPoints]
}

// heldFilters begin at an address.
type heldFilters struct {
	at unsafe.Pointer
	by any
}

const (
	// usesUntilKept is how many convolutions there have to be: programs that run a model a few times
	// keep their memory small.
	usesUntilKept = 16
	// mostDoublings bounds how often that number is doubled, which it is each time that filters which
	// were held have changed: a training step between two evaluations then finds its variables without
	// other references, as a rule.
	mostDoublings = 8
)

// keptPoints are the points of filters. They take 1.8 times the memory of 3×3 filters.
type keptPoints struct {
	w  *float32
	u  []float32
	by any // holds the filters
}

// Use counts a convolution with the filters that begin at w, before it. From some time on it holds the
// filters by what hold returns, until others come.
func (k *KeptFilters) Use(w unsafe.Pointer, hold func() any) {
	h := k.held.Load()
	if h != nil && h.at == w {
		return
	}
	if h != nil && k.held.CompareAndSwap(h, nil) {
		k.lost.Add(1)
		k.uses.Store(0)
		k.points.Store(nil)
	}
	if k.uses.Add(1) >= usesUntilKept<<min(k.lost.Load(), mostDoublings) {
		k.held.CompareAndSwap(nil, &heldFilters{w, hold()})
	}
}

// of returns the points of the filters that begin at w, nil if there are none.
func (k *KeptFilters) of(w *float32) *keptPoints {
	if p := k.points.Load(); p != nil && p.w == w {
		return p
	}
	return nil
}

// holding returns what is held, if that begins at w.
func (k *KeptFilters) holding(w *float32) *heldFilters {
	if h := k.held.Load(); h != nil && h.at == unsafe.Pointer(w) {
		return h
	}
	return nil
}

// keep keeps the points of filters, unless others have come meanwhile.
func (k *KeptFilters) keep(p *keptPoints, of *heldFilters) {
	k.points.Store(p)
	if k.held.Load() != of {
		k.points.CompareAndSwap(p, nil)
	}
}
