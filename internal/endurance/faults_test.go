package endurance

import (
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) {
	if target := os.Getenv(leaving); target != "" {
		leave(target)
		return
	}
	leaktest.Main(m)
}

// number returns that which the environment asks for, or a short test's.
func number(t *testing.T, name string, short int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return short
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestFaults: tasks are killed, ended and held while two clients train.
func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	c := cluster(t, gorge(t))
	endure(t, c, plan(1, number(t, "GORGE_FAULTS", 25), len(c.tasks), kill, term, hold))
}

// endure runs the plan's faults under two clients, each with a master of its own,
// and looks at what is left behind.
func endure(t *testing.T, c *group, faults []fault) {
	t.Helper()
	clients := []*client{newClient(t, 0, "grpc://"+c.spec["worker"][0]), newClient(t, 1, "grpc://"+c.spec["worker"][1])}
	end := make(chan struct{})
	var healing []time.Duration
	var running sync.WaitGroup
	for _, k := range clients {
		running.Go(func() { k.run(end) })
	}
	for i, f := range faults {
		time.Sleep(f.after)
		c.tasks[f.task].suffer(f)
		if f.heals {
			took := goOn(t, clients, f)
			if healing = append(healing, took); took > notable {
				t.Logf("fault %d of the plan: %v: %v until both clients went on", i, f, took)
			}
		}
		if t.Failed() {
			t.Logf("fault %d of the plan: %v", i, f)
			break
		}
	}
	close(end)
	running.Wait()
	if slices.Sort(healing); len(healing) > 0 {
		t.Logf("until both clients went on: median %v, longest %v", healing[len(healing)/2], healing[len(healing)-1])
	}
	for _, k := range clients {
		t.Logf("%s: %d updates acknowledged, %d unsure, %d saves", k.target, k.ledger.acked, k.ledger.unsure, k.saves)
	}
	c.settles()
}

// goOn waits until each client has made an update after the fault, and returns how
// long that took.
func goOn(t *testing.T, clients []*client, f fault) time.Duration {
	t.Helper()
	began := time.Now()
	for _, k := range clients {
		for before := k.steps.Load(); k.steps.Load() == before; time.Sleep(time.Millisecond) {
			if time.Since(began) > hang {
				t.Errorf("%v after the fault %v the client of %s does not go on", hang, f, k.target)
				return hang
			}
		}
		if time.Since(began) > notable {
			t.Logf("the client of %s: %s", k.target, k.phases.told())
		}
	}
	return time.Since(began)
}

// settles waits until no task holds more than a task that has just begun and has
// connections to its peers.
func (c *group) settles() {
	c.t.Helper()
	const most = 60 // descriptors; sessions and steps that are left behind have more
	deadline := time.Now().Add(hang)
	for _, k := range c.tasks {
		u := k.uses()
		for ; u.descriptors > most && time.Now().Before(deadline); u = k.uses() {
			time.Sleep(100 * time.Millisecond)
		}
		if u.descriptors > most {
			c.t.Errorf("%s holds %d descriptors after the last session", k.name, u.descriptors)
		}
		c.t.Logf("%s: %d lives, %d descriptors, %d MiB", k.name, k.lost+1, u.descriptors, u.memory>>10)
	}
}
