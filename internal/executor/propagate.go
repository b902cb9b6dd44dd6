package executor

import "github.com/gorge-tf/gorge/tf"

// propagate tells those who wait for node i that it has ended, gives up its
// inputs, and ends it.
func (s *state) propagate(i int32, dead bool) {
	it := &s.e.items[i]
	s.release(it)
	var local [16]ready
	woken := local[:0]
	for _, w := range it.wakes {
		outDead := dead
		if !dead && w.out != control {
			o := &s.slots[int(it.out)+int(w.out)]
			outDead = o.T == nil && o.Ref == nil
		}
		if r, ok := s.arrive(w, outDead); ok {
			woken = append(woken, r)
		}
	}
	s.releaseUnread(it)
	s.mu.Lock()
	s.ready = append(s.ready, woken...)
	s.outstanding += len(woken) - 1
	s.mu.Unlock()
}

// arrive counts one input of w.to, and reports the node once it is ready.
func (s *state) arrive(w wake, dead bool) (ready, bool) {
	if s.e.items[w.to].kind == merge {
		return s.arriveMerge(w, dead)
	}
	if dead {
		s.deadIn[w.to].Add(1)
	}
	if s.left[w.to].Add(-1) != 0 {
		return ready{}, false
	}
	isDead := s.deadIn[w.to].Load() > 0 && s.e.items[w.to].kind != trigger
	return ready{w.to, isDead}, true
}

// arriveMerge: a Merge is ready with its control inputs and either one live
// data input or all of them dead. The lowest bit of the count stands for the
// live input.
func (s *state) arriveMerge(w wake, dead bool) (ready, bool) {
	switch {
	case w.out == control:
		left := s.left[w.to].Add(-2)
		allDead := int(s.deadIn[w.to].Load()) == len(s.e.items[w.to].in)
		return ready{w.to, allDead}, left == 0 || left == 1 && allDead
	case dead:
		n := s.deadIn[w.to].Add(1)
		return ready{w.to, true}, int(n) == len(s.e.items[w.to].in) && s.left[w.to].Load() == 1
	}
	left := s.left[w.to].Load()
	for left&1 == 1 {
		if s.left[w.to].CompareAndSwap(left, left-1) {
			return ready{w.to, false}, left == 1
		}
		left = s.left[w.to].Load()
	}
	return ready{}, false // another live input was first
}

// release gives up the node's inputs; the last reader of a value frees it.
func (s *state) release(it *item) {
	for k, slot := range it.in {
		in := &s.in[int(it.input0)+k]
		if it.deref[k] && in.T != nil {
			in.T.Release()
		}
		*in = emptySlot
		if s.readers[slot].Add(-1) == 0 {
			s.freeSlot(slot)
		}
	}
}

// releaseUnread frees outputs that nobody reads.
func (s *state) releaseUnread(it *item) {
	for k := range it.node.OutTypes {
		if slot := it.out + int32(k); s.readers[slot].Load() == 0 {
			s.freeSlot(slot)
		}
	}
}

func (s *state) freeSlot(slot int32) {
	if t := s.slots[slot].T; t != nil {
		t.Release()
	}
	s.slots[slot] = emptySlot
}

// emptySlot is the value of an output that is dead or not computed yet.
var emptySlot = tf.Slot{}
