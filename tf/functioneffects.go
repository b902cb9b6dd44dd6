package tf

// The order of effects within a traced function. A graph runs what nothing
// orders in any order, and what nobody reads not at all; a Go function's
// effects happen one after another.

// readsOnly are the ops that take a resource and do not change it.
var readsOnly = map[string]bool{
	"ReadVariableOp": true, "ResourceGather": true, "ResourceGatherNd": true, "VarIsInitializedOp": true, "VariableShape": true,
	"QueueSizeV2": true, "QueueIsClosedV2": true, "LookupTableSizeV2": true,
}

// quietOps are stateful ops that need not run if nobody reads their results.
var quietOps = map[string]bool{
	"_Arg": true, "VarHandleOp": true, "RandomUniform": true, "RandomStandardNormal": true, "RandomUniformInt": true, "TruncatedNormal": true,
	"ParameterizedTruncatedNormal": true, "RandomShuffle": true, "Multinomial": true, "RandomGamma": true, "RandomPoisson": true, "RandomPoissonV2": true,
}

func init() {
	for op := range readsOnly {
		quietOps[op] = true
	}
}

// orderEffects makes operations on one resource run in the order in which they
// were added, and finds those that have to run in every call. What is in one
// branch of a conditional of the old kind may not run: nothing waits for it.
func (f *Function) orderEffects() {
	order := map[Output]*accesses{}
	for _, op := range f.body.ops {
		if !op.Def.Stateful || op.flow != nil || op.OpName() == "_Arg" {
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
		if !quietOps[op.OpName()] {
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
	if readsOnly[op.OpName()] {
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
		if op.Def.Stateful && op.OpName() != "_Arg" {
			return true
		}
	}
	return false
}
