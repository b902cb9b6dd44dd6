package image

import (
	"math"

	"github.com/gorge-tf/gorge/tf/core"
)

// edges are the coordinates of a box as integers of the same order: whether boxes are
// apart takes one branch then.
type edges struct{ y0, x0, y1, x1 int32 }

// inOrder maps numbers that are not NaN to integers of the same order.
func inOrder(v float32) int32 {
	b := int32(math.Float32bits(v))
	return b ^ b>>31&math.MaxInt32
}

func edgesOf(c *corners) edges {
	return edges{inOrder(c.y0), inOrder(c.x0), inOrder(c.y1), inOrder(c.x1)}
}

// apart reports whether two boxes share no area. It may be false of boxes that only
// touch.
func (a *edges) apart(b *edges) bool {
	y := (int64(a.y0) - int64(b.y1)) & (int64(b.y0) - int64(a.y1))
	x := (int64(a.x0) - int64(b.x1)) & (int64(b.x0) - int64(a.x1))
	return y&x >= 0
}

// isPlain reports whether a box is either selected or left out: scores do not change,
// and the order of the boxes is known in advance. Numbers that are not finite do not
// occur, so that boxes that are apart have the similarity 0.
func (s *selection) isPlain() bool {
	if s.boxes == nil || s.sigma > 0 || s.halves || !(s.threshold >= 0) {
		return false
	}
	for i := range s.boxes {
		if a := s.boxes[i].area; a-a != 0 {
			return false
		}
	}
	return true
}

// runPlain is run where isPlain holds.
func (s *selection) runPlain() (boxes []int32, scores []float32) {
	queue := newRanking(s.scores, s.least)
	n := min(s.limit, len(queue))
	boxes, scores = core.Make[int32](n)[:0], core.Make[float32](n)[:0]
	selected := core.Make[edges](n)[:0]
	for len(boxes) < n && len(queue) > 0 {
		box := queue.pop()
		e := edgesOf(&s.boxes[box])
		if !s.suppressed(box, &e, boxes, selected) {
			boxes, scores, selected = append(boxes, box), append(scores, s.scores[box]), append(selected, e)
		}
	}
	return boxes, scores
}

// suppressed reports whether a box overlaps a selected one too much.
func (s *selection) suppressed(box int32, e *edges, boxes []int32, selected []edges) bool {
	c := &s.boxes[box]
	for j := range selected {
		if !e.apart(&selected[j]) && overlap(c, &s.boxes[boxes[j]]) > s.threshold {
			return true
		}
	}
	return false
}

// A ranking is a heap of boxes, the one of the greatest score first, of equal ones the
// first. An element has the score in its high half, the complement of the number of the
// box in the other.
type ranking []uint64

// newRanking returns the boxes whose scores are greater than least.
func newRanking(scores []float32, least float32) ranking {
	r, n := ranking(core.Make[uint64](len(scores))), 0
	for i, v := range scores {
		if v == 0 {
			v = 0 // -0 is not less
		}
		r[n] = uint64(uint32(inOrder(v))^1<<31)<<32 | uint64(^uint32(i))
		if v > least { // no branch: no processor foresees which ones are
			n++
		}
	}
	r = r[:n]
	for i := len(r)/2 - 1; i >= 0; i-- {
		r.down(i)
	}
	return r
}

// pop removes the best box and returns its number.
func (r *ranking) pop() int32 {
	q := *r
	best, last := q[0], len(q)-1
	q[0] = q[last]
	*r = q[:last]
	r.down(0)
	return int32(^uint32(best))
}

// down moves element i to where nothing below it is better.
func (r ranking) down(i int) {
	if i >= len(r) {
		return
	}
	v := r[i]
	for {
		child := 2*i + 1
		if child >= len(r) {
			break
		}
		if child+1 < len(r) && r[child+1] > r[child] {
			child++
		}
		if v >= r[child] {
			break
		}
		r[i], i = r[child], child
	}
	r[i] = v
}
