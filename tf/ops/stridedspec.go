package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A sliceMask holds the bit masks of a strided slice, by position in begin,
// end and strides.
type sliceMask struct{ begin, end, ellipsis, newAxis, shrinkAxis int }

func sliceMaskOf(n *core.Node) sliceMask {
	return sliceMask{n.Int("begin_mask"), n.Int("end_mask"), n.Int("ellipsis_mask"), n.Int("new_axis_mask"), n.Int("shrink_axis_mask")}
}

func bit(mask, i int) bool { return mask>>i&1 != 0 }

// A stridedSpec is a strided slice as it is written: one item for each entry
// of begin, end and strides. Begin and end may be nil while they are not
// known.
type stridedSpec struct {
	begin, end, strides []int
	mask                sliceMask
}

// A stridedDim says which elements of one dimension of the input are taken.
type stridedDim struct {
	begin, end, stride int
	all                bool // neither begin nor end is given: the whole dimension
	openBegin, openEnd bool
	shrink             bool // a single index, whose dimension goes
	known              bool // begin and end are known
}

// Where a dimension of the result comes from, beside dimensions of the input.
const (
	newDim    = -1
	shrunkDim = -2
)

// A stridedRoom is where a kernel lets the parts of a plan be, on its stack, unless there are
// more dimensions than that.
type stridedRoom struct {
	begin, end, strides [roomRank]int
	dims                [roomRank]stridedDim
	from                [2 * roomRank]int
	block, final        [roomRank]int
	to, at              [roomRank]int // steps of views
}

// roomRank is the number of dimensions for which kernels have room on their stacks.
const roomRank = 6

// A stridedPlan is a strided slice by dimensions of the input.
type stridedPlan struct {
	dims  []stridedDim
	from  []int // for each dimension of the result: an input's, newDim or shrunkDim
	block tf.Shape
	final tf.Shape
}

// plan resolves the spec for an input of shape s, of which sizes may be
// unknown. What it returns is in the room, as far as it fits.
func (p *stridedSpec) plan(room *stridedRoom, s tf.Shape) (out stridedPlan, err error) {
	out.dims, out.from, err = p.spread(room.dims[:0], room.from[:0], len(s))
	if err != nil {
		return out, err
	}
	block, final := room.block[:0], room.final[:0]
	for i := range out.dims {
		n, err := out.dims[i].resolve(i, s[i])
		if err != nil {
			return out, err
		}
		block = append(block, n)
	}
	for _, k := range out.from {
		switch k {
		case newDim:
			final = append(final, 1)
		case shrunkDim:
		default:
			final = append(final, block[k])
		}
	}
	out.block, out.final = block, final
	return out, nil
}

// spread assigns the items of the spec to the rank dimensions of the input;
// the ellipsis, which is at the end if none is written, takes the others. It appends
// to what it is given.
func (p *stridedSpec) spread(dims []stridedDim, from []int, rank int) ([]stridedDim, []int, error) {
	items, ellipsis := len(p.strides), p.mask.ellipsis
	if ellipsis &= 1<<items - 1; ellipsis&(ellipsis-1) != 0 {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "Multiple ellipses in slice spec not allowed")
	}
	if ellipsis == 0 {
		ellipsis = 1 << items
		items++
	}
	for i := range items {
		switch {
		case bit(ellipsis, i):
			for left := rank - p.consumed(i+1, items); len(dims) < left; {
				from = append(from, len(dims))
				dims = append(dims, stridedDim{stride: 1, all: true, openBegin: true, openEnd: true, known: p.begin != nil})
			}
		case bit(p.mask.newAxis, i):
			from = append(from, newDim)
		default:
			if len(dims) == rank {
				return nil, nil, tooManyIndices(len(dims), rank)
			}
			d := p.item(i)
			from, dims = append(from, d.place(len(dims))), append(dims, d)
		}
	}
	return dims, from, nil
}

// place is where the dimension of the result comes from that d, dimension i of the input, is.
func (d *stridedDim) place(i int) int {
	if d.shrink {
		return shrunkDim
	}
	return i
}

// consumed returns how many dimensions the items from i on stand for.
func (p *stridedSpec) consumed(i, items int) int {
	n := 0
	for ; i < items; i++ {
		if !bit(p.mask.newAxis, i) {
			n++
		}
	}
	return n
}

func tooManyIndices(at, rank int) error {
	if rank == 0 {
		return tf.Errorf(tf.InvalidArgument, "Attempting to slice scalar input.")
	}
	return tf.Errorf(tf.InvalidArgument, "Index out of range using input dim %d; input has only %d dims", at, rank)
}

// item returns what item i of the spec says of a dimension.
func (p *stridedSpec) item(i int) stridedDim {
	d := stridedDim{
		stride: p.strides[i], known: p.begin != nil && p.end != nil,
		openBegin: bit(p.mask.begin, i), openEnd: bit(p.mask.end, i), shrink: bit(p.mask.shrinkAxis, i),
	}
	if d.known {
		d.begin, d.end = p.begin[i], p.end[i]
	}
	d.all = d.openBegin && d.openEnd
	return d
}

// resolve makes begin and end absolute for dimension i of size n and returns
// how many elements are taken, -1 if that is not known.
func (d *stridedDim) resolve(i, n int) (int, error) {
	switch {
	case d.stride == 0:
		return 0, tf.Errorf(tf.InvalidArgument, "strides[%d] must be non-zero", i)
	case n < 0 && d.shrink:
		return 1, nil
	case n < 0:
		return -1, nil
	case d.shrink && d.stride <= 0:
		return 0, tf.Errorf(tf.InvalidArgument, "only stride 1 allowed on non-range indexing.")
	case d.shrink:
		return 1, d.resolveIndex(i, n)
	case !d.known && !d.all:
		return -1, nil
	}
	d.begin, d.end = d.bound(d.begin, d.openBegin, n, true), d.bound(d.end, d.openEnd, n, false)
	return d.count(), nil
}

// resolveIndex makes the single index absolute.
func (d *stridedDim) resolveIndex(i, n int) error {
	if !d.known {
		return nil
	}
	at := d.begin
	if at < 0 {
		at += n
	}
	if at < 0 || at >= n {
		return tf.Errorf(tf.InvalidArgument, "slice index %d of dimension %d out of bounds.", d.begin, i)
	}
	d.begin, d.end = at, at+1
	return nil
}

// bound returns the begin (first) or end of the range within dimension size n
// that v, or the lack of it, means.
func (d *stridedDim) bound(v int, open bool, n int, first bool) int {
	lowest, highest := 0, n
	if d.stride < 0 {
		lowest, highest = -1, n-1
	}
	if open {
		if first == (d.stride > 0) {
			return lowest
		}
		return highest
	}
	if v < 0 {
		v += n
	}
	return min(max(v, lowest), highest)
}

// count returns how many steps lead from begin to end.
func (d *stridedDim) count() int {
	length := d.end - d.begin
	if length == 0 || (length < 0) != (d.stride < 0) {
		return 0
	}
	n := length / d.stride
	if length%d.stride != 0 {
		n++
	}
	return n
}
