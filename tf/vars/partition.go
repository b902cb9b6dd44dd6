package vars

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Partitioner says into how many parts a variable is cut along each
// dimension; one number is not 1 at most.
type Partitioner func(s tf.Shape, d tf.DType) []int

// FixedSize cuts into n parts along an axis. As for the other partitioners, a negative axis
// counts from the end, and a variable that has no such axis stays whole.
func FixedSize(n, axis int) Partitioner {
	return func(s tf.Shape, _ tf.DType) []int {
		parts := ones(len(s))
		if a, ok := axisOf(axis, s); ok {
			parts[a] = min(n, max(s[a], 1))
		}
		return parts
	}
}

// axisOf returns which dimension of s an axis is, if s has it.
func axisOf(axis int, s tf.Shape) (a int, ok bool) {
	if axis < 0 {
		axis += len(s)
	}
	return axis, axis >= 0 && axis < len(s)
}

// AxisSize cuts along an axis so that no part has more than maxBytes, but into
// at most maxShards parts (0: any number). Strings count 16 bytes, variants none.
func AxisSize(maxBytes, axis, maxShards int) Partitioner {
	return func(s tf.Shape, d tf.DType) []int {
		parts := ones(len(s))
		a, ok := axisOf(axis, s)
		if !ok || s.NumElements() <= 0 {
			return parts
		}
		slice := s.NumElements() / s[a] * bytesOf(d)
		if slice == 0 { // elements without a size, as variants
			return parts
		}
		perPart := max(1, maxBytes/slice)
		n := (s[a] + perPart - 1) / perPart
		if maxShards > 0 {
			n = min(n, maxShards)
		}
		parts[a] = n
		return parts
	}
}

// MinMax cuts along an axis into at most maxParts parts of at least minBytes.
func MinMax(maxParts, axis, minBytes int) Partitioner {
	return func(s tf.Shape, d tf.DType) []int {
		parts := ones(len(s))
		a, ok := axisOf(axis, s)
		if !ok || s.NumElements() < 0 {
			return parts
		}
		n := float64(s.NumElements()*bytesOf(d)) / float64(max(minBytes, 1))
		parts[a] = max(1, min(int(math.Ceil(n)), maxParts, s[a]))
		return parts
	}
}

func bytesOf(d tf.DType) int {
	if d == tf.String {
		return 16
	}
	return d.Size()
}

func ones(n int) []int {
	v := make([]int, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// A Partitioned is a variable cut into parts along one axis: variables of their
// own, which may be on different devices.
type Partitioned struct {
	Name  string
	Axis  int
	Parts []*tf.Variable
	whole tf.Output // the zero Output in an eager graph, where it would be what the parts were when they were made
	g     *tf.Graph
}

// Value returns the parts put together: in an eager graph what they are now.
func (p *Partitioned) Value() tf.Output {
	if p.whole.IsZero() {
		return p.concat(p.g)
	}
	return p.whole
}

// GetPartitioned is Get for a variable that the scope's partitioner cuts: parts
// are named name/part_0, name/part_1, and so on. Each part is initialized for
// itself, with numbers of the scale that the whole would have.
func GetPartitioned(g *tf.Graph, name string, s tf.Shape, o ...Options) *Partitioned {
	if g == nil {
		return &Partitioned{Name: name, whole: tf.Failed(nil, "get_variable", errNoGraph).Output(0)}
	}
	g = author.Home(g)
	st := storeOf(g)
	full, opt := st.scope.prefix+name, st.scope.complete(first(o))
	p := &Partitioned{Name: full, g: g}
	if old := st.parts[full]; old != nil && st.scope.o.Reuse != Inherit {
		if err := old.differs(s, opt.DType); err != nil {
			p.whole = tf.Failed(g, "get_variable", err).Output(0)
			return p
		}
		return old
	}
	counts := ones(len(s))
	if st.scope.o.Partitioner != nil {
		counts = st.scope.o.Partitioner(s, opt.DType)
	}
	axis, err := cutAxis(full, s, counts)
	if err != nil {
		p.whole = tf.Failed(g, "get_variable", err).Output(0)
		return p
	}
	p.Axis = axis
	p.getParts(st, name, s, counts, opt)
	if !g.IsEager() {
		g.Scope("", func() { p.whole = p.concat(g) })
	}
	st.parts[full] = p
	return p
}

// getParts gets the parts of a variable of shape s.
func (p *Partitioned) getParts(st *store, name string, s tf.Shape, counts []int, o Options) {
	offset := make([]int, len(s))
	for i, shape := range cut(s, p.Axis, counts) {
		slice := tf.SliceInfo{FullName: p.Name, FullShape: s, Offset: slices.Clone(offset), Shape: shape}
		part := st.getPart(p.g, name+"/part_"+itoa(i), slice, o)
		part.SetSlice(slice)
		p.Parts = append(p.Parts, part)
		if len(s) > 0 {
			offset[p.Axis] += shape[p.Axis]
		}
	}
}

// getPart is Get for a part of a variable. What is chosen as its initial value, by a getter
// perhaps, is that of the whole.
func (s *store) getPart(g *tf.Graph, name string, slice tf.SliceInfo, o Options) *tf.Variable {
	outer := s.slice
	defer func() { s.slice = outer }()
	s.slice = &slice
	return Get(g, name, slice.Shape, o)
}

// initializer returns that of o, which for a part of a variable learns of the whole.
func (s *store) initializer(o Options, shape tf.Shape) initializers.Initializer {
	if p := s.slice; p != nil && shape.Equal(p.Shape) {
		return initializers.OfPart(o.Initializer, p.FullShape, p.Offset)
	}
	return o.Initializer
}

// differs refuses to share p as a variable of another shape or type.
func (p *Partitioned) differs(s tf.Shape, d tf.DType) error {
	whole, of := p.Parts[0].Slice().FullShape, p.Parts[0].DType()
	switch {
	case !s.Compatible(whole):
		return tf.Errorf(tf.InvalidArgument, "Trying to reuse partitioned variable %s, but specified shape %s and found shape %s.", p.Name, s, whole)
	case d != of:
		return tf.Errorf(tf.InvalidArgument, "Trying to reuse partitioned variable %s, but specified dtype %v and found dtype %v.", p.Name, d, of)
	}
	return nil
}

func (p *Partitioned) concat(g *tf.Graph) tf.Output {
	var parts []tf.Output
	for _, v := range p.Parts {
		parts = append(parts, v.Value())
	}
	if len(parts) == 1 {
		return ops.Identity(parts[0], tf.Name(p.Name))
	}
	return ops.ConcatV2(parts, ops.Scalar(g, int32(p.Axis)), tf.Name(p.Name+"/ConcatPartitions/concat"))
}

// cutAxis returns the axis along which the counts cut.
func cutAxis(name string, s tf.Shape, counts []int) (axis int, err error) {
	if len(counts) != len(s) {
		return 0, tf.Errorf(tf.InvalidArgument, "Partitioner returned a partition list that does not match the Variable's rank: %v vs. %v", counts, s)
	}
	cuts := 0
	for i, n := range counts {
		if n < 1 || n > max(s[i], 1) {
			return 0, tf.Errorf(tf.InvalidArgument, "Partitioner must cut %s %v into 1 to %d parts along axis %d, got %d", name, s, s[i], i, n)
		}
		if n > 1 {
			axis = i
			cuts++
		}
	}
	if cuts > 1 {
		return 0, tf.Errorf(tf.InvalidArgument, "Can only slice a variable along one dimension: shape: %v, partitioning: %v", s, counts)
	}
	return axis, nil
}

// cut returns the shapes of the parts: the first ones are larger by one if the
// size cannot be divided.
func cut(s tf.Shape, axis int, counts []int) (out []tf.Shape) {
	if len(s) == 0 {
		return []tf.Shape{s}
	}
	n, size := counts[axis], s[axis]
	for i := range n {
		part := s.Clone()
		part[axis] = size / n
		if i < size%n {
			part[axis]++
		}
		out = append(out, part)
	}
	return out
}
