package memory

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// margin is the part of the machine's memory, its inverse, that the default
// limit leaves: for stacks, code, what the heap has in fragments, and others.
const margin = 10

// SystemLimit returns the default limit: what the machine, the control groups
// of the process and its resource limits allow, less a tenth.
func SystemLimit() int64 {
	n := min(int64(machine()), resourceLimit(), groupLimit(systemRoot()))
	return n - n/margin
}

// unlimited is no limit at all. The first version of control groups has a
// number a page below it.
const unlimited = math.MaxInt64

// groupLimit returns the least limit of the control groups, of either version,
// that the process is in, and of those around them. root is the file system.
func groupLimit(root fs.FS) int64 {
	least := int64(unlimited)
	list, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return least
	}
	for line := range strings.Lines(string(list)) {
		for _, file := range groupFiles(strings.TrimSpace(line)) {
			least = min(least, limitIn(root, file))
		}
	}
	return least
}

// groupFiles returns the files that may have limits of the group that a line of
// /proc/self/cgroup, "id:controllers:path", names. In a container the path may
// be that of the host, while what is mounted begins with the group itself.
func groupFiles(line string) (files []string) {
	parts := strings.SplitN(line, ":", 3)
	if len(parts) != 3 {
		return nil
	}
	mount, name := "sys/fs/cgroup", "memory.max"
	switch {
	case strings.Contains(","+parts[1]+",", ",memory,"):
		mount, name = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
	case parts[0] != "0":
		return nil
	}
	for dir := path.Join("/", parts[2]); ; dir = path.Dir(dir) {
		files = append(files, path.Join(mount, dir, name))
		if dir == "/" {
			return files
		}
	}
}

// limitIn reads a limit, which may be "max".
func limitIn(root fs.FS, file string) int64 {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return unlimited
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 {
		return unlimited
	}
	return n
}
