package executor

import "slices"

// Where the values of a planned loop end is worked out once, as fixOrder does
// it for graphs without loops.

// finish works out, for a loop all of whose nodes have been taken, how values
// get from one iteration to the next and where each is last read.
func (p *loopPlanner) finish() {
	p.carry()
	for k := range p.plan.exits {
		p.plan.exits[k].in = p.plan.exits[k].in[:1]
	}
	after := map[int32]bool{} // what is read when the body has run
	for _, s := range p.from {
		after[p.source(s)] = true
	}
	read := p.reads(p.plan.body)
	left := p.live(func(s int32) bool { return after[s] })
	p.idle(read, left)
	p.ends(p.plan.body, left)
	exits := p.reads(p.plan.exits)
	p.ends(p.plan.cond, func(s int32) bool {
		return left(s) || read[s] > 0 || exits[s] > 0 || s == p.plan.pred || p.merges[s]
	})
	p.ends(p.plan.once, func(int32) bool { return true })
	p.plan.condAgain, p.plan.bodyAgain = unsettled(p.plan.cond), unsettled(p.plan.body)
}

// live extends a set of slots by those that always live on.
func (p *loopPlanner) live(set func(int32) bool) func(int32) bool {
	return func(s int32) bool { return p.kept[s] || set(s) }
}

// reads counts the readers of each slot.
func (p *loopPlanner) reads(list []planned) map[int32]int {
	n := map[int32]int{}
	for _, st := range list {
		for _, s := range st.in {
			n[s]++
		}
	}
	return n
}

// ends marks in list where each slot is last read, but for those that live on.
func (p *loopPlanner) ends(list []planned, lives func(int32) bool) {
	left := p.reads(list)
	for k := range list {
		st := &list[k]
		it := &p.items[st.item]
		st.last = make([]bool, len(st.in))
		for a, s := range st.in {
			st.last[a] = left[s] == 1 && !lives(s) && !(it.deref != nil && it.deref[a])
		}
		for _, s := range st.in {
			if left[s]--; left[s] == 0 && !lives(s) {
				st.drop = append(st.drop, s)
			}
		}
		for o := range it.node.OutTypes {
			if s := it.out + int32(o); left[s] == 0 && !lives(s) {
				st.drop = append(st.drop, s)
			}
		}
	}
}

// idle finds the slots that the condition fills and that are not read if the loop goes on.
func (p *loopPlanner) idle(read map[int32]int, lives func(int32) bool) {
	filled := map[int32]bool{}
	for s := range p.merges {
		filled[s] = true
	}
	for _, st := range p.plan.cond {
		it := &p.items[st.item]
		for o := range it.node.OutTypes {
			filled[it.out+int32(o)] = true
		}
	}
	for s := range filled {
		if read[s] == 0 && !lives(s) {
			p.plan.idle = append(p.plan.idle, s)
		}
	}
}

// carry says how the loop's variables get their next values. One that is
// another's present value, or that several take, goes by a spare slot.
func (p *loopPlanner) carry() {
	takers := map[int32]int{}
	for _, s := range p.from {
		takers[p.source(s)]++
	}
	for _, e := range p.plan.entered {
		to := e[1]
		c := carry{from: p.source(p.from[to]), to: to}
		switch {
		case c.from == to:
		case p.merges[c.from] || p.kept[c.from] || takers[c.from] > 1:
			c.way = p.l.slots
			p.l.slots++
			p.l.sources = append(p.l.sources, p.l.sources[to])
			p.plan.shared = append(p.plan.shared, c)
			if !p.merges[c.from] && !p.kept[c.from] && !slices.Contains(p.plan.spent, c.from) {
				p.plan.spent = append(p.plan.spent, c.from)
			}
		default:
			p.plan.carried = append(p.plan.carried, c)
		}
	}
}
