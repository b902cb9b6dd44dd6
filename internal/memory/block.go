package memory

import "unsafe"

// block allocates n bytes for h within the budget and its share, by allocate or
// allocateDirty. h may be nil. Large blocks have a claim.
func block(n int, h *holder, allocate func(n int) unsafe.Pointer) (unsafe.Pointer, *claim, error) {
	checkSize(n)
	if n < large {
		return allocate(n), nil, process.few(n)
	}
	if err := h.charge(int64(n)); err != nil {
		return nil, nil, err
	}
	if err := process.take(int64(n)); err != nil {
		h.give(int64(n))
		return nil, nil, err
	}
	p := allocate(n)
	process.allocated(int64(n))
	if h == nil {
		return p, nil, nil
	}
	return p, newClaim((*byte)(p), int64(n), h), nil
}

// must returns b, or panics with the reason why there is none.
func must(b *Buffer, err error) *Buffer {
	if err != nil {
		panic(err)
	}
	return b
}
