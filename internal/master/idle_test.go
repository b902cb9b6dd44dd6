package master

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// An idle session is closed; it is not idle while a call lasts.
func TestIdleSessionsAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Env{Task: ps, Devices: device.CPUs("ps", 0, 1), Workers: crowd{}, SessionTimeout: time.Hour})
		defer m.Close()
		resp, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: &pb.GraphDef{}})
		if err != nil {
			t.Fatal(err)
		}
		s := m.lookup(resp.GetSessionHandle())
		time.Sleep(50 * time.Minute)
		if err := s.begin(); err != nil {
			t.Fatalf("a call after 50 minutes: %v", err)
		}
		time.Sleep(10 * time.Hour)
		if m.lookup(s.handle) == nil {
			t.Fatal("the session was closed during a call")
		}
		s.done()
		time.Sleep(59 * time.Minute)
		if m.lookup(s.handle) == nil {
			t.Fatal("the session was closed too early")
		}
		time.Sleep(30 * time.Minute)
		if err := s.begin(); core.CodeOf(err) != core.FailedPrecondition || m.lookup(s.handle) != nil {
			t.Errorf("a call after an hour and a half = %v", err)
		}
	})
}

// TestShortSessionTimeout: a quarter of the limit, after which a master looks, may be no time.
func TestShortSessionTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Env{Task: ps, Devices: device.CPUs("ps", 0, 1), Workers: crowd{}, SessionTimeout: time.Nanosecond})
		defer m.Close()
		resp, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: &pb.GraphDef{}})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if m.lookup(resp.GetSessionHandle()) != nil {
			t.Error("the session is still there")
		}
	})
}
