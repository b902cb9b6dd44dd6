package endurance

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestVerbsStrangers: clients train over RDMA in software while strangers connect to its
// ports: they say nothing, something else, or a greeting with numbers by chance and what
// looks like requests after it. The tasks live, and each update is acknowledged.
// GORGE_STRANGERS says how many there are.
func TestVerbsStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	c := cluster(t, gorge(t), "--protocol=grpc+verbs", "--rdma=soft")
	stop := trainBeside(t, c)
	var ports []string
	for deadline := time.Now().Add(hang); len(ports) < len(c.tasks); time.Sleep(50 * time.Millisecond) {
		if ports = c.otherPorts(); time.Now().After(deadline) {
			t.Fatalf("ports beside those of the tasks: %v, want one of each task", ports)
		}
	}
	r := rand.New(rand.NewPCG(15, 6))
	var kept []net.Conn
	for n := range number(t, "GORGE_STRANGERS", 1500) {
		nc, err := net.Dial("tcp", ports[n%len(ports)])
		if err != nil {
			t.Fatalf("stranger %d: %v", n, err)
		}
		_, _ = nc.Write(greeting(r)) // the task may have hung up
		if kept = append(kept, nc); r.IntN(4) > 0 || len(kept) > 100 {
			kept[0].Close()
			kept = kept[1:]
		}
	}
	for _, nc := range kept {
		nc.Close()
	}
	stop()
	c.settles()
	for _, k := range c.tasks {
		if k.lost > 0 {
			t.Errorf("%s has ended", k.name)
		}
	}
}

// greeting returns what a stranger says.
func greeting(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(300))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	if r.IntN(3) > 0 {
		return b
	}
	hello := []byte("gorge-qp")
	for range 3 {
		hello = binary.LittleEndian.AppendUint32(hello, r.Uint32N(1<<r.IntN(32)))
	}
	return append(hello, b...)
}

// otherPorts returns the addresses at which tasks listen beside their own.
func (c *group) otherPorts() (out []string) {
	c.t.Helper()
	own := map[string]bool{}
	for _, addresses := range c.spec {
		for _, a := range addresses {
			own[a] = true
		}
	}
	for _, k := range c.tasks {
		for _, port := range listening(c.t, k.cmd.Process.Pid) {
			if a := fmt.Sprint("127.0.0.1:", port); !own[a] {
				out = append(out, a)
			}
		}
	}
	return out
}

// listening returns the ports of TCP at which a process listens.
func listening(t testing.TB, pid int) (ports []uint64) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	sockets := map[string]bool{}
	for _, fd := range fds {
		if to, err := os.Readlink(dir + fd.Name()); err == nil && strings.HasPrefix(to, "socket:[") {
			sockets[strings.Trim(to, "socket:[]")] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		f, err := os.Open(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		if err != nil {
			continue // the machine has no such protocol
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			const local, state, inode, listens = 1, 3, 9, "0A"
			row := strings.Fields(lines.Text())
			if len(row) <= inode || row[state] != listens || !sockets[row[inode]] {
				continue
			}
			_, hex, _ := strings.Cut(row[local], ":")
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
				ports = append(ports, port)
			}
		}
	}
	return ports
}
