package re2

import (
	"math/bits"
	"regexp/syntax"
	"unicode/utf8"
)

// A tracker tells where the groups of a match are. For each character that goes on from a
// node, only one way through the expression does, so that the character alone tells which
// groups begin and end in front of it. RE2 calls such expressions one-pass.
type tracker struct {
	nodes []trackerNode
	slots int // two for each group
}

// A trackerNode is a place behind a character. An action has the number of the node that
// comes next in its upper bits, counted from 1, and in its lower ones which slots are here.
// It is 0 if the character does not go on.
type trackerNode struct {
	ascii [utf8.RuneSelf]uint32
	wide  []trackerWay // for characters beyond those
	end   uint32       // the action if the match ends here
}

// A trackerWay is an instruction that takes a character.
type trackerWay struct {
	inst   *syntax.Inst
	action uint32
}

const (
	slotBits  = 24
	mostNodes = 1<<(32-slotBits) - 1
	mostWays  = 1 << 12               // in all nodes
	ended     = mostNodes << slotBits // in no other action
)

// newTracker returns nil if characters do not tell the way, or if there are too many places
// or groups. The program has no conditions on what is before or behind a place.
func newTracker(prog *syntax.Prog, groups int) *tracker {
	if 2*groups > slotBits {
		return nil
	}
	t := &tracker{slots: 2 * groups}
	b := trackerBuilder{prog: prog, numbers: map[uint32]uint32{}}
	b.number(uint32(prog.Start))
	for len(t.nodes) < len(b.starts) {
		n, ok := b.node(b.starts[len(t.nodes)])
		if !ok {
			return nil
		}
		t.nodes = append(t.nodes, n)
	}
	return t
}

// A trackerBuilder numbers nodes by the instructions that they begin with.
type trackerBuilder struct {
	prog    *syntax.Prog
	numbers map[uint32]uint32
	starts  []uint32

	ways int

	seen map[uint32]bool // by the node that is being made
}

func (b *trackerBuilder) number(pc uint32) uint32 {
	n, ok := b.numbers[pc]
	if !ok {
		b.starts = append(b.starts, pc)
		n = uint32(len(b.starts))
		b.numbers[pc] = n
	}
	return n
}

// node makes the node that begins with an instruction.
func (b *trackerBuilder) node(pc uint32) (n trackerNode, ok bool) {
	b.seen = map[uint32]bool{}
	if !b.follow(&n, pc, 0) || len(b.starts) >= mostNodes {
		return n, false
	}
	if b.ways += len(n.wide); b.ways > mostWays {
		return n, false
	}
	for _, w := range n.wide {
		for r := range n.ascii {
			if !w.inst.MatchRune(rune(r)) {
				continue
			}
			if n.ascii[r] != 0 {
				return n, false
			}
			n.ascii[r] = w.action
		}
	}
	return n, true
}

// follow adds to n what is reached from an instruction without a character. It reports false
// if there are two ways to the same.
func (b *trackerBuilder) follow(n *trackerNode, pc, slots uint32) bool {
	if b.seen[pc] {
		return false
	}
	b.seen[pc] = true
	switch i := &b.prog.Inst[pc]; i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return b.follow(n, i.Out, slots) && b.follow(n, i.Arg, slots)
	case syntax.InstCapture:
		return b.follow(n, i.Out, slots|1<<(i.Arg-2))
	case syntax.InstNop:
		return b.follow(n, i.Out, slots)
	case syntax.InstMatch:
		n.end = slots | ended
		return true
	case syntax.InstFail:
		return true
	case syntax.InstEmptyWidth:
		return false
	default:
		n.wide = append(n.wide, trackerWay{i, b.number(i.Out)<<slotBits | slots})
		return true
	}
}

// groups appends where the groups of s are, which is a match that begins at a place. It is
// not ok if a character does not tell the way.
func (t *tracker) groups(dst []int, s string, begin int) (_ []int, ok bool) {
	n := len(dst)
	for range t.slots {
		dst = append(dst, -1)
	}
	slots, here := dst[n:], &t.nodes[0]
	for at := 0; at < len(s); {
		r, size, action := rune(s[at]), 1, uint32(0)
		if r < utf8.RuneSelf {
			action = here.ascii[r]
		} else {
			r, size = utf8.DecodeRuneInString(s[at:])
			action = here.way(r)
		}
		if action == 0 {
			return dst[:n], false
		}
		set(slots, action, begin+at)
		here = &t.nodes[action>>slotBits-1]
		at += size
	}
	set(slots, here.end, begin+len(s))
	return dst, here.end != 0
}

// set sets the slots of an action to a place.
func set(slots []int, action uint32, at int) {
	for m := action & (1<<slotBits - 1); m != 0; m &= m - 1 {
		slots[bits.TrailingZeros32(m)] = at
	}
}

// way returns the action for a character beyond ASCII, 0 if it does not go on or in two ways.
func (n *trackerNode) way(r rune) (action uint32) {
	for _, w := range n.wide {
		if !w.inst.MatchRune(r) {
			continue
		}
		if action != 0 {
			return 0
		}
		action = w.action
	}
	return action
}
