//go:build !noasm

package conv

import (
	"hash/maphash"
	"runtime"
	"sync"
	"unsafe"
	"weak"
)

// keptShares has the points that are in use, for the kernels of all graphs that have the same filters.
//
// An entry goes when its points are collected. Other filters may be at the same address before that, where
// memory has come from a pool: so the key has their hash, too.
type keptShares struct {
	sync.Mutex
	of map[filterKey]weak.Pointer[keptPoints]
}

// filterKey tells filters apart: by where they begin, how they are laid out and what they are.
type filterKey struct {
	at               uintptr
	high, wide       int
	channels, output int
	hash             uint64
}

var filterSeed = maphash.MakeSeed()

// filterKey returns the key of filters. It reads all of them.
func (v *Conv) filterKey(w []float32) filterKey {
	w = w[:v.Taps()*v.InC*v.OutC]
	b := unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*floatBytes)
	return filterKey{uintptr(unsafe.Pointer(&w[0])), v.Kernel[1], v.Kernel[2], v.InC, v.OutC, maphash.Bytes(filterSeed, b)}
}

// find returns points, nil if there are none.
func (s *keptShares) find(key filterKey) *keptPoints {
	s.Lock()
	defer s.Unlock()
	return s.of[key].Value()
}

// add makes points known to others.
func (s *keptShares) add(key filterKey, p *keptPoints) {
	s.Lock()
	defer s.Unlock()
	if s.of == nil {
		s.of = map[filterKey]weak.Pointer[keptPoints]{}
	}
	s.of[key] = weak.Make(p)
	runtime.AddCleanup(p, s.remove, key)
}

// remove drops an entry whose points have been collected, unless others have taken its place.
func (s *keptShares) remove(key filterKey) {
	s.Lock()
	defer s.Unlock()
	if s.of[key].Value() == nil {
		delete(s.of, key)
	}
}
