package sparse

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "EditDistance", In: "hypothesis_indices: int64; hypothesis_values: T; hypothesis_shape: int64; truth_indices: int64; truth_values: T; truth_shape: int64",
		Out: "output: float", Attrs: "normalize: bool = true; T: type", Shape: distanceShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{
			tf.Float32: distances[float32], tf.Float64: distances[float64], tf.Float16: distances[float32], tf.BFloat16: distances[float32],
			tf.Int8: distances[int8], tf.Int16: distances[int16], tf.Int32: distances[int32], tf.Int64: distances[int64],
			tf.Uint8: distances[uint8], tf.Uint16: distances[uint16], tf.Uint32: distances[uint32], tf.Uint64: distances[uint64],
			tf.Complex64: distances[complex64], tf.Complex128: distances[complex128], tf.Bool: distances[bool], tf.String: distances[string],
		}),
	})
}

// DistanceOpts is the optional attribute of EditDistance: Absolute distances
// are not divided by the length of the true sequence.
type DistanceOpts struct{ Absolute bool }

// Apply sets the attributes.
func (o DistanceOpts) Apply(s *tf.Spec) { s.Set("normalize", !o.Absolute) }

// EditDistance returns, in float32, how many insertions, deletions and
// replacements make the sequences of a hypothesis, which lie along the last
// dimension, those of the truth, both of rank 2 or more. It is the distance
// of Levenshtein (1966). Both have one type: numbers, bool or strings. The
// result has the greater of the sizes of both in all dimensions but the last.
// Relative to an empty truth the distance is infinite; where neither has
// elements it is 0. Indices have to be in order. Parts that do not fit
// together are refused with INVALID_ARGUMENT, when the graph is built if
// their shapes are known, else in the step. Ranks that differ or are below 2
// are refused with the same code; a result without elements fails with it in
// the step, an index beyond the shape with INTERNAL.
// Its options are [DistanceOpts].
func EditDistance(hypothesis, truth Tensor, opts ...tf.Option) tf.Output {
	return apply("EditDistance", opts, flat(hypothesis, truth)...)
}

func distanceShape(c *core.Infer) error {
	for i := range 2 {
		if _, err := knownRank(c, 3*i); err != nil {
			return err
		}
	}
	a, okA := c.ConstInts(2)
	b, okB := c.ConstInts(5)
	if !okA || !okB {
		return nil
	}
	if len(a) != len(b) {
		return invalid("rank should be equal, but are %d and %d", len(a), len(b))
	}
	if len(a) < 2 {
		return invalid("Input SparseTensors must have rank at least 2, but truth_shape rank is: %d", len(a))
	}
	c.Set(0, greaterSizes(a, b))
	return nil
}

// greaterSizes returns the greater sizes of all dimensions but the last.
func greaterSizes(a, b tf.Shape) tf.Shape {
	s := make(tf.Shape, len(a)-1)
	for k := range s {
		s[k] = max(a[k], b[k])
	}
	return s
}

func distances[T tf.Elem](n *core.Node) (core.Kernel, error) {
	normalize := n.Bool("normalize")
	return core.Compute(func(c *core.OpContext) error {
		h, t, err := sequences(c)
		if err != nil {
			return err
		}
		s := greaterSizes(h.shape, t.shape)
		if slices.Contains(s, 0) {
			return invalid("Got output shape %s which has 0 elements", s.String())
		}
		out, err := c.Alloc(0, tf.Float32, s)
		if err != nil {
			return err
		}
		y := core.Data[float32](out)
		clear(y)
		x, z := values[T](h.values), values[T](t.values)
		return eachPair(h, t, s, func(place int, a, b span) {
			y[place] = distance(x[a.lo:a.hi], z[b.lo:b.hi], normalize)
		})
	}), nil
}

// sequences reads hypothesis and truth.
func sequences(c *core.OpContext) (h, t *coo, err error) {
	names := []string{"hypothesis", "truth"}
	for part, p := range []struct {
		rank       int
		name, kind string
	}{{2, "indices", "matrix"}, {1, "values", "vector"}, {1, "shape", "vector"}} {
		for k, name := range names {
			if s := c.Input(3*k + part).Shape(); len(s) != p.rank {
				return nil, nil, invalid("%s_%s should be a %s, but got shape: %s", name, p.name, p.kind, s.String())
			}
		}
	}
	if err := checkSequences(c); err != nil {
		return nil, nil, err
	}
	if h, err = inputCOO(c, 0); err != nil {
		return nil, nil, err
	}
	t, err = inputCOO(c, 3)
	return h, t, err
}

func checkSequences(c *core.OpContext) error {
	at := []*core.Tensor{c.Input(0), c.Input(3)}
	shape := []*core.Tensor{c.Input(2), c.Input(5)}
	columns := func(k int, name string) error {
		if at[k].Dim(1) == shape[k].Len() {
			return nil
		}
		return invalid("Expected %s_shape.NumElements == #cols(%s_indices), their shapes are: %s and %s", name, name, shape[k].Shape().String(), at[k].Shape().String())
	}
	if err := columns(0, "hypothesis"); err != nil {
		return err
	}
	if n := shape[1].Len(); n < 2 {
		return invalid("Input SparseTensors must have rank at least 2, but truth_shape rank is: %d", n)
	}
	if err := columns(1, "truth"); err != nil {
		return err
	}
	if vals := c.Input(1); vals.Len() != at[0].Dim(0) {
		return invalid("Expected hypothesis_values.NumElements == #rows(hypothesis_indices), their shapes are: %s and %s", vals.Shape().String(), at[0].Shape().String())
	}
	if vals := c.Input(4); vals.Len() != at[1].Dim(0) {
		return invalid("Expected truth_values.NumElements == #rows(truth_indices), their shapes are: %s and %s", vals.Shape().String(), at[1].Shape().String())
	}
	for _, s := range shape {
		for _, d := range core.Data[int64](s) {
			if d < 0 {
				return invalid("Dimension %d must be >= 0", d)
			}
		}
	}
	if shape[0].Len() != shape[1].Len() {
		return invalid("Expected truth and hypothesis to have matching ranks, but their shapes are: %s and %s", shape[1].Shape().String(), shape[0].Shape().String())
	}
	return nil
}

// A span is a run of values.
type span struct{ lo, hi int }

// eachPair calls f with the place in a dense tensor of shape s, and the values
// that h and t have there, for each place where one has any.
func eachPair(h, t *coo, s tf.Shape, f func(place int, a, b span)) error {
	rank := len(s)
	for i, j := 0, 0; i < h.n || j < t.n; {
		order := 0
		switch {
		case j == t.n:
			order = -1
		case i == h.n:
			order = 1
		default:
			order = slices.Compare(h.index(i)[:rank], t.index(j)[:rank])
		}
		a, b := span{i, i}, span{j, j}
		key := t.at
		if order <= 0 {
			key, a.hi = h.index(i)[:rank], h.runEnd(i, rank)
		}
		if order >= 0 {
			key, b.hi = t.index(j)[:rank], t.runEnd(j, rank)
		}
		place := offset(key, s)
		if n := s.NumElements(); place < 0 || place >= n {
			return tf.Errorf(tf.Internal, "Got an inner product %d which would require writing to outside of the buffer for the output tensor (max elements %d)", place, n)
		}
		f(place, a, b)
		i, j = a.hi, b.hi
	}
	return nil
}

// runEnd returns where the run of values with the same first n indices that
// begins at i ends.
func (t *coo) runEnd(i, n int) int {
	hi := i + 1
	for hi < t.n && slices.Equal(t.index(hi)[:n], t.index(i)[:n]) {
		hi++
	}
	return hi
}

// distance compares two sequences. Relative to no truth it is infinite, and an
// empty hypothesis is all wrong.
func distance[T comparable](x, truth []T, normalize bool) float32 {
	switch {
	case !normalize:
		return float32(levenshtein(x, truth))
	case len(truth) == 0:
		return float32(math.Inf(1))
	}
	return float32(levenshtein(x, truth)) / float32(len(truth))
}

// levenshtein keeps one row of the table of distances between beginnings.
func levenshtein[T comparable](a, b []T) int {
	row := core.Make[int](len(b) + 1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		before := row[0] // the distance without both last elements
		row[0] = i + 1
		for j, y := range b {
			d := before
			if x != y {
				d = 1 + min(before, row[j], row[j+1])
			}
			before, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
