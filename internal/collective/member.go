package collective

import (
	"cmp"
	"sort"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A member is a device of a group.
type member struct {
	device *pb.DeviceAttributes
	spec   core.DeviceSpec
	name   string
	task   string
	rank   int // that it asked for, later that it has
}

func newMember(d *pb.DeviceAttributes, rank int) (member, error) {
	spec, err := core.ParseDevice(d.GetName())
	if err != nil {
		return member{}, err
	}
	if !spec.Full() {
		return member{}, core.Errorf(core.InvalidArgument, "a member of a group must be a device, got %q", d.GetName())
	}
	return member{device: d, spec: spec, name: spec.String(), task: spec.TaskName(), rank: rank}, nil
}

// arrange puts the members of a group into the order that all tasks agree on:
// tasks by their names, devices of a task by theirs. It returns how many members
// each task has.
func arrange(members []member) (perTask []int) {
	sort.Slice(members, func(i, j int) bool {
		a, b := &members[i], &members[j]
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.spec.Type, b.spec.Type), cmp.Compare(a.spec.ID, b.spec.ID)) < 0
	})
	for i := range members {
		if i == 0 || members[i].task != members[i-1].task {
			perTask = append(perTask, 0)
		}
		perTask[len(perTask)-1]++
	}
	return perTask
}

// settleRanks gives all members ranks: those that they asked for, if all did so,
// or else their places.
func settleRanks(members []member) error {
	asked, taken := 0, map[int]bool{}
	for i := range members {
		if members[i].rank >= 0 {
			asked++
			taken[members[i].rank] = true
		}
	}
	switch {
	case asked > 0 && asked < len(members):
		return core.Errorf(core.InvalidArgument, "Only part of the group members have user given rank specified.Received ranks: %s", ranks(members))
	case asked > 0 && len(taken) < len(members):
		return core.Errorf(core.InvalidArgument, "Duplicate ranks specified for group members. Received ranks: %s", ranks(members))
	case asked == 0:
		for i := range members {
			members[i].rank = i
		}
	}
	return nil
}
