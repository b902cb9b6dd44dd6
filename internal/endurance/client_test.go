package endurance

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/cluster/client" // serves grpc://
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

const (
	limit = 3 * time.Second  // of a call
	hang  = 60 * time.Second // a call that takes so long beyond its limit does not end
	width = 1000             // elements of a counter, which are all equal
)

// A client adds to its counter until it is told to end.
type client struct {
	t       testing.TB
	ledger  ledger
	target  string
	dir     string
	session *session.Session
	last    string // the last acknowledged checkpoint
	saves   int
	steps   atomic.Int64 // acknowledged updates
	phases  phases

	g     *tf.Graph
	v     *tf.Variable
	one   tf.Output
	added *tf.Operation
	saver *train.Saver
}

// newClient returns the client of a number, whose master is at the target. What it
// adds goes over both workers to the parameter server.
func newClient(t testing.TB, number int, target string) *client {
	t.Helper()
	c := &client{t: t, target: target, dir: t.TempDir(), g: tf.NewGraph(tf.Strict())}
	c.v = tf.NewVariable(ops.Const(c.g, make([]int64, width)), tf.VariableOptions{Name: fmt.Sprintf("counter%d", number), Device: "/job:ps"})
	c.one = ops.Placeholder(c.g, tf.Int64, tf.Shape{width})
	far := ops.Identity(c.one, tf.OnDevice(fmt.Sprintf("/job:worker/task:%d", (number+1)%2)))
	c.added = c.v.AssignAdd(far)
	var err error
	if c.saver, err = train.NewSaver(c.g, train.SaverOptions{MaxToKeep: 2}); err != nil {
		t.Fatal(err)
	}
	return c
}

// call makes a call within the limit. One that ends much later hangs.
func (c *client) call(what string, f func(ctx context.Context) error) error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := f(ctx)
	c.phases.add(what, began, err)
	if d := time.Since(began); d > limit+hang {
		c.t.Errorf("a call took %v, its limit is %v: %v", d, limit, err)
	}
	if err != nil && !interrupted(err) {
		c.t.Errorf("a call during faults: %v, want Unavailable, Aborted, DeadlineExceeded or a variable without value", err)
	}
	return err
}

// interrupted reports whether an error is one that a program has to expect when
// tasks are lost.
func interrupted(err error) bool {
	switch tf.CodeOf(err) {
	case tf.Unavailable, tf.Aborted, tf.DeadlineExceeded, tf.FailedPrecondition:
		return true
	}
	return false
}

// run adds until end is closed; then it adds until it has succeeded a few times in
// a row, which it must when no faults are left.
func (c *client) run(end <-chan struct{}) {
	defer c.close()
	for !closed(end) {
		c.life(func() bool { return !closed(end) })
	}
	deadline := time.Now().Add(hang)
	for good := 0; good < 20; {
		if time.Now().After(deadline) {
			c.t.Errorf("%v after the last fault the client of %s has not made 20 updates", hang, c.target)
			return
		}
		good = 0
		c.life(func() bool { good++; return good < 20 })
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// life opens a session and adds while on allows and nothing fails.
func (c *client) life(on func() bool) {
	if err := c.open(); err != nil {
		time.Sleep(50 * time.Millisecond)
		return
	}
	if err := c.begin(); err != nil {
		return
	}
	for n := 1; on(); n++ {
		if c.add() != nil || n%10 == 0 && c.check() != nil || n%100 == 0 && c.save() != nil {
			return
		}
	}
	_ = c.check() // which has reported what is wrong
}

// open opens a session, in place of the one before.
func (c *client) open() error {
	c.close()
	return c.call("opens", func(context.Context) (err error) {
		c.session, err = session.New(c.g, session.Target(c.target), session.Timeout(limit), session.StartTimeout(limit), session.KeepAlive(silence, patience))
		return err
	})
}

func (c *client) close() {
	if c.session != nil {
		began := time.Now()
		c.phases.add("closes", began, c.session.Close())
	}
	c.session = nil
}

// begin makes sure that the counter has a value: after the loss of the parameter
// server that of the last checkpoint, or zero.
func (c *client) begin() error {
	err := c.check()
	if tf.CodeOf(err) != tf.FailedPrecondition {
		return err
	}
	err = c.call("initializes or restores", func(ctx context.Context) error {
		if c.last == "" {
			_, err := c.session.Run(ctx, nil, c.v.Initializer())
			return err
		}
		return c.saver.Restore(ctx, c.session, c.last)
	})
	c.ledger.restore(err)
	if err != nil {
		return err
	}
	return c.check()
}

// add adds one.
func (c *client) add() error {
	ones := make([]int64, width)
	for i := range ones {
		ones[i] = 1
	}
	x, err := tf.FromSlice(ones)
	if err != nil {
		c.t.Fatal(err)
	}
	err = c.call("adds", func(ctx context.Context) error {
		_, err := c.session.Run(ctx, session.Feeds{c.one: x}, c.added)
		return err
	})
	c.ledger.update(err)
	if err == nil {
		c.steps.Add(1)
		c.phases.clear()
	}
	return err
}

// check reads the counter and compares it with the ledger.
func (c *client) check() error {
	return c.call("reads", func(ctx context.Context) error {
		v, err := session.Fetch[int64](ctx, c.session, nil, c.v.Value())
		if err != nil {
			return err
		}
		for i := range v {
			if v[i] != v[0] {
				c.t.Errorf("element %d is %d, element 0 is %d: an update was made in part", i, v[i], v[0])
				break
			}
		}
		if err := c.ledger.read(v[0]); err != nil {
			c.t.Errorf("%s: %v", c.target, err)
		}
		return nil
	})
}

// save writes a checkpoint.
func (c *client) save() error {
	low := c.ledger.low
	return c.call("saves", func(ctx context.Context) error {
		c.saves++
		path, err := c.saver.Save(ctx, c.session, filepath.Join(c.dir, fmt.Sprintf("v-%d", c.saves)), train.SaveOptions{NoMetaGraph: true})
		if err == nil {
			c.last = path
			c.ledger.save(low)
		}
		return err
	})
}
