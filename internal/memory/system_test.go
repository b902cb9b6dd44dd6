package memory

import (
	"testing"
	"testing/fstest"
)

func TestGroupLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"none", nil, unlimited},
		{"v2", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "1000\n"}, 1000},
		{"v2, no limit", map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/memory.max": "max\n"}, unlimited},
		{"v2, around", map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "5000\n", "sys/fs/cgroup/a/memory.max": "2000\n"}, 2000},
		{"v2, in a container", map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000},
		{"v2, a container with the path of the host", map[string]string{"proc/self/cgroup": "0::/docker/x\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000},
		{"v1", map[string]string{"proc/self/cgroup": "9:cpu,cpuacct:/c\n4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4000\n"}, 4000},
		{"v1, no limit", map[string]string{"proc/self/cgroup": "4:memory:/a\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, 9223372036854771712},
		{"v1 in company", map[string]string{"proc/self/cgroup": "4:cpuset,memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "4000\n", "sys/fs/cgroup/memory.max": "max\n"}, 4000},
		{"nonsense", map[string]string{"proc/self/cgroup": "x\n0::\n", "sys/fs/cgroup/memory.max": "-3\n"}, unlimited},
		{"a path that leads out", map[string]string{"proc/self/cgroup": "0::/../../etc\n", "sys/fs/cgroup/memory.max": "77\n"}, 77},
	} {
		root := fstest.MapFS{}
		for name, text := range c.files {
			root[name] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := groupLimit(root); got != c.want {
			t.Errorf("%s: the limit is %d, want %d", c.name, got, c.want)
		}
	}
}

func TestSystemLimit(t *testing.T) {
	if n := SystemLimit(); n < 1<<20 || n > unknownPhysical {
		t.Errorf("the default limit is %d", n)
	}
}
