package collective

import "github.com/gorge-tf/gorge/tf/core"

// A ring is an order of a group's members in which values go round: each sends
// to the next, the last to the first.
type ring struct {
	members []int // by place in the ring
	place   int   // of this member
}

func (r *ring) next() int { return r.members[(r.place+1)%len(r.members)] }

func (r *ring) previous() int { return r.members[(r.place+len(r.members)-1)%len(r.members)] }

// newRing returns the ring that begins offset members into each task. A negative
// offset counts from the other end, and goes the other way within tasks. Whatever the
// offset, all members are in the ring.
func newRing(perTask []int, offset, rank int) ring {
	var r ring
	first := 0
	for _, n := range perTask {
		turn := offset % n
		for i := range n {
			at := (i + max(turn, -turn)) % n
			if offset < 0 {
				at = n - 1 - at
			}
			if first+at == rank {
				r.place = len(r.members)
			}
			r.members = append(r.members, first+at)
		}
		first += n
	}
	return r
}

// newRings returns a ring for each offset.
func newRings(perTask []int, offsets []int, rank int) []ring {
	out := make([]ring, len(offsets))
	for i, o := range offsets {
		out[i] = newRing(perTask, o, rank)
	}
	return out
}

// Pieces are to be no larger than maxPiece, unless that takes more than
// defaultRings rings for a device of a task.
const (
	maxPiece     = 4 << 20
	defaultRings = 2
)

// ringOffsets chooses rings for so many bytes: one, or as many as make pieces
// small, as far as most allows for each device of a task; 0 stands for a default.
func ringOffsets(g *group, bytes, most int) ([]int, error) {
	if most == -1 {
		return []int{0}, nil
	}
	if bytes == 0 {
		return nil, core.Errorf(core.Internal, "shape in CollectiveParams should be non-empty")
	}
	if most <= 0 {
		most = defaultRings
	}
	perTask := g.size / len(g.perTask)
	n := 1
	for bytes/(g.size*n) > maxPiece && n < most*perTask {
		n++
	}
	stride, offsets := max(perTask/n, 1), make([]int, n)
	for i := range offsets {
		if offsets[i] = stride * i; i%2 == 1 {
			offsets[i] = -offsets[i]
		}
	}
	return offsets, nil
}
