package pass

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
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
	first := map[uint64][]*graph.Node{}
	for _, n := range order {
		if err := f.settle(n); err != nil {
			return false, err
		}
		if !mergeable(n) {
			continue
		}
		key := digest(n, seed)
		alike := first[key]
		alike = alike[max(0, len(alike)-maxAlike):]
		i := slices.IndexFunc(alike, func(m *graph.Node) bool { return computesSame(n, m) })
		if i < 0 || e.roots[n] {
			first[key] = append(first[key], n)
			continue
		}
		m := alike[i]
		f.replace(n, outputsOf(m), []*graph.Node{m})
		changed = true
	}
	return changed, nil
}

// maxAlike bounds the nodes of one digest that a node is compared with. There are seldom two:
// more have constants that differ where they are not hashed, or attributes that are NaN.
const maxAlike = 64

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

// digest returns a number that nodes which compute the same have in common.
func digest(n *graph.Node, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(n.OpName())
	h.WriteByte(0)
	h.WriteString(n.Device)
	for _, x := range n.In {
		writeInt(&h, x.Node.ID)
		writeInt(&h, x.Out)
	}
	sum := h.Sum64() // what has no order is added
	for _, c := range n.Control {
		sum += maphash.Comparable(seed, c.ID)
	}
	for k, v := range n.Attrs {
		if !hints[k] {
			sum += attrDigest(k, v, seed)
		}
	}
	return sum
}

// computesSame reports whether two nodes do: digests may be equal by chance.
func computesSame(n, m *graph.Node) bool {
	return n.OpName() == m.OpName() && n.Device == m.Device && slices.Equal(n.In, m.In) && sameNodes(n.Control, m.Control) && equalAttrs(n.Attrs, m.Attrs)
}

// sameNodes reports whether two lists, which have no node twice, have the same nodes in some order.
func sameNodes(a, b []*graph.Node) bool {
	if len(a) != len(b) || slices.Equal(a, b) {
		return len(a) == len(b)
	}
	has := make(map[*graph.Node]bool, len(b))
	for _, n := range b {
		has[n] = true
	}
	return !slices.ContainsFunc(a, func(n *graph.Node) bool { return !has[n] })
}

// hints are attributes that say nothing about what is computed once a node has
// a device.
var hints = map[string]bool{"_class": true, "_output_shapes": true, targetAttr: true}

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

// attrDigest is the part of an attribute in a digest. Numbers count by their bits: 0 and
// -0 are equal and not the same.
func attrDigest(key string, v any, seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(key)
	h.WriteByte(0)
	switch v := v.(type) {
	case string:
		h.WriteString(v)
	case int64:
		writeInt(&h, int(v))
	case core.DType:
		writeInt(&h, int(v))
	case float32:
		writeInt(&h, int(math.Float32bits(v)))
	case core.Shape:
		writeInts(&h, v)
	case *core.Tensor:
		writeTensor(&h, v, seed)
	default:
		fmt.Fprint(&h, v)
	}
	return h.Sum64()
}

func writeTensor(h *maphash.Hash, t *core.Tensor, seed maphash.Seed) {
	if t.Buffer() == nil || !t.Addressable() {
		fmt.Fprint(h, t)
		return
	}
	writeInt(h, int(t.DType()))
	writeInts(h, t.Shape())
	writeInt(h, int(hashOf(seed, t.Buffer().Bytes())))
}

func writeInts(h *maphash.Hash, v []int) {
	for _, n := range v {
		writeInt(h, n)
	}
}

func writeInt(h *maphash.Hash, n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

// hashOf hashes b, pieces of it if it is large: models have hundreds of megabytes of
// constants, few of which are equal, and those are compared byte by byte.
func hashOf(seed maphash.Seed, b []byte) uint64 {
	const pieces, size = 16, 64
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
