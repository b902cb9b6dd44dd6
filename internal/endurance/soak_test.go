package endurance

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// leaving tells a process of this test program that it is a client that leaves its
// sessions, and where.
const leaving = "GORGE_TEST_LEAVES"

// samples is how often a soak looks at the tasks.
const samples = 20

// TestSoak: two clients train, others open sessions and are killed. The tasks hold
// the same in the end as in the middle.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	lasts := 20 * time.Second
	if text := os.Getenv("GORGE_SOAK"); text != "" {
		var err error
		if lasts, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	c := cluster(t, gorge(t), "--session_timeout=2s")
	clients := []*client{newClient(t, 0, "grpc://"+c.spec["worker"][0]), newClient(t, 1, "grpc://"+c.spec["worker"][1])}
	end := make(chan struct{})
	var running sync.WaitGroup
	for _, k := range clients {
		running.Go(func() { k.run(end) })
	}
	left := 0
	running.Go(func() { left = leaveAgainAndAgain(t, clients[0].target, end) })
	held := watch(c, clients, lasts)
	close(end)
	running.Wait()
	t.Logf("%d updates, %d clients killed with sessions open", clients[0].ledger.acked+clients[1].ledger.acked, left)
	for i, k := range c.tasks {
		flat(t, k.name, held[i])
	}
	c.settles()
}

// watch looks at the tasks again and again.
func watch(c *group, clients []*client, lasts time.Duration) [][]use {
	held := make([][]use, len(c.tasks))
	for n := range samples {
		time.Sleep(lasts / samples)
		for i, k := range c.tasks {
			held[i] = append(held[i], k.uses())
		}
		c.t.Logf("sample %d: %d updates; each task's descriptors and KiB: %v %v %v", n+1, clients[0].steps.Load()+clients[1].steps.Load(), held[0][n], held[1][n], held[2][n])
	}
	return held
}

// flat compares the memory that a task held at the end with that in the middle.
// Descriptors go up and down with the sessions that the last killed client had open, so
// they are counted when all clients have gone.
func flat(t *testing.T, name string, held []use) {
	t.Helper()
	middle, end := most(held[samples/4:samples/2]), most(held[samples-samples/4:])
	if end.memory > middle.memory*5/4+16<<10 {
		t.Errorf("%s: %d KiB of memory at the end, %d in the middle", name, end.memory, middle.memory)
	}
}

// most returns the most that was held.
func most(held []use) (m use) {
	for _, u := range held {
		m.descriptors, m.memory = max(m.descriptors, u.descriptors), max(m.memory, u.memory)
	}
	return m
}

// leaveAgainAndAgain starts clients and kills them while they have sessions open,
// until end is closed. It returns how many.
func leaveAgainAndAgain(t *testing.T, target string, end <-chan struct{}) (n int) {
	r := rand.New(rand.NewPCG(3, 3))
	for ; !closed(end); n++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), leaving+"="+target)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return n
		}
		time.Sleep(200*time.Millisecond + time.Duration(r.Int64N(int64(time.Second))))
		_ = cmd.Process.Kill() // ended already: its exit code tells
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() > 0 {
			t.Errorf("a client that opens sessions: %v", err)
			return n
		}
	}
	return n
}

// leave opens sessions, each with steps on all tasks, and closes none. It opens a hundred
// a second: how many are open at a time should not follow the load of the machine.
func leave(target string) {
	g := tf.NewGraph(tf.Strict())
	x := ops.Identity(ops.Const(g, make([]float32, 10_000)), tf.OnDevice("/job:ps"))
	y := ops.Identity(x, tf.OnDevice("/job:worker/task:1"))
	for range time.Tick(10 * time.Millisecond) {
		s, err := session.New(g, session.Target(target), session.Timeout(hang))
		if err != nil {
			panic(err)
		}
		for range 3 {
			if _, err := s.Run(context.Background(), nil, y); err != nil {
				panic(err)
			}
		}
	}
}
