package ragged

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UnsortedSegmentJoin", In: "inputs: string; segment_ids: Tindices; num_segments: Tnumsegments", Out: "output: string",
		Attrs: "separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = int32",
		Shape: segmentJoinShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(segmentJoin),
	})
}

// SegmentJoinOpts is the optional attribute of UnsortedSegmentJoin: what comes
// between the strings of a segment.
type SegmentJoinOpts struct{ Separator string }

// Apply sets the attributes.
func (o SegmentJoinOpts) Apply(s *tf.Spec) { s.Set("separator", o.Separator) }

// UnsortedSegmentJoin joins the strings of x, along its first dimensions, that
// have the same id, one of n. Empty strings that begin a segment leave nothing,
// not even a separator. The shape of ids is the beginning of that of x.
// The result has n in the place of the dimensions of ids, which are int32 or
// int64 as n is; a segment without strings is empty. Shapes that do not begin
// alike, and an n that is no scalar, are refused with INVALID_ARGUMENT, when
// the graph is built if the shapes are known, else in the step; so are, in the
// step, ids that are a scalar, a negative n and an id that is negative or not
// less than n.
// Its options are [SegmentJoinOpts].
func UnsortedSegmentJoin(x, ids, n tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "UnsortedSegmentJoin", []tf.Output{x, ids, n}, opts...).Output(0)
}

func segmentJoinShape(c *core.Infer) error {
	if _, err := c.Rank(2, 0); err != nil {
		return err
	}
	x, ids := c.In(0), c.In(1)
	if x == nil || ids == nil {
		return nil
	}
	if len(ids) > len(x) || !x[:len(ids)].Compatible(ids) {
		return invalid("the shape of the ids, %v, must be the beginning of that of the strings, %v", ids, x)
	}
	n := -1
	if v, ok := c.ConstInts(2); ok {
		n = max(v[0], -1)
	}
	c.Set(0, append(tf.Shape{n}, x[len(ids):]...))
	return nil
}

func segmentJoin(n *core.Node) (core.Kernel, error) {
	sep := n.Str("separator")
	return core.Compute(func(c *core.OpContext) error {
		x, ids := c.Input(0), c.Input(1)
		at, count, err := segmentIDs(c)
		if err != nil {
			return err
		}
		s := append(tf.Shape{count}, x.Shape()[ids.Rank():]...)
		out, err := c.Alloc(0, tf.String, s)
		if err != nil {
			return err
		}
		w, joined := s[1:].NumElements(), core.Make[[]byte](out.Len())
		words := core.Data[string](x)
		for k, n := range joinedSizes(at, words, w, out.Len(), len(sep)) {
			joined[k] = core.Make[byte](n)[:0]
		}
		for i, id := range at {
			for k := range w {
				b := joined[id*w+k]
				if len(b) > 0 { // none after the empty strings that begin a segment
					b = append(b, sep...)
				}
				joined[id*w+k] = append(b, words[i*w+k]...)
			}
		}
		for i, b := range joined {
			core.Data[string](out)[i] = string(b)
		}
		return nil
	}), nil
}

// joinedSizes returns how long the results may get.
func joinedSizes(at []int, words []string, w, n, sep int) []int {
	sizes := core.Make[int](n)
	for i, id := range at {
		for k := range w {
			sizes[id*w+k] += sep + len(words[i*w+k])
		}
	}
	return sizes
}

// segmentIDs checks the inputs and returns ids and the number of segments.
func segmentIDs(c *core.OpContext) (at []int, count int, err error) {
	x, ids, n := c.Input(0).Shape(), c.Input(1), c.Input(2)
	if n.Rank() != 0 {
		return nil, 0, invalid("Number of segments must be a scalar")
	}
	v, err := n.Ints()
	if err != nil {
		return nil, 0, err
	}
	if v[0] < 0 {
		return nil, 0, invalid("Number of segments must be non-negative but got %d", v[0])
	}
	if ids.Rank() == 0 {
		return nil, 0, invalid("Segment_id cannot have rank 0")
	}
	if ids.Rank() > len(x) {
		return nil, 0, invalid("segment_ids must not have more dimensions than the input, got %d and %d", ids.Rank(), len(x))
	}
	for k, d := range ids.Shape() {
		if d != x[k] {
			return nil, 0, invalid("Segment dimension is %d while input dimension is %d in rank %d", d, len(x), k)
		}
	}
	if at, err = ids.Ints(); err != nil {
		return nil, 0, err
	}
	for _, id := range at {
		if id < 0 || id >= v[0] {
			return nil, 0, invalid("segment_ids are not allowed to exceed num_segments or to have negative values.")
		}
	}
	return at, v[0], nil
}
