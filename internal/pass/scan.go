package pass

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func count(n int) string {
	if n == endless {
		return "2^63"
	}
	return fmt.Sprint(n)
}

// scan reads off a definition what the function calls.
func scan(l *core.Library, def *pb.FunctionDef) *reach {
	r := &reach{name: def.GetSignature().GetName(), own: len(def.GetNodeDef()), least: endless}
	flow := slices.ContainsFunc(def.GetNodeDef(), func(n *pb.NodeDef) bool { return core.RoleOf(n.GetOp()).DirectsFlow() })
	needed := neededBy(l, def)
	for i, n := range def.GetNodeDef() {
		r.mayCall(l, n)
		if set := mustCall(l, n); len(set) > 0 && needed[i] && !flow {
			r.certain = append(r.certain, set)
		}
	}
	return r
}

// mayCall adds the functions that n names.
func (r *reach) mayCall(l *core.Library, n *pb.NodeDef) {
	note := func(name string) {
		if l.Find(name) == nil {
			return
		}
		if n.GetOp() == core.SymbolicGradient {
			name = gradientTarget(l, name)
		}
		r.calls = append(r.calls, name)
	}
	note(n.GetOp())
	for _, v := range n.GetAttr() {
		if f := v.GetFunc(); f != nil {
			note(f.GetName())
		}
		for _, f := range v.GetList().GetFunc() {
			note(f.GetName())
		}
	}
}

// mustCall returns the functions one of which n calls whenever it runs. A function
// that is not there leaves nothing to count.
func mustCall(l *core.Library, n *pb.NodeDef) (set []string) {
	named := func(attr string) string { return n.GetAttr()[attr].GetFunc().GetName() }
	switch core.RoleOf(n.GetOp()) {
	case core.Calls:
		set = []string{named("f")}
	case core.Differentiates:
		if f := named("f"); l.Find(f) != nil {
			return []string{gradientTarget(l, f)}
		}
	case core.ChoosesOfTwo:
		set = []string{named("then_branch"), named("else_branch")}
	case core.ChoosesOfMany:
		for _, f := range n.GetAttr()["branches"].GetList().GetFunc() {
			set = append(set, f.GetName())
		}
	case core.Loops:
		set = []string{named("cond")}
	default:
		set = []string{n.GetOp()}
	}
	if slices.ContainsFunc(set, func(f string) bool { return l.Find(f) == nil }) {
		return nil
	}
	return set
}

// neededBy finds, by number, the nodes of a definition on which results and effects
// depend. The others are left out of the body.
func neededBy(l *core.Library, def *pb.FunctionDef) []bool {
	number := make(map[string]int, len(def.GetNodeDef()))
	for i, n := range def.GetNodeDef() {
		number[n.GetName()] = i
	}
	needed := make([]bool, len(def.GetNodeDef()))
	var todo []int
	need := func(name string) {
		name, _, _ = strings.Cut(strings.TrimPrefix(name, "^"), ":")
		if i, ok := number[name]; ok && !needed[i] {
			needed[i] = true
			todo = append(todo, i)
		}
	}
	for _, x := range def.GetRet() {
		need(x)
	}
	for _, x := range def.GetControlRet() {
		need(x)
	}
	for _, n := range def.GetNodeDef() {
		if op, err := l.LookupOp(n.GetOp()); err == nil && op.Stateful {
			need(n.GetName())
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, x := range def.GetNodeDef()[i].GetInput() {
			need(x)
		}
	}
	return needed
}
