package xla

import (
	"math"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// An interval has the integers from lo to hi.
type interval struct{ lo, hi int64 }

func (r interval) within(s interval) bool { return s.lo <= r.lo && r.hi <= s.hi }

// derivations bounds how many operations back the range of a value is followed.
const derivations = 6

// rangeOf returns the range of a scalar integer, if something is known of it: constants,
// counters of loops, and sums and differences of those.
func (l *lowering) rangeOf(v *stablehlo.Value) (interval, bool) { return l.derive(v, derivations) }

func (l *lowering) derive(v *stablehlo.Value, depth int) (interval, bool) {
	if r, ok := l.ranges[v]; ok {
		return r, true
	}
	all, ok := rangeOfType(v.Type)
	if !ok || v.Def == nil || depth == 0 {
		return interval{}, false
	}
	if c, ok := constantInts(v); ok && len(c) == 1 {
		return interval{int64(c[0]), int64(c[0])}, true
	}
	r, ok := l.deriveOp(v.Def, depth-1)
	return r, ok && r.within(all)
}

// deriveOp returns the range of an operation's result, had its type all integers.
func (l *lowering) deriveOp(op *stablehlo.Op, depth int) (interval, bool) {
	in := make([]interval, len(op.Operands))
	switch op.Name {
	case "add", "subtract", "convert":
	default:
		return interval{}, false
	}
	for i, v := range op.Operands {
		r, ok := l.derive(v, depth)
		if !ok || !r.within(interval{math.MinInt32, math.MaxInt32}) {
			return interval{}, false // sums of these are in range
		}
		in[i] = r
	}
	switch {
	case op.Name == "convert" && len(in) == 1:
		return in[0], true
	case op.Name == "add" && len(in) == 2:
		return interval{in[0].lo + in[1].lo, in[0].hi + in[1].hi}, true
	case op.Name == "subtract" && len(in) == 2:
		return interval{in[0].lo - in[1].hi, in[0].hi - in[1].lo}, true
	}
	return interval{}, false
}

// rangeOfType returns the range of a type of scalar integers.
func rangeOfType(t stablehlo.Type) (interval, bool) {
	if t.Kind != stablehlo.Tensor || len(t.Shape) > 0 {
		return interval{}, false
	}
	switch t.Elem {
	case "i32":
		return interval{math.MinInt32, math.MaxInt32}, true
	case "ui32":
		return interval{0, math.MaxUint32}, true
	case "i64":
		return interval{math.MinInt64, math.MaxInt64}, true
	}
	return interval{}, false
}

// chosen follows a scalar through selections that are known: programs add the size of a
// dimension to indices that may be negative.
func (l *lowering) chosen(v *stablehlo.Value) *stablehlo.Value {
	for range derivations {
		if v.Def == nil || v.Def.Name != "select" || len(v.Def.Operands) != 3 || len(v.Type.Shape) > 0 {
			return v
		}
		yes, ok := l.decided(v.Def.Operands[0])
		if !ok {
			return v
		}
		branch := 2
		if yes {
			branch = 1
		}
		v = v.Def.Operands[branch]
	}
	return v
}

// knowArgs notes what is known of the arguments of a block, and returns what forgets it.
func (l *lowering) knowArgs(args []*stablehlo.Value, known func(i int) (interval, bool)) (forget func()) {
	for i, a := range args {
		if r, ok := known(i); ok {
			l.ranges[a] = r
		}
	}
	return func() {
		for _, a := range args {
			delete(l.ranges, a)
		}
	}
}

// counter returns the range that variable i of a loop has in its body: it is compared
// with a bound before, and a number that is not negative is added to it.
func (l *lowering) counter(op *stablehlo.Op, i int) (interval, bool) {
	first, ok := l.rangeOf(op.Operands[i])
	limit, bounded := l.bound(op.Regions[0], i)
	step, steady := l.step(op.Regions[1], i)
	all, integer := rangeOfType(op.Operands[i].Type)
	if !ok || !bounded || !steady || !integer || limit == math.MinInt64 || step > math.MaxInt32 || limit > all.hi-step {
		return interval{}, false
	}
	return interval{first.lo, limit - 1}, first.lo < limit
}

// bound returns what variable i is less than if the loop goes on.
func (l *lowering) bound(cond *stablehlo.Block, i int) (int64, bool) {
	if len(cond.Ops) == 0 || len(cond.Terminator().Operands) != 1 || i >= len(cond.Args) {
		return 0, false
	}
	def := cond.Terminator().Operands[0].Def
	if def == nil || def.Name != "compare" || len(def.Operands) != 2 || def.Operands[0] != cond.Args[i] {
		return 0, false
	}
	r, ok := l.rangeOf(def.Operands[1])
	return r.hi, ok && (&reading{op: def}).word("comparison_direction") == "LT"
}

// step returns the most that is added to variable i in each iteration, if it is known
// not to be negative.
func (l *lowering) step(body *stablehlo.Block, i int) (int64, bool) {
	if len(body.Ops) == 0 || i >= len(body.Args) || i >= len(body.Terminator().Operands) {
		return 0, false
	}
	def := body.Terminator().Operands[i].Def
	if def == nil || def.Name != "add" || len(def.Operands) != 2 {
		return 0, false
	}
	x, y := def.Operands[0], def.Operands[1]
	if y == body.Args[i] {
		x, y = y, x
	}
	r, ok := l.rangeOf(y)
	return r.hi, ok && x == body.Args[i] && r.lo >= 0
}

// decided returns the result of a comparison of which the ranges leave no doubt.
func (l *lowering) decided(v *stablehlo.Value) (yes, ok bool) {
	if v.Def == nil || v.Def.Name != "compare" || len(v.Def.Operands) != 2 {
		return false, false
	}
	x, okX := l.rangeOf(v.Def.Operands[0])
	y, okY := l.rangeOf(v.Def.Operands[1])
	if !okX || !okY || (&reading{op: v.Def}).word("comparison_direction") != "LT" {
		return false, false
	}
	return x.hi < y.lo, x.hi < y.lo || x.lo >= y.hi
}
