package collective

// A tree says how one broadcast goes on among some members of a group: each gets
// the value from one and hands it on to two at most. In a group of several tasks
// there is one tree among tasks, of a member each, and then one within each task.
type tree struct {
	number  int   // tells its keys from those of the others
	members []int // by place in the tree
	source  int   // the place where the value is
	place   int   // of this member
}

// trees returns those in which a member takes part, in the order in which it
// does.
func trees(perTask []int, source, rank int) (out []tree) {
	var among tree
	number, first := 0, 0
	if len(perTask) > 1 {
		number, among.place = 1, -1
	}
	for task, n := range perTask {
		in := tree{number: number + task, place: -1}
		for i := range n {
			in.members = append(in.members, first+i)
		}
		if rank >= first && rank < first+n {
			in.place = rank - first
		}
		if source >= first && source < first+n {
			in.source, among.source = source-first, task
		}
		head := in.members[in.source]
		among.members = append(among.members, head)
		if head == rank {
			among.place = task
		}
		if in.place >= 0 {
			out = append(out, in)
		}
		first += n
	}
	if len(perTask) > 1 && among.place >= 0 {
		out = append([]tree{among}, out...)
	}
	return out
}

// from returns the place that a value comes from; -1 at the source. Where the
// source is not first, places are counted as if it were there too, before all
// others.
func (t *tree) from() int {
	switch {
	case t.place == t.source:
		return -1
	case t.source == 0:
		return (t.place - 1) / 2
	case t.place < 2:
		return t.source
	}
	return t.place/2 - 1
}

// to returns the places that the value goes to.
func (t *tree) to() (out []int) {
	n, next := len(t.members), 2*t.place+1
	if t.source != 0 {
		next++
		if t.place == t.source {
			out = append(out, 0)
			if n > 2 && t.source != 1 {
				out = append(out, 1)
			}
		}
	}
	for p := next; p < min(next+2, n); p++ {
		if p != t.source {
			out = append(out, p)
		}
	}
	return out
}
