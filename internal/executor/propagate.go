package executor

// leave gives up what a node has read.
func (r *run) leave(x *iteration, it *item, dead bool) {
	it.unload(&x.ctx[it.local])
	switch {
	case it.kind != merge:
		for _, slot := range it.in {
			x.unread(slot)
		}
	case !dead:
		x.unread(it.in[x.counts[it.local].pick])
	}
}

// propagate counts down the nodes that wait for a node of x, which has ended.
func (r *run) propagate(x *iteration, it *item, dead bool) {
	r.wake(x, it, dead)
	r.nodeEnded(x)
}

// wake counts down the nodes that wait for outputs of it, which are in x.
func (r *run) wake(x *iteration, it *item, dead bool) {
	for _, w := range it.wakes {
		outDead := dead
		if !dead && w.out != control {
			v := &x.slots[it.out+int32(w.out)]
			outDead = v.T == nil && v.Ref == nil
		}
		r.arrive(x, w, outDead, it.kind == enter)
	}
	for k := range it.node.OutTypes {
		if slot := it.out + int32(k); x.readers[slot] == 0 {
			x.drop(slot)
		}
	}
}

// arrive counts an input of w.to, and makes the node ready if it is the last.
func (r *run) arrive(x *iteration, w wake, dead, entered bool) {
	it := &r.e.items[w.to]
	n := &x.counts[it.local]
	if it.kind == merge {
		r.arriveMerge(x, w, n, dead, entered)
		return
	}
	if dead {
		n.dead++
	}
	if n.left--; n.left == 0 {
		r.push(x, w.to, n.dead > 0 && it.kind != trigger)
	}
}

// spent is the count of a Merge that has been found dead. It is even, and too
// small to be counted down to anything that means something.
const spent = -2

// arriveMerge: a Merge is ready with its control inputs and either one live
// data input or all of them dead. That a loop was entered dead is enough, for
// nothing comes around then. The lowest bit of the count stands for the live
// input.
func (r *run) arriveMerge(x *iteration, w wake, n *counts, dead, entered bool) {
	it := &r.e.items[w.to]
	switch {
	case w.out == control:
		n.left -= 2
	case dead:
		if n.dead++; entered {
			n.dead = int32(len(it.in)) // also for control inputs that come later
		}
	case n.left&1 == 1:
		n.left--
		n.pick = int32(w.arg)
	default: // another live input was first
		x.unread(it.in[w.arg])
		return
	}
	switch {
	case n.left == 0:
		n.left = spent
		r.push(x, w.to, false)
	case n.left == 1 && int(n.dead) >= len(it.in):
		n.left = spent
		r.push(x, w.to, true)
	}
}
