package data

import (
	"strings"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf/core"
)

// statefulIn returns an op with state that functions of a dataset have, "" if
// there is none.
func statefulIn(t *core.Tensor, seen map[*dataset.Origin]bool) string {
	o := dataset.OriginOf(t)
	if o == nil || seen[o] {
		return ""
	}
	seen[o] = true
	l, found := libraryOf(o), ""
	eachFunction(o.Node.Attrs, func(name string) {
		if found == "" {
			found = statefulFunction(l, name, map[string]bool{})
		}
	})
	for _, x := range o.In {
		if found == "" {
			found = statefulIn(x, seen)
		}
	}
	return found
}

// harmless reports whether the state of an op in a function does not count:
// datasets have what they need in their iterators.
func harmless(def *core.OpDef) bool {
	switch def.Name {
	case "Assert", "Print", "PrintV2", "Timestamp", "LookupTableFindV2", "LookupTableSize", "LookupTableSizeV2":
		return true
	case "If", "While", "StatefulPartitionedCall": // have the state of their functions
		return true
	}
	return def.Out == "handle: variant" && strings.HasSuffix(strings.TrimSuffix(def.Name, "V2"), "Dataset")
}

func statefulFunction(l *core.Library, name string, seen map[string]bool) string {
	return stateful(l, name, seen, harmless)
}

// effectOf is statefulFunction for all ops that do more than compute.
func effectOf(l *core.Library, name string, seen map[string]bool) string {
	return stateful(l, name, seen, func(*core.OpDef) bool { return false })
}

// stateful returns an op with state in a function, or one that it calls, but
// for some.
func stateful(l *core.Library, name string, seen map[string]bool, but func(*core.OpDef) bool) string {
	f := l.Find(name)
	if f == nil || seen[name] {
		return ""
	}
	seen[name] = true
	for _, n := range f.GetNodeDef() {
		if def, err := core.LookupOp(n.GetOp()); err == nil && def.Stateful && !but(def) {
			return n.GetOp()
		}
	}
	for _, called := range calledBy(l, f) {
		if op := stateful(l, called, seen, but); op != "" {
			return op
		}
	}
	return ""
}
