package memory

import "slices"

// span is a free stretch of an arena.
type span struct{ off, n int }

func (s span) end() int { return s.off + s.n }

// spans is the free memory of an arena in address order, no two spans
// touching. An arena holds the few hundred tensors that cross the network in a
// step, for which a scan over a sorted slice beats any tree.
type spans []span

// take cuts n bytes from the smallest span that has them and returns their
// offset.
func (s *spans) take(n int) (int, bool) {
	best := -1
	for i, f := range *s {
		if f.n >= n && (best < 0 || f.n < (*s)[best].n) {
			best = i
		}
	}
	if best < 0 {
		return 0, false
	}
	f := &(*s)[best]
	off := f.off
	f.off, f.n = f.off+n, f.n-n
	if f.n == 0 {
		*s = slices.Delete(*s, best, best+1)
	}
	return off, true
}

// give returns n bytes at off and joins them with their free neighbours.
func (s *spans) give(off, n int) {
	i, _ := slices.BinarySearchFunc(*s, off, func(f span, off int) int { return f.off - off })
	add := span{off, n}
	from, to := i, i
	if i > 0 && (*s)[i-1].end() == off {
		from--
		add = span{(*s)[from].off, (*s)[from].n + add.n}
	}
	if i < len(*s) && (*s)[i].off == add.end() {
		to++
		add.n += (*s)[i].n
	}
	*s = slices.Replace(*s, from, to, add)
}
