package summary

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A histogram counts numbers in TensorFlow's buckets, whose limits grow by a
// tenth from 1e-12 to 1e20 on both sides of zero.
type histogram struct {
	min, max, num, sum, squares float64
	buckets                     []float64
}

// limits are the ends of the buckets, which are not in them.
var limits = sync.OnceValue(func() []float64 {
	var up []float64
	for v := 1e-12; v < 1e20; v *= 1.1 {
		up = append(up, v)
	}
	up = append(up, math.MaxFloat64)
	down := core.Make[float64](len(up))
	for i, v := range up {
		down[len(up)-1-i] = -v
	}
	return slices.Concat(down, []float64{0}, up)
})

// histogramOf counts the elements of a tensor, unless there is a bad one: an
// infinity, or what is no number.
func histogramOf(t *core.Tensor, n numbers) (h *histogram, bad float64) {
	h = &histogram{min: math.MaxFloat64, max: -math.MaxFloat64, buckets: core.Make[float64](len(limits()))}
	n(t, 0, t.Len(), func(v float64) {
		switch {
		case bad != 0:
		case math.IsNaN(v) || math.IsInf(v, 0):
			bad = v
		default:
			h.add(v)
		}
	})
	return h, bad
}

func (h *histogram) add(v float64) {
	all := limits()
	i := sort.Search(len(all), func(i int) bool { return all[i] > v })
	h.buckets[min(i, len(all)-1)]++
	h.min, h.max = min(h.min, v), max(h.max, v)
	h.num++
	h.sum += v
	h.squares += v * v
}

// value returns the histogram as a summary's value. Empty buckets that follow
// each other are one.
func (h *histogram) value(tag string) *pb.Summary_Value {
	p := &pb.HistogramProto{Min: h.min, Max: h.max, Num: h.num, Sum: h.sum, SumSquares: h.squares}
	for i, n := range h.buckets {
		if last := len(p.Bucket) - 1; n == 0 && last >= 0 && p.Bucket[last] == 0 {
			p.BucketLimit[last] = limits()[i]
			continue
		}
		p.Bucket, p.BucketLimit = append(p.Bucket, n), append(p.BucketLimit, limits()[i])
	}
	return &pb.Summary_Value{Tag: tag, Value: &pb.Summary_Value_Histo{Histo: p}}
}
