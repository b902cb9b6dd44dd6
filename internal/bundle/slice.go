package bundle

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An Extent is a stretch of a dimension. A negative Length stands for all of it.
type Extent struct{ Start, Length int64 }

var whole = Extent{0, -1}

// A Slice is a box in a tensor: an extent for each dimension.
type Slice []Extent

// Whole returns the slice that is all of a tensor.
func Whole(rank int) Slice { return slices.Repeat(Slice{whole}, rank) }

// ParseSlice reads a shape and a slice as SaveV2 has them: "4 5 0,2:-" is rows 0
// and 1 of a 4×5 matrix. It also returns the shape of the slice.
func ParseSlice(spec string) (full core.Shape, s Slice, shape core.Shape, err error) {
	fields := strings.Split(spec, " ")
	if len(fields) < 2 {
		return nil, nil, nil, core.Errorf(core.InvalidArgument, "Need least two elements in shape_and_slice specification: %s", spec)
	}
	last := len(fields) - 1
	if s, err = parseExtents(fields[last]); err != nil {
		return nil, nil, nil, err
	}
	full = core.Shape{}
	for _, f := range fields[:last] {
		n, err := strconv.ParseInt(strings.TrimSpace(f), 10, 64)
		if err != nil || n < 0 {
			return nil, nil, nil, core.Errorf(core.InvalidArgument, "Non numerical dimension in shape_and_slice: %s", spec)
		}
		full = append(full, int(n))
	}
	shape, err = s.Shape(full)
	return full, s, shape, err
}

func parseExtents(text string) (Slice, error) {
	s := Slice{}
	for f := range strings.SplitSeq(text, ":") {
		if f == "" {
			continue
		}
		e, err := parseExtent(f, text)
		if err != nil {
			return nil, err
		}
		s = append(s, e)
	}
	return s, nil
}

func parseExtent(f, text string) (e Extent, err error) {
	if f == "-" {
		return whole, nil
	}
	nums := slices.DeleteFunc(strings.Split(f, ","), func(n string) bool { return n == "" })
	var bad [2]error
	if len(nums) == 2 {
		e.Start, bad[0] = strconv.ParseInt(nums[0], 10, 64)
		e.Length, bad[1] = strconv.ParseInt(nums[1], 10, 64)
	}
	if len(nums) != 2 || bad[0] != nil || bad[1] != nil {
		return e, core.Errorf(core.InvalidArgument, "Expected a pair of numbers or '-' but got '%s': string = %s", f, text)
	}
	if e.Start < 0 || e.Length <= 0 || e.Start > math.MaxInt64-e.Length {
		return e, core.Errorf(core.InvalidArgument, "Expected non-negative start and positive length but got start = %d, length = %d: string = %s", e.Start, e.Length, text)
	}
	return e, nil
}

// String formats s as in "0,2:-".
func (s Slice) String() string {
	parts := make([]string, len(s))
	for i, e := range s {
		if parts[i] = "-"; e.Length >= 0 {
			parts[i] = strconv.FormatInt(e.Start, 10) + "," + strconv.FormatInt(e.Length, 10)
		}
	}
	return strings.Join(parts, ":")
}

// Shape returns the shape of the slice of a tensor.
func (s Slice) Shape(full core.Shape) (core.Shape, error) {
	if len(full) != len(s) {
		return nil, core.Errorf(core.Internal, "Mismatching ranks: shape = %s, slice = %s", full.String(), s)
	}
	out := full.Clone()
	for i, e := range s {
		if e.Length < 0 {
			continue
		}
		if e.Start+e.Length > int64(full[i]) {
			return nil, core.Errorf(core.Internal, "Extent in dimension %d out of bounds: shape = %s, slice = %s", i, full.String(), s)
		}
		out[i] = int(e.Length)
	}
	return out, nil
}

// isWhole reports whether s is all of a tensor.
func (s Slice) isWhole(full core.Shape) bool {
	shape, err := s.Shape(full)
	return err == nil && shape.Equal(full)
}

// start returns where the slice begins in dimension i.
func (s Slice) start(i int) int {
	if s[i].Length < 0 {
		return 0
	}
	return int(s[i].Start)
}

// overlap returns the shape of what slices of one tensor have in common, or nil.
func (s Slice) overlap(t Slice, full core.Shape) core.Shape {
	out := make(core.Shape, len(full))
	for i := range full {
		out[i] = min(s.end(i, full), t.end(i, full)) - max(s.start(i), t.start(i))
		if out[i] < 0 || out[i] == 0 && full[i] > 0 {
			return nil
		}
	}
	return out
}

func (s Slice) end(i int, full core.Shape) int {
	if s[i].Length < 0 {
		return full[i]
	}
	return int(s[i].Start + s[i].Length)
}

func (s Slice) proto() *pb.TensorSliceProto {
	p := &pb.TensorSliceProto{}
	for _, e := range s {
		x := &pb.TensorSliceProto_Extent{}
		if e.Length >= 0 {
			x.Start, x.HasLengthHack = e.Start, &pb.TensorSliceProto_Extent_Length{Length: e.Length}
		}
		p.Extent = append(p.Extent, x)
	}
	return p
}

// sliceOf reads a slice of a tensor of the given shape.
func sliceOf(p *pb.TensorSliceProto, full core.Shape) (Slice, error) {
	s := Slice{}
	for _, x := range p.GetExtent() {
		e := whole
		if x.GetHasLengthHack() != nil {
			e = Extent{x.GetStart(), x.GetLength()}
			if e.Start < 0 || e.Length <= 0 || e.Start > math.MaxInt64-e.Length {
				return nil, core.Errorf(core.InvalidArgument, "Expected non-negative start and positive length but got start = %d, length = %d", e.Start, e.Length)
			}
		}
		s = append(s, e)
	}
	_, err := s.Shape(full)
	return s, err
}
