package pass

// findCycles finds the functions that call one another, and from that how large
// each one gets when calls are replaced by bodies: Tarjan's algorithm, with a
// stack of its own, as calls may be nested deeper than stacks are.
func (g *growth) findCycles() {
	t := &tarjan{growth: g, index: map[*reach]int{}, low: map[*reach]int{}, on: map[*reach]bool{}}
	for _, r := range g.of {
		if t.index[r] == 0 {
			t.search(r)
		}
	}
}

type tarjan struct {
	*growth
	index, low map[*reach]int // from 1
	on         map[*reach]bool
	stack      []*reach
	frames     []frame
	cycles     int
}

// frame is a function whose calls are being followed.
type frame struct {
	*reach
	next int // the call to follow next
}

func (t *tarjan) search(r *reach) {
	t.enter(r)
	for len(t.frames) > 0 {
		f := &t.frames[len(t.frames)-1]
		if f.next == len(f.calls) {
			t.leave()
			continue
		}
		c := t.of[f.calls[f.next]]
		f.next++
		switch {
		case c == nil:
		case t.index[c] == 0:
			t.enter(c)
		case t.on[c]:
			t.low[f.reach] = min(t.low[f.reach], t.index[c])
		}
	}
}

func (t *tarjan) enter(r *reach) {
	t.index[r] = len(t.index) + 1
	t.low[r], t.on[r] = t.index[r], true
	t.stack, t.frames = append(t.stack, r), append(t.frames, frame{reach: r})
}

// leave ends the search from the last function, all of whose calls have been
// followed.
func (t *tarjan) leave() {
	r := t.frames[len(t.frames)-1].reach
	t.frames = t.frames[:len(t.frames)-1]
	if n := len(t.frames); n > 0 {
		caller := t.frames[n-1].reach
		t.low[caller] = min(t.low[caller], t.low[r])
	}
	if t.low[r] == t.index[r] {
		t.take(r)
	}
}

// take takes the functions that call one another, of which r was found first, off
// the stack.
func (t *tarjan) take(r *reach) {
	i := len(t.stack) - 1
	for t.stack[i] != r {
		i--
	}
	members := t.stack[i:]
	t.stack = t.stack[:i]
	t.cycles++
	for _, m := range members {
		t.on[m] = false
		if len(members) > 1 || m.callsItself() {
			m.cycle = t.cycles
		}
	}
	for _, m := range members {
		m.expanded = t.expand(m)
	}
}

func (r *reach) callsItself() bool {
	for _, f := range r.calls {
		if f == r.name {
			return true
		}
	}
	return false
}

// expand counts the nodes of r when calls have been replaced. What it calls beyond
// its own cycle has been counted.
func (t *tarjan) expand(r *reach) int {
	n := r.own
	for _, f := range r.calls {
		if c := t.of[f]; c != nil && (c.cycle == 0 || c.cycle != r.cycle) {
			n = add(n, c.expanded)
		}
	}
	return n
}
