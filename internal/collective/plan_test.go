package collective

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// layouts are groups by how many members each task has.
var layouts = [][]int{{1}, {2}, {5}, {8}, {1, 1}, {2, 2}, {3, 1, 4}, {1, 1, 1, 1, 1, 1, 1}}

func total(perTask []int) (n int) {
	for _, k := range perTask {
		n += k
	}
	return n
}

// Whatever the source, the value gets from it to each member on one way only, and
// the sender is the one that the receiver expects.
func TestTreesReachEveryMemberOnce(t *testing.T) {
	for _, perTask := range layouts {
		n := total(perTask)
		for source := range n {
			got := map[string]int{} // sends by tree and places
			wanted := map[string]int{}
			has := map[int]int{source: 1}
			for rank := range n {
				for _, tr := range trees(perTask, source, rank) {
					if tr.members[tr.place] != rank {
						t.Fatalf("%v: member %d is at place %d of %v", perTask, rank, tr.place, tr.members)
					}
					if from := tr.from(); from >= 0 {
						wanted[fmt.Sprint(tr.number, from, tr.place)]++
						has[rank]++
					}
					for _, to := range tr.to() {
						got[fmt.Sprint(tr.number, tr.place, to)]++
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(wanted) {
				t.Errorf("%v, source %d: sent %v, wanted %v", perTask, source, got, wanted)
			}
			for rank := range n {
				if has[rank] != 1 {
					t.Errorf("%v, source %d: member %d gets the value %d times", perTask, source, rank, has[rank])
				}
			}
		}
	}
}

// A ring goes through all members; each is the next of its previous one.
func TestRings(t *testing.T) {
	for _, perTask := range layouts {
		n := total(perTask)
		for _, offset := range []int{math.MinInt, -3, -2, -1, 0, 1, 2, 3, math.MaxInt} {
			for rank := range n {
				r := newRing(perTask, offset, rank)
				if got := slices.Sorted(slices.Values(r.members)); len(got) != n || got[0] != 0 || got[n-1] != n-1 || len(slices.Compact(got)) != n {
					t.Fatalf("%v, offset %d: a ring of %v", perTask, offset, r.members)
				}
				if r.members[r.place] != rank {
					t.Errorf("%v, offset %d: member %d is at place %d of %v", perTask, offset, rank, r.place, r.members)
				}
				if before := newRing(perTask, offset, r.previous()); before.next() != rank {
					t.Errorf("%v, offset %d: %d comes before %d, which is followed by %d", perTask, offset, r.previous(), rank, before.next())
				}
			}
		}
	}
	if r := newRing([]int{4, 2}, -1, 0); !slices.Equal(r.members, []int{2, 1, 0, 3, 4, 5}) {
		t.Errorf("the second ring of 4 and 2 is %v", r.members)
	}
}

func TestRingOffsets(t *testing.T) {
	of := func(perTask ...int) *group { return &group{size: total(perTask), perTask: perTask} }
	for _, c := range []struct {
		g           *group
		bytes, most int
		want        []int
	}{
		{of(2), 1 << 30, -1, []int{0}},
		{of(2), 1 << 20, 0, []int{0}},
		{of(2), 16 << 20, 0, []int{0, -1}},
		{of(2), 1 << 30, 0, []int{0, -1, 2, -3}},
		{of(4, 4), 1 << 30, 1, []int{0, -1, 2, -3}},
		{of(8), 80 << 20, 1, []int{0, -2, 4}},
	} {
		if got, err := ringOffsets(c.g, c.bytes, c.most); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %d bytes, at most %d: %v, %v, want %v", c.g.perTask, c.bytes, c.most, got, err, c.want)
		}
	}
	if _, err := ringOffsets(of(2), 0, 0); core.CodeOf(err) != core.Internal {
		t.Errorf("rings for nothing: %v", err)
	}
}

// Pieces cover all elements in order and begin at aligned places.
func TestAlignedChunks(t *testing.T) {
	for _, d := range []core.DType{core.Float16, core.Float32, core.Int64} {
		for _, k := range []int{1, 2, 3, 8} {
			for _, n := range []int{0, 1, 15, 16, 17, 32, 100, 1000, 4096} {
				c, at := alignedChunks(n, d, k), 0
				for i := range k {
					from, m := c.span(i)
					if m > 0 && (from != at || from*d.Size()%alignment != 0) {
						t.Errorf("%d of %v in %d: piece %d begins at %d", n, d, k, i, from)
					}
					at += m
				}
				if at != n {
					t.Errorf("%d of %v in %d pieces are %d", n, d, k, at)
				}
			}
		}
	}
	// TensorFlow makes a piece longer by a whole unit that would fit as it is.
	if c := alignedChunks(32, core.Float32, 2); c.each != 32 {
		t.Errorf("32 floats in 2 pieces of %d", c.each)
	}
}

func membersOf(names ...string) (out []member) {
	for i, name := range names {
		m, err := newMember(&pb.DeviceAttributes{Name: name, Incarnation: uint64(i + 1)}, -1)
		if err != nil {
			panic(err)
		}
		out = append(out, m)
	}
	return out
}

// Tasks come in the order of their names as texts, devices in that of their
// numbers.
func TestArrange(t *testing.T) {
	m := membersOf("/job:w/replica:0/task:2/device:CPU:0", "/job:w/replica:0/task:10/device:CPU:10", "/job:w/replica:0/task:10/device:CPU:9", "/job:a/replica:0/task:5/device:CPU:0")
	perTask := arrange(m)
	var got []string
	for i := range m {
		got = append(got, m[i].name)
	}
	want := []string{"/job:a/replica:0/task:5/device:CPU:0", "/job:w/replica:0/task:10/device:CPU:9", "/job:w/replica:0/task:10/device:CPU:10", "/job:w/replica:0/task:2/device:CPU:0"}
	if !slices.Equal(got, want) || !slices.Equal(perTask, []int{1, 2, 1}) {
		t.Errorf("arranged %v, %v", got, perTask)
	}
	if _, err := newMember(&pb.DeviceAttributes{Name: "/job:a"}, -1); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a task as a member: %v", err)
	}
}

func TestSettleRanks(t *testing.T) {
	for _, c := range []struct {
		asked, want []int
		err         string
	}{
		{[]int{-1, -1}, []int{0, 1}, ""},
		{[]int{1, 0}, []int{1, 0}, ""},
		{[]int{1, -1}, nil, "Only part of the group members have user given rank specified.Received ranks: 1,-1"},
		{[]int{1, 1}, nil, "Duplicate ranks specified for group members. Received ranks: 1,1"},
	} {
		m := make([]member, len(c.asked))
		for i, r := range c.asked {
			m[i].rank = r
		}
		err := settleRanks(m)
		if c.err != "" {
			if core.CodeOf(err) != core.InvalidArgument || core.AsError(err).Message() != c.err {
				t.Errorf("%v: %v", c.asked, err)
			}
			continue
		}
		for i, want := range c.want {
			if err != nil || m[i].rank != want {
				t.Errorf("%v: %v, %v", c.asked, m[i].rank, err)
			}
		}
	}
}
