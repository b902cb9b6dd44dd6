package image

import (
	"container/heap"
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf/core"
)

// A corners is a box by its least and greatest coordinates, with its area.
type corners struct{ y0, x0, y1, x1, area float32 }

// lesser returns b if it is less, else a: a coordinate b that is NaN does not count,
// as in TensorFlow.
func lesser(a, b float32) float32 {
	if b < a {
		return b
	}
	return a
}

// greater is like lesser.
func greater(a, b float32) float32 {
	if a < b {
		return b
	}
	return a
}

// boxesOf reads boxes [n 4] whose corners may be given in any order.
func boxesOf(v []float32) []corners {
	out := core.Make[corners](len(v) / 4)
	for i := range out {
		b := v[4*i:][:4]
		c := corners{y0: lesser(b[0], b[2]), x0: lesser(b[1], b[3]), y1: greater(b[0], b[2]), x1: greater(b[1], b[3])}
		c.area = (c.y1 - c.y0) * (c.x1 - c.x0)
		out[i] = c
	}
	return out
}

// overlap returns the area that two boxes share as a part of that of both.
func overlap(a, b *corners) float32 {
	if a.area <= 0 || b.area <= 0 {
		return 0
	}
	shared := greater(lesser(a.y1, b.y1)-greater(a.y0, b.y0), 0) * greater(lesser(a.x1, b.x1)-greater(a.x0, b.x0), 0)
	return shared / (a.area + b.area - shared)
}

// A candidate is a box that may be selected.
type candidate struct {
	box   int
	score float32
	seen  int // selected boxes that it has been compared with
}

// candidates is a heap, the best first.
type candidates []candidate

func (h candidates) Len() int      { return len(h) }
func (h candidates) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h candidates) Less(i, j int) bool {
	return h[i].score > h[j].score || h[i].score == h[j].score && h[i].box < h[j].box
}
func (h *candidates) Push(x any) { *h = append(*h, x.(candidate)) }
func (h *candidates) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// A selection is how boxes are selected.
type selection struct {
	similar   func(i, j int) float32
	boxes     []corners // what similar compares, nil if it does not compare boxes
	scores    []float32
	limit     int
	threshold float32 // a box that is more similar to a better one is left out
	least     float32 // what scores have to be greater than
	sigma     float32 // if positive, similar boxes only lose a part of their score
	round     func(float32) float32
	halves    bool // round is not the identity
}

// compareBoxes makes s compare boxes by how they overlap.
func (s *selection) compareBoxes(boxes []corners) {
	s.boxes = boxes
	s.similar = func(i, j int) float32 { return overlap(&boxes[i], &boxes[j]) }
}

// exactly keeps float32; toHalf rounds to half precision, as everything is
// rounded that is computed of it.
func exactly(v float32) float32 { return v }

func toHalf(v float32) float32 {
	var h [1]numeric.Half
	elementwise.Narrow(h[:], []float32{v})
	return h[0].Float32()
}

// run returns the selected boxes and their scores, the best first.
func (s *selection) run() (boxes []int32, scores []float32) {
	if s.isPlain() {
		return s.runPlain()
	}
	return s.runSoft()
}

// runSoft is run for scores that may change while boxes are selected.
func (s *selection) runSoft() (boxes []int32, scores []float32) {
	var queue candidates
	for i, v := range s.scores {
		if v > s.least {
			queue = append(queue, candidate{box: i, score: v})
		}
	}
	heap.Init(&queue)
	for len(boxes) < s.limit && len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		before := c.score
		switch suppressed := s.compare(&c, boxes); {
		case suppressed:
		case c.score == before:
			boxes, scores = append(boxes, int32(c.box)), append(scores, c.score)
		case c.score > s.least:
			heap.Push(&queue, c)
		}
	}
	return boxes, scores
}

// compare compares a candidate with the boxes that were selected since it was
// last compared, and reports whether it is suppressed; else it may lose a part
// of its score.
func (s *selection) compare(c *candidate, boxes []int32) (suppressed bool) {
	for j := len(boxes) - 1; j >= c.seen; j-- {
		similarity := s.round(s.similar(c.box, int(boxes[j])))
		c.score = s.round(c.score * s.weight(similarity))
		if s.sigma <= 0 && similarity > s.threshold {
			return true
		}
		if c.score <= s.least {
			break
		}
	}
	c.seen = len(boxes)
	return false
}

// weight returns the part of its score that a box keeps beside a similar one.
func (s *selection) weight(similarity float32) float32 {
	switch {
	case s.sigma > 0:
		scale := s.round(-0.5 / s.sigma)
		return s.round(float32(math.Exp(float64(s.round(s.round(scale*similarity) * similarity)))))
	case similarity <= s.threshold:
		return 1
	}
	return 0
}
