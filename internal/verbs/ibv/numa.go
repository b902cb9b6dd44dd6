package ibv

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Machines with several nodes of memory (NUMA) have cards at some of them. A process
// that may use the memory of one node only takes the card that is nearest to it.

// noNode is the node of what is not at one: devices in software, say, and processes
// that may run anywhere.
const noNode = -1

// sysfs and procfs are where the kernel tells of nodes.
const (
	sysfs  = "/sys"
	procfs = "/proc"
)

// deviceNode is the node of a device.
//
//lint:ignore U1000 it is used with -tags rdma
func deviceNode(sys, name string) int {
	return numberIn(filepath.Join(sys, "class/infiniband", name, "device/numa_node"))
}

func numberIn(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return noNode
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 {
		return noNode
	}
	return n
}

// memoryNode is the node that all of the process's memory is at, because of
// cpusets or numactl: its memory or its processors are bound to it.
func memoryNode(sys, proc string) int {
	if nodes := listed(proc, "Mems_allowed_list"); len(nodes) == 1 {
		return nodes[0]
	}
	node := noNode
	for _, cpu := range listed(proc, "Cpus_allowed_list") {
		at, err := filepath.Glob(filepath.Join(sys, "devices/system/cpu", "cpu"+strconv.Itoa(cpu), "node*"))
		if err != nil || len(at) != 1 {
			return noNode
		}
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(at[0]), "node"))
		if err != nil || node != noNode && n != node {
			return noNode
		}
		node = n
	}
	return node
}

// listed reads a list such as 0-3,8 of the process's status.
func listed(proc, name string) (out []int) {
	b, err := os.ReadFile(filepath.Join(proc, "self/status"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		text, ok := strings.CutPrefix(line, name+":")
		if !ok {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
			from, to, isRange := strings.Cut(part, "-")
			lo, err := strconv.Atoi(from)
			hi := lo
			if isRange && err == nil {
				hi, err = strconv.Atoi(to)
			}
			if err != nil || hi-lo > 1<<16 {
				return nil
			}
			for n := lo; n <= hi; n++ {
				out = append(out, n)
			}
		}
	}
	return out
}

// distance is how far one node's memory is from another one, as the firmware says;
// what is not known is far.
func distance(sys string, from, to int) int {
	if from == to {
		return 0
	}
	b, err := os.ReadFile(filepath.Join(sys, "devices/system/node", "node"+strconv.Itoa(from), "distance"))
	if f := strings.Fields(string(b)); err == nil && to >= 0 && to < len(f) {
		if d, err := strconv.Atoi(f[to]); err == nil {
			return d
		}
	}
	return math.MaxInt
}

// nearest returns which of the devices is nearest to a node; -1 if not exactly one is.
func nearest(sys string, all []DeviceInfo, some []int, node int) int {
	if node == noNode {
		return -1
	}
	far := make([]int, len(some))
	for i, d := range some {
		far[i] = math.MaxInt
		if all[d].Node != noNode {
			far[i] = distance(sys, node, all[d].Node)
		}
	}
	least := slices.Min(far)
	i := slices.Index(far, least)
	if least == math.MaxInt || slices.Contains(far[i+1:], least) {
		return -1
	}
	return some[i]
}
