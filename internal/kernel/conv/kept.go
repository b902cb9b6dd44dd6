package conv

import "sync/atomic"

// KeptFilters keeps what is computed of filters that do not change, for the next convolution
// with them. It may be shared. A nil one keeps nothing. Nothing is kept of filters with which
// convolutions are plain.
type KeptFilters struct {
	uses   atomic.Int64
	points atomic.Pointer[keptPoints]
}

// usesUntilKept is how many convolutions there have to be: programs that run a model a few times
// keep their memory small.
const usesUntilKept = 16

// keptPoints are the points of filters. They take 1.8 times the memory of 3×3 filters.
type keptPoints struct {
	w *float32
	u []float32
}

// of returns the points of the filters that begin at w, nil if there are none.
func (k *KeptFilters) of(w *float32) *keptPoints {
	if k == nil {
		return nil
	}
	if p := k.points.Load(); p != nil && p.w == w {
		return p
	}
	return nil
}

// wants counts a convolution without points, and reports whether it is to keep those that it computes.
// One of the convolutions that run at once is.
func (k *KeptFilters) wants() bool {
	return k != nil && k.uses.Add(1)%usesUntilKept == 0
}
