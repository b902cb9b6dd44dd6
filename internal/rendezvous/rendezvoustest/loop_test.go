package rendezvoustest_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// loopPair returns two tasks in this process; wrap changes the transport by
// which the second one receives.
func loopPair(wrap func(rendezvous.Transport) rendezvous.Transport) rendezvoustest.Pair {
	loop := &rendezvoustest.Loop{}
	peer := func(task string, t rendezvous.Transport) rendezvoustest.Peer {
		m := rendezvous.NewManager(0)
		loop.Join(task, m)
		return rendezvoustest.Peer{Manager: m, Session: &rendezvous.Session{Task: task, Transport: t}}
	}
	return rendezvoustest.Pair{A: peer(rendezvoustest.TaskA, loop), B: peer(rendezvoustest.TaskB, wrap(loop))}
}

func TestLoop(t *testing.T) {
	rendezvoustest.Run(t, func(*testing.T) rendezvoustest.Pair {
		return loopPair(func(t rendezvous.Transport) rendezvous.Transport { return t })
	})
}

// TestDuplicate passes the suite too: a second answer is not heard.
func TestDuplicate(t *testing.T) {
	rendezvoustest.Run(t, func(*testing.T) rendezvoustest.Pair { return loopPair(rendezvoustest.Duplicate) })
}
