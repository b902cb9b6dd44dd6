package rpc

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestChannels(t *testing.T) {
	addr := serve(t, ServerConfig{}, withWorker(echo{}), withMaster(echo{}))
	asked := 0
	c := NewChannels(func(task string) (string, error) {
		asked++
		if task == "unknown" {
			return "", core.Errorf(core.NotFound, "no such task")
		}
		return addr, nil
	}, DialConfig{})
	first, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Get("a")
	other, otherErr := c.Get("b")
	if err != nil || otherErr != nil || again != first || other == first || asked != 2 {
		t.Errorf("a task has one channel of its own; looked up %d addresses, want 2; %v, %v", asked, err, otherErr)
	}
	for _, get := range []func(string) error{
		func(task string) error { _, err := c.Get(task); return err },
		func(task string) error { _, err := c.Worker(task); return err },
		func(task string) error { _, err := c.Master(task); return err },
	} {
		if err := get("unknown"); core.CodeOf(err) != core.NotFound {
			t.Errorf("channel to an unknown task: %v", err)
		}
	}
	m, err := c.Master("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.CreateSession(context.Background(), &pb.CreateSessionRequest{}); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get("a"); core.CodeOf(err) != core.Canceled {
		t.Errorf("channel after Close: %v", err)
	}
	if _, err := m.CreateSession(context.Background(), &pb.CreateSessionRequest{}); core.CodeOf(err) != core.Canceled {
		t.Errorf("call after Close: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestDialRefusesBadAddress(t *testing.T) {
	if _, err := Dial("host:port:more%zz", DialConfig{}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("Dial: %v, want INVALID_ARGUMENT", err)
	}
}
