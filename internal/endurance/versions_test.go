package endurance

import (
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestVersions: two kinds of servers are in one cluster, and tasks change from one
// kind to the other and back, one after the other, while two clients train. With
// GORGE_OTHER the other kind is that binary, another version's; without it, it is
// this version without links, which speaks gRPC as versions do whose links differ.
func TestVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	bin := gorge(t)
	other, flags := os.Getenv("GORGE_OTHER"), []string(nil)
	if other == "" {
		other, flags = bin, []string{"--no_links"}
	}
	c := cluster(t, other, flags...)
	clients := []*client{newClient(t, 0, "grpc://"+c.spec["worker"][0]), newClient(t, 1, "grpc://"+c.spec["worker"][1])}
	end := make(chan struct{})
	var running sync.WaitGroup
	for _, k := range clients {
		running.Go(func() { k.run(end) })
	}
	for _, argv := range []func(i int) []string{
		func(i int) []string { return c.argv(i, bin, nil) },
		func(i int) []string { return c.argv(i, other, flags) },
	} {
		for i, k := range c.tasks {
			f := fault{kind: term, task: i}
			goOn(t, clients, f)
			k.argv = argv(i)
			k.suffer(f)
			goOn(t, clients, f)
			time.Sleep(200 * time.Millisecond)
		}
	}
	close(end)
	running.Wait()
	for _, k := range clients {
		t.Logf("%s: %d updates acknowledged, %d unsure", k.target, k.ledger.acked, k.ledger.unsure)
	}
}

// TestEndsAreNoticed: a check that cannot fail is none. A task that is not started
// again is found.
func TestEndsAreNoticed(t *testing.T) {
	c := cluster(t, gorge(t))
	k := newClient(t, 0, "grpc://"+c.spec["worker"][0])
	if err := k.open(); err != nil {
		t.Fatal(err)
	}
	defer k.close()
	if err := k.begin(); err != nil {
		t.Fatal(err)
	}
	c.tasks[0].signal(syscall.SIGKILL)
	for deadline := time.Now().Add(hang); ; {
		if err := k.add(); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("updates go on without the parameter server")
		}
	}
}
