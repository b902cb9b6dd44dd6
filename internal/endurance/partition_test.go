package endurance

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// apart tells a process of this test program that it has a network of its own.
const apart = "GORGE_TEST_NETWORK"

// TestPartitions: tasks, each with a network of its own, are cut off from all
// others while two clients train. What they send then is lost without a word, and
// their connections stay half-open.
func TestPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	if os.Getenv(apart) != "" {
		endure(t, networked(t, gorge(t)), plan(2, number(t, "GORGE_PARTITIONS", 8), len(jobs), cut))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, tool := range []string{"unshare", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("root runs this test with namespaces: %v", err)
		}
	}
	cmd := exec.Command("unshare", "--net", "--mount", "--propagation", "private", os.Args[0], "-test.run=^TestPartitions$", "-test.v", "-test.timeout=2h")
	cmd.Env = append(os.Environ(), apart+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("in a network of its own: %v", err)
	}
}

// networked starts a cluster in this process's network namespace: a bridge, and a
// namespace with a link to it for each task.
func networked(t *testing.T, bin string) *group {
	t.Helper()
	if err := os.MkdirAll("/run/netns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", "/run/netns", "tmpfs", 0, ""); err != nil { // seen by this process's mount namespace only
		t.Fatal(err)
	}
	run(t, "ip", "link", "set", "lo", "up")
	run(t, "ip", "link", "add", "middle", "type", "bridge", "forward_delay", "0")
	run(t, "ip", "address", "add", "10.78.0.1/24", "dev", "middle")
	run(t, "ip", "link", "set", "middle", "up")
	var addresses []string
	for i := range jobs {
		addresses = append(addresses, fmt.Sprintf("10.78.0.%d:2222", i+2))
	}
	c := newGroup(t, addresses)
	for i := range jobs {
		k := c.add(i, bin, nil)
		k.ns, k.link = fmt.Sprintf("task%d", i), fmt.Sprintf("link%d", i)
		run(t, "ip", "netns", "add", k.ns)
		run(t, "ip", "link", "add", k.link, "type", "veth", "peer", "name", "eth0", "netns", k.ns)
		run(t, "ip", "link", "set", k.link, "master", "middle", "up")
		run(t, "ip", "-n", k.ns, "address", "add", fmt.Sprintf("10.78.0.%d/24", i+2), "dev", "eth0")
		run(t, "ip", "-n", k.ns, "link", "set", "eth0", "up")
		run(t, "ip", "-n", k.ns, "link", "set", "lo", "up")
	}
	c.start()
	return c
}
