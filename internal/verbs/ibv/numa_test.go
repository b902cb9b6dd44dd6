package ibv

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// machine is a tree of files as the kernel of a machine with two pairs of nodes has
// them: 0 and 1 are near each other, and so are 2 and 3. Each has two processors.
func machine(t *testing.T, status string) (sys, proc string) {
	t.Helper()
	sys, proc = t.TempDir(), t.TempDir()
	put := func(root, name, text string) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for n, d := range []string{"10 12 32 32", "12 10 32 32", "32 32 10 12", "32 32 12 10"} {
		put(sys, fmt.Sprintf("devices/system/node/node%d/distance", n), d+"\n")
		for i := range 2 {
			put(sys, fmt.Sprintf("devices/system/cpu/cpu%d/node%d/x", 2*n+i, n), "")
		}
	}
	put(sys, "class/infiniband/mlx5_0/device/numa_node", "2\n")
	put(sys, "class/infiniband/mlx5_1/device/numa_node", "-1\n")
	put(proc, "self/status", "Name:\tx\n"+status)
	return sys, proc
}

// TestMemoryNode: only a process that is bound to one node has one.
func TestMemoryNode(t *testing.T) {
	for status, want := range map[string]int{
		"Cpus_allowed_list:\t0-7\nMems_allowed_list:\t0-3\n":    noNode,
		"Cpus_allowed_list:\t0-7\nMems_allowed_list:\t2\n":      2, // numactl --membind
		"Cpus_allowed_list:\t6-7\nMems_allowed_list:\t0-3\n":    3, // taskset
		"Cpus_allowed_list:\t4\nMems_allowed_list:\t0,2\n":      2,
		"Cpus_allowed_list:\t1,2\nMems_allowed_list:\t0-3\n":    noNode,
		"Cpus_allowed_list:\t0-99\nMems_allowed_list:\t0-1\n":   noNode, // processors that are not there
		"Cpus_allowed_list:\tx\nMems_allowed_list:\t1-\n":       noNode,
		"Mems_allowed_list:\t0-99999999999\nCpus_allowed_list:": noNode,
		"": noNode,
	} {
		sys, proc := machine(t, status)
		if got := memoryNode(sys, proc); got != want {
			t.Errorf("%q: node %d, want %d", status, got, want)
		}
	}
	if got := memoryNode("/nowhere", "/nowhere"); got != noNode {
		t.Errorf("without such files: node %d", got)
	}
}

// TestNearest: the device at the node, else one that is nearer than all others.
func TestNearest(t *testing.T) {
	sys, _ := machine(t, "")
	if a, b, c := deviceNode(sys, "mlx5_0"), deviceNode(sys, "mlx5_1"), deviceNode(sys, "rxe0"); a != 2 || b != noNode || c != noNode {
		t.Errorf("devices are at %d, %d, %d", a, b, c)
	}
	for _, c := range []struct {
		node    int
		devices []int // their nodes
		want    int
	}{
		{0, []int{0, 2}, 0}, {2, []int{0, 2}, 1}, {3, []int{0, 2}, 1}, {1, []int{0, 2}, 0}, {0, []int{2, 3}, -1}, {0, []int{0, 0}, -1},
		{1, []int{noNode, 3}, 1}, {1, []int{noNode, noNode}, -1}, {noNode, []int{0, 2}, -1}, {9, []int{0, 2}, -1}, {9, []int{0, 9}, 1}, {0, []int{2, 3, 1}, 2},
	} {
		var all []DeviceInfo
		var some []int
		for i, n := range c.devices {
			all, some = append(all, DeviceInfo{Node: n}), append(some, i)
		}
		if got := nearest(sys, all, some, c.node); got != c.want {
			t.Errorf("nearest to %d of devices at %v is %d, want %d", c.node, c.devices, got, c.want)
		}
	}
}
