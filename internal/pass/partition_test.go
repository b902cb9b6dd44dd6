package pass

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
)

// partitions formats the parts of a graph, split by device.
func partitions(g *graph.Graph) string {
	parts, err := Partition(g, PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return n.Device },
		NewName:     Names("G"),
		Incarnation: func(dev string) uint64 { return 70 + uint64(dev[len(dev)-1]-'0') },
	})
	if err != nil {
		return "error " + message(err)
	}
	var b strings.Builder
	for _, dev := range slices.Sorted(maps.Keys(parts)) {
		b.WriteString(dev + "\n" + graphtext.Print(parts[dev]))
	}
	return b.String()
}

func TestPartition(t *testing.T) {
	for _, c := range readCases(t, "partition.txt") {
		t.Run(c.name, func(t *testing.T) {
			g := parse(t, c.sections[0])
			same(t, partitions(g), c.sections[1])
			if err := Check(g); err != nil {
				t.Errorf("the graph that was split is damaged: %v", err)
			}
		})
	}
}

// TestPartitionByTask: one pair serves all devices of a task.
func TestPartitionByTask(t *testing.T) {
	g := parse(t, `a = Const[dtype=float32, value=float32[]{1}] @/task:0/device:CPU:0
		b = Neg(a) @/task:0/device:CPU:1
		c = Neg(a) @/task:1/device:CPU:0
		d = AddV2(a, c) @/task:1/device:CPU:1`)
	parts, err := Partition(g, PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return n.Device[:len("/task:0")] },
		NewName:     Names("S"),
		Incarnation: func(string) uint64 { return 0 },
	})
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	for loc, p := range parts {
		for _, n := range p.Nodes {
			ops[loc+" "+n.OpName()]++
		}
	}
	want := map[string]int{"/task:0 Const": 1, "/task:0 Neg": 1, "/task:0 _Send": 1, "/task:1 Neg": 1, "/task:1 AddV2": 1, "/task:1 _Recv": 1}
	if !maps.Equal(ops, want) {
		t.Errorf("got %v, want %v", ops, want)
	}
}

func TestNames(t *testing.T) {
	n := Names("S")
	if got := fmt.Sprint(n("a"), " ", n("b"), " ", n("a")); got != "a_S0 b_S1 a_S2" {
		t.Errorf("got %s", got)
	}
}
