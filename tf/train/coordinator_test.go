package train

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
)

var errBroken = errors.New("broken")

// untilStop is a goroutine that ends as it should.
func untilStop(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestFirstErrorStopsAll(t *testing.T) {
	c := NewCoordinator(context.Background())
	for range 5 {
		c.Go(untilStop)
	}
	c.Go(func(context.Context) error { return errBroken })
	if err := c.Join(); err != errBroken {
		t.Fatalf("joined with %v, want the first error", err)
	}
	if !c.ShouldStop() || c.Err() != errBroken {
		t.Fatal("not stopped")
	}
	c.RequestStop(errors.New("late"))
	if c.Err() != errBroken {
		t.Fatal("an error after the join counts")
	}
}

func TestCleanStops(t *testing.T) {
	end := tf.Errorf(tf.OutOfRange, "no more")
	for name, tc := range map[string]struct {
		c    *Coordinator
		err  error
		want error
	}{
		"asked":        {NewCoordinator(context.Background()), nil, nil},
		"end of input": {NewCoordinator(context.Background()), end, nil},
		"own clean":    {NewCoordinator(context.Background(), func(err error) bool { return err == errBroken }), errBroken, nil},
		"not clean":    {NewCoordinator(context.Background(), func(err error) bool { return err == errBroken }), end, end},
	} {
		tc.c.Go(untilStop)
		tc.c.RequestStop(tc.err)
		if err := tc.c.Join(); err != tc.want {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

func TestParentContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := NewCoordinator(ctx)
	c.Go(untilStop)
	cancel(errBroken)
	if err := c.Join(); err != errBroken {
		t.Fatalf("joined with %v, want the cause", err)
	}
}

func TestPanicIsAnError(t *testing.T) {
	c := NewCoordinator(context.Background())
	c.Go(untilStop)
	c.Go(func(context.Context) error { panic("boom") })
	if err := c.Join(); tf.CodeOf(err) != tf.Internal || !strings.Contains(err.Error(), "boom") {
		t.Fatal(err)
	}
}

func TestJoinWaitsForWhatIsRegistered(t *testing.T) {
	c := NewCoordinator(context.Background())
	done := c.Register()
	joined := make(chan error)
	go func() { joined <- c.Join() }()
	select {
	case <-joined:
		t.Fatal("joined too early")
	default:
	}
	done()
	done() // more than once is no harm
	if err := <-joined; err != nil || c.ShouldStop() {
		t.Fatal(err, c.ShouldStop())
	}
}

// TestGrace: a goroutine that does not stop within the grace period is reported.
func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCoordinator(context.Background())
		release := make(chan struct{})
		c.Go(func(context.Context) error { <-release; return nil })
		c.RequestStop(nil)
		begin := time.Now()
		err := c.Join(time.Minute)
		if err == nil || err.Error() != "train: coordinator stopped with 1 goroutines still running" || time.Since(begin) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		close(release)
		synctest.Wait()
	})
}

func TestLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCoordinator(context.Background())
		n := 0
		c.Loop(time.Second, func(context.Context) error { n++; return nil })
		time.Sleep(3500 * time.Millisecond)
		c.RequestStop(nil)
		if err := c.Join(); err != nil || n != 4 {
			t.Errorf("%d calls, %v, want one at once and one each second", n, err)
		}
	})
}

func TestClearStop(t *testing.T) {
	c := NewCoordinator(context.Background())
	c.RequestStop(errBroken)
	if c.Join() != errBroken {
		t.Fatal("no error")
	}
	c.ClearStop()
	ran := make(chan struct{})
	c.Go(func(ctx context.Context) error { close(ran); return ctx.Err() })
	<-ran
	if err := c.Join(); err != nil || c.ShouldStop() {
		t.Fatal(err, c.ShouldStop())
	}
}

func TestWaitForStop(t *testing.T) {
	c := NewCoordinator(context.Background())
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if c.WaitForStop(over) {
		t.Fatal("stopped by itself")
	}
	c.RequestStop(nil)
	if !c.WaitForStop(context.Background()) {
		t.Fatal("not stopped")
	}
}
