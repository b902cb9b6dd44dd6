package tf

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// buildingScope is what operations that are about to be added get from where the
// program is: the prefix of their names, devices, control inputs, context, seeds.
//
// Guard: mu for what any goroutine may come to that adds an operation outside of all calls
// below: prefix, device, chooseDevice, control and what was added under it, groups,
// collections. names has a lock of its own. The rest belongs to the goroutine that builds
// the graph. Sessions use nothing of it. mu is a leaf, as that of published is.
//
// The first group of fields is in force for the time of a call: the method that sets a
// field (Scope, Device, ControlDependencies, within, …) calls a function and then puts
// the old value back, also if the function panics. So the fields form a stack without
// being one. Values are replaced, never changed in place, since an outer call keeps
// the old one.
type buildingScope struct {
	mu sync.Mutex

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
	return buildingScope{device: AnyDevice, names: nameTable{next: map[string]int{}}, collections: map[string][]any{}}
}

// during calls f while *field, which g's scope guards, is v. That there is no f is g's error:
// the methods that programs call have no other way to tell.
func during[T any](g *Graph, field *T, v T, f func()) {
	if f == nil {
		g.fail(calling(Errorf(InvalidArgument, "there must be a function to call, which adds operations, got nil")))
		return
	}
	old := exchange(&g.scope, field, v)
	defer exchange(&g.scope, field, old)
	f()
}

// exchange makes *field v and returns what it was.
func exchange[T any](s *buildingScope, field *T, v T) (old T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, *field = *field, v
	return old
}

// inForce returns *field, which s guards.
func inForce[T any](s *buildingScope, field *T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *field
}

// collect adds v to a collection.
func (s *buildingScope) collect(name string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collections[name] = append(s.collections[name], v)
}

// collection returns the members of a collection; the list does not change.
func (s *buildingScope) collection(name string) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.collections[name])
}

// collectionNames returns the names of all collections, sorted.
func (s *buildingScope) collectionNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sortedKeys(s.collections)
}
