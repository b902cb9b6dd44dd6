package bundle

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// A tile is a slice of a tensor that is stored by itself.
type tile struct {
	at Slice
	// check proves that the bytes are there, before room is made for them.
	check func() error
	// load reads the values into a tensor from a, or another one.
	load func(a Alloc) (*core.Tensor, error)
}

// assemble returns the slice want of a tensor, whose elements come from tiles
// that lie side by side.
func assemble(name string, d core.DType, full core.Shape, want Slice, tiles []tile) (*core.Tensor, error) {
	shape, err := want.Shape(full)
	if err == nil {
		err = core.CheckSize(d, shape)
	}
	if err != nil {
		return nil, err
	}
	need, err := covering(name, full, want, shape, tiles)
	if err != nil {
		return nil, err
	}
	var out *core.Tensor
	for _, t := range need {
		if !t.at.overlap(want, full).Equal(shape) {
			if out, err = orNew(out, d, shape); err != nil {
				return nil, err
			}
		}
		part, inPlace, err := t.loadInto(out, full, want)
		switch {
		case err != nil:
			return nil, err
		case inPlace:
			continue
		case out == nil && part.Shape().Equal(shape):
			return part, nil
		}
		if out, err = orNew(out, d, shape); err != nil {
			return nil, err
		}
		copyOverlap(out, part, full, want, t.at)
	}
	return orNew(out, d, shape)
}

// orNew returns t, or a new tensor if there is none.
func orNew(t *core.Tensor, d core.DType, s core.Shape) (*core.Tensor, error) {
	if t != nil {
		return t, nil
	}
	return core.AllocTensor(d, s)
}

// loadInto loads the values of t to their place in out, if that is possible.
func (t *tile) loadInto(out *core.Tensor, full core.Shape, want Slice) (part *core.Tensor, inPlace bool, err error) {
	a := core.AllocTensor
	within := t.within(out, full, want)
	if within != nil {
		a = func(core.DType, core.Shape) (*core.Tensor, error) { return within, nil }
	}
	part, err = t.load(a)
	return part, err == nil && part == within, err
}

// within returns the part of out, which is the slice want, that has the values of t side
// by side: some of its rows. It is nil if there is none; out may be nil.
func (t *tile) within(out *core.Tensor, full core.Shape, want Slice) *core.Tensor {
	shape, err := t.at.Shape(full)
	if out == nil || out.Buffer() == nil || err != nil || len(full) == 0 || !t.at.overlap(want, full).Equal(shape) || !shape[1:].Equal(out.Shape()[1:]) {
		return nil
	}
	row := core.Shape(shape[1:]).NumElements() * out.DType().Size()
	at := (t.at.start(0) - want.start(0)) * row
	return core.TensorOf(out.DType(), shape, memory.Wrap(out.Buffer().Bytes()[at:at+shape[0]*row], nil))
}

// covering returns the tiles that have a part of want, all of which there must
// be.
func covering(name string, full core.Shape, want Slice, shape core.Shape, tiles []tile) ([]tile, error) {
	var need []tile
	left := shape.NumElements()
	for _, t := range tiles {
		if have := t.at.overlap(want, full); have != nil {
			need = append(need, t)
			left -= have.NumElements()
		}
	}
	n := apart(need, full)
	for _, t := range need[:n] {
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	if n < len(need) {
		first := slices.IndexFunc(need, func(t tile) bool { return t.meets(need[n], full) })
		return nil, core.Errorf(core.Internal, "Overlapping slices: existing slice = %s, new slice = %s", need[first].at, need[n].at)
	}
	if left != 0 {
		return nil, core.Errorf(core.InvalidArgument, "Does not have sufficient slices for partitioned tensor %s to restore in slice_spec: %s", name, want)
	}
	return need, nil
}

// meets reports whether two tiles have elements in common.
func (t *tile) meets(u tile, full core.Shape) bool { return t.at.overlap(u.at, full).NumElements() > 0 }

// apart returns how many tiles there are before the first one that meets one before it.
func apart(tiles []tile, full core.Shape) int {
	if !anyMeet(tiles, full) {
		return len(tiles)
	}
	return sort.Search(len(tiles), func(n int) bool { return anyMeet(tiles[:n+1], full) })
}

// anyMeet reports whether any two tiles meet. It goes along one dimension and compares a
// tile with those only that begin before it and do not end there: one at most where the
// tensor has been cut along that dimension.
func anyMeet(tiles []tile, full core.Shape) bool {
	if len(full) == 0 {
		return len(tiles) > 1
	}
	k := finest(tiles, full)
	var open []tile
	for _, t := range slices.SortedFunc(slices.Values(tiles), func(a, b tile) int { return cmp.Compare(a.at.start(k), b.at.start(k)) }) {
		open = slices.DeleteFunc(open, func(o tile) bool { return o.at.end(k, full) <= t.at.start(k) })
		if slices.ContainsFunc(open, func(o tile) bool { return o.meets(t, full) }) {
			return true
		}
		open = append(open, t)
	}
	return false
}

// finest returns the dimension of which tiles have the smallest parts.
func finest(tiles []tile, full core.Shape) (best int) {
	least := math.Inf(1)
	for k, size := range full {
		sum := 0.0
		for _, t := range tiles {
			sum += float64(t.at.end(k, full) - t.at.start(k))
		}
		if share := sum / float64(max(size, 1)); share < least {
			best, least = k, share
		}
	}
	return best
}

// copyOverlap copies what slices of one tensor have in common from the values of
// one to those of the other.
func copyOverlap(dst, src *core.Tensor, full core.Shape, to, from Slice) {
	size := to.overlap(from, full)
	var box []side
	dstStep, srcStep := 1, 1
	for i := len(full) - 1; i >= 0; i-- {
		begin := max(to.start(i), from.start(i))
		s := side{size[i], dstStep, srcStep, (begin - to.start(i)) * dstStep, (begin - from.start(i)) * srcStep}
		dstStep *= dst.Dim(i)
		srcStep *= src.Dim(i)
		if n := len(box); n > 0 && box[n-1].size == s.dstStep && s.dstStep == s.srcStep && n == 1 {
			// The dimensions inside are copied whole: rows follow each other.
			box[0] = side{s.size * s.dstStep, 1, 1, s.dstAt, s.srcAt}
			continue
		}
		box = append(box, s)
	}
	switch dst.DType() {
	case core.String:
		copyBox(core.Data[string](dst), core.Data[string](src), box, 1)
	case core.Variant: // no memory of bytes has them
		copyBox(dst.Variants(), src.Variants(), box, 1)
	default:
		copyBox(dst.Buffer().Bytes(), src.Buffer().Bytes(), box, dst.DType().Size())
	}
}

// A side is a dimension of a box that is copied: how many steps, how far they go
// and where the first one is.
type side struct{ size, dstStep, srcStep, dstAt, srcAt int }

// copyBox copies a box of which the first side is the innermost, a run of
// elements of unit items each.
func copyBox[T any](dst, src []T, box []side, unit int) {
	n := len(box) - 1
	s := box[n]
	dst, src = dst[s.dstAt*unit:], src[s.srcAt*unit:]
	if n == 0 {
		copy(dst[:s.size*unit], src)
		return
	}
	for i := range s.size {
		copyBox(dst[i*s.dstStep*unit:], src[i*s.srcStep*unit:], box[:n], unit)
	}
}
