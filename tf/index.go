package tf

import (
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
)

// At returns the part of o that spec names in Python's notation for indices:
//
//	x.At("0")                 // x[0]
//	x.At("1:, ::2, -1")       // x[1:, ::2, -1]
//	x.At("..., None")         // x[..., None]: a new last dimension
//	x.At("?:, 0", begin)      // x[begin:, 0], begin a scalar of int32 or int64
//
// Entries are separated by commas. An entry is an integer, which takes its dimension
// away; begin:end:stride, each part of which may be missing; "...", which stands for
// the dimensions that are not mentioned; or None (newaxis), a new dimension of size
// 1. Each "?" is the next of the scalars in at. Gradients flow to o.
func (o Output) At(spec string, at ...Output) Output {
	ix, err := parseIndex(spec)
	if err == nil && len(at) != ix.holes {
		err = Errorf(InvalidArgument, "each ? of an index needs a scalar: %q has %d, got %d", spec, ix.holes, len(at))
	}
	if o.Err() != nil {
		return o
	}
	opts := []Option{optionFunc(func(s *Spec) { s.Err = err })}
	if err != nil {
		return o.then("StridedSlice", opts)
	}
	begin, end, strides := ix.vectors(o, at)
	return o.then("StridedSlice", ix.masks(), begin, end, strides)
}

// An index is a parsed one: for each entry where it begins and ends and its stride,
// and, by bits, what the entry is, as the attributes of StridedSlice have it.
type index struct {
	entries                                                   []entry
	holes                                                     int
	beginMask, endMask, ellipsisMask, newAxisMask, shrinkMask int
}

// An entry has begin, end and stride.
type entry [3]place

// A place is an integer, or a scalar that is computed, plus the integer.
type place struct {
	n    int
	hole int // 1 + the scalar's position; 0: none
}

func (ix *index) masks() []Option {
	return []Option{
		Attr("begin_mask", ix.beginMask), Attr("end_mask", ix.endMask), Attr("ellipsis_mask", ix.ellipsisMask),
		Attr("new_axis_mask", ix.newAxisMask), Attr("shrink_axis_mask", ix.shrinkMask),
	}
}

// parseIndex reads a whole index.
func parseIndex(spec string) (*index, error) {
	ix := &index{}
	for i, text := range strings.Split(spec, ",") {
		if err := ix.parseEntry(i, strings.TrimSpace(text)); err != nil {
			return nil, Errorf(InvalidArgument, "an index has entries such as 3, 1:, ::-2, ..., None, got %q: %s", spec, core.AsError(err).Msg)
		}
	}
	if len(ix.entries) > 30 {
		return nil, Errorf(InvalidArgument, "an index has up to 30 entries, got %d", len(ix.entries))
	}
	return ix, nil
}

func (ix *index) parseEntry(i int, text string) (err error) {
	bit := 1 << i
	e := entry{{}, {}, {n: 1}}
	switch parts := strings.Split(text, ":"); {
	case text == "...":
		if ix.ellipsisMask != 0 {
			return Errorf(InvalidArgument, "there may be one ... only")
		}
		ix.ellipsisMask |= bit
	case text == "None" || text == "newaxis":
		ix.newAxisMask |= bit
	case len(parts) == 1:
		ix.shrinkMask |= bit
		if e[0], err = ix.parsePlace(text, true); err != nil {
			return err
		}
		e[1] = place{e[0].n + 1, e[0].hole}
	case len(parts) > 3:
		return Errorf(InvalidArgument, "%q has more than two colons", text)
	default:
		for k, part := range parts {
			part = strings.TrimSpace(part)
			if part == "" {
				ix.open(k, bit)
			} else if e[k], err = ix.parsePlace(part, false); err != nil {
				return err
			}
		}
	}
	if e[2] == (place{}) {
		return Errorf(InvalidArgument, "the stride of %q must not be 0", text)
	}
	ix.entries = append(ix.entries, e)
	return nil
}

// open notes that begin (0) or end (1) of an entry is missing.
func (ix *index) open(k, bit int) {
	switch k {
	case 0:
		ix.beginMask |= bit
	case 1:
		ix.endMask |= bit
	}
}

func (ix *index) parsePlace(text string, single bool) (place, error) {
	if text == "?" {
		ix.holes++
		return place{hole: ix.holes}, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || single && text == "" {
		return place{}, Errorf(InvalidArgument, "%q is no integer", text)
	}
	return place{n: int(n)}, nil
}

// vectors adds begins, ends and strides to the graph of x.
func (ix *index) vectors(x Output, at []Output) (begin, end, strides Output) {
	var out [3]Output
	for k := range out {
		out[k] = ix.vector(x, k, at)
	}
	return out[0], out[1], out[2]
}

func (ix *index) vector(x Output, k int, at []Output) Output {
	ints, computed := make([]int, len(ix.entries)), false
	for i, e := range ix.entries {
		ints[i] = e[k].n
		computed = computed || e[k].hole > 0
	}
	if !computed {
		return asInts(x, ints).likeAll(at)
	}
	all := make([]Output, len(ints))
	for i, e := range ix.entries {
		n := asInt(x, e[k].n).likeAll(at)
		if h := e[k].hole; h > 0 && e[k].n == 0 {
			n = at[h-1]
		} else if h > 0 {
			n = at[h-1].then("AddV2", nil, n)
		}
		all[i] = n
	}
	return Apply(nil, "Pack", all).Output(0)
}

// likeAll returns o, a constant of int32, in the type of the scalars of an index.
func (o Output) likeAll(at []Output) Output {
	if len(at) == 0 || at[0].Err() != nil || at[0].DType().Base() == o.DType() {
		return o
	}
	if v := constValue(o); v != nil && at[0].DType().Base() == core.Int64 && o.DType() == core.Int32 {
		return constant(o.Graph(), core.Wrap(convertInts[int64](ints32(v)), v.Shape()))
	}
	return o
}

func ints32(t *core.Tensor) []int {
	all := make([]int, t.Len())
	for i, n := range core.Data[int32](t) {
		all[i] = int(n)
	}
	return all
}
