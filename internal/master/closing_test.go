package master

import (
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
)

// TestMastersEndAtOnce: what begins while a master is being closed is either counted or
// told why not, and a session that is not kept is refused.
func TestMastersEndAtOnce(t *testing.T) {
	for range 100 {
		m := New(Env{Task: "/job:worker/replica:0/task:0", Devices: device.CPUs("worker", 0, 1)})
		var calls, begun sync.WaitGroup
		for range 2 {
			begun.Add(1)
			calls.Go(func() {
				begun.Done()
				for m.start() == nil {
					m.background.Done() // panics if it was not counted
				}
				if m.add(&session{handle: "late"}) == nil {
					t.Error("a closed master has taken a session")
				}
			})
		}
		begun.Wait()
		m.Close()
		calls.Wait()
	}
}
