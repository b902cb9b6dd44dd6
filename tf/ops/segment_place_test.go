package ops_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSegmentSumsInPlace: sums in the memory of what is added have the bits of those in memory
// of their own, whatever the order of the segments, and leave alone what others read.
func TestSegmentSumsInPlace(t *testing.T) {
	const inner = 5
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		rows, n := 1+r.IntN(20), 1+r.IntN(12)
		g := tf.NewGraph()
		x, ids := ops.Placeholder(g, tf.Float32, tf.Shape{rows, inner}), ops.Placeholder(g, tf.Int32, tf.Shape{rows})
		moved := ops.Reverse(x, []int{1}) // memory of the step's
		sum := ops.UnsortedSegmentSum(moved, ids, ops.Scalar(g, int32(n)))
		fetches := []tf.Fetchable{sum}
		if round%3 == 0 {
			fetches = append(fetches, moved)
		}
		values, segments := segmentsOf(r, rows, inner, n)
		want := make([]float32, n*inner)
		for i, k := range segments {
			for j := range inner {
				if k >= 0 {
					want[int(k)*inner+j] += values[i*inner+inner-1-j]
				}
			}
		}
		fed, err := tf.FromSlice(values, rows, inner)
		if err != nil {
			t.Fatal(err)
		}
		which, err := tf.FromSlice(segments)
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), session.Feeds{x: fed, ids: which}, fetches...)
		if s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := tf.Data[float32](out[0]); !slices.EqualFunc(got, want, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
			t.Fatalf("segments %v of %d: %v, want %v", segments, n, got, want)
		}
		if len(out) > 1 && math.Float32bits(tf.Data[float32](out[1])[0]) != math.Float32bits(values[inner-1]) {
			t.Fatal("what is read elsewhere has changed")
		}
	}
}

// segmentsOf draws rows of values, zeros of both signs among them, and their segments: in two
// of three cases numbered in the order in which they come first.
func segmentsOf(r *rand.Rand, rows, inner, n int) (values []float32, segments []int32) {
	order, next := r.IntN(3) > 0, 0
	for range rows {
		k := r.IntN(n+1) - 1
		if order {
			k = r.IntN(min(next+1, n))
			next = max(next, k+1)
		}
		segments = append(segments, int32(k))
		for range inner {
			values = append(values, [...]float32{float32(math.Copysign(0, -1)), 0, float32(r.NormFloat64())}[r.IntN(3)])
		}
	}
	return values, segments
}
