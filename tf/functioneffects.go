package tf

import "github.com/gorge-tf/gorge/tf/core"

// The order of effects within a traced function. A graph runs what nothing
// orders in any order, and what is not read not at all; a Go function's
// effects happen one after another.

// orderEffects makes operations on one resource run in the order in which they
// were added, and finds those that have to run in every call. What is in one
// branch of a conditional of the old kind may not run: nothing waits for it.
func (f *Function) orderEffects() {
	order := map[Output]*accesses{}
	for _, op := range f.body.published.all() {
		if !op.Def.Stateful || op.flow != nil || op.Role() == core.Argument {
			continue
		}
		for _, x := range op.in {
			if x.DType().Base() != Resource {
				continue
			}
			a := order[x]
			if a == nil {
				a = &accesses{}
				order[x] = a
			}
			a.follow(op)
		}
		if !op.Def.Has(core.Droppable) {
			f.effects = append(f.effects, op)
		}
	}
}

// accesses are the operations on one resource so far.
type accesses struct {
	write *Operation
	reads []*Operation // since then
}

// follow makes op run after what it must not overtake.
func (a *accesses) follow(op *Operation) {
	if a.write != nil && a.write != op {
		op.addControl(a.write)
	}
	if op.Def.Has(core.ReadsState) {
		a.reads = append(a.reads, op)
		return
	}
	for _, r := range a.reads {
		if r != op {
			op.addControl(r)
		}
	}
	a.write, a.reads = op, nil
}

// stateful reports whether running ops twice may differ from running them once.
func stateful(ops []*Operation) bool {
	for _, op := range ops {
		if op.Def.Stateful && op.Role() != core.Argument {
			return true
		}
	}
	return false
}
