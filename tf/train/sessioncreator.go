package train

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// A SessionCreator makes the sessions of a [MonitoredSession]: the first one, and
// another one when that is lost.
type SessionCreator interface {
	CreateSession(ctx context.Context) (*session.Session, error)
}

// A ChiefSessionCreator initializes the model or restores its latest checkpoint.
type ChiefSessionCreator struct {
	Graph    *tf.Graph
	Scaffold *Scaffold // nil: one with defaults
	Options  []session.Option
	// CheckpointDir is where to look for the latest checkpoint that is not damaged,
	// CheckpointPath one to restore; at most one is given.
	CheckpointDir  string
	CheckpointPath string

	manager *SessionManager
}

// CreateSession returns a session that is ready. It finalizes the scaffold.
func (c *ChiefSessionCreator) CreateSession(ctx context.Context) (*session.Session, error) {
	if c.Scaffold == nil {
		c.Scaffold = &Scaffold{}
	}
	if c.manager == nil {
		if err := c.Scaffold.Finalize(c.Graph); err != nil {
			return nil, err
		}
		c.manager = c.Scaffold.manager(c.Graph, c.Options)
	}
	o := PrepareOptions{
		InitOp: c.Scaffold.InitOp, InitFeeds: c.Scaffold.InitFeeds, Saver: c.Scaffold.Saver,
		CheckpointDir: c.CheckpointDir, CheckpointPath: c.CheckpointPath,
	}
	if f := c.Scaffold.InitFn; f != nil {
		o.InitFn = func(ctx context.Context, s *session.Session) error { return f(ctx, c.Scaffold, s) }
	}
	return c.manager.PrepareSession(ctx, o)
}

func (sc *Scaffold) manager(g *tf.Graph, o []session.Option) *SessionManager {
	return &SessionManager{
		Graph: g, Options: o, LocalInitOp: sc.LocalInitOp, LocalInitFeeds: sc.LocalInitFeeds,
		ReadyOp: sc.ReadyOp, ReadyForLocalInitOp: sc.ReadyForLocalInitOp,
	}
}

// A WorkerSessionCreator waits until the chief has made the model ready.
type WorkerSessionCreator struct {
	Graph    *tf.Graph
	Scaffold *Scaffold // nil: one with defaults
	Options  []session.Option
	// MaxWait is how long to wait; 0: half an hour. RecoveryWait is the time
	// between two looks; 0: 30 seconds.
	MaxWait, RecoveryWait time.Duration

	manager *SessionManager
}

// CreateSession returns a session once the model is ready. It finalizes the
// scaffold.
func (c *WorkerSessionCreator) CreateSession(ctx context.Context) (*session.Session, error) {
	if c.Scaffold == nil {
		c.Scaffold = &Scaffold{}
	}
	if c.manager == nil {
		if err := c.Scaffold.Finalize(c.Graph); err != nil {
			return nil, err
		}
		c.manager = c.Scaffold.manager(c.Graph, c.Options)
		c.manager.RecoveryWait = c.RecoveryWait
	}
	longest := c.MaxWait
	if longest == 0 {
		longest = 30 * time.Minute
	}
	return c.manager.WaitForSession(ctx, longest)
}
