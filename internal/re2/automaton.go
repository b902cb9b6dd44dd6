package re2

import (
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// An automaton runs an expression with one step for each character. Its states are
// made when a text first leads to them. Expressions that look at the character before
// or behind a place, by \b or by ^ and $ of lines, have none.
type automaton struct {
	prog   *syntax.Prog
	begins [2]*state // at places behind the beginning of the text, and there
	seeks  [2]*state // the same, where an attempt begins at each character
	dead   *state    // which nothing leads out of
	plain  bool      // what matches does not depend on where in the text it is

	mu     sync.Mutex
	states map[string]*state
	room   int // how many more numbers states may take
}

// A state is the set of places in an expression where the texts that lead to it may be.
type state struct {
	threads []uint32 // the instructions that go on, the preferred one first
	flags   uint8
	next    [utf8.RuneSelf]atomic.Pointer[state]
	wide    map[rune]*state // for characters beyond those, under the automaton's lock
}

const (
	matches      = 1 << iota // the text up to here is a match
	matchesAtEnd             // it is one if nothing follows
	final                    // nothing goes on
	seeking                  // an attempt begins at each character
	fresh                    // none that began before goes on
)

const (
	longestProgram  = 1 << 12
	automatonMemory = 1 << 18 // numbers in all states together
	endless         = -2      // the end of a match that has not been found, for lack of memory
)

// newAutomaton returns nil if the expression needs more than an automaton knows.
func newAutomaton(expr string) *automaton {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil || len(prog.Inst) > longestProgram {
		return nil
	}
	a := &automaton{prog: prog, states: map[string]*state{}, room: automatonMemory, plain: true}
	for _, i := range prog.Inst {
		if i.Op != syntax.InstEmptyWidth {
			continue
		}
		a.plain = false
		if op := syntax.EmptyOp(i.Arg); op != syntax.EmptyBeginText && op != syntax.EmptyEndText {
			return nil
		}
	}
	a.dead = a.intern(&closure{a: a})
	for first := range a.begins {
		c := closure{a: a, first: first == 1}
		c.add(uint32(prog.Start))
		a.begins[first] = a.intern(&c)
		c.kind, c.threads = seeking|fresh, slices.Clone(c.threads)
		a.seeks[first] = a.intern(&c)
	}
	return a
}

// A closure collects the instructions that are reached without a character.
type closure struct {
	a          *automaton
	first, end bool // whether this is where the text begins, or ends
	seen       map[uint32]bool
	threads    []uint32
	matched    bool  // what comes later is not preferred to the match
	kind       uint8 // flags for the way that led here
}

func (c *closure) add(pc uint32) {
	if c.matched || c.seen[pc] {
		return
	}
	if c.seen == nil {
		c.seen = map[uint32]bool{}
	}
	c.seen[pc] = true
	switch i := &c.a.prog.Inst[pc]; i.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		c.add(i.Out)
		c.add(i.Arg)
	case syntax.InstCapture, syntax.InstNop:
		c.add(i.Out)
	case syntax.InstEmptyWidth:
		if atEnd := syntax.EmptyOp(i.Arg) == syntax.EmptyEndText; atEnd && c.end || !atEnd && c.first {
			c.add(i.Out)
		} else if atEnd {
			c.threads = append(c.threads, pc)
		}
	case syntax.InstMatch:
		c.matched = true
	case syntax.InstFail:
	default:
		c.threads = append(c.threads, pc)
	}
}

// flags returns what a state of these threads is.
func (c *closure) flags() (flags uint8) {
	if len(c.threads) == 0 {
		flags = final
	}
	end := closure{a: c.a, first: c.first, end: true}
	for _, pc := range c.threads {
		if c.a.prog.Inst[pc].Op == syntax.InstEmptyWidth {
			end.add(pc)
		}
	}
	if c.matched {
		flags |= matches
	}
	if c.matched || end.matched {
		flags |= matchesAtEnd
	}
	return flags
}

// intern returns the state of these threads, nil if there is no memory for it.
func (a *automaton) intern(c *closure) *state {
	if c.kind != 0 {
		slices.Sort(c.threads) // whether there is a match does not depend on what is preferred
	}
	flags := c.flags() | c.kind
	key := []byte{flags}
	for _, pc := range c.threads {
		key = append(key, byte(pc), byte(pc>>8))
	}
	if s := a.states[string(key)]; s != nil {
		return s
	}
	if a.room -= utf8.RuneSelf + len(c.threads); a.room < 0 {
		return nil
	}
	s := &state{threads: c.threads, flags: flags}
	a.states[string(key)] = s
	return s
}

// step returns the state behind s and a character, nil if there is no memory for it.
func (a *automaton) step(s *state, r rune) *state {
	a.mu.Lock()
	defer a.mu.Unlock()
	if next := s.wide[r]; next != nil {
		return next
	}
	c := closure{a: a}
	for _, pc := range s.threads {
		if i := &a.prog.Inst[pc]; i.Op != syntax.InstEmptyWidth && i.MatchRune(r) {
			c.add(i.Out)
		}
	}
	if s.flags&seeking != 0 {
		if c.kind = seeking; len(c.threads) == 0 {
			c.kind |= fresh
		}
		c.add(uint32(a.prog.Start))
	}
	next := a.intern(&c)
	switch {
	case r < utf8.RuneSelf:
		s.next[r].Store(next)
	case a.room > 0:
		if s.wide == nil {
			s.wide = map[rune]*state{}
		}
		s.wide[r] = next
		a.room--
	}
	return next
}

// run returns where the match that begins at a place of s ends, -1 if there is none,
// and how far it has looked.
func (a *automaton) run(s string, at int) (end, seen int) {
	here, end := a.begins[0], -1
	if at == 0 {
		here = a.begins[1]
	}
	for {
		if here.flags != 0 {
			if here.flags&matches != 0 || here.flags&matchesAtEnd != 0 && at == len(s) {
				end = at
			}
			if here.flags&final != 0 {
				return end, at
			}
		}
		if at == len(s) {
			return end, at
		}
		r, size := rune(s[at]), 1
		var next *state
		if r < utf8.RuneSelf {
			next = here.next[r].Load()
		} else {
			r, size = utf8.DecodeRuneInString(s[at:])
		}
		if next == nil {
			if next = a.step(here, r); next == nil {
				return endless, at
			}
		}
		here, at = next, at+size
	}
}

// known returns the state behind a character of s, nil if that is not ASCII or the state
// has not been made.
func (s *state) known(text string, at int) *state {
	if at < len(text) && text[at] < utf8.RuneSelf {
		return s.next[text[at]].Load()
	}
	return nil
}

// seek returns a place at which or behind which the first match begins in s from a place on,
// -1 if there is none, endless if there is not enough memory to tell: one look at each
// character, while to try each place may look at many.
func (a *automaton) seek(s string, at int) (begin int) {
	here := a.seeks[0]
	if at == 0 {
		here = a.seeks[1]
	}
	begin = at
	for {
		if here.flags != seeking {
			var ended bool
			if begin, at, ended = here.sought(s, begin, at); ended {
				return begin
			}
		}
		if at == len(s) {
			return -1
		}
		r, size := rune(s[at]), 1
		var next *state
		if r < utf8.RuneSelf {
			next = here.next[r].Load()
		} else {
			r, size = utf8.DecodeRuneInString(s[at:])
		}
		if next == nil {
			if next = a.step(here, r); next == nil {
				return endless
			}
		}
		here, at = next, at+size
	}
}

// matchesIn reports whether there is a match in s, which leads to a state up to a place, and whether
// there was memory to tell. Unlike seek it need not know where the match may begin.
func (a *automaton) matchesIn(s string, here *state, at int) (found, known bool) {
	for {
		here, at = here.walk(s, at)
		switch {
		case here.flags&decided != 0:
			return here.flags&matches != 0, true
		case at == len(s):
			return here.flags&matchesAtEnd != 0, true
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		next := a.step(here, r)
		if next == nil {
			return false, false
		}
		here, at = next, at+size
	}
}

// decided are the flags of states whose texts match or not, whatever follows.
const decided = matches | final

// walk goes on in s from a place while states are known and nothing is decided.
func (here *state) walk(s string, at int) (*state, int) {
	for ; at < len(s) && here.flags&decided == 0; at++ {
		c := s[at]
		if c >= utf8.RuneSelf {
			break
		}
		next := here.next[c].Load()
		if next == nil {
			break
		}
		here = next
	}
	return here, at
}

// walkTwo is walk from the beginning of two texts, abreast: a processor waits for the next state of one
// while it looks up that of the other. It ends where one of them does.
func walkTwo(here, there *state, s, t string) (*state, *state, int) {
	n := min(len(s), len(t))
	s, t = s[:n], t[:n]
	for at := range n {
		c, d := s[at], t[at]
		if c|d >= utf8.RuneSelf || (here.flags|there.flags)&decided != 0 {
			return here, there, at
		}
		next, other := here.next[c%utf8.RuneSelf].Load(), there.next[d%utf8.RuneSelf].Load()
		if next == nil || other == nil {
			return here, there, at
		}
		here, there = next, other
	}
	return here, there, n
}

// sought returns where seek goes on in a state that is more than seeking, at a place of s: from
// where on matches may begin, and the next place to look at; or what seek returns, if it has ended.
func (here *state) sought(s string, begin, at int) (from, next int, ended bool) {
	switch {
	case here.flags&matches != 0:
		return begin, at, true
	case here.flags&final != 0:
		return -1, at, true
	case here.flags&fresh != 0:
		for here.known(s, at) == here {
			at++
		}
		begin = at
	}
	return begin, at, here.flags&matchesAtEnd != 0 && at == len(s)
}

// find returns the first match in s that begins at a place or later, -1 if there is none.
// The end is endless if that takes too long or too much memory to tell; steps are what may
// be looked at.
func (a *automaton) find(s string, at int, steps *int) (from, to int) {
	end, seen := a.run(s, at)
	if *steps -= seen - at; end != -1 {
		return at, end
	}
	if at >= len(s) {
		return -1, -1
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	at += size
	if begin := a.seek(s, at); begin == -1 {
		return -1, -1
	} else if begin != endless {
		at = begin
	}
	return a.try(s, at, steps)
}

// try is find by an attempt at each place.
func (a *automaton) try(s string, at int, steps *int) (from, to int) {
	later := a.begins[0]
	var failed *state // of an attempt that failed, one character behind at
	for {
		var first *state
		if at > 0 && later.flags == 0 {
			if first = later.known(s, at); first == a.dead {
				at, failed = at+1, nil
				continue
			}
		}
		if first == nil || first != failed { // else this attempt goes on as that one did
			end, seen := a.run(s, at)
			if *steps -= seen - at; *steps < 0 {
				end = endless
			}
			if end != -1 {
				return at, end
			}
		}
		if at >= len(s) || later == a.dead {
			return -1, -1
		}
		if failed = nil; first != nil {
			failed = first.known(s, at+1)
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
}
