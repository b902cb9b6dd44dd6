package pass

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// mergeEqual makes one node of those that compute the same.
func mergeEqual(e *editor) (bool, error) {
	order, err := e.Sorted()
	if err != nil {
		return false, err
	}
	f, seed, changed := newForwards(e.Graph), maphash.MakeSeed(), false
	first := map[string][]*graph.Node{}
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		if !mergeable(n) {
			continue
		}
		key := digest(n, seed)
		i := slices.IndexFunc(first[key], func(m *graph.Node) bool { return equalAttrs(n.Attrs, m.Attrs) })
		if i < 0 || e.roots[n] {
			first[key] = append(first[key], n)
			continue
		}
		m := first[key][i]
		f.replace(n, outputsOf(m), []*graph.Node{m})
		changed = true
	}
	return changed, nil
}

// mergeable reports whether n computes nothing but values, which follow from its
// inputs and attributes. A placeholder's would be fed, and each is fed its own.
func mergeable(n *graph.Node) bool {
	flow := n.Role().DirectsFlow() && !n.Chooses()
	return !n.Def.Stateful && !hasRef(n) && !flow && !n.Def.Has(core.SaysItsName) && !strings.HasPrefix(n.OpName(), "Placeholder")
}

func outputsOf(n *graph.Node) []graph.Edge {
	out := make([]graph.Edge, len(n.OutTypes))
	for k := range out {
		out[k] = graph.Edge{Node: n, Out: k}
	}
	return out
}

// digest returns a text that nodes which compute the same have in common.
func digest(n *graph.Node, seed maphash.Seed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", n.OpName(), n.Device)
	for _, x := range n.In {
		fmt.Fprintf(&b, " %d:%d", x.Node.ID, x.Out)
	}
	ids := make([]int, len(n.Control))
	for i, c := range n.Control {
		ids[i] = c.ID
	}
	slices.Sort(ids)
	fmt.Fprintf(&b, " ^%v", ids)
	for _, k := range slices.Sorted(maps.Keys(n.Attrs)) {
		if !hints[k] {
			fmt.Fprintf(&b, " %s=", k)
			writeAttr(&b, n.Attrs[k], seed)
		}
	}
	return b.String()
}

// hints are attributes that say nothing about what is computed once a node has
// a device.
var hints = map[string]bool{"_class": true, "_output_shapes": true}

func equalAttrs(a, b core.Attrs) bool {
	covers := func(a, b core.Attrs) bool {
		for k, v := range a {
			if !hints[k] && !core.AttrEqual(v, b[k]) {
				return false
			}
		}
		return true
	}
	return covers(a, b) && covers(b, a)
}

func writeAttr(b *strings.Builder, v any, seed maphash.Seed) {
	t, ok := v.(*core.Tensor)
	if !ok || t.Buffer() == nil || !t.Addressable() {
		fmt.Fprint(b, v)
		return
	}
	fmt.Fprintf(b, "%v%v %x", t.DType(), t.Shape(), hashOf(seed, t.Buffer().Bytes()))
}

// hashOf hashes b, pieces of it if it is large: models have hundreds of megabytes of
// constants, few of which are equal, and those are compared byte by byte.
func hashOf(seed maphash.Seed, b []byte) uint64 {
	const pieces, size = 64, 256
	if len(b) <= pieces*size {
		return maphash.Bytes(seed, b)
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for i := range pieces {
		at := i * (len(b) - size) / (pieces - 1)
		h.Write(b[at : at+size])
	}
	return h.Sum64()
}
