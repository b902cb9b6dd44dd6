package tf

import (
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// published is the part of a graph that sessions read while the graph grows.
//
// Guard: mu. Goroutines that add operations write; all hold mu to write and to read, but
// for what an operation has had since it was added. mu also guards the inferred shapes of
// the graph's operations. It is a leaf: no other lock is taken,
// and no code of a program runs, while mu is held.
//
// Invariants: ops only grows, so that a prefix of it may be read without mu once it
// has been taken under mu. An operation within the first shown does not change any
// more but for its shapes, since a session may have planned with it. Operations after
// the first visible stay unseen while holds > 0: loops and gradients under
// construction still change their inputs and control inputs.
type published struct {
	mu       sync.Mutex
	ops      []*Operation // in the order in which they were added
	byName   map[string]*Operation
	err      error // the first one
	library  *core.Library
	producer int // version of what made an imported graph, 0 for our own
	holds    int // calls of held under way
	visible  int // while there are: how many of ops are seen
	shown    int // how many of ops sessions have seen

	finalized bool // nothing can be added
}

// list returns the operations that may be seen.
func (p *published) list() []*Operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen()
}

// show is list; what is returned must not change any more.
func (p *published) show() []*Operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	ops := p.seen()
	p.shown = max(p.shown, len(ops))
	return ops
}

// seen is list for a caller that holds mu.
func (p *published) seen() []*Operation {
	if p.holds > 0 {
		return slices.Clip(p.ops[:p.visible])
	}
	return slices.Clip(p.ops)
}

// all returns all operations, for the goroutine that builds.
func (p *published) all() []*Operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.ops)
}

// isShown reports whether sessions may have planned with op. Only the goroutine that
// builds calls it.
func (p *published) isShown(op *Operation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.ops[:p.shown], op)
}

func (p *published) find(name string) *Operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byName[name]
}

// add publishes ops: a reader sees all of them or none.
func (p *published) add(ops ...*Operation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ops = append(p.ops, ops...)
	for _, op := range ops {
		p.byName[op.Name] = op
	}
}

// replace makes op, which is not shown, a node of another kind that takes in.
func (p *published) replace(op *Operation, n *core.Node, in []Output) {
	p.mu.Lock()
	defer p.mu.Unlock()
	op.Node, op.in = *n, in
}

// shapesOf returns the shapes of op's outputs, a list that does not change.
func (p *published) shapesOf(op *Operation) []Shape {
	p.mu.Lock()
	defer p.mu.Unlock()
	return op.shapes
}

// setShapes gives op a new list: readers may have the old one.
func (p *published) setShapes(op *Operation, shapes []Shape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	op.shapes = shapes
}

// hold hides the operations that are added from now on, until each hold has had its
// release.
func (p *published) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.holds++; p.holds == 1 {
		p.visible = len(p.ops)
	}
}

func (p *published) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds--
}

// fail keeps err if it is the first.
func (p *published) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

func (p *published) firstError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// functions returns the library, nil if there is none, and the version of the graph's
// producer.
func (p *published) functions() (library *core.Library, producer int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.producer == 0 {
		return p.library, core.ProducerVersion
	}
	return p.library, p.producer
}

// setFunctions replaces the library and the version of the producer.
func (p *published) setFunctions(library *core.Library, producer int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.library, p.producer = library, producer
}

// addFunction adds one function to the library.
func (p *published) addFunction(def *pb.FunctionDef) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	library, err := p.library.With(def)
	if err == nil {
		p.library = library
	}
	return err
}
