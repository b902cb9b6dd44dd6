package verbs_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestStopInAnyOrder: three tasks that send to each other, and wait for each other, are
// stopped in every order and all at once. Each device closes cleanly, which it does
// only if nothing of it is in use; every receive is answered; no region is left.
func TestStopInAnyOrder(t *testing.T) {
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, nil}
	for _, order := range orders {
		t.Run(strings.Trim(fmt.Sprint(order), "[]"), func(t *testing.T) {
			var regions, pairs atomic.Int64
			c := newCluster()
			c.arena = true
			c.wrap = func(d verbs.Device) verbs.Device { return counting{d, &regions, &pairs} }
			names := []string{"/job:a/replica:0/task:0", "/job:b/replica:0/task:0", "/job:c/replica:0/task:0"}
			var all []*verbs.Manager
			for i, name := range names {
				p := c.join(t, name, slices.Delete(slices.Clone(names), i, i+1)...)
				all = append(all, manager(p))
				for _, other := range names { // what others ask for, some of it for ever in vain
					if other != name {
						s := p.Manager.Find(1)
						if err := s.Initialize(p.Session); err != nil {
							t.Fatal(err)
						}
						if err := s.Send(keyFrom(name, other, "large"), full(1<<20, 1), false); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			var answers sync.WaitGroup
			for i, m := range all {
				for _, from := range slices.Delete(slices.Clone(names), i, i+1) {
					for _, edge := range []string{"large", "never"} {
						answers.Add(1)
						m.Recv(context.Background(), from, 1, keyFrom(from, names[i], edge), rendezvous.Allocate, func(r rendezvous.Result) {
							defer answers.Done()
							switch code := core.CodeOf(r.Err); {
							case r.Err == nil:
								r.Tensor.Release()
							case code != core.Unavailable && code != core.Aborted && code != core.Canceled:
								t.Errorf("%s from %s: %v", edge, from, r.Err)
							}
						})
					}
				}
			}
			stopAll(t, all, order)
			answers.Wait()
			if n := regions.Load(); n != 0 {
				t.Errorf("%d memory regions are left", n)
			}
		})
	}
}

// stopAll closes managers in an order, or all at once.
func stopAll(t *testing.T, all []*verbs.Manager, order []int) {
	t.Helper()
	for _, i := range order {
		if err := all[i].Close(); err != nil {
			t.Error(err)
		}
	}
	if order != nil {
		return
	}
	var wg sync.WaitGroup
	for _, m := range all {
		wg.Go(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func keyFrom(from, to, edge string) string {
	return rendezvous.Key{Src: from + "/device:CPU:0", SrcIncarnation: 1, Dst: to + "/device:CPU:0", Edge: edge}.String()
}
