//go:build !noasm

package conv

import (
	"runtime"
	"sync"
	"unsafe"
	"weak"
)

// keptShares has the points that are in use, for the kernels of all graphs that have the same filters.
//
// An entry goes when its points are collected. Until then they hold the filters, so that no others
// are at their address.
type keptShares struct {
	sync.Mutex
	of map[filterKey]weak.Pointer[keptPoints]
}

// filterKey tells filters apart: by where they begin and how they are laid out.
type filterKey struct {
	at               uintptr
	high, wide       int
	channels, output int
}

func (v *Conv) filterKey(w *float32) filterKey {
	return filterKey{uintptr(unsafe.Pointer(w)), v.Kernel[1], v.Kernel[2], v.InC, v.OutC}
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
