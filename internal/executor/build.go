package executor

import (
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
)

// layout is what all iterations of one frame have in common.
type layout struct {
	index    int32  // of the layout in Executor.frames
	name     string // frame_name of the Enter nodes, "" of the root
	parallel int    // iterations that may be under way at once
	enters   int    // Enter nodes that lead into the frame

	items   []int32   // the nodes that run in the frame, by local number
	slots   int32     // outputs that go to the frame
	inputs  int32     // inputs of its nodes together
	counts  []counts  // initial counts of the nodes
	readers []int32   // initial counts of the slots' readers
	last    []bool    // by input: this is its last reader, when all run in order
	sources []*string // by slot: the node that computes it, for messages
	plan    *loopPlan // nil: its nodes are run as they get ready
}

// counts is what a node still waits for.
type counts struct {
	left int32 // inputs that have not come
	dead int32 // those that came dead
	pick int32 // the input that a Merge takes
}

// builder is an executor under construction.
type builder struct {
	*Executor
	order []*graph.Node
	place []int32 // by node ID: position in items
}

// lateLast puts the late nodes of a sorted list last: no other depends on them.
func lateLast(order []*graph.Node) []*graph.Node {
	var late []*graph.Node
	rest := order[:0]
	for _, n := range order {
		if pass.IsLate(n) {
			late = append(late, n)
		} else {
			rest = append(rest, n)
		}
	}
	return append(rest, late...)
}

// assignSlots numbers nodes, inputs and outputs within their frames.
func (b *builder) assignSlots() {
	for i, n := range b.order {
		it := &b.items[i]
		f, t := &b.frames[it.frame], &b.frames[it.target]
		it.local, it.first, it.out = int32(len(f.items)), f.inputs, t.slots
		f.items = append(f.items, int32(i))
		f.inputs += int32(len(n.In))
		t.slots += int32(len(n.OutTypes))
		for range n.OutTypes {
			t.sources = append(t.sources, &n.Name)
		}
	}
}

// connect fills in the edges into node i.
func (b *builder) connect(i int32) {
	n, it := b.order[i], &b.items[i]
	it.initInputs(n, func(x graph.Edge) int32 { return b.item(x.Node).out + int32(x.Out) })
	for k, x := range n.In {
		src := b.item(x.Node)
		src.wakes = append(src.wakes, wake{i, int32(x.Out), int32(k)})
	}
	for _, c := range n.Control {
		src := b.item(c)
		src.wakes = append(src.wakes, wake{i, control, 0})
	}
	if len(n.In)+len(n.Control) == 0 {
		b.roots = append(b.roots, i)
	}
}

func (b *builder) item(n *graph.Node) *item { return &b.items[b.place[n.ID]] }

// finish prepares the counts that each iteration starts from.
func (b *builder) finish() {
	b.inline = len(b.frames) == 1
	for f := range b.frames {
		l := &b.frames[f]
		l.counts, l.readers = make([]counts, len(l.items)), make([]int32, l.slots)
		l.last = make([]bool, l.inputs)
		for k, i := range l.items {
			it := &b.items[i]
			l.counts[k].left = it.waits
			for _, slot := range it.in {
				l.readers[slot]++
			}
			b.inline = b.inline && it.follows()
		}
	}
	if b.inline {
		b.fixOrder()
		return
	}
	b.planLoops()
	b.waitersFirst()
}

// fixOrder works out, for nodes that run in order, where each value is last
// read: nothing has to be counted during runs then.
func (b *builder) fixOrder() {
	l := &b.frames[0]
	left := append([]int32(nil), l.readers...)
	for i := range b.items {
		it := &b.items[i]
		for k, slot := range it.in {
			l.last[int(it.first)+k] = left[slot] == 1 && !(it.deref != nil && it.deref[k])
		}
		for _, slot := range it.in {
			if left[slot]--; left[slot] == 0 {
				it.last = append(it.last, slot)
			}
		}
		for k := range it.node.OutTypes {
			if slot := it.out + int32(k); l.readers[slot] == 0 {
				it.last = append(it.last, slot)
			}
		}
	}
}

// waitersFirst puts nodes that wait for others outside last among the roots,
// which are taken from the end: what they wait for had better be on its way.
func (b *builder) waitersFirst() {
	var rest, waiters []int32
	for _, i := range b.roots {
		if b.items[i].async != nil {
			waiters = append(waiters, i)
		} else {
			rest = append(rest, i)
		}
	}
	b.roots = append(rest, waiters...)
}

// assignFrames notes for each node in which frame it runs, and lays out the
// frames.
func (b *builder) assignFrames(g *graph.Graph) error {
	frames, err := g.Frames(b.order)
	if err != nil {
		return err
	}
	b.place = make([]int32, len(b.order))
	for i, n := range b.order {
		b.place[n.ID] = int32(i)
		b.items[i].frame, b.items[i].target = int32(frames.Of[n.ID]), int32(frames.Out[n.ID])
	}
	for i, f := range frames.List {
		l := layout{index: int32(i), name: f.Name, enters: len(f.Enters), parallel: 1}
		if i > 0 {
			l.parallel = f.Enters[0].Int("parallel_iterations")
		}
		b.frames = append(b.frames, l)
	}
	return nil
}
