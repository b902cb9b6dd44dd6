package queue

import (
	"math"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Kind says in what order a queue gives out its elements.
type Kind string

// The kinds of queues, by the name that TensorFlow's messages have for them.
const (
	FIFO          Kind = "FIFOQueue"
	PaddingFIFO   Kind = "PaddingFIFOQueue"
	RandomShuffle Kind = "RandomShuffleQueue"
	Priority      Kind = "PriorityQueue"
)

// Unbounded is the capacity of a queue that never is full.
const Unbounded = math.MaxInt32

// A Spec says what a queue is like. A queue of priorities has the priority as
// its first component.
type Spec struct {
	Kind     Kind
	Name     string
	Op       string // of the node that asks, for messages
	Capacity int    // negative: Unbounded
	Types    []core.DType
	Shapes   []core.Shape // of the components; empty: anything goes

	MinAfterDequeue int   // of a RandomShuffle queue
	Seed, Seed2     int64 // of a RandomShuffle queue; zeros: drawn at random
}

// check refuses specifications that no queue can have.
func (s *Spec) check() error {
	switch {
	case len(s.Types) == 0:
		return core.Errorf(core.InvalidArgument, "a queue must have components, got none")
	case s.Kind == PaddingFIFO && len(s.Types) != len(s.Shapes):
		return core.Errorf(core.InvalidArgument, "Shapes must be provided for all components, but received %d dtypes and %d shapes.", len(s.Types), len(s.Shapes))
	case len(s.Shapes) > 0 && len(s.Types) != len(s.Shapes):
		return core.Errorf(core.InvalidArgument, "Different number of component types.  Types: %s, Shapes: %s", typeList(s.Types), shapeList(s.Shapes))
	case s.Kind != PaddingFIFO && slices.ContainsFunc(s.Shapes, func(s core.Shape) bool { return !s.Known() }):
		return core.Errorf(core.InvalidArgument, "the shapes of a %s's components must be fully known, got %s", s.Kind, shapeList(s.Shapes))
	case slices.ContainsFunc(s.Shapes, func(s core.Shape) bool { return s == nil }):
		return core.Errorf(core.InvalidArgument, "the ranks of a %s's components must be known, got %s", s.Kind, shapeList(s.Shapes))
	case s.Kind == RandomShuffle:
		return s.checkShuffle()
	case s.Kind == Priority:
		return s.checkPriority()
	}
	return nil
}

func (s *Spec) checkShuffle() error {
	switch {
	case s.MinAfterDequeue < 0:
		return core.Errorf(core.InvalidArgument, "min_after_dequeue %d must be >= 0", s.MinAfterDequeue)
	case s.MinAfterDequeue >= s.Capacity:
		return core.Errorf(core.InvalidArgument, "min_after_dequeue %d must be < capacity %d", s.MinAfterDequeue, s.Capacity)
	}
	return nil
}

func (s *Spec) checkPriority() error {
	switch {
	case s.Types[0] != core.Int64:
		return core.Errorf(core.InvalidArgument, "PriorityQueue priority index component must be type int64, but dtype is: %s", s.Types[0].CName())
	case len(s.Shapes) > 0 && len(s.Shapes[0]) != 0:
		return core.Errorf(core.InvalidArgument, "PriorityQueue priority index component must be a scalar, but shape is: %s", s.Shapes[0].String())
	}
	return nil
}

// Matches reports how the queue differs from what a node that names it expects
// it to be.
func (q *Queue) Matches(want Spec) error {
	want.normalize()
	have := &q.spec
	switch {
	case want.Kind != have.Kind:
		return core.Errorf(core.InvalidArgument, "Expected %s, found %s", have.Kind, want.Op)
	case want.Capacity != have.Capacity:
		return have.differs("has capacity %d but requested capacity was %d", have.Capacity, want.Capacity)
	case want.MinAfterDequeue != have.MinAfterDequeue:
		return have.differs("has min_after_dequeue %d but requested min_after_dequeue was %d.", have.MinAfterDequeue, want.MinAfterDequeue)
	case (want.Seed != 0 || want.Seed2 != 0) && (want.Seed != have.Seed || want.Seed2 != have.Seed2):
		return have.differs("has random seeds (%d, %d) but requested seeds are (%d, %d).", have.Seed, have.Seed2, want.Seed, want.Seed2)
	case !slices.Equal(want.Types, have.Types):
		return have.differs("has component types %s but requested component types were %s", typeList(have.Types), typeList(want.Types))
	case !have.sameShapes(want.Shapes):
		return have.differs("has component shapes %s but requested component shapes were %s", shapeList(have.Shapes), shapeList(want.Shapes))
	}
	return nil
}

func (s *Spec) differs(format string, args ...any) error {
	return core.Errorf(core.InvalidArgument, "Shared queue '%s' "+format, append([]any{s.Name}, args...)...)
}

func (s *Spec) sameShapes(shapes []core.Shape) bool {
	same := core.Shape.Equal
	if s.Kind == PaddingFIFO {
		same = core.Shape.Compatible
	}
	return slices.EqualFunc(s.Shapes, shapes, same)
}

func (s *Spec) normalize() {
	if s.Capacity < 0 {
		s.Capacity = Unbounded
	}
}

// typeList formats types as TensorFlow does: "float, int32".
func typeList(types []core.DType) string {
	names := make([]string, len(types))
	for i, d := range types {
		names[i] = d.CName()
	}
	return strings.Join(names, ", ")
}

// shapeList formats shapes as TensorFlow does: "[[2,3], []]".
func shapeList(shapes []core.Shape) string {
	texts := make([]string, len(shapes))
	for i, s := range shapes {
		texts[i] = s.String()
	}
	return "[" + strings.Join(texts, ", ") + "]"
}
