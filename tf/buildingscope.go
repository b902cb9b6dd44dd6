package tf

import "github.com/gorge-tf/gorge/tf/core"

// buildingScope is what operations that are about to be added get from where the
// program is: the prefix of their names, devices, control inputs, context, seeds.
//
// Guard: none. Only the goroutine that builds the graph uses it; a session never does.
//
// The first group of fields is in force for the time of a call: the method that sets a
// field (Scope, Device, ControlDependencies, within, …) calls a function and then puts
// the old value back, also if the function panics. So the fields form a stack without
// being one. Values are replaced, never changed in place, since an outer call keeps
// the old one.
type buildingScope struct {
	prefix       string // of names, with its "/"
	device       DeviceSpec
	chooseDevice func(*core.Node) string
	control      []*dependencies     // the outermost first
	flow         *ControlFlowContext // nil outside of conditionals and loops
	groups       []*Operation        // that operations are colocated with
	overrides    map[string]GradFunc // by op
	recompute    int64               // the mark of operations that gradients have computed again; 0: none
	reaches      int                 // calls of reaching under way, in the outermost graph

	// What follows lasts as long as the graph.
	names       nameTable
	collections map[string][]any
	seeds       graphSeeds
	strict      bool  // the first error is a panic
	marks       int64 // the last mark of Recompute
}

func newBuildingScope() buildingScope {
	return buildingScope{device: AnyDevice, names: nameTable{}, collections: map[string][]any{}}
}

// during calls f while *field is v.
func during[T any](field *T, v T, f func()) {
	old := *field
	defer func() { *field = old }()
	*field = v
	f()
}
