package tf

import (
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// inCycle names some of the operations that still wait for others.
func inCycle(order []*Operation, waits map[*Operation]int) string {
	var names []string
	for _, op := range order {
		if waits[op] > 0 {
			names = append(names, op.Name)
		}
		if len(names) == 5 {
			break
		}
	}
	return strings.Join(names, ", ")
}

// sorted returns the new operations, each after its inputs but for the back
// edges of loops, which leave NextIteration nodes. Other cycles are an error.
func (im *importer) sorted() ([]*Operation, error) {
	waits := make(map[*Operation]int, len(im.order)) // of all new operations
	readers := make(map[*Operation][]*Operation, len(im.order))
	for _, op := range im.order {
		waits[op] = 0
	}
	for _, op := range im.order {
		for _, src := range op.sources() {
			if _, isNew := waits[src]; isNew && src.Role() != core.Repeats {
				waits[op]++
				readers[src] = append(readers[src], op)
			}
		}
	}
	out := make([]*Operation, 0, len(im.order))
	for _, op := range im.order {
		if waits[op] == 0 {
			out = append(out, op)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, op := range readers[out[i]] {
			if waits[op]--; waits[op] == 0 {
				out = append(out, op)
			}
		}
	}
	if left := len(im.order) - len(out); left > 0 {
		return nil, Errorf(InvalidArgument, "%d nodes in a cycle: %s", left, inCycle(im.order, waits))
	}
	return out, nil
}

// sources returns the operations that op comes after.
func (op *Operation) sources() []*Operation {
	out := slices.Clone(op.control)
	for _, x := range op.in {
		out = append(out, x.op)
	}
	return out
}
