package ops

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// pySlice lists the indices that Python's range(n)[begin:end:stride] holds.
func pySlice(n int, begin, end *int, stride int) (out []int) {
	clip := func(v *int, open, lowest, highest int) int {
		if v == nil {
			return open
		}
		i := *v
		if i < 0 {
			i += n
		}
		return min(max(i, lowest), highest)
	}
	if stride > 0 {
		for i := clip(begin, 0, 0, n); i < clip(end, n, 0, n); i += stride {
			out = append(out, i)
		}
		return out
	}
	for i := clip(begin, n-1, -1, n-1); i > clip(end, -1, -1, n-1); i += stride {
		out = append(out, i)
	}
	return out
}

// TestStridedDim compares a dimension's range with Python's.
func TestStridedDim(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n, stride := r.IntN(7), r.IntN(7)-3
		if stride == 0 {
			continue
		}
		begin, end := r.IntN(19)-9, r.IntN(19)-9
		d := stridedDim{begin: begin, end: end, stride: stride, known: true, openBegin: r.IntN(4) == 0, openEnd: r.IntN(4) == 0}
		var b, e *int
		if !d.openBegin {
			b = &begin
		}
		if !d.openEnd {
			e = &end
		}
		want := pySlice(n, b, e, stride)
		given := d
		count, err := d.resolve(0, n)
		var got []int
		for i := range count {
			got = append(got, d.begin+i*stride)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%+v of %d elements: %v %v, want %v", given, n, got, err, want)
		}
	}
}

func TestStridedPlan(t *testing.T) {
	one := func(n int) []int { return slices.Repeat([]int{1}, n) }
	zero := func(n int) []int { return make([]int, n) }
	for _, tc := range []struct {
		name string
		in   tf.Shape
		spec stridedSpec
		want tf.Shape
	}{
		{"unknown size", tf.Shape{-1, 4}, stridedSpec{zero(1), one(1), one(1), sliceMask{}}, tf.Shape{-1, 4}},
		{"index of unknown size", tf.Shape{-1, 4}, stridedSpec{zero(1), one(1), one(1), sliceMask{shrinkAxis: 1}}, tf.Shape{4}},
		{"unknown bounds", tf.Shape{3, 4}, stridedSpec{nil, nil, one(1), sliceMask{}}, tf.Shape{-1, 4}},
		{"unknown bounds, all open", tf.Shape{3, 4}, stridedSpec{nil, nil, []int{2}, sliceMask{begin: 1, end: 1}}, tf.Shape{2, 4}},
		{"unknown index", tf.Shape{3, 4}, stridedSpec{nil, nil, one(2), sliceMask{shrinkAxis: 2}}, tf.Shape{-1}},
		{"ellipsis over nothing", tf.Shape{3, 4}, stridedSpec{zero(3), one(3), one(3), sliceMask{ellipsis: 2}}, tf.Shape{1, 1}},
		{"ellipsis over two", tf.Shape{3, 4, 5}, stridedSpec{zero(2), one(2), one(2), sliceMask{ellipsis: 1}}, tf.Shape{3, 4, 1}},
		{"new axes", tf.Shape{3}, stridedSpec{zero(3), one(3), one(3), sliceMask{newAxis: 5}}, tf.Shape{1, 1, 1}},
		{"scalar", tf.Shape{}, stridedSpec{zero(1), one(1), one(1), sliceMask{newAxis: 1}}, tf.Shape{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := tc.spec.plan(&stridedRoom{}, tc.in)
			if err != nil || !p.final.Equal(tc.want) {
				t.Fatalf("got %+v %v, want %v", p, err, tc.want)
			}
		})
	}
}

// FuzzStridedPlan: no spec leads outside of the input.
func FuzzStridedPlan(f *testing.F) {
	f.Add([]byte{3, 4}, []byte{0, 5, 1, 250, 3, 255}, 1, 2, 4, 8, 16)
	f.Fuzz(func(t *testing.T, shape, items []byte, begin, end, ellipsis, newAxis, shrink int) {
		in := tf.Shape{}
		for _, b := range shape[:min(4, len(shape))] {
			in = append(in, int(b%6))
		}
		spec := stridedSpec{begin: []int{}, end: []int{}, mask: sliceMask{begin, end, ellipsis, newAxis, shrink}}
		for ; len(items) >= 3 && len(spec.strides) < 31; items = items[3:] {
			spec.begin, spec.end = append(spec.begin, int(int8(items[0]))), append(spec.end, int(int8(items[1])))
			spec.strides = append(spec.strides, int(int8(items[2])))
		}
		p, err := spec.plan(&stridedRoom{}, in)
		if err != nil {
			return
		}
		if len(p.dims) != len(in) {
			t.Fatalf("%d dimensions for an input of shape %v", len(p.dims), in)
		}
		for i, d := range p.dims {
			if n := p.block[i]; n < 0 || n > 0 && (d.begin < 0 || d.begin >= in[i] || d.begin+(n-1)*d.stride < 0 || d.begin+(n-1)*d.stride >= in[i]) {
				t.Fatalf("dimension %d of %v: %d elements from %d by %d", i, in, n, d.begin, d.stride)
			}
		}
	})
}

// FuzzReshape: a reshape keeps the number of elements.
func FuzzReshape(f *testing.F) {
	f.Add([]byte{2, 3}, []byte{255, 3})
	f.Fuzz(func(t *testing.T, from, to []byte) {
		in, want := tf.Shape{}, tf.Shape{}
		for _, b := range from[:min(5, len(from))] {
			in = append(in, int(b%7))
		}
		for _, b := range to[:min(5, len(to))] {
			want = append(want, int(int8(b)))
		}
		if out, err := resolveReshape(in, want.Clone()); err == nil && out.NumElements() != in.NumElements() {
			t.Fatalf("%v to %v gives %v", in, want, out)
		}
	})
}
