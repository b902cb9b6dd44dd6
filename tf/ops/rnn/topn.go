package rnn

import "slices"

// A topN keeps the n best elements that were pushed. Among equal ones the order
// decides, and which that is depends on how they are kept: as TensorFlow keeps
// them, in a list first and then in a heap with the worst on top, whose moves
// are those of the C++ library.
type topN[E any] struct {
	n       int
	better  func(a, b E) bool
	elems   []E
	heaped  bool
	bottoms bool // the first element is the worst
}

func newTopN[E any](n int, better func(a, b E) bool) *topN[E] { return &topN[E]{n: n, better: better} }

func (t *topN[E]) len() int { return min(t.n, len(t.elems)) }

// unsorted returns what is kept in no order.
func (t *topN[E]) unsorted() []E { return t.elems[:t.len()] }

// push adds e, for which the worst falls out if there are too many.
func (t *topN[E]) push(e E) {
	if t.heaped {
		// The place behind the heap is free.
		if t.better(e, t.elems[0]) {
			t.rise(t.n, 0, e)
			t.popHeap(t.n + 1)
		}
		return
	}
	t.elems = append(t.elems, e)
	last := len(t.elems) - 1
	if t.bottoms && !t.better(e, t.elems[0]) {
		t.elems[0], t.elems[last] = t.elems[last], t.elems[0]
	}
	if len(t.elems) == t.n+1 {
		for i := (t.n+1)/2 - 1; i >= 0; i-- {
			t.sink(i, t.n+1, t.elems[i])
		}
		t.popHeap(t.n + 1)
		t.heaped = true
	}
}

// bottom returns the worst.
func (t *topN[E]) bottom() E {
	if t.heaped || t.bottoms {
		return t.elems[0]
	}
	worst := 0
	for i := range t.elems {
		if t.better(t.elems[worst], t.elems[i]) {
			worst = i
		}
	}
	t.elems[0], t.elems[worst] = t.elems[worst], t.elems[0]
	t.bottoms = true
	return t.elems[0]
}

// extract returns what is kept, the best first, and forgets it.
func (t *topN[E]) extract() []E {
	out := t.elems
	if t.heaped {
		for n := t.n; n > 1; n-- {
			t.popHeap(n)
		}
		out = out[:t.n]
	} else {
		slices.SortStableFunc(out, t.compare)
	}
	t.elems, t.heaped, t.bottoms = nil, false, false
	return out
}

func (t *topN[E]) compare(a, b E) int {
	switch {
	case t.better(a, b):
		return -1
	case t.better(b, a):
		return 1
	}
	return 0
}

// popHeap moves the top of a heap of n elements behind the others.
func (t *topN[E]) popHeap(n int) {
	if n < 2 {
		return
	}
	e := t.elems[n-1]
	t.elems[n-1] = t.elems[0]
	t.sink(0, n-1, e)
}

// sink moves the hole at i of n elements down to a leaf, always to the worse
// child, and from there up until e fits into it.
func (t *topN[E]) sink(i, n int, e E) {
	top := i
	for 2*i+2 < n {
		child := 2*i + 2
		if t.better(t.elems[child], t.elems[child-1]) {
			child--
		}
		t.elems[i], i = t.elems[child], child
	}
	if 2*i+2 == n {
		t.elems[i], i = t.elems[n-1], n-1
	}
	t.rise(i, top, e)
}

// rise moves the hole at i up, at most to top, until e fits into it.
func (t *topN[E]) rise(i, top int, e E) {
	for i > top && t.better(t.elems[(i-1)/2], e) {
		t.elems[i], i = t.elems[(i-1)/2], (i-1)/2
	}
	t.elems[i] = e
}
